# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs `./dlex bench detect`: plays films at the usual rates, and watches the players with `dlex-sched period`."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from ..errors import LabError
from ..files import write_json
from ..machine.facts import machine_facts
from ..paths import require_installed, require_program
from ..processes import child
from ..progress import tell, tell_table
from ..table import titled_table
from .commands import ENVIRONMENT, PLAYERS, RATES, film_command
from .findings import Detection, detect_findings, share

PROGRAM = "build/release/sched/cmd/dlex-sched"
SECONDS = (0.2, 0.4, 0.6, 1.0, 2.0, 4.0)
# Windows of each length in one play of a film.
WINDOWS, QUICK_WINDOWS = 5, 2
STARTING_S = 1.5
SPARE_S = 10.0
COLUMNS = (("ours, %", "is_found"), ("named, %", "is_named"), ("the paper's, %", "is_found_by_paper"))


@dataclass(frozen=True)
class DetectOptions:
    root: Path
    out: Path
    quick: bool
    players: tuple[str, ...]


def detect(options: DetectOptions) -> None:
    console = Console()
    program = require_program(options.root / PROGRAM)
    options.out.mkdir(parents=True, exist_ok=True)
    rates = {"25": RATES["25"]} if options.quick else RATES
    windows = QUICK_WINDOWS if options.quick else WINDOWS
    found: list[Detection] = []
    for rate, hz in rates.items():
        film = make_film(options.out, rate, windows * sum(SECONDS) + STARTING_S + SPARE_S)
        for player in options.players:
            found += _watch(program, player, film, hz, windows)
            tell(console, f"{player} at {hz:.3f} Hz: {_words(found[-windows * len(SECONDS):])}")
    content = {"machine": machine_facts().to_json(), "detections": [asdict(it) for it in found]}
    write_json(options.out / "detect.json", content)
    tell_table(console, detect_table(found))
    for finding in detect_findings(found):
        tell(console, f"{finding.word}: {finding.name}: {finding.sentence}")


def make_film(folder: Path, rate: str, seconds: float) -> Path:
    """Returns a film at this rate. Makes it if there is none yet."""
    path = folder / f"{rate.replace('/', '_')}-{seconds:.0f}s.mp4"
    if not path.exists():
        require_installed("ffmpeg", "ffmpeg")
        partial = path.with_name(f".{path.stem}.partial.mp4")
        subprocess.run(film_command(rate, seconds, partial), check=True, stdin=subprocess.DEVNULL)
        partial.replace(path)
    return path


def _watch(program: Path, player: str, film: Path, hz: float, windows: int) -> Iterator[Detection]:
    """Yields the detections of one play. The window lengths take turns, so that each length sees all parts of the film."""
    argv = [require_installed(PLAYERS[player][0], player), *PLAYERS[player][1:], str(film)]
    with child(argv, cpus=os.sched_getaffinity(0), env={**os.environ, **ENVIRONMENT}) as process:
        time.sleep(STARTING_S)
        for _window in range(windows):
            for seconds in SECONDS:
                yield _detection(program, player, process.pid, hz, seconds)


def _detection(program: Path, player: str, pid: int, hz: float, seconds: float) -> Detection:
    argv: list[str | Path] = [program, "period", f"--pid={pid}", f"--seconds={seconds:g}", "--json", "--paper"]
    run = subprocess.run(argv, capture_output=True, text=True, check=False)
    if run.returncode:
        raise LabError(f"{player} cannot be watched: {run.stderr.strip().removeprefix('dlex-sched period: ')}")
    said = json.loads(run.stdout)
    return Detection(player, hz, seconds, said["hz"], said["standard_hz"], said["paper_hz"])


def _words(found: list[Detection]) -> str:
    longest = [it for it in found if it.seconds == SECONDS[-1]]
    rates = ", ".join("none" if it.hz is None else f"{it.hz:.3f}" for it in longest)
    return f"{rates} in windows of {SECONDS[-1]:g} s"


def detect_table(found: list[Detection]) -> Table:
    """Makes the table of the shares of right answers, by the length of the observation and the player."""
    players = list(dict.fromkeys(it.player for it in found))
    table = titled_table("right answers; named: distinguished from all other usual rates")
    table.add_column("watched for, s", justify="right")
    for player in players:
        for heading, _name in COLUMNS:
            table.add_column(f"{player}\n{heading}", justify="right")
    for seconds in SECONDS:
        cells = []
        for player in players:
            of_one = [it for it in found if (it.player, it.seconds) == (player, seconds)]
            parts = [share(of_one, name) for _heading, name in COLUMNS]
            cells += ["-" if part is None else f"{100 * part:.0f}" for part in parts]
        table.add_row(f"{seconds:g}", *cells)
    return table
