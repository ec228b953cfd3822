# SPDX-License-Identifier: LGPL-2.1-or-later
"""Implements `dlex sched dwcs`: schedules real processes by windows, or simulates them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from rich.console import Console
from rich.table import Table

from dlex_bench.errors import EXIT_SETUP, LabError
from dlex_bench.files import write_json
from dlex_bench.machine.facts import commit
from dlex_bench.paths import PROJECT
from dlex_bench.progress import tell, tell_table
from dlex_bench.schema import Amount, Count, Stored
from dlex_bench.table import titled_table

from .live_program import count_in_line, run_live
from .member_delays import DelayWatch, FoundDelays, watched_delays
from .results import make_results_folder
from .scenario import Scenario, Task, read_scenario
from .sim import simulate_scenario

PROGRAM = PROJECT / "build/release/sched/dwcs/dlex-sched-dwcs"


class DispatchedTask(Stored):
    """The figures of a task. A window is y periods; windows follow each other."""

    name: str
    pid: Count
    served: Count
    missed: Count
    violations: Count
    windows_kept: Count
    windows_lost: Count
    events: Count
    swaps: Count
    cpu_ms: Amount
    wait_us: Amount | None  # mean time that it waited for the CPU, after a wake-up or a preemption
    has_ended: bool


class Dispatched(Stored):
    """A line that dlex-sched-dwcs prints."""

    seconds: Amount
    utilisation: Amount
    slots: Count
    lost_slots: Count
    decisions: Count
    policy_changes: Count
    late_us_max: float
    tasks: list[DispatchedTask]


@dataclass(frozen=True)
class DispatchOptions:
    file: Path
    backend: Literal["fifo", "sim"]
    seconds: int | None
    cpu: int | None
    priority: int | None
    record: bool
    out: Path

    def for_program(self, scenario: Scenario) -> list[str]:
        chosen = {"seconds": self.seconds, "cpu": self.cpu, "priority": self.priority}
        return [*scenario.real_options(), *(f"--{name}={value}" for name, value in chosen.items() if value is not None)]


def schedule(options: DispatchOptions) -> None:
    if options.backend == "sim":
        simulate_scenario(options.file)
        return
    scenario = read_scenario(options.file)
    for name, task in scenario.tasks.items():
        if not isinstance(task, Task) or (task.command is None) == (task.pid is None):
            raise LabError(f"{options.file}: tasks.{name} needs a command or a pid; --backend=sim simulates without", EXIT_SETUP)
    console = Console()
    make_results_folder(options.out, ("dwcs.json",), [options.file])
    with watched_delays(options.record) as watch:
        last = run_live(console, PROGRAM, options.for_program(scenario), Dispatched, _table, _line,
                        lambda state: watch.look([task.pid for task in state.tasks if not task.has_ended]))
        if last is not None:
            _report(console, options, last, watch)


def _report(console: Console, options: DispatchOptions, last: Dispatched, watch: DelayWatch) -> None:
    found = watch.found()
    tell_table(console, _table(last))
    if found:
        tell_table(console, _delay_table(last, found))
    if watch.missing:
        tell(console, f"Run-queue delays are missing: {watch.missing}.")
    if found and found.lost_records:
        tell(console, f"{found.lost_records} of the kernel's records are missing; the run-queue delays are of the others.")
    if last.lost_slots:
        tell(console, f"In {last.lost_slots} of {last.slots} slots the dispatcher was too late for a decision.")
    try:
        write_json(options.out / "dwcs.json", {"commit": commit(), "file": str(options.file), **_results(last, found)})
    except OSError as cause:
        raise LabError(f"{options.out} cannot be written ({cause.strerror}); name another folder with --out", EXIT_SETUP) from cause
    tell(console, f"Results: {options.out / 'dwcs.json'}", wrap=False)


def _results(last: Dispatched, found: FoundDelays | None) -> dict[str, Any]:
    """Returns the last line, with the run-queue delay of each task (null: not known)."""
    tasks = []
    for task in last.tasks:
        delays = found.of.get(task.pid) if found else None
        tasks.append({**task.to_json(), "run_queue_delay": asdict(delays) if delays else None})
    return {**last.to_json(), "tasks": tasks, "lost_records": found.lost_records if found else None}


def _table(state: Dispatched) -> Table:
    table = titled_table(f"{state.seconds:.0f} s, utilisation {state.utilisation:.2f}, {state.decisions} decisions, "
                         f"at most {state.late_us_max:.0f} µs late")
    headings = ("task", "served", "missed", "violations", "windows\nkept", "\nlost", "events", "swaps", "CPU s", "waited µs")
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "task" else "right", no_wrap=True)
    for task in state.tasks:
        figures = (task.served, task.missed, task.violations, task.windows_kept, task.windows_lost, task.events, task.swaps)
        waited = "-" if task.wait_us is None else f"{task.wait_us:.0f}"
        table.add_row(task.name, *map(str, figures), f"{task.cpu_ms / 1000:.2f}", waited)
    return table


def _delay_table(last: Dispatched, found: FoundDelays) -> Table:
    """Returns the table of the times from a wake-up of the main thread to the CPU."""
    table = titled_table("Run-queue delay, ms")
    for heading in ("task", "wake-ups", "mean", "p99", "longest"):
        table.add_column(heading, justify="left" if heading == "task" else "right", no_wrap=True)
    for task in last.tasks:
        delays = found.of.get(task.pid)
        figures = [f"{it:.2f}" for it in (delays.mean_ms, delays.p99_ms, delays.max_ms)] if delays else ["-"] * 3
        table.add_row(task.name, str(delays.count if delays else 0), *figures)
    return table


def _line(state: Dispatched) -> str:
    parts = [
        count_in_line(task.name, task.served, {"missed": task.missed, "windows lost": task.windows_lost},
                      "ended" if task.has_ended else None)
        for task in state.tasks
    ]
    return f"{state.seconds:.0f} s; periods served: {', '.join(parts)}"
