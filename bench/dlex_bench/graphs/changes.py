# SPDX-License-Identifier: LGPL-2.1-or-later
"""Changes precedences, times and the priority of one process of a graph while the graph runs."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .live_table import Attributes, LiveTable

# Between two changes: random, so that they come at all times between two ticks. Less than a tick of 33 ms on average.
PAUSE_S = (0.005, 0.035)
# Precedences are changed as often as all other attributes together.
OTHERS = ("period", "delay", "deadline")
EARLIER = 0.75  # part of the delay that remains when it is shorter
DEADLINE_MS = 5.0


@dataclass(frozen=True)
class Change:
    """A change was in force for ticks after `end_ns`, and not for ticks before `begin_ns`; ns of the monotonic clock."""

    begin_ns: int
    end_ns: int
    attributes: Attributes


def attributes_of(process: Mapping[str, Any]) -> Attributes:
    """Returns the attributes of a process in a graph's file."""
    return Attributes(
        process.get("period", 1), process.get("delay", 0), process.get("deadline", 0), process.get("priority", 0),
        frozenset(process.get("after", ())),
    )


def next_attributes(now: Attributes, original: Attributes, predecessors: Sequence[str], choice: random.Random) -> Attributes:
    """Returns attributes that differ from `now` in one respect: either from `original`, or as there again."""
    kinds = (*OTHERS, "priority") if original.priority > 1 else OTHERS
    kind = choice.choice(kinds) if choice.random() < 0.5 else "after"
    if kind == "period":
        return replace(now, period=2 if now.period == original.period else original.period)
    if kind == "delay":
        shorter_ms = original.delay_ms * EARLIER
        return replace(now, delay_ms=shorter_ms if now.delay_ms == original.delay_ms else original.delay_ms)
    if kind == "deadline":
        return replace(now, deadline_ms=DEADLINE_MS if now.deadline_ms == original.deadline_ms else original.deadline_ms)
    if kind == "priority":
        return replace(now, priority=original.priority - 1 if now.priority == original.priority else original.priority)
    return replace(now, after=now.after ^ {choice.choice(predecessors)})


def make_changes(
    table: LiveTable, process: str, original: Attributes, predecessors: Sequence[str], is_over: Callable[[], bool], seed: int
) -> list[Change]:
    """Changes the process again and again until `is_over`, then restores it. Returns the changes in their order.

    The precedences are those from `predecessors`.
    """
    choice = random.Random(seed)
    made: list[Change] = []
    now = original
    while not is_over():
        time.sleep(choice.uniform(*PAUSE_S))
        wanted = next_attributes(now, original, predecessors, choice)
        made.append(_change(table, process, now, wanted))
        now = wanted
    made.append(_change(table, process, now, original))
    return made


def _change(table: LiveTable, process: str, now: Attributes, wanted: Attributes) -> Change:
    begin_ns = time.monotonic_ns()
    table.change(process, now, wanted)
    return Change(begin_ns, time.monotonic_ns(), wanted)
