# SPDX-License-Identifier: LGPL-2.1-or-later
"""A fluid model of the serial player: what a share of a CPU makes of a clip that nothing is dropped of. Pure."""

from __future__ import annotations

from collections.abc import Sequence

# The part of the played time that `none` is to be late at the end, and what is still good enough.
AIM = 0.15
GOOD = (0.10, 0.20)


def end_lateness_s(costs_s: Sequence[float], frame_s: float, share: float) -> float:
    """How late the last picture is shown. Each decode begins when the picture before has been shown, as there is no
    queue: time that a cheap picture leaves is lost, so that the load of the clip's parts does not average out."""
    shown_s = 0.0
    for number, cost_s in enumerate(costs_s):
        shown_s = max(shown_s + cost_s / share, number * frame_s)
    return max(0.0, shown_s - (len(costs_s) - 1) * frame_s)


def share_for(costs_s: Sequence[float], frame_s: float, lateness_s: float) -> float:
    """The share with which the last picture is `lateness_s` late. Less is later, so bisection finds it."""
    low, high = 1e-4, 10.0
    for _ in range(60):
        middle = (low * high) ** 0.5
        if end_lateness_s(costs_s, frame_s, middle) > lateness_s:
            low = middle
        else:
            high = middle
    return high


def corrected_share(costs_s: Sequence[float], frame_s: float, share: float, seen_s: float, wanted_s: float) -> float:
    """The next share to try after `share` made the last picture `seen_s` late.

    Decoding beside others costs more than decoding alone (caches, switches). Asking the model which share would have
    been as late as was seen, and which is as late as is wanted, cancels that factor.
    """
    return share * share_for(costs_s, frame_s, wanted_s) / share_for(costs_s, frame_s, max(seen_s, frame_s))
