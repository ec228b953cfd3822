# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs `./dlex bench graphs`."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import yaml
from rich.console import Console
from rich.table import Table

from ..analysis.chapter import Chapter, tell_chapter, write_chapters
from ..analysis.claims import with_interval
from ..analysis.statistics import median_interval
from ..checksum import checksum
from ..errors import EXIT_SETUP, LabError
from ..files import write_json
from ..machine.facts import commit, machine_facts
from ..machine.kept_runs import KeptRuns
from ..machine.lock import only_measurement
from ..order import interleaved
from ..output import checked_files, output_folder
from ..paths import require_program
from ..processes import choose_cpus
from ..progress import tell
from ..rig.load.stress import find_stress
from ..table import titled_table
from .change_experiment import changes_chapter, run_changing
from .change_findings import CHANGED_CONDITIONS, ChangedRuns
from .changed_run import ChangedRun, stored_run
from .conditions import CAMERA, CONTROL, DELAYED, Condition, conditions, graph_of
from .findings import GraphRun, Runs, graphs_findings
from .graph_run import HZ, kept_awake, started_graph

ROBOT, MANAGER = Path("sched/graphs/robot.yaml"), Path("build/release/sched/pman/dlex-sched-pman")
TICKS, QUICK_TICKS = 1000, 90
US_PER_MS = 1e3
FOLLOWS = "Color_Class0"  # the camera
TRACKING = "Obj_Track"  # the beginning of the names of the processes that track objects


@dataclass(frozen=True)
class GraphsOptions:
    root: Path
    out: Path
    quick: bool
    reps: int
    clip: Path | None


def measure_graphs(options: GraphsOptions) -> list[Chapter]:
    console = Console()
    if os.geteuid():
        raise LabError("priorities need root; run it with sudo", EXIT_SETUP)
    require_program(options.root / MANAGER)
    find_stress()
    ticks, reps = (QUICK_TICKS, 1) if options.quick else (TICKS, options.reps)
    robot = yaml.safe_load((options.root / ROBOT).read_text())
    output_folder(options.out)
    film = {"clip": str(options.clip or ""), "film": checksum(options.clip) if options.clip else None}
    kept = KeptRuns(console, options.out, {"quick": options.quick, **film})
    with only_measurement(os.sched_getaffinity(0)):
        runs = _measure_starts(console, options, kept, robot, ticks, reps)
        changed = _measure_changes(console, options, kept, robot, ticks, reps)
    chapters = _report(console, options, runs, changed, ticks)
    kept.forget()
    return chapters


def _measure_starts(
    console: Console, options: GraphsOptions, kept: KeptRuns, robot: Mapping[str, Any], ticks: int, reps: int
) -> Runs:
    every = conditions(has_own_cpu=_has_own_cpu())
    runs: dict[Condition, list[GraphRun]] = {condition: [] for condition in every}
    for number, condition in interleaved(every, reps):
        folder, name = folder_of(options.out, condition, number), f"{condition}, {number}"
        graph = _divided(robot, condition)
        found = GraphRun(**kept.run(name, partial(_run, options, folder, condition, graph, ticks)))
        runs[condition].append(found)
        tell(console, f"{name}: Control after {found.start_mean_ms:.2f} ms, s.d. {found.start_sd_ms:.2f}; "
             f"late {found.late_p99_us:.0f} us at p99")
    return runs


def _measure_changes(
    console: Console, options: GraphsOptions, kept: KeptRuns, robot: Mapping[str, Any], ticks: int, reps: int
) -> ChangedRuns:
    runs: dict[Condition, list[ChangedRun]] = {condition: [] for condition in CHANGED_CONDITIONS}
    for number, condition in interleaved(CHANGED_CONDITIONS, reps):
        name = f"changed, {condition}, {number}"
        folder = folder_of(options.out, f"changed, {condition}", number)
        measure = partial(run_changing, options.root, folder, _divided(robot, condition), ticks, clip=options.clip, seed=number)
        found = stored_run(kept.run(name, measure))
        runs[condition].append(found)
        tell(console, f"{name}: {found.changes} changes; late {found.during.p99_us:.0f} us at p99, {found.before.p99_us:.0f} "
             f"before and {found.after.p99_us:.0f} after")
    return runs


def _divided(robot: Mapping[str, Any], condition: Condition) -> dict[str, Any]:
    """Returns the graph for this condition on the CPUs of this machine."""
    own_cpu = choose_cpus()[0]
    return graph_of(robot, condition, own_cpu, os.sched_getaffinity(0) - {own_cpu})


def _has_own_cpu() -> bool:
    return len(os.sched_getaffinity(0)) > 1


def _report(console: Console, options: GraphsOptions, runs: Runs, changed: ChangedRuns, ticks: int) -> list[Chapter]:
    has_own_cpu = _has_own_cpu()
    chapters = [graphs_chapter(runs, ticks, options.clip, has_own_cpu), changes_chapter(changed, ticks)]
    with checked_files(options.out):
        write_json(options.out / "graphs.json", {
            "commit": commit(), "machine": machine_facts().to_json(), "ticks": ticks,
            "runs": _listed(runs), "changed": _listed(changed)})
        write_chapters(options.out / "graphs.md", chapters)
    for chapter in chapters:
        tell_chapter(console, chapter)
    tell(console, f"written: {options.out}/graphs.md and graphs.json")
    return chapters


def _listed(runs: Runs | ChangedRuns) -> list[dict[str, Any]]:
    return [{"condition": asdict(condition), **asdict(run)} for condition, found in runs.items() for run in found]


