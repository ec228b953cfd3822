# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads scenarios: processes on one CPU, and their events. Times are in slots."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from dlex_bench.errors import EXIT_SETUP, LabError

from .reading import Entry, Name, read_entry

Window = Annotated[str, Field(pattern="^[0-9]{1,7}/[0-9]{1,7}$")]  # x/y: may miss x of y periods
Slots = Annotated[int, Field(ge=1, le=100_000)]
EXAMPLE = "sched/scenarios/figure-4a.yaml is an example"


class RealTimeTask(Entry):
    window: Window
    period: Slots
    service: Slots = 1  # CPU time in each period
    work_conserving: bool = False  # may run on when nobody else needs the CPU

    def options(self, name: str) -> str:
        return f"--task={name},{self.window},{self.period},{self.service}{',wc' if self.work_conserving else ''}"


class PlannedEvent(Entry):
    sink: Name
    at: Annotated[float, Field(ge=0, le=100_000)]


class Scenario(Entry):
    tasks: dict[Name, RealTimeTask | Literal["best-effort"]]
    events: tuple[PlannedEvent, ...] = ()
    rules: tuple[Annotated[int, Field(ge=1, le=5)], ...] = (1, 2, 3, 4, 5)  # of event scheduling
    rule_4: Literal["paper", "strict", "safe"] = "paper"
    server: bool | Window = False  # the task server; true: its window constraint is by its rule
    slots: Slots = 20

    def options(self) -> list[str]:
        """Returns the options of dlex-sched-sim. The order of the tasks is the order of registration."""
        tasks = [
            task.options(name) if isinstance(task, RealTimeTask) else f"--best-effort={name}" for name, task in self.tasks.items()
        ]
        events = [f"--event={event.sink}@{event.at}" for event in self.events]
        server = [] if self.server is False else ["--server"] if self.server is True else [f"--server={self.server}"]
        rules = [f"--rules={','.join(map(str, self.rules))}", f"--rule-4={self.rule_4}"]
        return [*tasks, *events, *server, *rules, f"--slots={self.slots}"]


def read_scenario(path: Path) -> Scenario:
    """Reads a scenario. Raises LabError, which names the file and the field."""
    scenario = read_entry(Scenario, path, EXAMPLE)
    if not scenario.tasks:
        raise LabError(f"{path}: there are no tasks; {EXAMPLE}", EXIT_SETUP)
    return scenario
