# SPDX-License-Identifier: LGPL-2.1-or-later
"""Changes precedences, times and the priority of one of the robot's processes while the robot runs."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

from rich.table import Table

from ..analysis.chapter import Chapter
from ..errors import LabError
from ..table import titled_table
from .change_findings import ChangedRuns, change_findings
from .changed_run import PARTS, ChangedRun, PartFigures, changed_run
from .changes import Change, attributes_of, make_changes
from .conditions import CAMERA, CONTROL
from .graph_run import StartedGraph, started_graph
from .instances import read_log
from .live_table import LiveTable

# No process of the robot follows it, so its attributes concern no other one.
CHANGED = "WSUpdater"
READY_S = 30.0
POLL_S = 0.01


def run_changing(
    root: Path, folder: Path, graph: Mapping[str, Any], ticks: int, *, clip: Path | None, seed: int
) -> dict[str, Any]:
    """Runs the graph, and changes it in the middle third of the ticks. Returns what a ChangedRun is made of."""
    with started_graph(root, folder, graph, ticks, clip=clip, is_loaded=False) as started:
        try:
            with _opened(started, graph["name"]) as table:
                changes = _change(started, table, graph["processes"], seed)
        except OSError as cause:  # of pman.h; the graph has perhaps ended
            raise LabError(f"{CHANGED} cannot be changed ({cause.strerror})") from cause
        started.wait()
    original = attributes_of(graph["processes"][CHANGED])
    others = [name for name in graph["processes"] if name not in (CHANGED, CAMERA)]
    return asdict(changed_run(read_log(folder / "log.csv"), CHANGED, original, changes, others, CONTROL))


def _change(started: StartedGraph, table: LiveTable, processes: Mapping[str, Any], seed: int) -> list[Change]:
    original = attributes_of(processes[CHANGED])
    while table.activations(CAMERA) < started.ticks // 3:
        time.sleep(POLL_S)
    # That it follows Control, too, changes the order in which both start.
    predecessors = [*sorted(original.after), CONTROL]
    return make_changes(
        table, CHANGED, original, predecessors, lambda: table.activations(CAMERA) >= 2 * started.ticks // 3, seed
    )


def _opened(started: StartedGraph, name: str) -> LiveTable:
    """Returns the graph's table when the camera waits for its first tick."""
    limit = time.monotonic() + READY_S
    while time.monotonic() < limit and started.process.poll() is None:
        with contextlib.suppress(FileNotFoundError):
            table = LiveTable(name)
            if table.has_waited(CAMERA):
                return table
            table.leave()
        time.sleep(POLL_S)
    if started.process.poll() is not None:
        started.wait()
    raise LabError(f"the processes of {name} were not ready within {READY_S:g} s")


def changes_chapter(runs: ChangedRuns, ticks: int) -> Chapter:
    return Chapter(
        "Precedences and times changed while a graph runs",
        f"The same processes with a delay, alone, {ticks} ticks a run. In the middle third of the ticks {CHANGED} is changed about "
        "50 times a second: its precedences, period, delay and deadline and, under fifo, its priority. No process follows it. The "
        "other processes, without the camera, should start as before and after.",
        [changes_table(runs)],
        change_findings(runs),
    )


def changes_table(runs: ChangedRuns) -> Table:
    table = titled_table("From the release that was due to the start of the other processes, and of Control among them, us. Sums "
                         "of all runs; medians of the runs")
    for heading in ("", "", "changes", "due", "lost", "p50, us", "p99, us", "Control p50, us", "p99, us"):
        table.add_column(heading, justify="right")
    for condition, found in runs.items():
        for part in PARTS if found else ():
            table.add_row(str(condition), part, *_cells(found, part))
    return table


def _cells(found: Sequence[ChangedRun], part: str) -> list[str]:
    of_part: list[PartFigures] = [getattr(run, part) for run in found]
    changes = sum(run.changes for run in found) if part == "during" else 0
    middles = (f"{median(getattr(each, key) for each in of_part):.0f}" for key in ("p50_us", "p99_us", "one_p50_us", "one_p99_us"))
    return [str(changes), str(sum(each.due for each in of_part)), str(sum(each.lost for each in of_part)), *middles]
