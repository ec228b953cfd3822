# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds run-queue delays in the kernel's records of wake-ups and context switches: from a wake-up to the CPU.

The records are the text of switch_recording.py. The functions are pure.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..errors import LabError

US_PER_S = 1_000_000
PARTS = 100
# How many records DelayReader keeps to put them in order. The kernel merges those of all CPUs when they are read; only one that it
# writes at that moment can come too late.
HELD = 1000
# A thread may be named anything, also like a field. The numbers behind its name are the kernel's.
WAKING = re.compile(r" (?P<s>\d+)\.(?P<us>\d{6}): sched_waking: comm=.* pid=(?P<thread>\d+) prio=-?\d+ target_cpu=\d+$")
SWITCH = re.compile(
    r" (?P<s>\d+)\.(?P<us>\d{6}): sched_switch: prev_comm=.* prev_pid=(?P<before>\d+) prev_prio=-?\d+ prev_state=(?P<state>\S+)"
    r" ==> next_comm=.* next_pid=(?P<next>\d+) next_prio=-?\d+$")
# In place of records that were lost. The file `stats` has their number, too.
GAP = re.compile(r"^CPU:\d+ \[LOST \d+ EVENTS\]$")
# R and R+: it can still run. All other states are sleeps, or the end.
RUNNABLE = "R"


@dataclass(frozen=True)
class WakeUp:
    time_us: int
    thread: int


@dataclass(frozen=True)
class Switch:
    time_us: int
    before: int  # the thread that had the CPU
    sleeps: bool  # it gave the CPU up, and was not preempted
    next: int


@dataclass(frozen=True)
class Wait:
    """A thread waited for the CPU. The last wait of a thread may not have been over when the recording ended."""

    thread: int
    woken_us: int
    until_us: int
    is_over: bool = True

    @property
    def ms(self) -> float:
        return (self.until_us - self.woken_us) / 1e3


@dataclass(frozen=True)
class Delays:
    count: int
    mean_ms: float
    p99_ms: float
    max_ms: float


def read_switches(lines: Iterable[str]) -> list[WakeUp | Switch]:
    """Returns the records in the order of time. The text has each CPU's records in order, and only roughly those of all CPUs.

    Raises LabError if a line is neither a record nor a gap.
    """
    return sorted(_records(lines), key=lambda it: it.time_us)


def _records(lines: Iterable[str]) -> Iterator[WakeUp | Switch]:
    for line in lines:
        text = line.rstrip("\n")
        if found := SWITCH.search(text):
            yield Switch(_time_us(found), int(found["before"]), not found["state"].startswith(RUNNABLE), int(found["next"]))
        elif found := WAKING.search(text):
            yield WakeUp(_time_us(found), int(found["thread"]))
        elif not GAP.match(text):
            raise LabError(f"the kernel's record {text!r} is not known here; report this with the version of the kernel")


def _time_us(found: re.Match[str]) -> int:
    return int(found["s"]) * US_PER_S + int(found["us"])


@dataclass
class _Thread:
    """What is known of a thread so far."""

    woken_us: int | None = None  # the last wake-up since it last got a CPU
    slept_us: int | None = None  # when it last went to sleep, if it has not got a CPU since then
    has_cpu: bool | None = None  # None: no switch has shown it yet; it may have had a CPU from the beginning


class RunQueue:
    """Follows threads from their wake-ups to the CPU. Gets the records in the order of time."""

    def __init__(self) -> None:
        self.unseen: Counter[int] = Counter()  # see unseen_switches
        self._threads: defaultdict[int, _Thread] = defaultdict(_Thread)
        self._over: list[Wait] = []

    def add(self, record: WakeUp | Switch) -> None:
        if isinstance(record, WakeUp):
            self._threads[record.thread].woken_us = record.time_us
            return
        before, following = self._threads[record.before], self._threads[record.next]
        if before.has_cpu is False:
            self.unseen[record.before] += 1
        before.has_cpu, before.slept_us = False, record.time_us if record.sleeps else None
        if not record.sleeps:
            before.woken_us = None  # it did not sleep
        if following.woken_us is not None:
            self._over.append(Wait(record.next, max(following.woken_us, following.slept_us or 0), record.time_us))
        following.woken_us, following.slept_us, following.has_cpu = None, None, True

    def waits_until(self, end_us: int) -> list[Wait]:
        """Returns all waits so far; those that are not over last until `end_us`."""
        return [*self._over, *(Wait(number, it.woken_us, end_us, is_over=False) for number, it in self._threads.items()
                               if it.woken_us is not None and not it.has_cpu and it.woken_us >= (it.slept_us or 0))]


class DelayReader:
    """Gets the text of the records piece by piece and keeps only the waits, so that a recording may last for hours."""

    def __init__(self) -> None:
        self.queue = RunQueue()
        self._rest = b""
        self._held: list[tuple[int, int, WakeUp | Switch]] = []
        self._count = 0

    def write(self, text: bytes) -> None:
        """Raises LabError if a line is neither a record nor a gap."""
        *lines, self._rest = (self._rest + text).split(b"\n")
        for record in _records(line.decode(errors="replace") for line in lines):
            self._count += 1
            heapq.heappush(self._held, (record.time_us, self._count, record))
            if len(self._held) > HELD:
                self._pass_on()

    def waits_until(self, end_us: int) -> list[Wait]:
        while self._held:
            self._pass_on()
        return self.queue.waits_until(end_us)

    def _pass_on(self) -> None:
        self.queue.add(heapq.heappop(self._held)[-1])


def queue_of(records: Iterable[WakeUp | Switch]) -> RunQueue:
    """Returns what the records say of all threads: their waits, and what was not recorded."""
    queue = RunQueue()
    for record in records:
        queue.add(record)
    return queue


def waits_of(records: Iterable[WakeUp | Switch], end_us: int) -> list[Wait]:
    """Returns all waits from a wake-up to the CPU, also those that were not over at `end_us`.

    A wake-up that comes while the thread has the CPU counts only if the thread was just going to sleep, and no later one came:
    then it waits from the end of its turn on. A thread that was preempted is not woken, and its wait is not counted.
    """
    return queue_of(records).waits_until(end_us)


def unseen_switches(records: Iterable[WakeUp | Switch]) -> Counter[int]:
    """Returns for each thread how often it left the CPU although no record says that it had got it.

    These records are missing, and the kernel does not count them as lost. Linux 6.18 was seen to record no switch from the idle
    thread of one CPU to another thread, while it recorded all those of the other CPU. The wait before such a switch is not known.
    """
    return queue_of(records).unseen


def delays_of(waits: Sequence[Wait]) -> Delays | None:
    """Returns mean, 99th percentile (nearest rank) and longest of the waits; None if there are none."""
    if not waits:
        return None
    values_ms = sorted(wait.ms for wait in waits)
    rank = math.ceil(len(values_ms) * (PARTS - 1) / PARTS)
    return Delays(len(values_ms), math.fsum(values_ms) / len(values_ms), values_ms[rank - 1], values_ms[-1])
