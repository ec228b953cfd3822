# SPDX-License-Identifier: LGPL-2.1-or-later
"""Judges passes over a film. The functions are pure.

Processes differ in the pages that they get and in the layout of their code, and each pass has new ones. All pairs of a pass share
this effect. So each pass is one observation, its median, and the intervals are over the passes.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from ..analysis.claims import goal_at_least, goal_at_most, with_interval
from ..analysis.outcome import Outcome
from ..analysis.statistics import Interval, median_interval
from .turns import Pair

LEAST_SPEED = 0.98
MOST_LATER_MS = 2.0
# The interval of the speed is wanted this narrow on each side.
WANTED = 0.01

Pass = Sequence[Pair]


def speed_of(passes: Sequence[Pass]) -> Interval | None:
    """Returns the patched decoder's speed, as a part of the unpatched one's."""
    return median_interval([median(pair.speed for pair in one) for one in passes])


def first_later_ms_of(passes: Sequence[Pass]) -> Interval | None:
    """Returns how much later the first picture of a segment comes out of the patched decoder."""
    return median_interval([median(pair.first_later_ms for pair in one) for one in passes])


def is_certain(passes: Sequence[Pass]) -> bool:
    found = speed_of(passes)
    return found is not None and found.low is not None and found.high is not None and (found.high - found.low) / 2 <= WANTED


def throughput_findings(film: str, passes: Sequence[Pass]) -> list[Outcome]:
    speed, later_ms = speed_of(passes), first_later_ms_of(passes)
    return [
        Outcome(f"at least {LEAST_SPEED:g} of the unpatched FFmpeg's speed", film, goal_at_least(speed, LEAST_SPEED),
                f"{with_interval(speed, '{:.3f}')}, {len(passes)} passes"),
        Outcome(f"the first picture at most {MOST_LATER_MS:g} ms later", film, goal_at_most(later_ms, MOST_LATER_MS),
                f"{with_interval(later_ms, '{:+.2f}')} ms"),
    ]
