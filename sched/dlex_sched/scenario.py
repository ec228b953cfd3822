# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads scenarios: processes on one CPU, simulated or real, and their events. Times are in slots."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from dlex_bench.plain_yaml import Place

from .reading import Command, Entry, Name, read_entry, shell_command

Window = Annotated[str, Field(pattern="^[0-9]{1,7}/[0-9]{1,7}$")]  # x/y: may miss x of y periods
Slots = Annotated[int, Field(ge=1, le=100_000)]
EXAMPLE = "sched/scenarios/figure-4a.yaml is an example"


Events = Annotated[str, Field(pattern="^(wake|eventfd|socket:[0-9]{1,6})$")]


class Task(Entry):
    """What a task runs, and where its events come from. Simulations ignore this."""

    command: Command | None = None
    pid: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None  # of a process that runs already
    events: Events | None = None  # its wake-ups, an eventfd or a socket

    def real_options(self, name: str) -> list[str]:
        """Returns the options of dlex-sched-dwcs beside those of the task itself."""
        options = []
        if command := shell_command(self.command):
            options.append(f"--command={name},{command}")
        if self.pid:
            options.append(f"--pid={name},{self.pid}")
        if self.events:
            options.append(f"--events={name},{self.events}")
        return options


class RealTimeTask(Task):
    window: Window
    period: Slots
    service: Slots = 1  # CPU time in each period
    work_conserving: bool = False  # may run on when no other task needs the CPU

    def option(self, name: str) -> str:
        return f"--task={name},{self.window},{self.period},{self.service}{',wc' if self.work_conserving else ''}"


class BestEffortTask(Task):
    best_effort: Literal[True]

    def option(self, name: str) -> str:
        return f"--best-effort={name}"


class PlannedEvent(Entry):
    sink: Name
    at: Annotated[float, Field(ge=0, le=100_000)]


class Scenario(Entry):
    tasks: dict[Name, RealTimeTask | BestEffortTask | Literal["best-effort"]]
    events: tuple[PlannedEvent, ...] = ()  # of a simulation
    rules: tuple[Annotated[int, Field(ge=1, le=5)], ...] = (1, 2, 3, 4, 5)  # of event scheduling
    rule_4: Literal["paper", "strict", "safe"] = "paper"
    server: bool | Window = False  # the task server; true: its window constraint is by its rule
    slot: Annotated[float, Field(ge=1, le=1000)] = 10  # ms
    leave: Annotated[float, Field(ge=0, le=500)] = 0  # ms at the end of each real slot, to ordinary threads
    slots: Slots = 20  # of a simulation

    def options(self) -> list[str]:
        """Returns the options of dlex-sched-sim. The order of the tasks is the order of registration."""
        events = [f"--event={event.sink}@{event.at}" for event in self.events]
        return [*self._task_options(), *events, *self._rule_options(), f"--slots={self.slots}"]

    def real_options(self) -> list[str]:
        """Returns the options of dlex-sched-dwcs."""
        real = [option for name, task in self.tasks.items() if isinstance(task, Task) for option in task.real_options(name)]
        return [f"--slot={self.slot}", f"--leave={self.leave}", *self._task_options(), *real, *self._rule_options()]

    def _task_options(self) -> list[str]:
        return [task.option(name) if isinstance(task, RealTimeTask | BestEffortTask) else f"--best-effort={name}"
                for name, task in self.tasks.items()]

    def _rule_options(self) -> list[str]:
        server = [] if self.server is False else ["--server"] if self.server is True else [f"--server={self.server}"]
        return [*server, f"--rules={','.join(map(str, self.rules))}", f"--rule-4={self.rule_4}"]

    def mistake(self) -> tuple[Place, str] | None:
        """Returns where something is wrong, and what; or None."""
        if not self.tasks:
            return ("tasks",), f"there are no tasks; {EXAMPLE}"
        if self.leave > self.slot / 2:
            return ("leave",), f"{self.leave:g} ms is more than half of a slot of {self.slot:g} ms"
        return None


def read_scenario(path: Path) -> Scenario:
    """Reads a scenario. Raises LabError, which names the file, the line and the field."""
    return read_entry(Scenario, path, EXAMPLE, Scenario.mistake)
