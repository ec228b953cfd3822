# SPDX-License-Identifier: LGPL-2.1-or-later
"""Judges claims about shares and ratios, and goals of our own, by their intervals.

A claim holds when the whole interval lies where the claim says, and does not hold when the whole interval lies elsewhere.
Otherwise it is undecided. A claim about every case is refuted by one case. A goal is met or missed in the same way, but the
bound itself meets it. The functions are pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scipy import stats

from .outcome import FAILS, HOLDS, MET, MISSED, OPEN, UNCERTAIN, UNMEASURED
from .statistics import CONFIDENCE, Interval


@dataclass(frozen=True)
class Share:
    """How many of `n` cases had a property."""

    hits: int
    n: int

    @property
    def interval(self) -> tuple[float, float]:
        """Returns Wilson's interval of the true share; everything, if there are no cases."""
        if not self.n:
            return 0.0, 1.0
        found = stats.binomtest(self.hits, self.n).proportion_ci(CONFIDENCE, method="wilson")
        return float(found.low), float(found.high)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.hits} of {self.n} ({low:.0%} to {high:.0%})" if self.n else "none measured"


def is_at_least(share: Share, bound: float) -> str:
    """Returns the word for: at least the part `bound` of all cases has the property."""
    low, high = share.interval
    return UNMEASURED if not share.n else HOLDS if low >= bound else FAILS if high < bound else OPEN


def is_never(share: Share) -> str:
    """Returns the word for: no case has the property."""
    return UNMEASURED if not share.n else FAILS if share.hits else HOLDS


def is_above(found: Interval | None, bound: float) -> str:
    """Returns the word for: the true value is above `bound`."""
    if found is None:
        return UNMEASURED
    if found.low is None or found.high is None:
        return OPEN
    return HOLDS if found.low > bound else FAILS if found.high <= bound else OPEN


def is_below(found: Interval | None, bound: float) -> str:
    """Returns the word for: the true value is below `bound`."""
    if found is None:
        return UNMEASURED
    if found.low is None or found.high is None:
        return OPEN
    return HOLDS if found.high < bound else FAILS if found.low >= bound else OPEN


def goal_at_most(found: Interval | None, bound: float) -> str:
    """Returns the word for the goal: the true value is at most `bound`."""
    if found is None:
        return UNMEASURED
    if found.low is None or found.high is None:
        return UNCERTAIN
    return MET if found.high <= bound else MISSED if found.low > bound else UNCERTAIN


def goal_at_least(found: Interval | None, bound: float) -> str:
    """Returns the word for the goal: the true value is at least `bound`."""
    if found is None:
        return UNMEASURED
    if found.low is None or found.high is None:
        return UNCERTAIN
    return MET if found.low >= bound else MISSED if found.high < bound else UNCERTAIN


def all_at_most(values: Sequence[float], bound: float) -> str:
    """Returns the word for the goal: the value of every run is at most `bound`. It is missed if no run meets it."""
    if not values:
        return UNMEASURED
    return MET if max(values) <= bound else MISSED if min(values) > bound else UNCERTAIN


def all_of(words: list[str]) -> str:
    """Returns the word for a claim that consists of several: one that fails refutes it, and all must hold."""
    if FAILS in words:
        return FAILS
    if not words or UNMEASURED in words:
        return UNMEASURED
    return HOLDS if set(words) == {HOLDS} else OPEN


def with_interval(found: Interval | None, form: str = "{:.2f}") -> str:
    """Returns the value with its interval, such as "1.10 (1.05 to 1.14)"."""
    if found is None:
        return "not measured"
    if found.low is None or found.high is None:
        return f"{form.format(found.value)} (too few runs for an interval)"
    return f"{form.format(found.value)} ({form.format(found.low)} to {form.format(found.high)})"
