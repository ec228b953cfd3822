# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs `./dlex bench detect`: plays films at the usual rates, and watches the players with `dlex-sched period`.

The seed's own experiment (Figures 6 to 9) is one of them: mplayer at 25 pictures/s, by its system calls where they can be watched.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from ..analysis.chapter import Chapter, tell_chapter, write_chapters
from ..errors import LabError
from ..files import whole_file, write_json
from ..machine.facts import PROGRAMS, commit, machine_facts
from ..machine.kept_runs import KeptRuns
from ..output import checked_files, output_folder
from ..paths import require_installed, require_program
from ..processes import child, own_environment
from ..progress import tell
from ..table import titled_table
from .commands import ENVIRONMENT, PLAYERS, RATES, film_command
from .findings import JOBS, SEED_HZ, SEED_PLAYER, SYSCALLS, Detection, detect_findings, share
from .spectrum import peaks_finding

PROGRAM = "build/release/sched/cmd/dlex-sched"
SECONDS = (0.2, 0.4, 0.6, 1.0, 2.0, 4.0)
# Windows of each length in one play of a film.
WINDOWS, QUICK_WINDOWS = 5, 2
# Of the seed's own experiment: 50 right answers of 50 are at least nine of ten.
SEED_WINDOWS, QUICK_SEED_WINDOWS = 10, 3
STARTING_S = 1.5
# Of a film: dlex-sched starts and ends within this time for each observation, also beside other work.
BETWEEN_S = 0.2
SPARE_S = 10.0
# Whether system calls can be watched is tried for so long.
TRIAL_S = 0.2
COLUMNS = (("ours, %", "is_found"), ("named, %", "is_named"), ("the paper's, %", "is_found_by_paper"))


@dataclass(frozen=True)
class DetectOptions:
    root: Path
    out: Path
    quick: bool
    players: tuple[str, ...]


def detect(options: DetectOptions) -> Chapter:
    console = Console()
    program = require_for_detect(options)
    out = output_folder(options.out)
    rates = {"25": RATES["25"]} if options.quick else RATES
    windows = QUICK_WINDOWS if options.quick else WINDOWS
    found: list[Detection] = []
    kept = KeptRuns(console, out, {"quick": options.quick, "players": options.players})
    for rate, hz in rates.items():
        film = make_film(out, rate, film_seconds(windows))
        for player in options.players:
            seen = kept.run(f"{player} at {rate}", partial(_of_one_play, program, player, film, hz, windows))
            found += [Detection(**it) for it in seen]
            tell(console, f"{player} at {hz:.3f} Hz: {_words(found[-windows * len(SECONDS):])}")
    times_s: list[float] = []
    if SEED_PLAYER in options.players:
        of_seed, times_s = kept.run("the seed's", partial(_seeds_own, console, program, options))
        found += [Detection(**it) for it in of_seed]
    chapter = _chapter(options, len(rates), windows, found, times_s)
    tell_chapter(console, chapter)
    _write(out, found, times_s, chapter)
    kept.forget()
    tell(console, f"written: {out}/detect.md, detect.json and detect.png")
    return chapter


def require_for_detect(options: DetectOptions) -> Path:
    """Returns dlex-sched. Raises LabError if a program of this experiment is missing."""
    for program in ("ffmpeg", *options.players):
        require_installed(program, PROGRAMS[program])
    return require_program(options.root / PROGRAM)


def film_seconds(windows: int, *others_s: float) -> float:
    """Returns how long a film must be that is watched so many times for each length, and once for each of `others_s`."""
    watched_s = [*windows * SECONDS, *others_s]
    return STARTING_S + sum(watched_s) + BETWEEN_S * len(watched_s) + SPARE_S


def _chapter(options: DetectOptions, rates: int, windows: int, found: list[Detection], times_s: list[float]) -> Chapter:
    once_more = f" {SEED_PLAYER} at {SEED_HZ:g} Hz plays once more, and is watched {_seed_windows(options)} times for each."
    return Chapter(
        "How soon a rate is found",
        f"Films at {rates} rates, played by {', '.join(options.players)}; each play watched {windows} times for each of "
        f"{', '.join(f'{it:g}' for it in SECONDS)} s.{once_more if SEED_PLAYER in options.players else ''}",
        [detect_table([it for it in found if it.events == JOBS])],
        [*detect_findings(found), peaks_finding(times_s)],
    )


def _write(out: Path, found: list[Detection], times_s: list[float], chapter: Chapter) -> None:
    from .figure import draw_detections

    content = {
        "commit": commit(),
        "machine": machine_facts().to_json(),
        "detections": [asdict(it) for it in found],
        "events_s": times_s,
    }
    with checked_files(out):
        write_json(out / "detect.json", content)
        write_chapters(out / "detect.md", [chapter], ["detect.png"])
        draw_detections(found, times_s, out / "detect.png")


