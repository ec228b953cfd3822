# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads rt-app's logs of a task: its slack within a window of time, and how much work its jobs really were.

A row: idx perf run period start end rel_st slack c_duration c_period wu_lat, in us; start and end are CLOCK_MONOTONIC.
"""

from __future__ import annotations

import math
import statistics
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...errors import LabError
from ...schema import Count, Part, Stored

START, END, SLACK, PERIOD, COLUMNS = 4, 5, 7, 9, 11


@dataclass(frozen=True)
class Activation:
    """One job of a periodic task. Its deadline is the end of its period; slack < 0 means that it was missed."""

    start_us: int
    end_us: int
    slack_us: int
    period_us: int

    @property
    def release_us(self) -> int:
        return self.end_us + self.slack_us - self.period_us


class Slack(Stored):
    """How much time the jobs of a task had left at their ends, in us; < 0: missed. The percentiles are interpolated."""

    min: int | None = None
    p5: float | None = None
    p25: float | None = None
    median: float | None = None
    mean: float | None = None


class TaskStats(Stored):
    """What became of the jobs of one of rt-app's tasks. Without jobs, all but `periods` and `work_ms` is absent."""

    periods: Count
    missed: Count | None = None  # how many jobs ended after their deadline
    missed_fraction: Part | None = None
    slack_us: Slack | None = None
    work_ms: float | None = None  # CPU time of a job; None: unknown


@dataclass(frozen=True)
class Sample:
    """The CPU time that a task had used at one point in time."""

    at_us: float
    cpu_us: float


def read_activations(path: Path) -> list[Activation]:
    """Returns the jobs in a log; raises LabError if the log is not as expected.

    Only the last line may be incomplete, when rt-app was killed.
    """
    try:
        lines = [line.split() for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]
    except OSError as cause:
        raise LabError(f"{path} cannot be read ({cause.strerror}); rt-app wrote no log") from cause
    if lines and len(lines[-1]) < COLUMNS:
        lines.pop()
    try:
        return [Activation(*(int(row[column]) for column in (START, END, SLACK, PERIOD))) for row in lines]
    except (ValueError, IndexError) as cause:
        raise LabError(f"{path} is not a log of rt-app 1.0; install Debian's rt-app") from cause


def task_stats(
    activations: Sequence[Activation], window_us: tuple[float, float] | None = None, work_ms: float | None = None
) -> TaskStats:
    """Returns what became of the jobs that were released within the window; without a window, of all jobs.

    `work_ms` is passed on. Jobs that a backlog pushed out of the window count, because they were released within it.
    """
    first_us, last_us = window_us or (-math.inf, math.inf)
    slacks_us = sorted(job.slack_us for job in activations if first_us <= job.release_us <= last_us)
    if not slacks_us:
        return TaskStats(periods=0, work_ms=work_ms)
    missed = sum(slack < 0 for slack in slacks_us)
    return TaskStats(
        periods=len(slacks_us),
        missed=missed,
        missed_fraction=missed / len(slacks_us),
        slack_us=Slack(
            min=slacks_us[0],
            p5=percentile(slacks_us, 0.05),
            p25=percentile(slacks_us, 0.25),
            median=percentile(slacks_us, 0.5),
            mean=statistics.fmean(slacks_us),
        ),
        work_ms=work_ms,
    )


def percentile(ordered: Sequence[float], part: float) -> float:
    """Returns the percentile for `part` (0.5: the median), interpolated as in dlex-qoe."""
    position = part * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])


def work_us(activations: Sequence[Activation], samples: Sequence[Sample]) -> float | None:
    """Returns the mean CPU time of a job: the CPU time between two samples, divided by the jobs between them.

    rt-app's `run` column counts wall time, so it cannot distinguish work from preemption. Samples taken while the task
    slept need no guess of how much of a job was done. Where there are none, a job is assumed to progress evenly.
    """
    if not activations:
        return None
    known = [sample for sample in samples if activations[0].start_us <= sample.at_us <= activations[-1].end_us]
    asleep = [sample for sample in known if jobs_done(activations, sample.at_us).is_integer()]
    chosen = asleep if len(asleep) >= 2 else known
    if len(chosen) < 2:
        return None
    first, last = chosen[0], chosen[-1]
    jobs = jobs_done(activations, last.at_us) - jobs_done(activations, first.at_us)
    return (last.cpu_us - first.cpu_us) / jobs if jobs > 0 else None


def jobs_done(activations: Sequence[Activation], at_us: float) -> float:
    """Returns how many jobs were done at a time, with the fraction of the one in progress.

    A task has one job at a time, which is logged when it has ended. So only the first job that has not ended may have
    begun.
    """
    done = bisect_right(activations, at_us, key=lambda job: job.end_us)
    if done == len(activations) or activations[done].start_us >= at_us:
        return float(done)
    job = activations[done]
    return done + (at_us - job.start_us) / (job.end_us - job.start_us)
