# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares periods of reservations (seed 003, Figures 3, 4, 10 and 11, Table II).

A task with a job of 10 ms each 40 ms, and a film that dlex-play decodes and shows in one thread, run under the paper's feedback
(LFSg) with one period of the reservation after another. Nothing beyond the reservation can be used, so no load is needed. The
paper's player was mplayer; dlex-play records when each picture was shown, as the paper's authors made their mplayer do.
"""

from __future__ import annotations

import csv
import itertools
import os
import subprocess
import tempfile
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

from ..analysis.chapter import Chapter, tell_chapter, write_chapters
from ..checksum import checksum
from ..clips import film_file, make_clip
from ..errors import EXIT_SETUP, LabError
from ..files import write_json
from ..job.tuning import require_reserving
from ..machine.facts import commit, machine_facts
from ..machine.kept_runs import KeptRuns
from ..machine.lock import only_measurement
from ..order import interleaved
from ..output import checked_files, output_folder
from ..paths import require_program
from ..processes import child, own_environment, wait_for
from ..progress import tell
from ..record import read_frames
from ..table import titled_table
from .findings import FILM, OWN_MS, TASK, PeriodRun, Reserved, period_findings

BUILD = Path("build/release")
DLEX_SCHED, PERIODIC, DLEX_PLAY = "sched/cmd/dlex-sched", "sched/periodic", "player/dlex-play"
# Where the real trailer is not here. Its costliest pictures take longer than their 40 ms on a slow machine, and then what a CPU has
# decides in place of the feedback.
CLIP = "hard_1080p"
PERIODS_MS, QUICK_PERIODS_MS = (20, 30, 40, 50, 60, 70, 80, 90, 100), (20, 40, 60)
REPETITIONS, QUICK_REPETITIONS = 5, 1
# The first seconds, until the rate is known and the feedback has settled, do not count. 250 jobs remain, as in the paper.
PLAYED_S, ASIDE_S = 15.0, 5.0
TASK_HZ, TASK_MS = 25, 10
LIMIT_S = 30.0
# periodic's exit code when it has played.
PLAYED = 3
# One thread can have no more; it must not be the limit of `dlex-sched tune` that decides.
LIMIT_PERCENT = 95
PICTURE_FILE = "periods.png"
# The paper's Table II: p90 and p95 of the times from picture to picture, in ms; mean and most that was reserved.
PAPER: dict[int, tuple[float, float, float, float]] = {
    20: (41.803, 44.383, 0.385653, 0.536840),
    30: (40.1, 55.639, 0.358286, 0.516393),
    40: (43.189, 46.109, 0.325452, 0.452615),
    50: (56.074, 60.148, 0.336614, 0.500588),
    60: (59.066, 62.393, 0.344995, 0.492892),
    70: (53.076, 61.370, 0.348372, 0.486546),
    80: (58.853, 62.339, 0.342492, 0.449763),
    90: (60.319, 68.516, 0.324594, 0.404568),
    100: (53.959, 74.186, 0.318421, 0.421542),
}


@dataclass(frozen=True)
class PeriodOptions:
    root: Path
    out: Path
    quick: bool


def measure_periods(options: PeriodOptions) -> Chapter:
    console = Console()
    build = require_for_periods(options)
    out = output_folder(options.out)
    clip = film_file() or make_clip(options.root, CLIP)
    periods, rounds = (QUICK_PERIODS_MS, QUICK_REPETITIONS) if options.quick else (PERIODS_MS, REPETITIONS)
    runs: list[PeriodRun] = []
    kept = KeptRuns(console, out, {"quick": options.quick, "clip": clip.name, "film": checksum(clip)})
    with only_measurement(os.sched_getaffinity(0)):
        for repetition, (workload, period_ms) in interleaved(list(itertools.product((TASK, FILM), periods)), rounds):
            name = f"{workload}, reservations each {period_ms} ms"
            found = kept.run(f"{name}, {repetition}", partial(_run, build, clip, workload, period_ms))
            reserved = tuple(Reserved(**it) for it in found["reserved"])
            runs.append(PeriodRun(workload, period_ms, repetition, tuple(found["steps_ms"]), reserved))
            tell(console, f"{name}: {_words(runs[-1])}")
    chapter = _chapter(runs, rounds, clip)
    tell_chapter(console, chapter)
    _write(out, runs, chapter)
    kept.forget()
    tell(console, f"written: {out}/periods.md, periods.json and periods.png")
    return chapter


def require_for_periods(options: PeriodOptions) -> Path:
    """Returns the folder of the build. Raises LabError if nothing can be reserved here, or a program is missing."""
    if os.geteuid():
        raise LabError("reserving CPU time needs root; run it with sudo", EXIT_SETUP)
    build = options.root / BUILD
    for program in (DLEX_SCHED, PERIODIC, DLEX_PLAY):
        require_program(build / program)
    with tempfile.TemporaryDirectory() as folder:  # root may lack the right in a container
        _output([build / DLEX_SCHED, "tune", "--quiet", "--", "true"], 0, Path(folder))
    return build


def _chapter(runs: list[PeriodRun], rounds: int, clip: Path) -> Chapter:
    return Chapter(
        "Which period a reservation should have",
        f"A task of {TASK_MS} ms each {1000 // TASK_HZ} ms, and {clip.name}, under the paper's feedback; {rounds} runs of each, "
        f"of which the last {PLAYED_S - ASIDE_S:g} s count.",
        [periods_table(runs, workload) for workload in (TASK, FILM)],
        period_findings(runs),
    )


def _run(build: Path, clip: Path, workload: str, period_ms: int) -> dict[str, Any]:
    """Returns the times from job to job, and what was reserved."""
    with tempfile.TemporaryDirectory() as folder:
        return _run_in(Path(folder), build, clip, workload, period_ms)


def _run_in(folder: Path, build: Path, clip: Path, workload: str, period_ms: int) -> dict[str, Any]:
    rows, record = folder / "tune.csv", folder / "record"
    tune: list[str | Path] = [build / DLEX_SCHED, "tune", "--quiet", "--rule=lfsg", "--strict", f"--limit={LIMIT_PERCENT}",
                              f"--period={period_ms}", f"--record={rows}", "--"]
    if workload == TASK:
        said = _output([*tune, build / PERIODIC, str(TASK_HZ), str(TASK_MS), str(PLAYED_S), "1", str(TASK_HZ), "times"], PLAYED,
                       folder)
        done_ns = [int(line) for line in said.split()]
    else:
        _output([*tune, build / DLEX_PLAY, "--quiet", "--vo=null", "--ao=null", "--drop=none", "--queue=0", "--threads=1",
                 f"--length={PLAYED_S}", f"--record={record}", clip], 0, folder)
        done_ns = [frame.shown_ns for frame in read_frames(record) if frame.shown_ns is not None]
    reserved = read_reserved(rows)
    if not reserved:
        raise LabError(f"dlex-sched reserved nothing for the {workload}; `dlex-sched doctor` says what may be missing")
    return {"steps_ms": steps_ms(done_ns), "reserved": [asdict(it) for it in reserved]}


def _output(argv: list[str | Path], code: int, folder: Path) -> str:
    """Runs a program under dlex-sched to its end, and returns what it printed. Its messages go to a file in `folder`.

    Raises LabError if dlex-sched may reserve nothing, or if the program ends with another code.
    """
    log = folder / "log"
    with log.open("wb") as messages, child(argv, cpus=os.sched_getaffinity(0), stdout=subprocess.PIPE, stderr=messages,
                                           env=own_environment()) as process:
        wait_for(process, PLAYED_S + LIMIT_S, lambda: None, str(argv[0]))
        said = process.stdout.read().decode() if process.stdout else ""
    require_reserving(log)
    if process.returncode != code:
        raise LabError(f"{' '.join(map(str, argv))} ended with {process.returncode}; try it by hand")
    return said


def steps_ms(done_ns: list[int]) -> tuple[float, ...]:
    """Returns the times from job to job, without those of the first seconds."""
    later = [it for it in done_ns if it - done_ns[0] >= ASIDE_S * 1e9]
    return tuple((after - before) / 1e6 for before, after in itertools.pairwise(later))


def read_reserved(rows: Path) -> tuple[Reserved, ...]:
    """Returns what was reserved in each second, without the first seconds.

    Raises LabError if less was reserved in one of them than the feedback asked for.
    """
    with rows.open(newline="") as file:
        counted = [row for row in csv.DictReader(file) if float(row["second"]) >= ASIDE_S]
    if limited := sum(int(row["limited"]) for row in counted):
        raise LabError(f"in {limited} of {len(counted)} s dlex-sched could not reserve what the feedback asked for; "
                       "end what else has reserved CPU time, and repeat it")
    found = (Reserved(float(row["second"]), float(row["reserved"])) for row in counted)
    return tuple(it for it in found if it.part > 0)


def _words(run: PeriodRun) -> str:
    return (f"p90 {run.step_percentile(90):.1f}, p95 {run.step_percentile(95):.1f} ms from job to job; reserved "
            f"{run.reserved_mean:.1%}, at most {run.reserved_most:.1%}")


def periods_table(runs: list[PeriodRun], workload: str) -> Table:
    """Makes the table of a workload in the form of the paper's Table II; of the film, with the paper's values."""
    table = titled_table(f"{workload}: medians of the runs")
    for heading in ("period, ms", "p90, ms", "p95, ms", "reserved, mean", "reserved, most"):
        table.add_column(heading, justify="right")
    if workload == FILM:
        table.add_column("paper: p90, p95, mean, most", justify="right")
    for period in dict.fromkeys(sorted(run.period_ms for run in runs if run.workload == workload)):
        same = [run for run in runs if (run.workload, run.period_ms) == (workload, period)]
        cells = [f"{median(run.step_percentile(percent) for run in same):.2f}" for percent in (90, 95)]
        cells += [f"{median(run.reserved_mean for run in same):.3f}", f"{median(run.reserved_most for run in same):.3f}"]
        if workload == FILM:
            cells.append("{:.1f}, {:.1f}, {:.3f}, {:.3f}".format(*PAPER[period]) if period in PAPER else "-")
        table.add_row(f"{period}{' (own)' if period == OWN_MS else ''}", *cells)
    return table


def _write(out: Path, runs: list[PeriodRun], chapter: Chapter) -> None:
    from .figure import draw_periods

    content = {"commit": commit(), "machine": machine_facts().to_json(), "runs": [asdict(run) for run in runs]}
    with checked_files(out):
        write_json(out / "periods.json", content)
        write_chapters(out / "periods.md", [chapter], [PICTURE_FILE])
        draw_periods(runs, out / PICTURE_FILE)
