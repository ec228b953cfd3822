# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs `./dlex bench overhead`: measures what it costs a program to be watched (seed 003, Table I).

ffmpeg transcodes and mplayer decodes the same film, as fast as they can: alone, watched by `dlex-sched tune --dry-run`, and under
strace, in turn. The CPU times of these programs, as the kernel reports them, are compared. strace's own CPU time is not included.
"""

from __future__ import annotations

import itertools
import os
import re
import resource
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from ..analysis.chapter import Chapter, tell_chapter, write_chapters
from ..analysis.claims import goal_at_most, is_above, with_interval
from ..analysis.outcome import MET, MISSED, Outcome
from ..analysis.statistics import compare, spread
from ..errors import LabError
from ..files import write_json
from ..machine.facts import commit, machine_facts
from ..machine.kept_runs import KeptRuns
from ..machine.lock import only_measurement
from ..order import interleaved
from ..output import checked_files, output_folder
from ..paths import require_installed, require_program
from ..processes import child, wait_for
from ..progress import tell
from ..table import titled_table
from . import records
from .experiment import PROGRAM, make_film
from .records import PlayedRun, play_at_speed, record_cost, records_findings, records_table

FILM_S, QUICK_FILM_S = 60.0, 10.0
REPETITIONS, QUICK_REPETITIONS = 10, 2
ALONE, WATCHED, STRACE = "alone", "watched", "strace"
WAYS = (ALONE, WATCHED, STRACE)
# Goals: of the CPU time of the program, and of a CPU for the watching program.
MOST_RATIO, MOST_OWN = 1.005, 0.005
OWN_CPU = re.compile(r"watching used ([0-9.]+) %")
# The watcher ends with the program.
ENDING_S = 10.0
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
    watcher = require_for_overhead(options)
    out = output_folder(options.out)
    film_s, repetitions = (QUICK_FILM_S, QUICK_REPETITIONS) if options.quick else (FILM_S, REPETITIONS)
    film = make_film(out, f"{FILM_HZ:g}", film_s)
    runs: list[TimedRun] = []
    played: list[PlayedRun] = []
    kept = KeptRuns(console, out, {"quick": options.quick})
    with only_measurement(os.sched_getaffinity(0)):
        for number, (program, how) in interleaved(list(itertools.product(PROGRAMS, WAYS)), repetitions):
            runs.append(TimedRun(**kept.run(f"{program}, {how}, {number}", partial(_run_in_way, program, film, how, watcher))))
            tell(console, f"{program}, {how}: {runs[-1].cpu_s:.3f} s of CPU time")
        cost = kept.run("cost of a record", partial(record_cost, options.root))
        for program in records.PROGRAMS:
            played.append(PlayedRun(**kept.run(f"{program} plays", partial(play_at_speed, program, film))))
            tell(console, f"{program} plays: {played[-1].switches} switches, {played[-1].cpu_s:.3f} s of CPU time")
    chapter = Chapter(
        "What it costs to be watched",
        f"{film_s:g} s of a film, {repetitions} times each.",
        [*(overhead_table(program, _of(runs, program), film_s) for program in PROGRAMS), records_table(played, cost, film_s)],
        [*(finding for program in PROGRAMS for finding in overhead_findings(program, _of(runs, program))),
         *records_findings(played, cost)],
    )
    tell_chapter(console, chapter)
    content = {"commit": commit(), "machine": machine_facts().to_json(), "film_s": film_s, "runs": [vars(run) for run in runs],
               "record_cost": cost, "played": [vars(run) for run in played]}
    with checked_files(out):
        write_json(out / "overhead.json", content)
        write_chapters(out / "overhead.md", [chapter])
        kept.forget()
    tell(console, f"written: {out}/overhead.md and overhead.json")
    return chapter


def require_for_overhead(options: OverheadOptions) -> Path:
    """Returns dlex-sched. Raises LabError if a program of this experiment is missing."""
    for program in (*PROGRAMS, "mpv", "strace"):
        require_installed(program, program)
    require_program(options.root / records.RECORD_COST)
    return require_program(options.root / PROGRAM)


def _run_in_way(program: str, film: Path, how: str, watcher: Path) -> dict[str, Any]:
    """Returns what a TimedRun is made of."""
    if how == WATCHED:
        return vars(_run_watched(program, film, watcher))
    return vars(_run_traced(program, film) if how == STRACE else _run(program, film, how))


def _of(runs: list[TimedRun], program: str) -> list[TimedRun]:
    return [run for run in runs if run.program == program]


def _command(program: str, film: Path) -> list[str]:
    before, after = PROGRAMS[program]
    return [program, *before, str(film), *after]


@contextmanager
def _watching(program: Path, log: Path, pid: int) -> Iterator[None]:
    with log.open("wb") as said, child([program, "tune", "--dry-run", "--quiet", f"--pid={pid}"], cpus=os.sched_getaffinity(0),
                                       stderr=said) as process:
        yield
        wait_for(process, ENDING_S, lambda: None, "dlex-sched tune")


def _run(program: str, film: Path, how: str, watcher: Path | None = None, log: Path = Path()) -> TimedRun:
    with child(_command(program, film), cpus=os.sched_getaffinity(0)) as process:
        with _watching(watcher, log, process.pid) if watcher else nullcontext():
            used = _used_by(process)
    if process.returncode:
        raise LabError(f"{program} ended with status {process.returncode}; try it by hand")
    return TimedRun(how, used.ru_utime + used.ru_stime, program=program)


def _used_by(process: subprocess.Popen[bytes]) -> resource.struct_rusage:
    """Waits until the process has ended, and returns what it and its ended children have used."""
    _pid, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used


def _run_watched(program: str, film: Path, watcher: Path) -> TimedRun:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        run = _run(program, film, WATCHED, watcher, log)
        found = OWN_CPU.search(log.read_text())
    if not found:
        raise LabError(f"{program} cannot be watched here; `dlex-sched doctor` says what would allow it")
    return replace(run, own_part=float(found[1]) / 100)


def _run_traced(program: str, film: Path) -> TimedRun:
    """Returns the program's CPU time under strace: that of all ended children, minus strace's own.

    With -I2, strace ends the program when it gets SIGTERM itself. The program of a killed strace would continue.
    """
    argv = ["strace", "-I2", "-f", "-c", "-o", os.devnull, *_command(program, film)]
    own_s = 0.0
    with child(argv, cpus=os.sched_getaffinity(0), orphaned=signal.SIGTERM) as process:
        while (now_s := _own_cpu_s(process.pid)) is not None:
            own_s = now_s
            time.sleep(0.02)
        used = _used_by(process)
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
    own = max(run.own_part or 0 for run in runs)
    return [
        Outcome(f"being watched costs {program} at most {MOST_RATIO - 1:.1%}", NAME, goal_at_most(ratio, MOST_RATIO),
                f"ratio {with_interval(ratio, '{:.4f}')}"),
        Outcome(f"watching {program} uses at most {MOST_OWN:.1%} of a CPU", NAME, MET if own <= MOST_OWN else MISSED,
                f"{own:.2%} at most"),
        Outcome(f"strace costs {program} more than being watched", NAME, is_above(more, 1),
                f"ratio {with_interval(more, '{:.4f}')} (in the paper 1.020 for ffmpeg and 1.018 for mplayer)"),
    ]