def graphs_chapter(runs: Runs, ticks: int, clip: Path | None, has_own_cpu: bool) -> Chapter:
    where = "have their own CPU" if has_own_cpu else "share the only CPU with the others"
    film = clip.name if clip else "a test picture"
    return Chapter(
        "When the processes of a graph start",
        f"The robot's 12 processes, {ticks} ticks a run, {HZ:g} a second; the camera plays {film}. Under fifo, Control and "
        f"WSUpdater {where}.",
        [graphs_table(runs), intervals_table(runs)],
        graphs_findings(runs, has_own_cpu),
    )


def folder_of(out: Path, condition: Condition | str, number: int) -> Path:
    """Returns the folder for the files of one run."""
    return out / f"{condition}-{number}".replace(", ", "-").replace(" ", "_")


def _run(options: GraphsOptions, folder: Path, condition: Condition, graph: Mapping[str, Any], ticks: int) -> dict[str, Any]:
    """Returns what a GraphRun is made of."""
    with (
        kept_awake(choose_cpus()[0] if condition.is_awake else None),
        started_graph(options.root, folder, graph, ticks, clip=options.clip, is_loaded=condition.is_loaded) as started,
    ):
        started.wait()
    written = json.loads((folder / "pman.json").read_text())
    return asdict(run_of(written["statistics"], written["state"]))


def run_of(statistics: Mapping[str, Any], state: Mapping[str, Any]) -> GraphRun:
    """Returns the figures of one run from what dlex sched pman wrote. Raises LabError if its log is not complete."""
    if state["lost_records"]:
        raise LabError(f"{state['lost_records']} records of the log are missing, so the figures would be of a part of it")
    control, follows = (statistics["processes"][name] for name in (CONTROL, FOLLOWS))
    start, late, after = control["delay_ms"], control["lateness_us"], follows["delay_ms"]
    skips = next(process["skips"] for process in state["processes"] if process["name"] == CONTROL)
    sds = {name: process["delay_ms"]["sd"] for name, process in statistics["processes"].items()}
    return GraphRun(
        start["min"], start["max"], start["mean"], start["sd"], late["p50"], late["p99"],
        after["min"] * US_PER_MS, after["max"] * US_PER_MS, after["mean"] * US_PER_MS, after["sd"] * US_PER_MS,
        statistics["tick_us"]["mean"], statistics["tick_us"]["p99"], statistics["ticks"],
        sum(work["mean"] for name, process in statistics["processes"].items() if name != CAMERA and (work := process["work_ms"])),
        start["count"], skips,
        median(sd for name, sd in sds.items() if name.startswith(TRACKING)), max(sds[name] for name in DELAYED),
    )


def graphs_table(runs: Runs) -> Table:
    table = titled_table("From the tick to the start of Control, ms; late: from the release that was due; next: from the tick, "
                         "which the camera gives, to the start of Color_Class0; work: of all processes but the camera, in a tick. "
                         "Most and least of all runs, medians of the others; starts of Control, and ticks at which it still ran")
    for heading in ("", "most", "least", "mean", "s.d.", "late p50, us", "late p99, us", "next most, us", "least", "mean", "s.d.",
                    "tick, us", "tick p99, us", "work, ms", "starts", "skips"):
        table.add_column(heading, justify="right")
    for condition, found in runs.items():
        if found:
            table.add_row(str(condition), *_cells(found))
    return table


def intervals_table(runs: Runs) -> Table:
    """Makes a table of the figures that are compared with the paper's."""
    table = titled_table("The same figures with their 95 % intervals; range: from the least to the most of one run; tracking: s.d. "
                         "of the starts of Obj_Track0 to 4, after which Control comes")
    figures = {
        "mean, ms": ("start_mean_ms", "{:.2f}"), "s.d., ms": ("start_sd_ms", "{:.3f}"), "range, ms": ("start_range_ms", "{:.2f}"),
        "tracking s.d., ms": ("tracking_sd_ms", "{:.3f}"), "late p50, us": ("late_p50_us", "{:.0f}"),
        "late p99, us": ("late_p99_us", "{:.0f}"), "next mean, us": ("next_mean_us", "{:.0f}"),
        "tick p99, us": ("tick_p99_us", "{:.1f}"),
    }
    for heading in ("", *figures):
        table.add_column(heading, justify="right")
    for condition, found in runs.items():
        if found:
            cells = [with_interval(median_interval([getattr(run, name) for run in found]), form) for name, form in figures.values()]
            table.add_row(str(condition), *cells)
    return table


def _cells(found: Sequence[GraphRun]) -> list[str]:
    def middle(name: str, form: str) -> str:
        return format(median(getattr(run, name) for run in found), form)

    return [
        f"{max(run.start_most_ms for run in found):.2f}", f"{min(run.start_least_ms for run in found):.2f}",
        middle("start_mean_ms", ".2f"), middle("start_sd_ms", ".3f"), middle("late_p50_us", ".0f"), middle("late_p99_us", ".0f"),
        f"{max(run.next_most_us for run in found):.0f}", f"{min(run.next_least_us for run in found):.0f}",
        middle("next_mean_us", ".0f"), middle("next_sd_us", ".1f"), middle("tick_mean_us", ".1f"), middle("tick_p99_us", ".1f"),
        middle("work_ms", ".2f"), str(sum(run.starts for run in found)), str(sum(run.skips for run in found)),
    ]
