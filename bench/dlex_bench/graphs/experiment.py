# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs `./dlex bench graphs`."""

from __future__ import annotations

import json
import os
import sys
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
from ..errors import EXIT_SETUP, LabError
from ..files import write_json, write_whole
from ..machine.facts import commit, machine_facts
from ..machine.kept_runs import KeptRuns
from ..machine.lock import only_measurement
from ..order import interleaved
from ..output import checked_files, output_folder
from ..paths import require_program
from ..processes import child, choose_cpus, last_words, own_environment, wait_for
from ..progress import tell
from ..rig.load.stress import find_stress, require_running, stress
from ..table import titled_table
from .conditions import DELAYED, Condition, conditions, graph_of
from .findings import GraphRun, Runs, graphs_findings

ROBOT, MANAGER = Path("sched/graphs/robot.yaml"), Path("build/release/sched/pman/dlex-sched-pman")
TICKS, QUICK_TICKS = 1000, 90
HZ = 30.0
US_PER_MS = 1e3
SETTLE_S = 0.5
CAMERA, CONTROL, FOLLOWS = "readFireWire", DELAYED[0], "Color_Class0"


@dataclass(frozen=True)
class GraphsOptions:
    root: Path
    out: Path
    quick: bool
    reps: int
    clip: Path | None


def measure_graphs(options: GraphsOptions) -> Chapter:
    console = Console()
    if os.geteuid():
        raise LabError("priorities need root; run it with sudo", EXIT_SETUP)
    require_program(options.root / MANAGER)
    find_stress()
    cpus, own_cpu = os.sched_getaffinity(0), choose_cpus()[0]
    ticks, reps = (QUICK_TICKS, 1) if options.quick else (TICKS, options.reps)
    robot = yaml.safe_load((options.root / ROBOT).read_text())
    output_folder(options.out)
    runs: dict[Condition, list[GraphRun]] = {condition: [] for condition in conditions()}
    kept = KeptRuns(console, options.out, {"quick": options.quick, "clip": str(options.clip or "")})
    with only_measurement(cpus):
        for number, condition in interleaved(conditions(), reps):
            graph = graph_of(robot, condition, own_cpu, cpus - {own_cpu})
            folder, name = folder_of(options.out, condition, number), f"{condition}, {number}"
            found = GraphRun(**kept.run(name, partial(_run, options, folder, condition.is_loaded, graph, ticks)))
            runs[condition].append(found)
            tell(console, f"{name}: Control after {found.start_mean_ms:.2f} ms, s.d. {found.start_sd_ms:.2f}; "
                 f"late {found.late_p99_us:.0f} us at p99")
    chapter = _report(console, options, runs, ticks, has_own_cpu=len(cpus) > 1)
    kept.forget()
    return chapter


def _report(console: Console, options: GraphsOptions, runs: Runs, ticks: int, has_own_cpu: bool) -> Chapter:
    chapter = graphs_chapter(runs, ticks, options.clip, has_own_cpu)
    with checked_files(options.out):
        write_json(options.out / "graphs.json", {
            "commit": commit(), "machine": machine_facts().to_json(), "ticks": ticks,
            "runs": [{"condition": asdict(condition), **asdict(run)} for condition, found in runs.items() for run in found]})
        write_chapters(options.out / "graphs.md", [chapter])
    tell_chapter(console, chapter)
    tell(console, f"written: {options.out}/graphs.md and graphs.json")
    return chapter


def graphs_chapter(runs: Runs, ticks: int, clip: Path | None, has_own_cpu: bool) -> Chapter:
    where = "have their own CPU" if has_own_cpu else "share the only CPU with the others"
    film = clip.name if clip else "a test picture"
    return Chapter(
        "When the processes of a graph start",
        f"The robot's 12 processes, {ticks} ticks a run, {HZ:g} a second; the camera plays {film}. Under fifo, Control and "
        f"WSUpdater {where}.",
        [graphs_table(runs)],
        graphs_findings(runs, has_own_cpu),
    )


def folder_of(out: Path, condition: Condition, number: int) -> Path:
    """Returns the folder for the files of one run."""
    return out / f"{condition}-{number}".replace(", ", "-").replace(" ", "_")


def _run(options: GraphsOptions, folder: Path, is_loaded: bool, graph: Mapping[str, Any], ticks: int) -> dict[str, Any]:
    """Returns what a GraphRun is made of."""
    cpus = os.sched_getaffinity(0)
    with checked_files(folder):
        folder.mkdir(exist_ok=True)
        write_whole(folder / "graph.yaml", yaml.safe_dump(dict(graph), sort_keys=False))
    program = [sys.executable, "-m", "dlex_sched", "pman"]
    argv = [*program, str(folder / "graph.yaml"), f"--ticks={ticks}", f"--out={folder}", "--plot"]
    path = os.pathsep.join(str(options.root / it) for it in ("bench", "sched"))
    environment = {**own_environment(), "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "CLIP": str(options.clip or "")}
    with (
        stress(2 * len(cpus) if is_loaded else 0, 0, cpus, SETTLE_S) as workers,
        (folder / "said.log").open("wb") as log,
        child(argv, cpus=cpus, stdout=log, stderr=log, env=environment) as process,
    ):
        wait_for(process, 60 + 3 * ticks / HZ, lambda: require_running(workers), "dlex sched pman")
    if process.returncode:
        raise LabError(f"dlex sched pman ended with status {process.returncode}: {last_words(folder / 'said.log')}")
    written = json.loads((folder / "pman.json").read_text())
    return asdict(run_of(written["statistics"], written["state"]))


def run_of(statistics: Mapping[str, Any], state: Mapping[str, Any]) -> GraphRun:
    """Returns the figures of one run from what dlex sched pman wrote. Raises LabError if its log is not complete."""
    if state["lost_records"]:
        raise LabError(f"{state['lost_records']} records of the log are missing, so the figures would be of a part of it")
    control, follows = (statistics["processes"][name] for name in (CONTROL, FOLLOWS))
    start, late, after = control["delay_ms"], control["lateness_us"], follows["delay_ms"]
    skips = next(process["skips"] for process in state["processes"] if process["name"] == CONTROL)
    return GraphRun(
        start["min"], start["max"], start["mean"], start["sd"], late["p50"], late["p99"],
        after["min"] * US_PER_MS, after["max"] * US_PER_MS, after["mean"] * US_PER_MS, after["sd"] * US_PER_MS,
        statistics["tick_us"]["mean"], statistics["tick_us"]["p99"], statistics["ticks"],
        sum(work["mean"] for name, process in statistics["processes"].items() if name != CAMERA and (work := process["work_ms"])),
        start["count"], skips,
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
