# SPDX-License-Identifier: LGPL-2.1-or-later
"""Implements `dlex-bench observe-check`: watches our player from outside and compares both records of each run."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from ..agenda.job import Job, JobClip, JobLoad, PlayerParams
from ..errors import EXIT_SETUP, LabError
from ..job.context import Context
from ..job.execute import execute
from ..job.observer import SEEN
from ..job.result import OWN
from ..progress import tell_table
from ..record import read_run
from ..table import titled_table
from .differences import Differences, certain_to_be_seen, differences, longest_blink_ns

SUMMARY = "agreement.json"
RunEntry = Mapping[str, Any]  # of the table, and of agreement.json


@dataclass(frozen=True)
class CheckOptions:
    root: Path
    out: Path
    recipe: str
    reps: int


def check_agreement(options: CheckOptions) -> None:
    try:
        options.out.mkdir(parents=True)
    except OSError as cause:
        raise LabError(f"{options.out} cannot be made ({cause.strerror}); name another folder with --out", EXIT_SETUP) from cause
    context = Context(options.root, options.out)
    rows = []
    for repetition in range(1, options.reps + 1):
        job = _job(options.recipe, repetition)
        rows.append(_observed(job, options.out / job.id, context))
        (options.out / SUMMARY).write_text(json.dumps({"recipe": options.recipe, "runs": rows}, indent=2) + "\n")
    _tell(rows, options)


def _job(recipe: str, repetition: int) -> Job:
    clip = JobClip(recipe=recipe)
    load, params = JobLoad(kind="none"), PlayerParams(drop="none", queue="0")
    return Job(
        id=f"agreement-r{repetition}",
        repetition=repetition,
        section="alone",
        workload="dlex_none",
        player="dlex-play",
        player_params=params,
        sched="other",
        load=load,
        clip=clip,
        observe="both",
        cpu=None,
    )


def _observed(job: Job, directory: Path, context: Context) -> RunEntry:
    directory.mkdir()
    result = execute(job, directory, context)
    if result.status != "done":
        raise LabError(str(result.reason))
    own, seen = directory / OWN, directory / SEEN
    return _entry(differences(own, seen), own, seen)


def _entry(differ: Differences, own: Path, seen: Path) -> RunEntry:
    observer = read_run(seen).observer
    if observer is None:
        raise LabError(f"{seen} is not of an observer; is dlex-bench-observe of this build?")
    certain = certain_to_be_seen(own, longest_blink_ns(seen))
    return {
        "both": differ.both,
        "only_inside": len(differ.only_inside),
        "missed": len(certain & set(differ.only_inside)),
        "only_outside": len(differ.only_outside),
        "shown_ms": _quantiles(differ.shown_ms),
        "skew_ms": _quantiles(differ.skew_ms),
        "breaks": observer.sound.breaks,
        "look_late_us_p99": observer.screen.look_late_us_p99,
        "look_late_us_worst": observer.screen.look_late_us_worst,
        "cpu_fraction": observer.cpu_fraction,
    }


def _quantiles(values: Sequence[float]) -> dict[str, float] | None:
    if not values:
        return None
    cuts = statistics.quantiles(values, n=100, method="inclusive") if len(values) > 1 else [values[0]] * 99
    return {"p1": cuts[0], "median": cuts[49], "p99": cuts[98]}


def _tell(rows: Sequence[RunEntry], options: CheckOptions) -> None:
    table = titled_table("Outside less inside, ms: median (1st to 99th percentile)")
    for heading in ("run", "shown in both", "only inside", "missed", "only outside", "shown_ns", "A-V", "observer's CPU"):
        table.add_column(heading, justify="right")
    for number, row in enumerate(rows, 1):
        counts = (str(row[key]) for key in ("both", "only_inside", "missed", "only_outside"))
        table.add_row(str(number), *counts, _range(row["shown_ms"]), _range(row["skew_ms"]), f"{row['cpu_fraction']:.1%}")
    console = Console()
    tell_table(console, table)
    console.print("missed: pictures that stood longer than the longest time between two looks but were not seen. It must be 0.")
    console.print(f"All figures: {options.out / SUMMARY}", soft_wrap=True)
    if any(row["missed"] or row["only_outside"] for row in rows):
        raise LabError("observer and player report different shown pictures; the records in --out show which")


def _range(quantiles: Mapping[str, float] | None) -> str:
    if quantiles is None:
        return "-"
    return f"{quantiles['median']:.2f} ({quantiles['p1']:.2f} to {quantiles['p99']:.2f})"
