# SPDX-License-Identifier: LGPL-2.1-or-later
"""Judges when the processes of the robot start. The functions are pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..analysis.claims import all_at_most, is_above, is_below, with_interval
from ..analysis.outcome import UNMEASURED, Outcome
from ..analysis.statistics import compare, median_interval
from .conditions import AWAKE, Condition

NAME = "seed 002"
DELAY_MS = 20.0
# The paper's Control started so much later than the delay at least.
PAPER_OFFSET_MS = 4.0
# Goals, at p99.
MOST_LATE_US, MOST_TICK_US = 100.0, 20.0
# A median above this is a systematic offset. It is a tenth of the paper's.
MOST_OFFSET_US = 400.0


@dataclass(frozen=True)
class GraphRun:
    """
    One run. `start`: from the tick to the start of Control. `late`: from the release of Control that was due to its start. `next`:
    from the tick to the start of a process that follows the camera, which gives the tick. `tick`: how long the call takes.
    """

    start_least_ms: float
    start_most_ms: float
    start_mean_ms: float
    start_sd_ms: float
    late_p50_us: float
    late_p99_us: float
    next_least_us: float
    next_most_us: float
    next_mean_us: float
    next_sd_us: float
    tick_mean_us: float
    tick_p99_us: float
    ticks: int
    work_ms: float  # from the starts to the ends of all processes but the camera, in a tick
    starts: int  # of Control
    skips: int  # ticks at which Control had not finished
    # From the tick to the start, s.d.: the median of the processes that track objects; the larger one of Control and WSUpdater.
    tracking_sd_ms: float
    delayed_sd_ms: float

    @property
    def start_range_ms(self) -> float:
        return self.start_most_ms - self.start_least_ms


Runs = Mapping[Condition, Sequence[GraphRun]]
PAPER_AT_ONCE, PAPER_DELAYED = Condition(False, False, False), Condition(False, True, False)
OWN_CPU_AT_ONCE, OWN_CPU = Condition(True, False, False), Condition(True, True, False)


def graphs_findings(runs: Runs, has_own_cpu: bool) -> list[Outcome]:
    """Judges all runs. `has_own_cpu`: under fifo, the delayed processes had a CPU that no other process of the graph used."""
    fifo = runs.get(OWN_CPU, ())
    return [
        _jitter(runs, PAPER_DELAYED, PAPER_AT_ONCE),
        _offset(runs.get(PAPER_DELAYED, ())),
        _next(runs),
        _on_own_cpu(f"Control is at most {MOST_LATE_US:g} us late at p99", [run.late_p99_us for run in fifo], MOST_LATE_US,
                    has_own_cpu),
        _on_own_cpu(f"Control has no systematic offset: it is at most {MOST_OFFSET_US:g} us late at the median",
                    [run.late_p50_us for run in fifo], MOST_OFFSET_US, has_own_cpu),
        _at_most(f"a tick of 12 processes takes at most {MOST_TICK_US:g} us at p99, under fifo",
                 [run.tick_p99_us for run in fifo], MOST_TICK_US),
        _on_own_cpu(f"Control is at most {MOST_LATE_US:g} us late at p99 if its CPU is kept awake",
                    [run.late_p99_us for run in runs.get(AWAKE, ())], MOST_LATE_US, has_own_cpu),
        _jitter(runs, OWN_CPU, OWN_CPU_AT_ONCE),
        *(_range(runs, delayed, at_once) for delayed, at_once in ((PAPER_DELAYED, PAPER_AT_ONCE), (OWN_CPU, OWN_CPU_AT_ONCE))),
        *(_inheritance(runs, condition) for condition in (PAPER_DELAYED, OWN_CPU)),
    ]


def _policy(condition: Condition) -> str:
    return "under fifo" if condition.is_fifo else "under other"


def _jitter(runs: Runs, delayed: Condition, at_once: Condition) -> Outcome:
    name = f"a delay makes the start of Control more regular (s.d.), {_policy(delayed)} (Table 5)"
    return _ratio_of_conditions(name, runs, delayed, at_once, lambda run: run.start_sd_ms, "(in the paper 0.30 and 3.75)")


def _range(runs: Runs, delayed: Condition, at_once: Condition) -> Outcome:
    name = f"a delay reduces the range of Control's starts (most - least), {_policy(delayed)} (Table 5)"
    return _ratio_of_conditions(name, runs, delayed, at_once, lambda run: run.start_range_ms, "(in the paper 0.22 and 1.34)")


def _ratio_of_conditions(
    name: str, runs: Runs, delayed: Condition, at_once: Condition, figure: Callable[[GraphRun], float], paper: str
) -> Outcome:
    """Judges whether a figure is smaller with a delay."""
    sides = [[figure(run) for run in runs.get(condition, ())] for condition in (delayed, at_once)]
    if not all(sides):
        return Outcome(name, NAME, UNMEASURED, "runs with and without a delay are needed")
    ratio = compare(*sides, paired=len(sides[0]) == len(sides[1])).ratio
    return Outcome(name, NAME, is_below(ratio, 1), f"ratio {with_interval(ratio)} {paper}")


def _inheritance(runs: Runs, condition: Condition) -> Outcome:
    """Judges Figure 2, which shows in a picture that those with a delay start regularly, and those that they wait for do not."""
    name = f"Control and WSUpdater do not inherit the jitter of what they wait for (s.d.), {_policy(condition)} (Figure 2)"
    found = runs.get(condition, ())
    if not found:
        return Outcome(name, NAME, UNMEASURED, "runs with a delay are needed")
    ratio = compare([run.delayed_sd_ms for run in found], [run.tracking_sd_ms for run in found], paired=True).ratio
    return Outcome(name, NAME, is_below(ratio, 1), f"ratio {with_interval(ratio)} (the paper has a picture)")


def _offset(delayed: Sequence[GraphRun]) -> Outcome:
    name = f"Control starts {PAPER_OFFSET_MS:g} ms or more after its delay (in the paper because of the kernel's tick of 4 ms)"
    if not delayed:
        return Outcome(name, NAME, UNMEASURED, "runs with a delay are needed")
    late = median_interval([run.start_mean_ms - DELAY_MS for run in delayed])
    return Outcome(name, NAME, is_above(late, PAPER_OFFSET_MS), f"{with_interval(late)} ms on average")


def _next(runs: Runs) -> Outcome:
    name = "with a delay, the process after the camera starts later than without (Table 4)"
    delayed, at_once = runs.get(PAPER_DELAYED, ()), runs.get(PAPER_AT_ONCE, ())
    if not delayed or not at_once:
        return Outcome(name, NAME, UNMEASURED, "runs with and without a delay are needed")
    means = [[run.next_mean_us for run in some] for some in (delayed, at_once)]
    ratio = compare(*means, paired=len(delayed) == len(at_once)).ratio
    return Outcome(name, NAME, is_above(ratio, 1), f"ratio {with_interval(ratio)} (in the paper 2.58 and 2.24)")


def _on_own_cpu(what: str, values: Sequence[float], most: float, has_own_cpu: bool) -> Outcome:
    name = f"{what}, under fifo on a CPU of its own"
    if not has_own_cpu:
        return Outcome(name, NAME, UNMEASURED, "two CPUs are needed")
    return _at_most(name, values, most)


def _at_most(name: str, values: Sequence[float], most: float) -> Outcome:
    found = f"{min(values):.0f} to {max(values):.0f} us in {len(values)} runs" if values else "no runs"
    return Outcome(name, NAME, all_at_most(values, most), found)
