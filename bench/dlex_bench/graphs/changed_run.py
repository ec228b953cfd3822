# SPDX-License-Identifier: LGPL-2.1-or-later
"""Figures of a run in which one process of a graph was changed: whether it obeyed, and when the others started. Pure functions."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .changes import Change
from .instances import GraphLog, Instance
from .live_table import NS_PER_MS, Attributes

# In the first ticks everything is done for the first time. The last instances may not have finished.
FIRST_TICKS, LAST_TICKS = 10, 2
PARTS = ("before", "during", "after")
NS_PER_US = 1e3


@dataclass(frozen=True)
class PartFigures:
    """
    A part of a run. `due`: how often another process than the changed one was due; `lost`: how often it did not start. Times are
    from the release that was due to the start, of all these processes, and of one of them.
    """

    due: int
    lost: int
    p50_us: float
    p99_us: float
    one_p50_us: float
    one_p99_us: float


@dataclass(frozen=True)
class ChangedRun:
    """`judged`: ticks at which it is certain which attributes were in force. `disobeyed`: ticks at which others were."""

    changes: int
    judged: int
    disobeyed: int
    before: PartFigures
    during: PartFigures
    after: PartFigures


def stored_run(found: Mapping[str, Any]) -> ChangedRun:
    """Returns the run of which `found` has the fields, as JSON has them."""
    return ChangedRun(**{**found, **{part: PartFigures(**found[part]) for part in PARTS}})


def changed_run(
    log: GraphLog, changed: str, original: Attributes, changes: Sequence[Change], others: Sequence[str], one: str
) -> ChangedRun:
    """Returns the figures. All `others` are due at each tick; `one` is one of them. There is at least one change."""
    by_part: dict[str, list[int]] = {part: [] for part in PARTS}
    for number in sorted(log.ticks)[FIRST_TICKS:-LAST_TICKS]:
        by_part[part_of(log.ticks[number].time_ns, changes)].append(number)
    obedience = Obedience(log, changed, original, changes)
    judged = [found for number in by_part["during"] if (found := obedience.at(number)) is not None]
    starts = {name: {each.tick: each for each in log.of_process(name) if each.started_ns is not None} for name in others}
    parts = {part: _figures(starts, ticks, one) for part, ticks in by_part.items()}
    return ChangedRun(len(changes), len(judged), judged.count(False), **parts)


def part_of(time_ns: int, changes: Sequence[Change]) -> str:
    if time_ns < changes[0].begin_ns:
        return "before"
    return "during" if time_ns <= changes[-1].end_ns else "after"


class Obedience:
    """Judges whether a changed process was released as the attributes say that were in force."""

    def __init__(self, log: GraphLog, changed: str, original: Attributes, changes: Sequence[Change]) -> None:
        self._ticks = log.ticks
        self._changed = changed
        self._changes = [Change(0, 0, original), *changes]
        self._instances = {(each.process, each.tick): each for each in log.instances}
        # A tick is given some time after its time, and then the attributes of that moment count.
        self._given_ns = {number: tick.time_ns + tick.cost_ns for number, tick in log.ticks.items()}
        for number, releases in itertools.groupby(sorted(log.instances, key=_when), lambda each: each.tick):
            if number in self._given_ns:
                self._given_ns[number] = max(self._given_ns[number], next(releases).released_ns)

    def at(self, number: int) -> bool | None:
        """Returns whether it obeyed in this tick. None: it cannot be said.

        It cannot be said if a change came just before the tick was given, or if a process had not finished when it was due again.
        """
        tick_ns = self._ticks[number].time_ns
        if any(each.begin_ns <= self._given_ns[number] and each.end_ns >= tick_ns for each in self._changes):
            return None
        wanted = next(each.attributes for each in reversed(self._changes) if each.end_ns < tick_ns)
        instance = self._instances.get((self._changed, number))
        if number % wanted.period:
            return instance is None
        if instance is None:
            return None if self._is_unfinished(number) else False
        due_ns = self._due_ns(wanted, number)
        return None if due_ns is None or self._is_relieved(tick_ns, instance.released_ns) else instance.due_ns == due_ns

    def _is_unfinished(self, number: int) -> bool:
        """Returns whether the instance before this tick had not finished in it."""
        earlier = [found for back in (1, 2) if (found := self._instances.get((self._changed, number - back)))]
        return any(each.finished_ns is None or each.finished_ns > self._ticks[number].time_ns for each in earlier)

    def _is_relieved(self, begin_ns: int, end_ns: int) -> bool:
        """Returns whether a precedence was removed meanwhile, which concerns an instance that waits."""
        return any(
            before.attributes.after - each.attributes.after and each.end_ns >= begin_ns and each.begin_ns <= end_ns
            for before, each in itertools.pairwise(self._changes)
        )

    def _due_ns(self, wanted: Attributes, number: int) -> int | None:
        """Returns when an instance should be released: after its delay and after its predecessors. None: it is not known."""
        found = [self._instances.get((name, number)) for name in wanted.after]
        finishes = [each.finished_ns for each in found if each and each.finished_ns is not None]
        if len(finishes) < len(found):
            return None
        return max([self._ticks[number].time_ns + int(wanted.delay_ms * NS_PER_MS), *finishes])


def _when(instance: Instance) -> tuple[int, int]:
    return instance.tick, instance.released_ns


def _figures(starts: Mapping[str, Mapping[int, Instance]], ticks: Sequence[int], one: str) -> PartFigures:
    late = {name: [_late_us(found[tick]) for tick in ticks if tick in found] for name, found in starts.items()}
    due, begun = len(starts) * len(ticks), sum(map(len, late.values()))
    every = [value for values in late.values() for value in values]
    return PartFigures(due, due - begun, *_middle_and_most(every), *_middle_and_most(late[one]))


def _late_us(instance: Instance) -> float:
    return (instance.begun_ns - instance.due_ns) / NS_PER_US


def _middle_and_most(values: Sequence[float]) -> tuple[float, float]:
    """Returns the median and the 99th percentile; 0 and 0 if there are no values, which are counted as lost."""
    if not values:
        return 0.0, 0.0
    middle, most = np.percentile(values, (50, 99))
    return float(middle), float(most)
