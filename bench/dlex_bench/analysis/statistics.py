# SPDX-License-Identifier: LGPL-2.1-or-later
"""Computes spread, bootstrap intervals and ratios, and decides when a difference is noise.

The functions are pure and give the same result at each call.

A laboratory repeats a job five times, seldom a hundred times. With so few runs the usual bootstrap intervals are too
narrow: they ignore that the sample's own spread is uncertain. So below ENOUGH_FOR_BCA runs an interval is an
*expanded* percentile interval (T. Hesterberg, "What teachers should know about the bootstrap", 2015). Its percentiles
are those that give Student's interval if the data are normal. From ENOUGH_FOR_BCA runs on, the interval is
bias-corrected and accelerated (BCa).

We tried the expanded interval on 300 samples per case. With normal data it held the true mean in 92 % of the samples
with 5 runs, and in 95 % with 10 runs. With very skewed (lognormal) data it held the true mean in 79 % and 82 %, and the
true median in 93 % and 97 %. So medians are compared.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

CONFIDENCE = 0.95
RESAMPLES = 4999
SEED = 20
# The range of three runs holds the true median in 75 % of all cases, that of four in 88 %, that of five in 94 %.
ENOUGH = 4
ENOUGH_FOR_BCA = 20

Numbers = NDArray[np.float64]
Statistic = Callable[..., Any]


@dataclass(frozen=True)
class Interval:
    """Holds a value and, if there are enough runs, the interval that contains the true value with CONFIDENCE."""

    value: float
    low: float | None
    high: float | None
    n: int

    @property
    def known(self) -> bool:
        return self.low is not None and self.high is not None

    def spans(self, value: float) -> bool:
        """Returns whether the true value may be `value`. Without an interval it may be any value."""
        return self.low is None or self.high is None or self.low <= value <= self.high


@dataclass(frozen=True)
class Spread:
    n: int
    mean: float
    sd: float
    median: float
    low: float
    p25: float
    p75: float
    high: float


@dataclass(frozen=True)
class Comparison:
    """Compares a with b. `ratio` is None if b is 0 or a figure is negative.

    `noise`: these runs cannot distinguish the two.
    """

    ratio: Interval | None
    difference: Interval
    paired: bool

    @property
    def noise(self) -> bool:
        return self.difference.spans(0)

    @property
    def verdict(self) -> str:
        if not self.difference.known:
            return "too few runs"
        return "noise" if self.noise else "less" if self.difference.value < 0 else "more"


def spread(values: Sequence[float]) -> Spread | None:
    if not values:
        return None
    data = np.asarray(values, dtype=float)
    low, p25, median, p75, high = (float(it) for it in np.percentile(data, (0, 25, 50, 75, 100)))
    sd = float(np.std(data, ddof=1)) if len(data) > 1 else 0.0
    return Spread(len(data), float(np.mean(data)), sd, median, low, p25, p75, high)


def median_interval(values: Sequence[float]) -> Interval | None:
    return _interval([values], np.median) if values else None


def compare(
    a: Sequence[float], b: Sequence[float], *, paired: bool = False, middle: Statistic = np.median
) -> Comparison:
    """Returns the ratio and the difference of two settings' medians, or of another `middle`.

    `paired`: a[i] and b[i] were played in one repetition.
    """
    if not a or not b:
        raise ValueError("a comparison needs runs on both sides")

    def ratio(one: Numbers, other: Numbers, axis: int = -1) -> Any:
        return middle(one, axis=axis) / middle(other, axis=axis)

    def difference(one: Numbers, other: Numbers, axis: int = -1) -> Any:
        return middle(one, axis=axis) - middle(other, axis=axis)

    has_ratio = min(a) >= 0 and min(b) >= 0 and middle(np.asarray(b, dtype=float)) > 0
    return Comparison(
        _interval([a, b], ratio, paired) if has_ratio else None, _interval([a, b], difference, paired), paired
    )


def _interval(samples: Sequence[Sequence[float]], statistic: Statistic, paired: bool = False) -> Interval:
    data = [np.asarray(sample, dtype=float) for sample in samples]
    n = min(len(sample) for sample in data)
    value = float(statistic(*data))
    if n < ENOUGH:
        return Interval(value, None, None, n)
    if all(np.ptp(sample) == 0 for sample in data):
        return Interval(value, value, value, n)
    low, high = _bootstrap(data, statistic, paired, n)
    return Interval(value, low, high, n)


def _bootstrap(data: list[Numbers], statistic: Statistic, paired: bool, n: int) -> tuple[float, float]:
    method = "BCa" if n >= ENOUGH_FOR_BCA else "percentile"
    for attempt in (method, "percentile"):
        with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
            warnings.simplefilter("ignore")
            found = stats.bootstrap(
                data,
                statistic,
                paired=paired and len(data) > 1,
                vectorized=True,
                n_resamples=RESAMPLES,
                confidence_level=CONFIDENCE if attempt == "BCa" else _expanded(n),
                method=attempt,
                rng=np.random.default_rng(SEED),
            ).confidence_interval
        # BCa is undefined if leaving out any one run changes nothing. That is often so with medians.
        if not (math.isnan(found.low) or math.isnan(found.high)):
            break
    return _finite(found.low, found.high)


def _finite(low: float, high: float) -> tuple[float, float]:
    """Replaces bounds that are NaN: a resample of b may be all zeros, and its ratio is then unbounded."""
    return (0.0 if math.isnan(low) else float(low)), (math.inf if math.isnan(high) else float(high))


def _expanded(n: int) -> float:
    quantile = float(stats.t.ppf((1 + CONFIDENCE) / 2, n - 1)) * math.sqrt(n / (n - 1))
    return 2 * NormalDist().cdf(quantile) - 1
