# SPDX-License-Identifier: LGPL-2.1-or-later
"""Computes statistics from the log of dlex-sched-pman."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence

from dlex_bench.graphs.instances import GraphLog, Instance
from dlex_bench.schema import Count, Stored

NS_PER_MS = 1e6
NS_PER_US = 1e3


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