def _seed_windows(options: DetectOptions) -> int:
    return QUICK_SEED_WINDOWS if options.quick else SEED_WINDOWS


def _of_one_play(program: Path, player: str, film: Path, hz: float, windows: int) -> list[dict[str, Any]]:
    """Plays a film. Returns what the detections are made of."""
    with _playing(player, film) as pid:
        return [asdict(it) for it in _detections(program, player, pid, hz, windows)]


def _seeds_own(console: Console, program: Path, options: DetectOptions) -> tuple[list[dict[str, Any]], list[float]]:
    """Plays the seed's film once more. Returns what the detections are made of, and the events of one observation.

    Both are by system calls. Where these cannot be watched, both are by jobs.
    """
    windows = _seed_windows(options)
    film = make_film(options.out, "25", film_seconds(windows, TRIAL_S, SECONDS[-1]))
    with _playing(SEED_PLAYER, film) as pid:
        refusal = _refusal_of_syscalls(program, pid)
        if refusal:
            tell(console, f"without system calls, so jobs stand for the paper's events: {refusal}")
            found = _detections(program, SEED_PLAYER, pid, SEED_HZ, windows)
        else:
            found = _detections_by_syscalls(program, pid, windows)
        return [asdict(it) for it in found], _events(program, pid, JOBS if refusal else SYSCALLS)


def _refusal_of_syscalls(program: Path, pid: int) -> str | None:
    """Returns why system calls cannot be watched here; None: they can."""
    argv: list[str | Path] = [program, "period", "--events=syscalls", f"--seconds={TRIAL_S:g}", f"--pid={pid}"]
    run = subprocess.run(argv, capture_output=True, text=True, check=False)
    return run.stderr.strip().rpartition(f"process {pid}: ")[2] if run.returncode else None


def _events(program: Path, pid: int, kind: str) -> list[float]:
    """Returns the times of the events of the longest observation, from its beginning on."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "events.csv"
        _watch(program, SEED_PLAYER, pid, SECONDS[-1], f"--events={kind}", f"--record={record}")
        with record.open(newline="") as file:
            return sorted(float(row["second"]) for row in csv.DictReader(file))


def make_film(folder: Path, rate: str, seconds: float) -> Path:
    """Returns a film at this rate. Makes it if there is none yet."""
    path = folder / f"{rate.replace('/', '_')}-{seconds:.0f}s.mp4"
    if not path.exists():
        with checked_files(folder), whole_file(path) as partial:
            argv = film_command(rate, seconds, partial)
            run = subprocess.run(argv, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace", check=False)
            if run.returncode:
                words = (run.stderr.strip().splitlines() or [f"status {run.returncode}"])[-1]
                raise LabError(f"ffmpeg cannot make the film {path} ({words}); it needs libx264, and room on the disk")
    return path


@contextmanager
def _playing(player: str, film: Path) -> Iterator[int]:
    """Plays the film while the block runs, and yields the player's process id when it has started."""
    with child([*PLAYERS[player], film], cpus=os.sched_getaffinity(0), env={**os.environ, **ENVIRONMENT}) as process:
        time.sleep(STARTING_S)
        yield process.pid


def _detections(program: Path, player: str, pid: int, hz: float, windows: int) -> Iterator[Detection]:
    """Yields the detections of one play. The window lengths take turns, so that each length sees all parts of the film."""
    for seconds in windows * SECONDS:
        said = _watch(program, player, pid, seconds, "--paper")
        yield Detection(player, hz, seconds, said["hz"], said["standard_hz"], said["paper_hz"])


def _detections_by_syscalls(program: Path, pid: int, windows: int) -> Iterator[Detection]:
    """Yields the paper's detections in the seed's experiment; ours does not look at system calls."""
    for seconds in windows * SECONDS:
        said = _watch(program, SEED_PLAYER, pid, seconds, "--events=syscalls")
        yield Detection(SEED_PLAYER, SEED_HZ, seconds, None, None, said["paper_hz"], SYSCALLS)


def _watch(program: Path, player: str, pid: int, seconds: float, *options: str) -> dict[str, Any]:
    """Watches a player once. Returns what dlex-sched says."""
    argv: list[str | Path] = [program, "period", f"--pid={pid}", f"--seconds={seconds:g}", "--json", *options]
    run = subprocess.run(argv, capture_output=True, text=True, check=False, env=own_environment())
    if run.returncode:
        raise LabError(f"{player} cannot be watched: {run.stderr.strip().removeprefix('dlex-sched period: ')}")
    said: dict[str, Any] = json.loads(run.stdout)
    return said


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
            cells += [f"{100 * part.hits / part.n:.0f}" if part.n else "-" for part in parts]
        table.add_row(f"{seconds:g}", *cells)
    return table
