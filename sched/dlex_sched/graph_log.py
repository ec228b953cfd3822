# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads the log of dlex-sched-pman, and computes statistics from it."""

from __future__ import annotations

import csv
import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dlex_bench.errors import EXIT_UNFIT, LabError
from dlex_bench.schema import Count, Stored

NS_PER_MS = 1e6
NS_PER_US = 1e3
COLUMNS = ["time_ns", "kind", "process", "number", "tick", "value"]


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


class Spread(Stored):
    """The distribution of a figure: number of values, minimum, mean, median, 99th percentile, maximum, standard deviation."""

    count: Count
    min: float
    mean: float
    p50: float
    p99: float
    max: float
    sd: float


class ProcessStatistics(Stored):
    """Delay: from the tick to the start. Lateness: from the release that was due to the start. Work: from there to the end."""

    instances: Count
    misses: Count
    delay_ms: Spread | None
    lateness_us: Spread | None
    work_ms: Spread | None


class GraphStatistics(Stored):
    ticks: Count
    tick_us: Spread | None  # how long the calls took that gave the ticks
    processes: dict[str, ProcessStatistics]


def read_log(path: Path) -> GraphLog:
    """Reads a log. Records of instances that were released before it began are left out. Raises LabError."""
    log = GraphLog()
    running: dict[tuple[str, int], Instance] = {}
    try:
        with path.open(newline="") as file:
            rows = csv.DictReader(file)
            if rows.fieldnames != COLUMNS:
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


def spread(values: Iterable[float]) -> Spread | None:
    """Returns the distribution of the values, or None if there are none."""
    found = sorted(values)
    if not found:
        return None
    return Spread(
        count=len(found), min=found[0], mean=statistics.fmean(found), p50=statistics.median(found), p99=_percentile(found, 0.99),
        max=found[-1], sd=statistics.pstdev(found),
    )


def _percentile(ascending: Sequence[float], part: float) -> float:
    """Returns the smallest value that at least this part of the values does not exceed."""
    return ascending[math.ceil(part * len(ascending)) - 1]


def statistics_of(log: GraphLog, names: Iterable[str]) -> GraphStatistics:
    return GraphStatistics(
        ticks=len(log.ticks), tick_us=spread(tick.cost_ns / NS_PER_US for tick in log.ticks.values()),
        processes={name: _of_process(log, log.of_process(name)) for name in names},
    )


def _of_process(log: GraphLog, instances: Sequence[Instance]) -> ProcessStatistics:
    started = [instance for instance in instances if instance.started_ns is not None]
    return ProcessStatistics(
        instances=len(instances),
        misses=sum(instance.missed for instance in instances),
        delay_ms=spread((each.begun_ns - log.ticks[each.tick].time_ns) / NS_PER_MS for each in started if each.tick in log.ticks),
        lateness_us=spread((each.begun_ns - each.due_ns) / NS_PER_US for each in started),
        work_ms=spread((each.finished_ns - each.begun_ns) / NS_PER_MS for each in instances if each.finished_ns is not None),
    )
