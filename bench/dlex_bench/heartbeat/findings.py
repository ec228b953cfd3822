# SPDX-License-Identifier: LGPL-2.1-or-later
"""Judges what seed 003 says about the period of a reservation (Figures 3, 4, 10 and 11, Table II). The functions are pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..analysis.claims import all_of, is_above, is_below, with_interval
from ..analysis.outcome import FAILS, OPEN, UNMEASURED, Outcome
from ..analysis.statistics import Interval, compare, median_interval

NAME = "seed 003"
OWN_MS = 40
# "With p95 below this": of the periods in the paper's Table II, 40 ms is the one that needs least among these.
STEADY_MS = 50.0
# Jobs come in time if 95 % of them come within this part of a period more.
IN_TIME = 0.1
TASK, FILM = "task", "film"


@dataclass(frozen=True)
class Reserved:
    second: float
    part: float  # of a CPU


@dataclass(frozen=True)
class PeriodRun:
    """One run under reservations with this period: the times from job to job, and what was reserved."""

    workload: str
    period_ms: int
    repetition: int
    steps_ms: tuple[float, ...]
    reserved: tuple[Reserved, ...]

    def step_percentile(self, percent: float) -> float:
        return float(np.percentile(self.steps_ms, percent))

    @property
    def reserved_mean(self) -> float:
        return float(np.mean([it.part for it in self.reserved]))

    @property
    def reserved_most(self) -> float:
        return max(it.part for it in self.reserved)


# By period, in the order of the repetitions.
ByPeriod = Mapping[int, Sequence[float]]


@dataclass(frozen=True)
class PeriodFigures:
    """The figures of one workload."""

    p95: ByPeriod
    mean: ByPeriod
    most: ByPeriod


def figures_of_workload(runs: Sequence[PeriodRun], workload: str) -> PeriodFigures:
    of_one = sorted((run for run in runs if run.workload == workload), key=lambda run: (run.period_ms, run.repetition))
    periods = dict.fromkeys(run.period_ms for run in of_one)
    each = {period: [run for run in of_one if run.period_ms == period] for period in periods}
    return PeriodFigures(
        {period: [run.step_percentile(95) for run in same] for period, same in each.items()},
        {period: [run.reserved_mean for run in same] for period, same in each.items()},
        {period: [run.reserved_most for run in same] for period, same in each.items()},
    )


def period_findings(runs: Sequence[PeriodRun]) -> list[Outcome]:
    task, film = figures_of_workload(runs, TASK), figures_of_workload(runs, FILM)
    return [
        _longer_periods_have_tails(task, f"Figure 3: with longer periods than the task's own {OWN_MS} ms, more jobs come late"),
        _own_period_needs_least(task, f"Figure 4: with {OWN_MS} ms, the task's own period, least is reserved"),
        _longer_periods_have_tails(film, "Figure 11: the same of a film's pictures"),
        _best_of_the_steady(film),
        _shorter_periods_have_peaks(film),
        _up_to_the_own_jobs_come_in_time(task),
    ]


def _ratio(found: ByPeriod, period: int, to: int) -> Interval | None:
    if not found.get(period) or not found.get(to):
        return None
    return compare(found[period], found[to], paired=len(found[period]) == len(found[to])).ratio


def _ratios_text(ratios: Mapping[int, Interval | None], of: str) -> str:
    if not ratios:
        return "not measured"
    return f"{of} against {OWN_MS} ms: " + ", ".join(f"{period} ms {with_interval(it)}" for period, it in ratios.items())


def _up_to_the_own_jobs_come_in_time(found: PeriodFigures) -> Outcome:
    most_ms = (1 + IN_TIME) * OWN_MS
    name = f"Figure 3: with periods up to the task's own, jobs come in time (95th percentile below {most_ms:g} ms)"
    p95 = {period: median_interval(values) for period, values in found.p95.items() if period <= OWN_MS}
    sentence = ", ".join(f"{period} ms {with_interval(it)}" for period, it in p95.items()) or "not measured"
    return Outcome(name, NAME, all_of([is_below(it, most_ms) for it in p95.values()]), sentence)


def _longer_periods_have_tails(found: PeriodFigures, name: str) -> Outcome:
    ratios = {period: _ratio(found.p95, period, OWN_MS) for period in found.p95 if period > OWN_MS}
    return Outcome(name, NAME, all_of([is_above(it, 1) for it in ratios.values()]), _ratios_text(ratios, "95th percentile"))


def _own_period_needs_least(found: PeriodFigures, name: str) -> Outcome:
    ratios = {period: _ratio(found.mean, period, OWN_MS) for period in found.mean if period != OWN_MS}
    return Outcome(name, NAME, all_of([is_above(it, 1) for it in ratios.values()]), _ratios_text(ratios, "mean reserved"))


def _best_of_the_steady(found: PeriodFigures) -> Outcome:
    """Judges Table II. A period that may or may not be a steady one cannot refute the claim."""
    name = f"Table II: of the periods with p95 below {STEADY_MS:g} ms, {OWN_MS} ms reserves least"
    steady = {period: is_below(median_interval(values), STEADY_MS) for period, values in found.p95.items()}
    if OWN_MS not in steady:
        return Outcome(name, NAME, UNMEASURED, "not measured")
    if steady[OWN_MS] == FAILS:
        return Outcome(name, NAME, FAILS, f"p95 with {OWN_MS} ms: {with_interval(median_interval(found.p95[OWN_MS]))} ms")
    ratios = {period: _ratio(found.mean, period, OWN_MS) for period, word in steady.items() if period != OWN_MS and word != FAILS}
    words = [is_above(ratios[period], 1) for period in ratios]
    words = [OPEN if word == FAILS and steady[period] == OPEN else word for period, word in zip(ratios, words, strict=True)]
    if steady[OWN_MS] == OPEN or not words:
        words.append(OPEN)
    return Outcome(name, NAME, all_of(words), _ratios_text(ratios, "mean reserved") if ratios else "no other period is steady")


def _shorter_periods_have_peaks(found: PeriodFigures) -> Outcome:
    ratios = {period: _ratio(found.most, period, OWN_MS) for period in found.most if period < OWN_MS}
    return Outcome(f"Figure 10: with periods below {OWN_MS} ms, more is reserved at times", NAME,
                   all_of([is_above(it, 1) for it in ratios.values()]), _ratios_text(ratios, "most reserved"))
