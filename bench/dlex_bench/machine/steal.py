# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures how much CPU time the host of a virtual machine takes for others (`steal` in /proc/stat).

A player whose CPU is taken away drops pictures that it would have shown. The kernel counts ticks of 10 ms, so the parts of
a second are coarse.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic_ns

from ..schema import Stored

STAT = Path("/proc/stat")
# The columns of a CPU, see proc(5): user nice system idle iowait irq softirq steal. What follows is a part of the first two.
COLUMNS, STEAL = 8, 7
# A CPU whose programs all wait for a disk counts as idle: it would have run any other program.
IDLE = (3, 4)
# A run from which the host took more than this part of the measured CPU is marked, and repeated.
MUCH = 0.05
# In half a second, one tick is 2 % of a CPU. Nothing is said about less time.
LEAST_TICKS = 50


@dataclass(frozen=True)
class Ticks:
    """CPU time in the kernel's ticks since the machine was started: what was stolen, all together, and idle."""

    stolen: float = 0.0
    whole: float = 0.0
    idle: float = 0.0

    def __add__(self, other: Ticks) -> Ticks:
        return Ticks(self.stolen + other.stolen, self.whole + other.whole, self.idle + other.idle)

    def __mul__(self, part: float) -> Ticks:
        return Ticks(part * self.stolen, part * self.whole, part * self.idle)

    def since(self, before: Ticks) -> Ticks:
        return self + before * -1


@dataclass(frozen=True)
class StealLook:
    """What /proc/stat said at one time about the measured CPU, and about the others together."""

    time_ns: int  # CLOCK_MONOTONIC
    measured: Ticks
    others: Ticks


class Steal(Stored):
    """The parts of the CPU time that the host took while pictures were shown, 0 to 1."""

    measured: float | None = None  # of the measured CPU, under `free` of all CPUs together; null: it was too short
    others: float | None = None  # of the other CPUs together; null: there are none, or it was too short


def look_at_steal(measured: Collection[int], others: Iterable[int]) -> StealLook:
    """Looks at the CPUs that count as measured, and at those of `others` that do not."""
    text = STAT.read_text()
    found = ticks_of(text)
    return StealLook(monotonic_ns(), _sum(found, measured), _sum(found, set(others) - set(measured)))


def ticks_of(text: str) -> dict[int, Ticks]:
    """Returns the ticks of each CPU from the text of /proc/stat."""
    found = {}
    for line in text.splitlines():
        name, *columns = line.split() or [""]
        if name.startswith("cpu") and name[3:].isdigit() and len(columns) >= COLUMNS:
            numbers = [int(column) for column in columns[:COLUMNS]]
            found[int(name[3:])] = Ticks(numbers[STEAL], sum(numbers), sum(numbers[column] for column in IDLE))
    return found


def steal_between(looks: Sequence[StealLook], begin_ns: float, end_ns: float) -> Steal | None:
    """Returns what was stolen between two times; None if there are no looks. Between two looks, time passes evenly."""
    if not looks:
        return None
    times_ns = [look.time_ns for look in looks]
    measured, others = [look.measured for look in looks], [look.others for look in looks]
    passed, passed_others = (_passed(times_ns, ticks, begin_ns, end_ns) for ticks in (measured, others))
    return Steal(measured=_part(passed, passed.stolen), others=_part(passed_others, passed_others.stolen))


def idle_between(looks: Sequence[StealLook], begin_ns: float, end_ns: float) -> float | None:
    """Returns the part of the measured CPUs' time in which they were idle; None if it was too short, or nobody looked."""
    if not looks:
        return None
    passed = _passed([look.time_ns for look in looks], [look.measured for look in looks], begin_ns, end_ns)
    return _part(passed, passed.idle)


def _sum(found: Mapping[int, Ticks], cpus: Iterable[int]) -> Ticks:
    return sum((found[cpu] for cpu in cpus if cpu in found), Ticks())


def _passed(times_ns: Sequence[int], ticks: Sequence[Ticks], begin_ns: float, end_ns: float) -> Ticks:
    return _at(times_ns, ticks, end_ns).since(_at(times_ns, ticks, begin_ns))


def _at(times_ns: Sequence[int], ticks: Sequence[Ticks], time_ns: float) -> Ticks:
    """Returns the ticks at a time between two looks, or those of the nearest look if there are no two."""
    after = bisect_left(times_ns, time_ns)
    if after == 0 or after == len(times_ns):
        return ticks[min(after, len(times_ns) - 1)]
    first, last = ticks[after - 1], ticks[after]
    part = (time_ns - times_ns[after - 1]) / (times_ns[after] - times_ns[after - 1])
    return first + last.since(first) * part


def _part(passed: Ticks, of_these: float) -> float | None:
    """Returns the part, from 0 to 1: the kernel's count of the time that CPUs wait for a disk may go back, see proc(5)."""
    return min(1.0, max(0.0, of_these / passed.whole)) if passed.whole >= LEAST_TICKS else None
