# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads scenarios: processes on one CPU, and their events. Times are in slots."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dlex_bench.errors import EXIT_SETUP, LabError
from dlex_bench.schema import field_error

TaskName = Annotated[str, Field(pattern="^[A-Za-z0-9_-]{1,31}$")]
Window = Annotated[str, Field(pattern="^[0-9]{1,7}/[0-9]{1,7}$")]  # x/y: may miss x of y periods
Slots = Annotated[int, Field(ge=1, le=100_000)]
EXAMPLE = "sched/scenarios/figure-4a.yaml is an example"


def _dashed(name: str) -> str:
    return name.replace("_", "-")


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=_dashed, validate_by_name=True, validate_by_alias=True)


class RealTimeTask(_Entry):
    window: Window
    period: Slots
    service: Slots = 1  # CPU time in each period
    work_conserving: bool = False  # may run on when nobody else needs the CPU

    def options(self, name: str) -> str:
        return f"--task={name},{self.window},{self.period},{self.service}{',wc' if self.work_conserving else ''}"


class PlannedEvent(_Entry):
    sink: TaskName
    at: Annotated[float, Field(ge=0, le=100_000)]


class Scenario(_Entry):
    tasks: dict[TaskName, RealTimeTask | Literal["best-effort"]]
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
    try:
        content = yaml.safe_load(path.read_text())
    except OSError as cause:
        raise LabError(f"{path} cannot be read ({cause.strerror}); {EXAMPLE}", EXIT_SETUP) from cause
    except UnicodeDecodeError as cause:
        raise LabError(f"{path} cannot be read (it is not text); {EXAMPLE}", EXIT_SETUP) from cause
    except yaml.YAMLError as cause:
        raise LabError(f"{path}: this is not YAML: {str(cause).splitlines()[0]}", EXIT_SETUP) from cause
    try:
        scenario = Scenario.model_validate(content)
    except ValidationError as cause:
        raise LabError(f"{path}: {field_error(cause)}; {EXAMPLE}", EXIT_SETUP) from cause
    if not scenario.tasks:
        raise LabError(f"{path}: there are no tasks; {EXAMPLE}", EXIT_SETUP)
    return scenario
