# SPDX-License-Identifier: LGPL-2.1-or-later
"""Chooses the next budget to try, from the results of the tries so far.

The functions are pure, so that an interrupted search can simply continue.

The baseline drops more pictures with a smaller budget, but not strictly: a play is noisy. Therefore the mean of a budget's
plays counts, and the chosen budget has been played several times.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import LabError
from ..paper import DROPPED, FRAMES

# The paper's cbs row (its Table 3): 45.27 of 812 pictures.
AIM = DROPPED["cbs", "mplayer"].mean / FRAMES
# One percent of the pictures, which is about two and a half of the paper's standard deviations (3.28 pictures).
TOLERANCE = 0.01
# The smallest and the largest part of a period that is tried. Linux admits 0.90 of a CPU (it keeps 0.05, and 0.05 of the
# rest for ordinary threads), and the rt-apps have 0.49875.
LEAST, MOST = 0.02, 0.40
# On the machine on which the experiment was tried first, 0.25 gave the paper's drops.
FIRST = 0.25
STEP = 1.5
NARROW = 1.03
PLAYS = 3
MOST_TRIES = 14


@dataclass(frozen=True)
class Try:
    """One play of the baseline: its part of the CPU, and the part of its pictures that it dropped."""

    share: float
    dropped: float


def next_share(tries: Sequence[Try]) -> float | None:
    """Returns the budget to try next; None when the search is over, and `found` returns its result."""
    if not tries:
        return FIRST
    if len(tries) >= MOST_TRIES:
        return None
    share = _candidate(tries)
    return share if share not in _means(tries) or _plays(tries, share) < PLAYS else None


def found(tries: Sequence[Try]) -> float:
    """Returns the budget whose plays came nearest to the aim, among the budgets played most often."""
    means = _means(tries)
    return min(means, key=lambda share: (-min(_plays(tries, share), PLAYS), abs(means[share] - AIM)))


def good(tries: Sequence[Try], share: float) -> bool:
    return abs(_means(tries)[share] - AIM) <= TOLERANCE


def at_the_limit(tries: Sequence[Try], share: float) -> bool:
    """Returns whether even all the CPU time that rt-app leaves is too little to reach the aim."""
    return share == MOST and _means(tries)[share] > AIM + TOLERANCE


def _candidate(tries: Sequence[Try]) -> float:
    means = _means(tries)
    best = min(means, key=lambda share: abs(means[share] - AIM))
    if abs(means[best] - AIM) <= TOLERANCE:
        return best
    too_small = [share for share, dropped in means.items() if dropped > AIM]
    too_large = [share for share, dropped in means.items() if dropped <= AIM]
    if not too_large:
        return _beyond(max(too_small), STEP, means)
    if not too_small:
        return _beyond(min(too_large), 1 / STEP, means)
    low, high = max(too_small), min(too_large)
    # Noise can reverse their order; the right budget is still between them.
    return best if max(low / high, high / low) <= NARROW else _rounded(math.sqrt(low * high))


def _beyond(share: float, factor: float, means: dict[float, float]) -> float:
    further = _rounded(min(MOST, max(LEAST, share * factor)))
    if further != share:
        return further
    if factor > 1:
        return share  # this machine comes no nearer to the aim
    raise LabError(
        f"even with {share:.0%} of the CPU the baseline drops only {means[share]:.1%} of its pictures (aim: {AIM:.1%}); "
        "choose a clip that is harder to decode"
    )


def _rounded(share: float) -> float:
    """Rounds to the reporting resolution (4 us of 40 ms)."""
    return round(share, 4)


def _means(tries: Sequence[Try]) -> dict[float, float]:
    shares = dict.fromkeys(known.share for known in tries)
    return {share: statistics.fmean(known.dropped for known in tries if known.share == share) for share in shares}


def _plays(tries: Sequence[Try], share: float) -> int:
    return sum(known.share == share for known in tries)
