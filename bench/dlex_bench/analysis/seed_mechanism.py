# SPDX-License-Identifier: LGPL-2.1-or-later
"""Gives evidence for why a finding of the paper is what it is here. The functions are pure.

Each piece of evidence covers one cause, and a claim names the causes that it can have. What the runs do not know is
left out (older runs lack the length of a picture).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from ..agenda.job import rtapp_sched
from ..paper import BASE_OF_FRAME, GAIN, TASKS, UTILISATION
from .results_frame import Row, values
from .statistics import compare

SHORT, LONG = TASKS
SPARE_MS = (SHORT.period_us - SHORT.work_us) / 1e3
# A share of a budget. Work above it leaves too little for jobs that take longer than the mean, or for a backlog to
# disappear.
NEAR_BUDGET = 0.9
RESERVATION = re.compile(r"(?:deadline|quota):([0-9.]+)/([0-9.]+)")

WORDS = {"less": ": fewer", "more": ": the player causes the rest", "noise": ": these runs cannot distinguish the two"}


@dataclass(frozen=True)
class SectionRuns:
    """Holds the runs of a section by workload, and the runs of its control."""

    runs: Mapping[str, Sequence[Row]]
    control: Sequence[Row]

    def of(self, workload: str) -> Sequence[Row]:
        return self.runs.get(workload, [])


# Returns one or more sentences, or None if nothing is known.
Tell = Callable[[SectionRuns], str | None]


def mechanism(played: SectionRuns, tells: Sequence[Tell]) -> str | None:
    return " ".join(text for tell in tells if (text := tell(played))) or None


def demand(workload: str) -> Tell:
    """Compares the CPU time that the player used with what rt-app wants and what the policy gives."""

    def tell(played: SectionRuns) -> str | None:
        runs = played.of(workload)
        spent = _spent(runs)
        if spent is None:
            return None
        text = f"On the measured CPU the player used {spent:.1f} ms per picture"
        picture_ms = _median(runs, "frame_ms")
        if picture_ms is None:
            return f"{text}."
        share = spent / picture_ms
        return f"{text}, {share:.0%} of one CPU{_beside(runs[0], share)}."

    return tell


def _spent(runs: Sequence[Row]) -> float | None:
    """Returns the player's CPU time per picture in ms, without its threads on other CPUs where their time is known."""
    held = _median(runs, "cpu_ms_per_frame_held")
    return _median(runs, "cpu_ms_per_frame") if held is None else held


def _beside(run: Row, share: float) -> str:
    reserved = _reserved_share(run)
    if reserved is not None:
        spare = "it had enough time on average, so only bursts of expensive pictures can make it late"
        tight = "it had no time to spare" if share > 0.9 * reserved else spare
        whom = run.result.constrains or "the player"
        return f", and {reserved:.1%} were reserved for {whom}: {tight}"
    if run.result.job.load.kind != "rtapp":
        return ""
    total = share + UTILISATION
    # This is true of a player that was late as well as of one that was not.
    bursts = "this fits into one CPU on average, so only bursts can make a task late"
    fits = bursts if total < 1 else "more than one CPU has, so some task must be late"
    return f"; with rt-app's {UTILISATION:.1%} that is {total:.0%}: {fits}"


def waiting(workload: str) -> Tell:
    """Estimates how long rt-app's short task waits for tasks of the same priority.

    It waits until the tasks before it sleep, that is for the rest of the work that they have begun.
    """

    def tell(played: SectionRuns) -> str | None:
        runs = played.of(workload)
        spent, picture_ms = _spent(runs), _median(runs, "frame_ms")
        if spent is None or picture_ms is None or _kind(runs[0]) not in ("fifo", "rr"):
            return None
        work_ms, period_ms = LONG.work_us / 1e3, LONG.period_us / 1e3
        # A task that arrives at a random moment of another task's period finds it working with probability work /
        # period. It then waits for half of that work on average.
        waits_ms = spent**2 / picture_ms / 2 + work_ms**2 / period_ms / 2
        late_ms = _median(runs, "skew_ms_mean")
        late = "" if late_ms is None else f" (it was late by {late_ms:.0f} ms on average)"
        return (
            f"Under {_kind(runs[0])} rt-app's short task has {SPARE_MS:.0f} ms to spare, and waits until the tasks of its "
            f"priority sleep: the player after {spent:.1f} ms of every {picture_ms:.0f}, the long task after "
            f"{work_ms:.0f} of every {period_ms:.0f}. That makes {waits_ms:.1f} ms on average while the player sleeps "
            f"after each picture; a late one does not{late}."
        )

    return tell


def isolation(workload: str, task: str) -> Tell:
    """Explains misses under a reservation by the task's own work, or by what the same player does to others as well."""

    def tell(played: SectionRuns) -> str | None:
        runs = [run for run in played.of(workload) if run.load_held]
        if not runs or _rtapp_kind(runs[0]) != "deadline":
            return None
        return " ".join(text for text in (_work(runs, task), _control(runs, played.control, task)) if text) or None

    return tell


