# SPDX-License-Identifier: LGPL-2.1-or-later
"""Explains the figures, in sentences that are computed from them. Pure.

The policies are compared with the heuristic, because it is what players do today. Drops and skew trade against each
other, so a policy is called better only if it is better at both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from .model import GOOD

# Figures of a run, or their medians, by the keys of summary.json.
Figures = Mapping[str, float | None]

# Differences of at most this much do not count: 5 ms of skew is an eighth of a picture of 40 ms, and from run to run 1 %
# of the pictures more or less is dropped.
SAME_SKEW_MS = 5.0
SAME_DROPPED = 0.01


def rms_skew_ms(figures: Figures) -> float:
    """Returns how far the pictures are from their sound: the root mean square of A-V, so that scatter counts too."""
    return math.hypot(_value(figures, "skew_ms_mean"), _value(figures, "skew_ms_sd"))


def _value(figures: Figures, key: str) -> float:
    """Returns a figure. One that does not apply (the RMSE of a run without drops) counts as zero."""
    return figures[key] or 0.0


def sentences(medians: Mapping[str, Figures], length_s: float, missed: str | None = None) -> list[str]:
    """Returns the findings, one or two sentences each. First is `missed`: how far off the calibration was."""
    return [
        *filter(None, [missed]),
        _nothing(medians["none"], length_s, missed is None),
        *(_against_heuristic(name, medians[name], medians["heuristic"]) for name in medians if "deadline" in name),
        *(_begun(name, medians[name]) for name in medians if "slack" in name and _value(medians[name], "aborted")),
        _what_is_lost(medians),
    ]


def _nothing(none: Figures, length_s: float, calibrated: bool) -> str:
    late_s = _value(none, "skew_end_ms") / 1e3
    late = late_s / length_s
    text = (
        f"Without drops the pictures fall behind: the last one was {late_s:.1f} s late, "
        f"{late:.0%} of the {length_s:g} s played."
    )
    if not GOOD[0] <= late <= GOOD[1]:
        why = ": the machine was not as busy as at the calibration" if calibrated else ", which the calibration did not reach"
        text += f" This is outside the aim of 10 to 20 %{why}."
    return text


def _against_heuristic(name: str, it: Figures, heuristic: Figures) -> str:
    dropped, dropped_by_heuristic = (_value(it, "dropped_fraction"), _value(heuristic, "dropped_fraction"))
    skew = _compare(rms_skew_ms(it), rms_skew_ms(heuristic), SAME_SKEW_MS)
    drops = _compare(dropped, dropped_by_heuristic, SAME_DROPPED)
    facts = (
        f"r.m.s. A-V {rms_skew_ms(it):.0f} against {rms_skew_ms(heuristic):.0f} ms, "
        f"{dropped:.1%} against {dropped_by_heuristic:.1%} of the pictures dropped"
    )
    return f"Rule `{name.split()[-1]}`, compared with the heuristic, {_judgement(skew, drops)} ({facts})."


def _begun(name: str, it: Figures) -> str:
    """Reports how many aborted pictures had been begun. Aborting pays only for these; a skip would do for the rest."""
    aborted, begun = _value(it, "aborted"), _value(it, "aborted_begun")
    if begun >= aborted:
        return f"All of the {aborted:.0f} pictures that {name.split()[-1]} aborted had begun to decode."
    return (
        f"Of the {aborted:.0f} pictures that {name.split()[-1]} aborted, {begun:.0f} had begun to decode; the others "
        "were too late before their first macroblock and cost nothing."
    )


def _compare(a: float, b: float, same: float) -> int:
    """Returns -1 if a is less, 1 if a is more, and 0 if the difference is at most `same`."""
    return 0 if abs(a - b) <= same else -1 if a < b else 1


def _judgement(skew: int, drops: int) -> str:
    words = {
        (-1, -1): "is closer to the sound and drops less: better on both counts",
        (-1, 0): "is closer to the sound at the same number of drops",
        (-1, 1): "is closer to the sound but drops more: a trade-off, not a win",
        (0, -1): "drops less and stays as close to the sound",
        (0, 0): "makes no difference here",
        (0, 1): "drops more without being closer to the sound: it loses here",
        (1, -1): "drops less but is further from the sound: a trade-off, not a win",
        (1, 0): "is further from the sound at the same number of drops: it loses here",
        (1, 1): "is further from the sound and drops more: it loses on both counts",
    }
    return words[skew, drops]


def _what_is_lost(medians: Mapping[str, Figures]) -> str:
    """Compares the policies by RMSE.

    RMSE counts what dropping did to the pictures, and skew counts what not dropping did. Neither shows everything.
    """
    losses = {name: _value(it, "rmse_q16_sum") for name, it in medians.items() if name != "none"}
    least, most = (min(losses, key=lambda name: losses[name]), max(losses, key=lambda name: losses[name]))
    return (
        f"Of the policies that drop, {least} changed the pictures least (RMSE sum {losses[least]:,.0f}), {most} most "
        f"({losses[most]:,.0f}). A dropped picture counts by its difference from the picture that stayed on the "
        "screen. How late a picture was shown does not count."
    )
