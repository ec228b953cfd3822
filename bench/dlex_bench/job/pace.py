# SPDX-License-Identifier: LGPL-2.1-or-later
"""Starts an ordinary load in time, and measures its pace: alone, and while the player shows pictures."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from itertools import pairwise

from ..errors import LabError
from ..rig.load.running import Due, RunningLoad, Window

# How long its pace alone is measured. A build compiles some dozen files in this time.
ALONE_S = 2.0


@dataclass(frozen=True)
class PaceSample:
    """What the load had done at a time."""

    at_us: float
    done: float
    late: float


@dataclass(frozen=True)
class Pace:
    """What a load did within a window. `late`: how many of its activations were late."""

    per_s: float
    late: int


def pace_in(samples: Sequence[PaceSample], window: Window) -> Pace | None:
    """Returns the pace within the part of the window that the samples cover; None if they cover none of it.

    Between two samples, the load goes on evenly.
    """
    begin_us, end_us = max(window[0], samples[0].at_us), min(window[1], samples[-1].at_us)
    if end_us <= begin_us:
        return None
    begin, end = _at(samples, begin_us), _at(samples, end_us)
    return Pace(1e6 * (end.done - begin.done) / (end_us - begin_us), round(end.late - begin.late))


def _at(samples: Sequence[PaceSample], at_us: float) -> PaceSample:
    before, after = next((pair for pair in pairwise(samples) if at_us <= pair[1].at_us), samples[-2:])
    part = (at_us - before.at_us) / (after.at_us - before.at_us)
    done, late = (a + part * (b - a) for a, b in ((before.done, after.done), (before.late, after.late)))
    return PaceSample(at_us, done, late)


@dataclass
class TimedLoad:
    """The load of a job, which `start` starts for as long as `stack` is open.

    It is settled when the player starts, or it starts `after_s` after the player.
    """

    start: Callable[[], AbstractContextManager[RunningLoad]]
    after_s: float | None
    stack: ExitStack
    running: RunningLoad | None = None
    samples: list[PaceSample] = field(default_factory=list)
    alone: Pace | None = None
    player_began: float = 0.0

    def before_player(self) -> None:
        if self.after_s is None:
            time.sleep(self._start().settle_s)
            self.alone = self._measure_alone()
        self.player_began = time.monotonic()

    def watch(self) -> None:
        """Starts the load when it is time, and raises LabError when it has died."""
        if self.running is None and time.monotonic() - self.player_began >= (self.after_s or 0.0):
            self._start()
        self._sample()

    def after_player(self) -> None:
        """Measures the pace alone of a load that started late. Raises LabError if it never started."""
        if self.running is None:
            raise LabError(f"the player ended before the load began, {self.after_s:g} s after it; make after_s smaller")
        if self.after_s is not None:
            self.alone = self._measure_alone()

    def beside(self, window: Window) -> Pace | None:
        """Returns the pace within the window of the player's shown pictures."""
        return pace_in(self.samples, window) if self.samples else None

    def due(self, window: Window) -> Due | None:
        """Returns what the load's records say of the window; None: it has none."""
        return self.running.due(window) if self.running and self.running.due else None

    def _start(self) -> RunningLoad:
        self.running = self.stack.enter_context(self.start())
        return self.running

    def _sample(self) -> PaceSample | None:
        load = self.running
        if load is None:
            return None
        load.check()
        if load.done is None:
            return None
        self.samples.append(PaceSample(time.monotonic_ns() / 1e3, load.done(), load.late() if load.late else 0))
        return self.samples[-1]

    def _measure_alone(self) -> Pace | None:
        begin = self._sample()
        if begin is None:
            return None
        time.sleep(ALONE_S)
        end = self._sample()
        return pace_in([begin, end], (begin.at_us, end.at_us)) if end else None
