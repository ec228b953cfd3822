# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs `./dlex bench overhead`: measures what it costs a program to be watched (seed 003, Table I).

ffmpeg transcodes and mplayer decodes the same film, as fast as they can: alone, watched by `dlex-sched tune --dry-run`, and under
strace, in turn. The CPU times of these programs, as the kernel reports them, are compared. strace's own CPU time is not included.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from ..analysis.chapter import Chapter, tell_chapter
from ..analysis.claims import is_above, with_interval
from ..analysis.outcome import MET, MISSED, UNCERTAIN, Outcome
from ..analysis.statistics import compare, spread
from ..errors import LabError
from ..files import write_json
from ..machine.facts import machine_facts
from ..machine.lock import only_one
from ..paths import require_installed, require_program
from ..processes import child
from ..progress import tell
from ..table import titled_table
from .experiment import PROGRAM, make_film

FILM_S, QUICK_FILM_S = 60.0, 10.0
REPETITIONS, QUICK_REPETITIONS = 10, 2
ALONE, WATCHED, STRACE = "alone", "watched", "strace"
# Goals: of the CPU time of the program, and of a CPU for the watching program.
MOST_RATIO, MOST_OWN = 1.005, 0.005
OWN_CPU = re.compile(r"watching used ([0-9.]+) %")
NAME = "seed 003"
FILM_HZ = 25.0
# Without its argument, the film; then what follows the film.
PROGRAMS: dict[str, tuple[list[str], list[str]]] = {
    "ffmpeg": (["-nostdin", "-loglevel", "error", "-i"], ["-c:v", "libx264", "-preset", "fast", "-f", "null", "-"]),
    "mplayer": (
        ["-noconfig", "all", "-really-quiet", "-noconsolecontrols", "-nolirc", "-nosound", "-benchmark", "-vo", "null"],
        [],
    ),
}


@dataclass(frozen=True)
class OverheadOptions:
    root: Path
    out: Path
    quick: bool


@dataclass(frozen=True)
class TimedRun:
    """One run: the program's CPU time, and what the watching program used of a CPU."""

    how: str
    cpu_s: float
    own_part: float | None = None
    program: str = "ffmpeg"


def measure_overhead(options: OverheadOptions) -> Chapter:
    console = Console()
    watcher = require_program(options.root / PROGRAM)
    options.out.mkdir(parents=True, exist_ok=True)
    film_s = QUICK_FILM_S if options.quick else FILM_S
    film = make_film(options.out, f"{FILM_HZ:g}", film_s)
    repetitions = QUICK_REPETITIONS if options.quick else REPETITIONS
    runs: list[TimedRun] = []
    with only_one("experiment"):
        for _repetition in range(repetitions):
            for run in _one_of_each(film, watcher):
                runs.append(run)
                tell(console, f"{run.program}, {run.how}: {run.cpu_s:.3f} s of CPU time")
    content = {"machine": machine_facts().to_json(), "film_s": film_s, "runs": [vars(run) for run in runs]}
    write_json(options.out / "overhead.json", content)
    chapter = Chapter(
        "What it costs to be watched",
        f"{film_s:g} s of a film, {repetitions} times each.",
        [overhead_table(program, _of(runs, program), film_s) for program in PROGRAMS],
        [finding for program in PROGRAMS for finding in overhead_findings(program, _of(runs, program))],
    )
    tell_chapter(console, chapter)
    return chapter


def _one_of_each(film: Path, watcher: Path) -> Iterator[TimedRun]:
    for program in PROGRAMS:
        yield _run(program, film, ALONE)
        yield _run_watched(program, film, watcher)
        yield _run_traced(program, film)


def _of(runs: list[TimedRun], program: str) -> list[TimedRun]:
    return [run for run in runs if run.program == program]


def _command(program: str, film: Path) -> list[str]:
    before, after = PROGRAMS[program]
    return [require_installed(program, program), *before, str(film), *after]


