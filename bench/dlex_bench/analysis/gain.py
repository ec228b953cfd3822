# SPDX-License-Identifier: LGPL-2.1-or-later
"""Judges settings of our player against each other, where nothing but its budget is short: rule plan against the heuristic with the
same queue, and leaving out loop filters against decoding whole pictures.

The functions are pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from .claims import all_at_most, goal_at_most, with_interval
from .outcome import MET, MISSED, UNCERTAIN, UNMEASURED, Outcome
from .results_frame import Row, paired_values, values
from .statistics import Interval, compare

PLAN, HEURISTIC, STRICT = "dlex_plan_auto", "dlex_heuristic_auto", "dlex_plan_strict"
# Parts of the heuristic's figures that are left at most.
GAINS = (("dropped", "drops", 0.7), ("rmse_q16_sum", "RMSE", 0.6), ("skew_ms_sd", "s.d. of A-V", 0.4))
STRICT_MEAN_MS = 3.0
WHOLE, DEGRADE = "dlex_default", "dlex_degrade"
NEARLY_ALL = 0.999  # of the drops: fewer than all


def gain_outcomes(section: str, runs: Mapping[str, Sequence[Row]]) -> list[Outcome]:
    """Returns the outcomes of a section for the settings that were played."""
    found = []
    if PLAN in runs and HEURISTIC in runs:
        found += [_gain(section, runs, key, word, most) for key, word, most in GAINS]
    if STRICT in runs:
        found.append(_strict(section, runs[STRICT]))
    if WHOLE in runs and DEGRADE in runs:
        found.append(_degrade(section, runs))
    return found


def _gain(section: str, runs: Mapping[str, Sequence[Row]], key: str, word: str, most: float) -> Outcome:
    name = f"{PLAN}: {word} at most {most:g} of {HEURISTIC}"
    ours, other = values(runs[PLAN], key), values(runs[HEURISTIC], key)
    if not ours or not other:
        return Outcome(name, section, UNMEASURED, f"{word} of both are needed")
    text = f"{median(ours):,.0f} against {median(other):,.0f}, medians of {len(ours)} and {len(other)} runs"
    ratio = _ratio(runs, PLAN, HEURISTIC, key)
    if ratio is None:
        return Outcome(name, section, UNMEASURED, f"{text}: there is no ratio")
    return Outcome(name, section, goal_at_most(ratio, most), f"{text}; ratio {with_interval(ratio)}")


def _degrade(section: str, runs: Mapping[str, Sequence[Row]]) -> Outcome:
    """Judges whether --degrade=auto pays in this film: drops fall and the RMSE does not rise, by the intervals."""
    name = f"{DEGRADE}: fewer drops than {WHOLE}, and no more RMSE"
    drops, rmse = (_ratio(runs, DEGRADE, WHOLE, key) for key in ("dropped", "rmse_q16_sum"))
    text = f"drops {with_interval(drops)}, RMSE {with_interval(rmse)} of {WHOLE}" if drops and rmse else "there are no ratios"
    words = {goal_at_most(drops, NEARLY_ALL), goal_at_most(rmse, 1)}
    word = next((it for it in (UNMEASURED, MISSED, UNCERTAIN) if it in words), MET)
    return Outcome(name, section, word, text)


def _ratio(runs: Mapping[str, Sequence[Row]], ours: str, other: str, key: str) -> Interval | None:
    a, b = paired_values(runs[ours], runs[other], key)
    return compare(a, b, paired=True).ratio if a else None


def _strict(section: str, runs: Sequence[Row]) -> Outcome:
    name = f"{STRICT}: mean of |A-V| at most {STRICT_MEAN_MS:g} ms"
    means = values(runs, "skew_ms_abs_mean")
    if not means:
        return Outcome(name, section, UNMEASURED, "A-V is unknown")
    text = f"{median(means):.1f} ms, {min(means):.1f} to {max(means):.1f} ms in {len(means)} runs"
    return Outcome(name, section, all_at_most(means, STRICT_MEAN_MS), text)
