# SPDX-License-Identifier: LGPL-2.1-or-later
"""Judges what the paper reports by the interval of the same figure in the simulated runs. The functions are pure."""

from __future__ import annotations

from collections.abc import Sequence

from dlex_bench.analysis.claims import with_interval
from dlex_bench.analysis.outcome import FAILS, HOLDS, OPEN
from dlex_bench.analysis.statistics import Interval, median_interval

from .program import PaperClaim

# Delays of the frames, without events and with them; swaps are a part of the events, the reduction is that of the mean.
METRICS = {
    "swaps_percent": "swaps, %",
    "mean_without_ms": "mean without, ms",
    "mean_with_ms": "mean with, ms",
    "max_without_ms": "max without, ms",
    "max_with_ms": "max with, ms",
    "reduction_percent": "reduction, %",
}
# Percentage points by which a simulated share may differ from the paper's.
TOLERANCE = 5
# Delays follow from the costs of the pictures, which the paper does not give.
NOT_COMPARED = "not compared"
RULE = (f"A share holds if its whole interval differs from the paper's by at most {TOLERANCE:g} points, and does not hold if the "
        "whole interval differs by more. Delays in ms are not compared, because they follow from costs of pictures that are ours.")


def grade(claim: PaperClaim, found: Interval | None) -> str:
    """Returns the word for a claim. `found` is what claim_interval returns."""
    if claim.metric.endswith("_ms"):
        return NOT_COMPARED
    if found is None or claim.high is None:
        return FAILS  # there was no event, or no delay
    return _within(found, claim.low - TOLERANCE, claim.high + TOLERANCE)


def _within(found: Interval, low: float, high: float) -> str:
    if found.low is None or found.high is None:
        return OPEN
    if low <= found.low and found.high <= high:
        return HOLDS
    return FAILS if found.high < low or found.low > high else OPEN


def claim_interval(claim: PaperClaim) -> Interval | None:
    """Returns the median of the runs in which the figure has a value, with its interval."""
    return median_interval([value for value in claim.simulated if value is not None])


def reported(claim: PaperClaim) -> str:
    if claim.high is None:
        return f"> {claim.low:g}"
    return f"{claim.low:g}" if claim.low == claim.high else f"{claim.low:g} to {claim.high:g}"


def figure(found: Interval | None) -> str:
    """Returns a figure for a table, such as "11.8 (10.9 to 12.4)"; without an interval if there are too few runs."""
    if found is None:
        return "-"
    return with_interval(found, "{:.1f}") if found.known else f"{found.value:.1f}"


def claim_rows(claims: Sequence[PaperClaim]) -> list[tuple[str, str, str, str, str, str]]:
    """Returns where, players, what, the paper's figure, ours, and the grade."""
    return [_row(claim, claim_interval(claim)) for claim in claims]


def _row(claim: PaperClaim, found: Interval | None) -> tuple[str, str, str, str, str, str]:
    return claim.where, str(claim.players), METRICS[claim.metric], reported(claim), figure(found), grade(claim, found)
