# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads the log of dlex-sched-pman: ticks, and the instances of each process."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import EXIT_UNFIT, LabError

LOG_COLUMNS = ["time_ns", "kind", "process", "number", "tick", "value"]


@dataclass
class Instance:
    """One instance of a process. Times are ns of the machine's monotonic clock."""

    process: str
    number: int
    tick: int  # in which it was activated, or after which, if it is a recovery
    due_ns: int  # when it should be released
    released_ns: int
    started_ns: int | None = None  # None: it has not begun, or that is unknown (processes that stop themselves)
    missed: bool = False
    finished_ns: int | None = None

    @property
    def begun_ns(self) -> int:
        return self.released_ns if self.started_ns is None else self.started_ns


@dataclass(frozen=True)
class Tick:
    time_ns: int
    cost_ns: int  # of the call that gave it


@dataclass
class GraphLog:
    ticks: dict[int, Tick] = field(default_factory=dict)
    instances: list[Instance] = field(default_factory=list)

    def of_process(self, name: str) -> list[Instance]:
        return [instance for instance in self.instances if instance.process == name]


def read_log(path: Path) -> GraphLog:
    """Reads a log. Records of instances that were released before it began are left out. Raises LabError."""
    log = GraphLog()
    running: dict[tuple[str, int], Instance] = {}
    try:
        with path.open(newline="") as file:
            rows = csv.DictReader(file)
            if rows.fieldnames != LOG_COLUMNS:
                raise LabError(f"{path} is not a log of dlex-sched-pman", EXIT_UNFIT)
            for row in rows:
                _take(log, running, row)
    except OSError as cause:
        raise LabError(f"{path} cannot be read ({cause.strerror})", EXIT_UNFIT) from cause
    except (ValueError, TypeError) as cause:
        raise LabError(f"{path}: a line is not a record of dlex-sched-pman; was the program interrupted?", EXIT_UNFIT) from cause
    return log


def _take(log: GraphLog, running: dict[tuple[str, int], Instance], row: dict[str, str]) -> None:
    kind, process = row["kind"], row["process"]
    time_ns, number, tick, value = (int(row[key]) for key in ("time_ns", "number", "tick", "value"))
    if kind == "tick":
        log.ticks[number] = Tick(time_ns, value)
    elif kind == "release":
        instance = running[process, number] = Instance(process, number, tick, value, time_ns)
        log.instances.append(instance)
    elif known := running.get((process, number)):
        if kind == "start":
            known.started_ns = time_ns
        elif kind == "miss":
            known.missed = True
        elif kind == "finish":
            known.finished_ns = time_ns
            del running[process, number]
        else:
            raise ValueError(kind)
