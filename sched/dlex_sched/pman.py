# SPDX-License-Identifier: LGPL-2.1-or-later
"""Implements `dlex sched pman`: runs a graph of processes, shows what they do, and reports at the end how late they were."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from dlex_bench.errors import EXIT_SETUP, LabError
from dlex_bench.files import write_json
from dlex_bench.graphs.instances import read_log
from dlex_bench.machine.facts import commit
from dlex_bench.paths import PROJECT
from dlex_bench.progress import tell, tell_table
from dlex_bench.schema import Amount, Count, Stored
from dlex_bench.table import titled_table

from .graph import Graph, read_graph
from .graph_statistics import GraphStatistics, Spread, statistics_of
from .live_program import count_in_line, run_live
from .results import make_results_folder

PROGRAM = PROJECT / "build/release/sched/pman/dlex-sched-pman"


class ProcessState(Stored):
    name: str
    status: str
    pid: Count
    priority: Count
    activations: Count
    misses: Count
    skips: Count


class GraphState(Stored):
    """A line that dlex-sched-pman prints."""

    seconds: Amount
    ticks: Count
    lost_ticks: Count
    lost_records: Count
    processes: list[ProcessState]


@dataclass(frozen=True)
class GraphOptions:
    file: Path
    seconds: float | None
    ticks: int | None
    plot: bool
    take_over: bool
    end: bool
    out: Path

    def for_program(self, graph: Graph) -> list[str]:
        if self.end:
            return ["--end", f"--name={graph.name}"]
        what = ["--take-over", f"--name={graph.name}", *graph.tick_options()] if self.take_over else graph.options()
        limits = [f"--{name}={value}" for name, value in (("seconds", self.seconds), ("ticks", self.ticks)) if value is not None]
        return [*what, *limits, f"--log={self.out / 'log.csv'}"]


def run_graph(options: GraphOptions) -> None:
    graph = read_graph(options.file)
    console = Console()
    if not options.end:
        make_results_folder(options.out, ("log.csv", "pman.json", "timeline.png"), [options.file])
    last = run_live(console, PROGRAM, options.for_program(graph), GraphState, _state_table, _state_line)
    if last is None:
        return
    log = read_log(options.out / "log.csv")
    names = [process.name for process in last.processes]
    found = statistics_of(log, names)
    tell_table(console, _delay_table(found))
    tell_table(console, _lateness_table(found))
    _tell_losses(console, last)
    made = ["log.csv", *_save(options, found, last)]
    if options.plot:
        from .timeline import draw_timeline

        if draw_timeline(log, names, options.out / "timeline.png"):
            made.append("timeline.png")
        else:
            tell(console, "There are too few ticks for a timeline.")
    tell(console, f"Results: {', '.join(str(options.out / name) for name in made)}", wrap=False)


def _save(options: GraphOptions, found: GraphStatistics, last: GraphState) -> list[str]:
    content = {"commit": commit(), "file": str(options.file), "statistics": found.to_json(), "state": last.to_json()}
    try:
        write_json(options.out / "pman.json", content)
    except OSError as cause:
        raise LabError(f"{options.out} cannot be written ({cause.strerror}); name another folder with --out", EXIT_SETUP) from cause
    return ["pman.json"]


def _state_table(state: GraphState) -> Table:
    table = titled_table(f"{state.seconds:.0f} s, {state.ticks} ticks")
    for heading in ("process", "status", "pid", "priority", "activations", "misses", "skips"):
        table.add_column(heading, justify="left" if heading in ("process", "status") else "right", no_wrap=True)
    for each in state.processes:
        table.add_row(each.name, each.status, str(each.pid or "-"), str(each.priority or "-"), str(each.activations),
                      str(each.misses), str(each.skips))
    return table


def _state_line(state: GraphState) -> str:
    parts = [
        count_in_line(each.name, each.activations, {"missed": each.misses, "skipped": each.skips},
                      "died" if each.status == "died" else None)
        for each in state.processes
    ]
    return f"{state.seconds:.0f} s, {state.ticks} ticks; activations: {', '.join(parts)}"


def _delay_table(found: GraphStatistics) -> Table:
    cost = f"; a tick took {found.tick_us.mean:.1f} µs on average, {found.tick_us.max:.1f} at most" if found.tick_us else ""
    table = titled_table(f"{found.ticks} ticks{cost}. From the tick to the start, ms")
    table.add_column("process", no_wrap=True)
    for heading in ("runs", "misses", "min", "mean", "max", "s.d."):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, process in found.processes.items():
        table.add_row(name, str(process.instances), str(process.misses),
                      *_cells(process.delay_ms, ("min", "mean", "max", "sd"), "{:.2f}"))
    return table


def _lateness_table(found: GraphStatistics) -> Table:
    table = titled_table("From the release that was due to the start, and from there to the end")
    table.add_column("process", no_wrap=True)
    for heading in ("late µs\np50", "\np99", "\nmax", "work ms\nmean", "\nmax"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, process in found.processes.items():
        table.add_row(name, *_cells(process.lateness_us, ("p50", "p99", "max"), "{:.0f}"),
                      *_cells(process.work_ms, ("mean", "max"), "{:.2f}"))
    return table


def _cells(figures: Spread | None, keys: Sequence[str], form: str) -> list[str]:
    return ["-" if figures is None else form.format(getattr(figures, key)) for key in keys]


def _tell_losses(console: Console, state: GraphState) -> None:
    if state.lost_ticks:
        tell(console, f"{state.lost_ticks} ticks were left out, because the machine was too late for them.")
    if state.lost_records:
        tell(console, f"{state.lost_records} records of the log are missing; the statistics are of the others.")
