# SPDX-License-Identifier: LGPL-2.1-or-later
"""Implements `dlex sched dwcs`: schedules real processes by windows, or simulates them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

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
from .results import make_results_folder
from .scenario import Scenario, Task, read_scenario
from .sim import simulate_scenario

PROGRAM = PROJECT / "build/release/sched/dwcs/dlex-sched-dwcs"


class DispatchedTask(Stored):
    """The figures of a task. A window is y periods; windows follow each other."""

    name: str
    served: Count
    missed: Count
    violations: Count
    windows_kept: Count
    windows_lost: Count
    events: Count
    swaps: Count
    cpu_ms: Amount
    wait_us: Amount | None  # mean time that it waited for the CPU
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
    make_results_folder(options.out)
    last = run_live(console, PROGRAM, options.for_program(scenario), Dispatched, _table, _line)
    if last is None:
        return
    tell_table(console, _table(last))
    if last.lost_slots:
        tell(console, f"In {last.lost_slots} of {last.slots} slots the dispatcher was too late for a decision.")
    try:
        write_json(options.out / "dwcs.json", {"commit": commit(), "file": str(options.file), **last.to_json()})
    except OSError as cause:
        raise LabError(f"{options.out} cannot be written ({cause.strerror}); name another folder with --out", EXIT_SETUP) from cause
    tell(console, f"Results: {options.out / 'dwcs.json'}", wrap=False)


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


def _line(state: Dispatched) -> str:
    parts = [
        count_in_line(task.name, task.served, {"missed": task.missed, "windows lost": task.windows_lost},
                      "ended" if task.has_ended else None)
        for task in state.tasks
    ]
    return f"{state.seconds:.0f} s; periods served: {', '.join(parts)}"