def _work(runs: Sequence[Row], task: str) -> str | None:
    works = values(runs, f"{task}.work_ms")
    budget_ms = next(it.budget_us for it in TASKS if it.name.replace("-", "", 1) == task) / 1e3
    if not works:
        return None
    least, most = f"{min(works):.2f}", f"{max(works):.2f}"
    extent = most if least == most else f"{least} to {most}"
    text = f"The task's jobs took {extent} ms each (means of the runs), of a budget of {budget_ms:g}"
    if max(works) <= NEAR_BUDGET * budget_ms:
        return f"{text}: the budget is large enough."
    return f"{text}: a longer job is late, and so are the jobs after it, because such a small budget hardly reduces a backlog."


def _control(runs: Sequence[Row], control: Sequence[Row], task: str) -> str | None:
    key = f"{task}.missed_fraction"
    here, there = values(runs, key), values((run for run in control if run.load_held), key)
    if not here or not there:
        return None
    word = WORDS.get(compare(here, there, middle=np.mean).verdict, "")
    return (
        f"It missed {np.mean(here):.1%} of its periods in {_runs(here)}, and {np.mean(there):.1%} in {_runs(there)} of the "
        f"control, beside a film that costs almost nothing{word}."
    )


def gain(workload: str) -> Tell:
    """Explains what the paper's rule does about a lag.

    The deadline is 0.925 of a picture after the decode began, minus 0.01 of the lag.
    """

    def tell(played: SectionRuns) -> str | None:
        runs = played.of(workload)
        lag_ms, picture_ms = _median(runs, "skew_ms_mean"), _median(runs, "frame_ms")
        if lag_ms is None or picture_ms is None or not _is_paper_rule(runs[0]):
            return None
        base_ms = BASE_OF_FRAME * picture_ms
        takes_ms = GAIN * lag_ms
        does = f"takes {takes_ms:.1f} ms off" if takes_ms >= 0 else f"adds {-takes_ms:.1f} ms to"
        ends = "" if takes_ms > base_ms / 10 else ": a picture that is decoded in that time is shown, no matter how late it is"
        return (
            f"The rule gives each picture {base_ms:.1f} ms from the start of its decode; the mean A-V of {lag_ms:.0f} ms "
            f"{does} them{ends}."
        )

    return tell


def _is_paper_rule(run: Row) -> bool:
    """Returns whether the run used the paper's rule with the paper's own constants."""
    params = run.result.job.player_params
    return params.rule == "paper" and not any("deadline" in it for it in params.options)


def losses(workload: str) -> Tell:
    """Reports what our player did with the pictures that it did not show."""

    def tell(played: SectionRuns) -> str | None:
        inside = [run.result.inside for run in played.of(workload) if run.result.inside]
        known = [it for it in inside if it.aborted is not None]
        if not known:
            return None
        aborted = median(it.aborted or 0 for it in known)
        skipped = median(it.skipped or 0 for it in known)
        late = median(it.late or 0 for it in known)
        text = f"The player aborted {aborted:.0f} pictures, skipped {skipped:.0f}, and {late:.0f} were too late"
        wasted = [it.aborted_cpu_s for it in known if it.aborted_cpu_s is not None]
        return f"{text}; decoding the aborted pictures cost {1e3 * median(wasted):.0f} ms of CPU." if wasted else f"{text}."

    return tell


def errors(ours: str, base: str) -> Tell:
    """Splits the error sum over dropped pictures into its two causes.

    The sum grows with their number, and with how much each differs from the picture that was there instead.
    """

    def tell(played: SectionRuns) -> str | None:
        each = [(name, _each(played.of(name))) for name in (ours, base)]
        if any(known is None for _name, known in each):
            return None
        parts = [f"{known[0]:.0f} of {name}, each by {known[1]:,.0f}" for name, known in each if known]
        return f"Dropped pictures differ from the picture on the screen instead: {'; '.join(parts)}."

    return tell


def _each(runs: Sequence[Row]) -> tuple[float, float] | None:
    """Returns how many pictures were dropped, and the error of one."""
    dropped, total = _median(runs, "dropped"), _median(runs, "rmse_q16_sum")
    return (dropped, total / dropped) if dropped and total is not None else None


def _median(runs: Sequence[Row], key: str) -> float | None:
    found = values(runs, key)
    return median(found) if found else None


def _runs(found: Sequence[float]) -> str:
    return f"{len(found)} run{'s' if len(found) > 1 else ''}"


def _kind(run: Row) -> str:
    return run.result.job.sched.partition(":")[0]


def _rtapp_kind(run: Row) -> str:
    return rtapp_sched(run.result.job.sched, run.result.job.load).partition(":")[0]


def _reserved_share(run: Row) -> float | None:
    """Returns the part of a CPU that the player's reservations have together, or its quota; None if it has neither."""
    policy = run.result.policy
    applied = (policy and policy.applied) or ""
    found = [RESERVATION.fullmatch(part) for part in applied.split(" + ")]
    return sum(float(it[1]) / float(it[2]) for it in found if it) if all(found) else None