@contextmanager
def _watching(program: Path, log: Path, pid: int) -> Iterator[None]:
    with log.open("wb") as said, child([program, "tune", "--dry-run", "--quiet", f"--pid={pid}"], cpus=os.sched_getaffinity(0),
                                       stderr=said) as process:
        yield
        process.wait(10)  # it ends with the program


def _run(program: str, film: Path, how: str, watcher: Path | None = None, log: Path = Path()) -> TimedRun:
    process = subprocess.Popen(_command(program, film), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    with _watching(watcher, log, process.pid) if watcher else nullcontext():
        _pid, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise LabError(f"{program} ended with status {process.returncode}; try it by hand")
    return TimedRun(how, used.ru_utime + used.ru_stime, program=program)


def _run_watched(program: str, film: Path, watcher: Path) -> TimedRun:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        run = _run(program, film, WATCHED, watcher, log)
        found = OWN_CPU.search(log.read_text())
    if not found:
        raise LabError(f"{program} cannot be watched here; `dlex-sched doctor` says what would allow it")
    return replace(run, own_part=float(found[1]) / 100)


def _run_traced(program: str, film: Path) -> TimedRun:
    """Returns the program's CPU time under strace: that of all ended children, minus strace's own."""
    strace = require_installed("strace", "strace")
    process = subprocess.Popen([strace, "-f", "-c", "-o", os.devnull, *_command(program, film)], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    own_s = 0.0
    while (now_s := _own_cpu_s(process.pid)) is not None:
        own_s = now_s
        time.sleep(0.02)
    _pid, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise LabError(f"strace ended with status {process.returncode}; try it by hand")
    return TimedRun(STRACE, used.ru_utime + used.ru_stime - own_s, program=program)


def _own_cpu_s(pid: int) -> float | None:
    """Returns the CPU time of a process without its children, or None if it has ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return None if fields[0] in "ZX" else (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def overhead_table(program: str, runs: list[TimedRun], film_s: float) -> Table:
    """Makes the table of a program's CPU times, with their ratio to the runs alone."""
    table = titled_table(f"CPU time of {program}, s")
    for heading in ("", "median", "least", "most", "ratio", "ms a picture"):
        table.add_column(heading, justify="right")
    alone = [run.cpu_s for run in runs if run.how == ALONE]
    for how in dict.fromkeys(run.how for run in runs):
        values = [run.cpu_s for run in runs if run.how == how]
        found, ratio = spread(values), compare(values, alone, paired=True).ratio
        assert found is not None
        table.add_row(how, f"{found.median:.3f}", f"{found.low:.3f}", f"{found.high:.3f}", f"{ratio.value:.4f}" if ratio else "-",
                      f"{1e3 * found.median / (FILM_HZ * film_s):.3f}")
    return table


def overhead_findings(program: str, runs: list[TimedRun]) -> list[Outcome]:
    """Returns whether watching costs the program, and a CPU, at most half a per cent, and whether strace costs more."""
    alone, watched, traced = ([run.cpu_s for run in runs if run.how == how] for how in (ALONE, WATCHED, STRACE))
    ratio = compare(watched, alone, paired=True).ratio
    more = compare(traced, watched, paired=True).ratio
    assert ratio is not None
    word = UNCERTAIN
    if ratio.low is not None and ratio.high is not None:
        word = MET if ratio.high <= MOST_RATIO else MISSED if ratio.low > MOST_RATIO else UNCERTAIN
    own = max(run.own_part or 0 for run in runs)
    return [
        Outcome(f"being watched costs {program} at most {MOST_RATIO - 1:.1%}", NAME, word,
                f"ratio {with_interval(ratio, '{:.4f}')}"),
        Outcome(f"watching uses at most {MOST_OWN:.1%} of a CPU", NAME, MET if own <= MOST_OWN else MISSED, f"{own:.2%} at most"),
        Outcome(f"strace costs {program} more than being watched", NAME, is_above(more, 1),
                f"ratio {with_interval(more, '{:.4f}')} (in the paper 1.020 for ffmpeg and 1.018 for mplayer)"),
    ]
