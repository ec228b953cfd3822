# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks whether the runs here confirm what the paper found in section 8.3. The functions are pure.

A claim about a figure holds when the whole interval of its median lies where the paper says. It does not hold when the
whole interval lies elsewhere. In all other cases it is undecided. A claim about every run is
refuted by one run. The bounds below stand for words of the paper ("nearly perfect", "considerable"). We chose them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..paper import DROPPED, FRAMES, PLAYED_AS, RMSE_Q16_SUM, STANDS_FOR, reduction
from .outcome import FAILS, HOLDS, OPEN
from .results_frame import Row, Settings, control_of, of_section, paired_values, values
from .seed_mechanism import SectionRuns, Tell, demand, errors, gain, isolation, losses, mechanism, waiting
from .statistics import ENOUGH, Comparison, Interval, compare, median_interval

# The duration of one picture of the paper's film (25 per second). In the paper, mplayer's desynchronisation is twice
# that.
PICTURE_MS = 40.0
# Half of the paper's "± 200 ms".
UNSTEADY_MS = 100.0
# For "nearly perfect playback": all its points in the paper lie within this bound.
NEAR_MS = 10.0
FEW_DROPS = 10 / FRAMES
# Half of the share that mplayer dropped in the paper under `other` (44.0 of 812).
MANY_DROPS = DROPPED["other", "mplayer"].mean / FRAMES / 2

BASE, DLEX = STANDS_FOR["mplayer"], STANDS_FOR["mplayer-dlex"]
# This is not the paper's policy but its successor, reported beside it.
TODAY = "dlex_slack"


@dataclass(frozen=True)
class Verdict:
    word: str
    evidence: str


@dataclass(frozen=True)
class Finding:
    """Holds one claim of the paper and the verdict here.

    `said`: the paper's claim in our words, with its figures. `mechanism`: if the claim does not hold here, the reason.
    """

    id: str
    section: str
    said: str
    verdict: Verdict
    mechanism: str | None


@dataclass(frozen=True)
class _Claim:
    """Holds a claim and how to judge it. `why`: the possible causes if it does not hold."""

    id: str
    sections: tuple[str, ...]
    said: str
    judge: Callable[[Mapping[str, Sequence[Row]]], Verdict]
    why: tuple[Tell, ...]


def findings(settings: Settings) -> list[Finding]:
    """Returns one finding per claim and section in which it was made, whether or not the section was played here."""
    judged = []
    for claim in _claims():
        for section in claim.sections:
            runs = of_section(settings, section)
            verdict = claim.judge(runs)
            played = SectionRuns(runs, control_of(settings, section))
            why = mechanism(played, claim.why) if verdict.word == FAILS else None
            judged.append(Finding(claim.id, section, claim.said, verdict, why))
    return judged


def _claims() -> list[_Claim]:
    reserved = ("cbs", "cbs15")
    starved, served = ("other", *reserved), ("fifo", "rr")
    base_demand, dlex_demand = (demand(BASE),), (demand(DLEX),)
    short, long = "rtapp-1", "rtapp-2"
    claims = [
        _Claim("late", starved, "mplayer's video is late by about 85 ms on average (here: by more than 40 ms)",
               _above(BASE, "skew_ms_mean", PICTURE_MS, "ms"), base_demand),
        _Claim("unsteady", starved, "mplayer's A-V varies by ± 200 ms within a run (here: by more than 100 ms)",
               _above(BASE, "skew_ms_sd", UNSTEADY_MS, "ms"), base_demand),
        # Not for the calibrated budget: that budget is the one with which this claim holds.
        _Claim("drops", ("other", "cbs15"), "mplayer drops 44 or 45 of 812 pictures (here: more than half that share)",
               _above(BASE, "drops_fraction", MANY_DROPS, ""), base_demand),
        _Claim("near_perfect", served, "mplayer plays nearly perfectly: A-V of 1 ms, 2 to 3 drops (here: within 10 ms)",
               _below(BASE, "skew_ms_abs_mean", NEAR_MS, "ms"), base_demand),
        _Claim("few_drops", served, "mplayer drops at most 10 of 812 pictures",
               _below(BASE, "drops_fraction", FEW_DROPS, ""), base_demand),
        _Claim("rtapp_suffers", ("other",), "rt-app's short task misses deadlines in every run",
               _every(BASE, f"{short}.slack_us.min", "least slack of the short task, us", lambda us: us < 0), base_demand),
        _Claim("rtapp_starves", served, "the short task's slack is negative even on average, in every run",
               _every(BASE, f"{short}.slack_us.mean", "mean slack of the short task, us", lambda us: us < 0),
               (waiting(BASE),)),
        _Claim("isolated", reserved, "the short task misses no deadline in any run with mplayer",
               _every(BASE, f"{short}.missed", "missed periods", lambda missed: missed == 0), (isolation(BASE, short),)),
        _Claim("isolated_dlex", reserved, "the short task misses no deadline in any run with mplayer-dlex",
               _every(DLEX, f"{short}.missed", "missed periods", lambda missed: missed == 0), (isolation(DLEX, short),)),
        _Claim("slow_task", reserved, "rt-app's long task never misses",
               _every(BASE, f"{long}.missed", "missed periods", lambda missed: missed == 0), (isolation(BASE, long),)),
        _Claim("slow_task", ("other",), "rt-app's long task never misses",
               _every(BASE, f"{long}.missed", "missed periods", lambda missed: missed == 0), base_demand),
        _Claim("closer", starved, "mplayer-dlex's average A-V is nearer to 0 than mplayer's",
               _less("skew_ms_abs_mean", 1.0), (gain(DLEX), losses(DLEX))),
        _Claim("steadier", (*starved, *served), "mplayer-dlex's A-V varies less within a run than mplayer's",
               _less("skew_ms_sd", 1.0), (gain(DLEX), losses(DLEX))),
    ]
    for section in starved:
        drops, rmse = (reduction(table, PLAYED_AS[section]) for table in (DROPPED, RMSE_Q16_SUM))
        lost, changed = (losses(DLEX), *dlex_demand), (errors(DLEX, BASE), losses(DLEX))
        claims += [
            _Claim("fewer_drops", (section,), f"mplayer-dlex drops fewer pictures ({drops:.3f} of mplayer's)",
                   _less("dropped", 1.0), lost),
            _Claim("fewer_drops_as_much", (section,), f"mplayer-dlex drops at most {drops:.3f} of mplayer's pictures",
                   _less("dropped", drops), lost),
            _Claim("smaller_rmse", (section,), f"mplayer-dlex changes the pictures less (RMSE -{1 - rmse:.1%})",
                   _less("rmse_q16_sum", 1.0), changed),
            _Claim("smaller_rmse_as_much", (section,), f"mplayer-dlex's RMSE is at most {rmse:.3f} of mplayer's",
                   _less("rmse_q16_sum", rmse), changed),
        ]
    claims.append(_Claim("few_drops_dlex", served, "mplayer-dlex drops fewer than 5 of 812 pictures",
                         _below(DLEX, "drops_fraction", 5 / FRAMES, ""), (losses(DLEX), *dlex_demand)))
    return claims


