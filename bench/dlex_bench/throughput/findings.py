# SPDX-License-Identifier: LGPL-2.1-or-later
"""Judges pairs of decodes. The functions are pure."""

from __future__ import annotations

from collections.abc import Sequence

from ..analysis.outcome import MET, MISSED, UNCERTAIN, Outcome
from ..analysis.statistics import Interval, median_interval
from .turns import Pair

LEAST_SPEED = 0.98
MOST_LATER_MS = 2.0
# The interval of the speed is wanted this narrow on each side.
WANTED = 0.01


def speed_of(pairs: Sequence[Pair]) -> Interval:
    """Returns the patched decoder's speed, as a part of the unpatched one's."""
    found = median_interval([pair.speed for pair in pairs])
    assert found is not None
    return found


def is_certain(pairs: Sequence[Pair]) -> bool:
    found = speed_of(pairs)
    return found.low is not None and found.high is not None and (found.high - found.low) / 2 <= WANTED


def throughput_findings(film: str, pairs: Sequence[Pair]) -> list[Outcome]:
    speed = speed_of(pairs)
    later = median_interval([pair.first_later_ms for pair in pairs])
    assert later is not None
    return [
        Outcome(f"at least {LEAST_SPEED:g} of the unpatched FFmpeg's speed", film, _word(speed, lambda it: it >= LEAST_SPEED),
                f"{_text(speed, '.3f')}, {len(pairs)} pairs"),
        Outcome(f"the first picture at most {MOST_LATER_MS:g} ms later", film, _word(later, lambda it: it <= MOST_LATER_MS),
                f"{_text(later, '+.2f')} ms"),
    ]


def _word(found: Interval, holds: object) -> str:
    assert callable(holds)
    if found.low is None or found.high is None:
        return UNCERTAIN
    ends = holds(found.low), holds(found.high)
    return MET if all(ends) else UNCERTAIN if any(ends) else MISSED


def _text(found: Interval, form: str) -> str:
    extent = f"{found.low:{form}} to {found.high:{form}}" if found.known else "too few pairs for an interval"
    return f"{found.value:{form}} ({extent})"
