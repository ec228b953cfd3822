# SPDX-License-Identifier: LGPL-2.1-or-later
"""Judges seed 002's claim that precedences, times and priorities can be changed without disruption. The functions are pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..analysis.claims import Share, all_of, is_below, is_never, with_interval
from ..analysis.outcome import FAILS, HOLDS, OPEN, UNMEASURED, Outcome
from ..analysis.statistics import Interval, compare
from .changed_run import ChangedRun, PartFigures
from .conditions import Condition
from .findings import NAME, OWN_CPU, PAPER_DELAYED

# The runs under these conditions are those with the paper's policy, and those in which processes start most regularly.
CHANGED_CONDITIONS = (PAPER_DELAYED, OWN_CPU)
# A start that is later by more than this is a disruption. It is our goal for the lateness itself, and a fortieth of the paper's
# offset.
MOST_LATER_US = 100.0

ChangedRuns = Mapping[Condition, Sequence[ChangedRun]]


def change_findings(runs: ChangedRuns) -> list[Outcome]:
    every = [run for found in runs.values() for run in found]
    of_each = [finding for condition in CHANGED_CONDITIONS for finding in _of(condition, runs.get(condition, ()))]
    return [_obedience(every), *of_each]


def _of(condition: Condition, found: Sequence[ChangedRun]) -> Iterator[Outcome]:
    yield _losses(condition, found)
    for who, prefix in (("the other processes start", ""), ("Control starts", "one_")):
        yield _lateness(f"{who} at most {MOST_LATER_US:g} us later during changes, at p50 and p99 ({condition})", prefix, found)


def _obedience(every: Sequence[ChangedRun]) -> Outcome:
    name = "changed times are in force from the next tick on, changed precedences from the next activation on"
    share = Share(sum(run.disobeyed for run in every), sum(run.judged for run in every))
    changes = sum(run.changes for run in every)
    return Outcome(name, NAME, is_never(share), f"not so in {share} of the ticks that can be judged; {changes} changes")


def _losses(condition: Condition, found: Sequence[ChangedRun]) -> Outcome:
    name = f"no start of another process is lost during changes ({condition})"
    if not found:
        return Outcome(name, NAME, UNMEASURED, "no runs")
    lost, due = (sum(getattr(run.during, key) for run in found) for key in ("lost", "due"))
    quiet = [part for run in found for part in (run.before, run.after)]
    lost_else, due_else = (sum(getattr(part, key) for part in quiet) for key in ("lost", "due"))
    # If starts are lost without changes, too, the machine may be the reason.
    word = HOLDS if not lost else OPEN if lost_else else FAILS
    return Outcome(name, NAME, word, f"{lost} of {due} lost, and {lost_else} of {due_else} before and after")


def _lateness(name: str, prefix: str, found: Sequence[ChangedRun]) -> Outcome:
    if not found:
        return Outcome(name, NAME, UNMEASURED, "no runs")
    later = [_later(f"{prefix}{key}", found) for key in ("p50_us", "p99_us")]
    p50, p99 = (with_interval(each, "{:.1f}") for each in later)
    return Outcome(name, NAME, all_of([is_below(each, MOST_LATER_US) for each in later]), f"p50 {p50} us, p99 {p99} us later")


def _later(key: str, found: Sequence[ChangedRun]) -> Interval:
    """Returns by how much a figure is greater during the changes than on average before and after."""

    def of(part: PartFigures) -> float:
        return float(getattr(part, key))

    return compare(
        [of(run.during) for run in found], [(of(run.before) + of(run.after)) / 2 for run in found], paired=True
    ).difference
