# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs `./dlex bench overhead`: measures what it costs a program to be watched (seed 003, Table I).

ffmpeg transcodes the same film alone, watched by `dlex-sched tune --dry-run`, and under strace, in turn. The CPU times of ffmpeg,
as the kernel reports them, are compared. strace's own CPU time is not included.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from ..analysis.outcome import MET, MISSED, UNCERTAIN, Outcome
from ..analysis.statistics import compare, spread
from ..errors import LabError
from ..files import write_json
from ..machine.facts import machine_facts
from ..machine.lock import only_one
from ..paths import require_installed, require_program
from ..processes import child
from ..progress import tell, tell_table
from ..table import titled_table
from .experiment import PROGRAM, make_film

FILM_S, QUICK_FILM_S = 60.0, 10.0
REPETITIONS, QUICK_REPETITIONS = 10, 2
ALONE, WATCHED, STRACE = "alone", "watched", "strace"
# Goals: of the CPU time of the program, and of a CPU for the watching program.
MOST_RATIO, MOST_OWN = 1.005, 0.005
OWN_CPU = re.compile(r"watching used ([0-9.]+) %")
NAME = "seed 003"


@dataclass(frozen=True)
class OverheadOptions:
    root: Path
    out: Path
    quick: bool


@dataclass(frozen=True)
class Transcoding:
    """One transcoding: the CPU time of ffmpeg, and what the watching program used of a CPU."""

    how: str
    cpu_s: float
    own_part: float | None = None


def measure_overhead(options: OverheadOptions) -> None:
    console = Console()
    program = require_program(options.root / PROGRAM)
    options.out.mkdir(parents=True, exist_ok=True)
    film = make_film(options.out, "25", QUICK_FILM_S if options.quick else FILM_S)
    hows: dict[str, Callable[[], Transcoding]] = {
        ALONE: lambda: _transcode(film),
        WATCHED: lambda: _transcode_watched(film, program),
        STRACE: lambda: _transcode_traced(film),
    }
    runs: list[Transcoding] = []
    with only_one("experiment"):
        for _repetition in range(QUICK_REPETITIONS if options.quick else REPETITIONS):
            for how, run in hows.items():
                runs.append(run())
                tell(console, f"{how}: {runs[-1].cpu_s:.3f} s of CPU time")
    content = {"machine": machine_facts().to_json(), "runs": [vars(run) for run in runs]}
    write_json(options.out / "overhead.json", content)
    tell_table(console, overhead_table(runs))
    for finding in overhead_findings(runs):
        tell(console, f"{finding.word}: {finding.name}: {finding.sentence}")


def _command(film: Path) -> list[str]:
    ffmpeg = require_installed("ffmpeg", "ffmpeg")
    return [ffmpeg, "-nostdin", "-loglevel", "error", "-i", str(film), "-c:v", "libx264", "-preset", "fast", "-f", "null", "-"]


@contextmanager
def _watching(program: Path, log: Path, pid: int) -> Iterator[None]:
    with log.open("wb") as said, child([program, "tune", "--dry-run", "--quiet", f"--pid={pid}"], cpus=os.sched_getaffinity(0),
                                       stderr=said) as process:
        yield
        process.wait(10)  # it ends with the program


def _transcode(film: Path, program: Path | None = None, log: Path = Path()) -> Transcoding:
    process = subprocess.Popen(_command(film), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    with _watching(program, log, process.pid) if program else nullcontext():
        _pid, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise LabError(f"ffmpeg ended with status {process.returncode}; try it by hand")
    return Transcoding(WATCHED if program else ALONE, used.ru_utime + used.ru_stime)


def _transcode_watched(film: Path, program: Path) -> Transcoding:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        run = _transcode(film, program, log)
        found = OWN_CPU.search(log.read_text())
    if not found:
        raise LabError("ffmpeg cannot be watched here; `dlex-sched doctor` says what would allow it")
    return Transcoding(WATCHED, run.cpu_s, float(found[1]) / 100)


def _transcode_traced(film: Path) -> Transcoding:
    """Returns ffmpeg's CPU time under strace: that of all ended children, minus strace's own."""
    strace = require_installed("strace", "strace")
    process = subprocess.Popen([strace, "-f", "-c", "-o", os.devnull, *_command(film)], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL)
    own_s = 0.0
    while (now_s := _own_cpu_s(process.pid)) is not None:
        own_s = now_s
        time.sleep(0.02)
    _pid, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise LabError(f"strace ended with status {process.returncode}; try it by hand")
    return Transcoding(STRACE, used.ru_utime + used.ru_stime - own_s)


def _own_cpu_s(pid: int) -> float | None:
    """Returns the CPU time of a process without its children, or None if it has ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return None if fields[0] in "ZX" else (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def overhead_table(runs: list[Transcoding]) -> Table:
    """Makes the table of the CPU times, with their ratio to the runs alone."""
    table = titled_table("CPU time of ffmpeg, s")
    for heading in ("", "median", "least", "most", "ratio"):
        table.add_column(heading, justify="right")
    alone = [run.cpu_s for run in runs if run.how == ALONE]
    for how in dict.fromkeys(run.how for run in runs):
        values = [run.cpu_s for run in runs if run.how == how]
        found, ratio = spread(values), compare(values, alone, paired=True).ratio
        assert found is not None
        table.add_row(how, f"{found.median:.3f}", f"{found.low:.3f}", f"{found.high:.3f}", f"{ratio.value:.4f}" if ratio else "-")
    return table


def overhead_findings(runs: list[Transcoding]) -> list[Outcome]:
    """Returns whether being watched costs a program, and watching a CPU, at most half a per cent."""
    alone, watched = ([run.cpu_s for run in runs if run.how == how] for how in (ALONE, WATCHED))
    ratio = compare(watched, alone, paired=True).ratio
    assert ratio is not None
    known = ratio.low is not None and ratio.high is not None
    extent = f"{ratio.low:.4f} to {ratio.high:.4f}" if known else "too few runs for an interval"
    word = UNCERTAIN
    if ratio.low is not None and ratio.high is not None:
        word = MET if ratio.high <= MOST_RATIO else MISSED if ratio.low > MOST_RATIO else UNCERTAIN
    own = max(run.own_part or 0 for run in runs)
    return [
        Outcome(f"being watched costs at most {MOST_RATIO - 1:.1%}", NAME, word, f"ratio {ratio.value:.4f} ({extent})"),
        Outcome(f"watching uses at most {MOST_OWN:.1%} of a CPU", NAME, MET if own <= MOST_OWN else MISSED, f"{own:.2%} at most"),
    ]
