# SPDX-License-Identifier: LGPL-2.1-or-later
"""A fluid model of the serial player: how late a clip ends with a share of a CPU if nothing is dropped. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

# How late `none` should be at the end, as a fraction of the played time, and the range that is still good enough.
AIM = 0.15
GOOD = (0.10, 0.20)


def end_lateness_s(costs_s: Sequence[float], frame_s: float, share: float) -> float:
    """Returns how late the last picture is shown.

    Each decode begins when the previous picture has been shown, because there is no queue. The time that a cheap
    picture leaves is lost, so the load of the clip's parts does not average out.
    """
    shown_s = 0.0
    for number, cost_s in enumerate(costs_s):
        shown_s = max(shown_s + cost_s / share, number * frame_s)
    return max(0.0, shown_s - (len(costs_s) - 1) * frame_s)


def share_for(costs_s: Sequence[float], frame_s: float, lateness_s: float) -> float:
    """Returns the share with which the last picture is `lateness_s` late. Less is later, so bisection finds it."""
    low, high = 1e-4, 10.0
    for _ in range(60):
        middle = (low * high) ** 0.5
        if end_lateness_s(costs_s, frame_s, middle) > lateness_s:
            low = middle
        else:
            high = middle
    return high


def cost_factor(costs_s: Sequence[float], frame_s: float, share: float, seen_s: float) -> float:
    """Returns how much more decoding costs beside others than alone (caches, switches).

    `share` made the last picture `seen_s` late. The factor is `share` divided by the share with which the model is
    equally late.
    """
    return share / share_for(costs_s, frame_s, max(seen_s, frame_s))


def corrected_share(
    costs_s: Sequence[float], frame_s: float, tries: Sequence[tuple[float, float]], wanted_s: float
) -> float:
    """Returns the right share according to `tries`; each is a share, and how late the play with it was seen to be.

    The tries are averaged, because other work on the machine changes what decoding costs from one try to the next.
    """
    factors = [cost_factor(costs_s, frame_s, share, seen_s) for share, seen_s in tries]
    return statistics.geometric_mean(factors) * share_for(costs_s, frame_s, wanted_s)
