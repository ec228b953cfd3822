# SPDX-License-Identifier: LGPL-2.1-or-later
"""Says what a play met on a machine on which nothing is placed: idle CPU time, waiting for a CPU, and what others spent for it.

Steal, idle time and waiting are those between the first and the last shown picture. Between two looks, they pass evenly. What the
screen, the sound server and the laboratory spent is that from the player's start to its end.
"""

from __future__ import annotations

import os
import time
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..machine.steal import StealLook, idle_between, steal_between
from ..processes import cpu_time_s
from ..record import ObserverFacts
from ..rig.players.threads import Look, SeenThread
from ..rig.stage import Stage
from .result import Servers, Waiting, WholeMachine


@dataclass(frozen=True)
class Spent:
    """The CPU time that the programs around the player have used, in s."""

    at_s: float
    screen_s: float | None
    sound_s: float | None
    laboratory_s: float

    @classmethod
    def now(cls, stage: Stage | None) -> Spent:
        """Returns what was used until now; without a stage only that of the laboratory."""
        screen_s, sound_s = (cpu_time_s(it.process.pid) for it in (stage.display, stage.sound)) if stage else (None, None)
        return cls(time.monotonic(), screen_s, sound_s, time.process_time())


@dataclass
class Account:
    """What the programs around a player spend while it plays."""

    stage: Stage | None
    before: Spent = field(init=False)
    after: Spent = field(init=False)

    def open(self) -> None:
        self.before = self.after = Spent.now(self.stage)

    def close(self) -> None:
        self.after = Spent.now(self.stage)

    def servers(self, frames: int, observer: ObserverFacts | None) -> Servers:
        """Returns the report on a play of `frames` pictures.

        `observer` is what the observer says of itself; None: there was none.
        """
        screen_s = _difference(self.before.screen_s, self.after.screen_s)
        sound_s = _difference(self.before.sound_s, self.after.sound_s)
        wall_s = self.after.at_s - self.before.at_s
        return Servers(
            screen_ms_per_frame=_ms_a_frame(screen_s, frames),
            sound_ms_per_frame=_ms_a_frame(sound_s, frames),
            laboratory=(self.after.laboratory_s - self.before.laboratory_s) / wall_s if wall_s else None,
            observer=observer.cpu_fraction if observer else None,
            observer_policy=observer.sched if observer else None,
            observer_late_us_p99=observer.screen.look_late_us_p99 if observer else None,
            observer_late_us_worst=observer.screen.look_late_us_worst if observer else None,
        )


def whole_machine(
    steal: Sequence[StealLook], playing: Iterable[SeenThread], window_ns: tuple[float, float], frames: int, servers: Servers
) -> WholeMachine:
    """Returns the report on a play of `frames` pictures. `playing` are the threads that decode or present.

    `steal` counts all CPUs as measured.
    """
    stolen = steal_between(steal, *window_ns)
    return WholeMachine(
        cpus=len(os.sched_getaffinity(0)),
        steal=stolen.measured if stolen else None,
        idle=idle_between(steal, *window_ns),
        waiting=time_of_waiting(playing, window_ns, frames),
        servers=servers,
    )


def time_of_waiting(playing: Iterable[SeenThread], window_ns: tuple[float, float], frames: int) -> Waiting | None:
    """Returns how long these threads ran and waited for a CPU, in sum. None: the kernel does not say it."""
    counted = [[_Counts.of(look) for look in thread.looks if look.wait_s is not None] for thread in playing]
    found = [_passed(counts, window_ns) for counts in counted if counts]
    if not found:
        return None
    run_s, wait_s, slices = (sum(column) for column in zip(*found, strict=True))
    return Waiting(run_s=run_s, wait_s=wait_s, slices=round(slices), wait_ms_per_frame=_ms_a_frame(wait_s, frames))


@dataclass(frozen=True)
class _Counts:
    """The kernel's counts of a thread at one time."""

    time_ns: int
    values: tuple[float, float, float]  # time on a CPU and time of waiting in s, slices

    @classmethod
    def of(cls, look: Look) -> _Counts:
        return cls(look.time_ns, (look.cpu_s, look.wait_s or 0.0, float(look.slices or 0)))


def _passed(counts: Sequence[_Counts], window_ns: tuple[float, float]) -> list[float]:
    begin, end = (_at(counts, time_ns) for time_ns in window_ns)
    return [after - before for before, after in zip(begin, end, strict=True)]


def _at(counts: Sequence[_Counts], time_ns: float) -> tuple[float, ...]:
    """Returns the counts at a time: before the first look at a thread, there was no such thread."""
    after = bisect_right(counts, time_ns, key=lambda it: it.time_ns)
    if after == 0:
        return (0.0, 0.0, 0.0)
    first = counts[after - 1]
    if after == len(counts):
        return first.values
    second = counts[after]
    part = (time_ns - first.time_ns) / (second.time_ns - first.time_ns)
    return tuple(one + part * (other - one) for one, other in zip(first.values, second.values, strict=True))


def _difference(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else max(0.0, after - before)


def _ms_a_frame(seconds: float | None, frames: int) -> float | None:
    return None if seconds is None or not frames else 1e3 * seconds / frames