Judge = Callable[[Mapping[str, Sequence[Row]]], Verdict]


def _above(workload: str, key: str, bound: float, unit: str) -> Judge:
    return _bounded(workload, key, bound, math.inf, unit)


def _below(workload: str, key: str, bound: float, unit: str) -> Judge:
    return _bounded(workload, key, -math.inf, bound, unit)


def _bounded(workload: str, key: str, low: float, high: float, unit: str) -> Judge:
    def judge(runs: Mapping[str, Sequence[Row]]) -> Verdict:
        found = median_interval(values(runs.get(workload, []), key))
        if found is None:
            return Verdict(OPEN, f"{workload} has no such figure here")
        return Verdict(_verdict_of(found, low, high), f"{workload}: {interval_text(found, unit)}")

    return judge


def _verdict_of(found: Interval, low: float, high: float) -> str:
    if found.low is None or found.high is None:
        return OPEN
    if found.low >= low and found.high <= high:
        return HOLDS
    return FAILS if found.low > high or found.high < low else OPEN


def _every(workload: str, key: str, what: str, holds: Callable[[float], bool]) -> Judge:
    """Judges a claim about rt-app in every run.

    Runs in which its jobs were not as long as planned say nothing about it.
    """

    def judge(runs: Mapping[str, Sequence[Row]]) -> Verdict:
        known = [run for run in runs.get(workload, []) if run.value(key) is not None]
        found = values((run for run in known if run.load_held), key)
        lost = len(known) - len(found)
        left_out = f"; left out {lost} of {len(known)} runs, because rt-app's jobs did not have the stated length" if lost else ""
        if not found:
            return Verdict(OPEN, f"{workload} has no such figure here{left_out}")
        kept = sum(map(holds, found))
        evidence = f"{workload}: in {kept} of {len(found)} runs; {what}: {four_digits(min(found))} to {four_digits(max(found))}"
        evidence += left_out
        if kept < len(found):
            return Verdict(FAILS, evidence)
        return Verdict(HOLDS if len(found) >= ENOUGH else OPEN, evidence)

    return judge


def _less(key: str, ratio: float) -> Judge:
    """Judges whether our stand-in for mplayer-dlex is below `ratio` times the figure of our stand-in for mplayer."""

    def judge(runs: Mapping[str, Sequence[Row]]) -> Verdict:
        ours, base = paired_values(runs.get(DLEX, []), runs.get(BASE, []), key)
        if not ours:
            return Verdict(OPEN, f"{DLEX} and {BASE} have no such figure in common here")
        found = compare(ours, base, paired=True)
        evidence = [_comparison_text(DLEX, found)]
        today, base = paired_values(runs.get(TODAY, []), runs.get(BASE, []), key)
        evidence += [_comparison_text(TODAY, compare(today, base, paired=True))] if today else []
        return Verdict(_place_ratio(found, ratio), "; ".join(evidence))

    return judge


def _place_ratio(found: Comparison, ratio: float) -> str:
    if found.ratio is None:
        return OPEN if found.noise else HOLDS if found.difference.value < 0 else FAILS
    if not found.ratio.known:
        return OPEN
    # A claim neither holds nor fails if the difference is only noise.
    if ratio == 1.0 and found.noise:
        return OPEN
    return _verdict_of(found.ratio, -math.inf, ratio)


def _comparison_text(ours: str, found: Comparison) -> str:
    if found.ratio is None:
        return f"{ours} minus {BASE}: {interval_text(found.difference, '')}"
    return f"{ours} / {BASE}: {interval_text(found.ratio, '')}"


def interval_text(found: Interval, unit: str) -> str:
    """Words a value with its interval and the number of runs behind it."""
    suffix = f" {unit}" if unit else ""
    value = f"{four_digits(found.value)}{suffix}"
    if found.low is None or found.high is None:
        return f"{value} ({found.n} runs: too few for an interval)"
    return f"{value} ({four_digits(found.low)} to {four_digits(found.high)}, {found.n} runs)"


def four_digits(value: float) -> str:
    """Formats a value with four digits, without powers of ten."""
    return f"{value:,.0f}" if 1000 <= abs(value) < math.inf else f"{value:.4g}"
