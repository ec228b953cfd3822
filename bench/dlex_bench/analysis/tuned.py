# SPDX-License-Identifier: LGPL-2.1-or-later
"""Judges what `dlex-sched tune` gains and costs, for each player that is played under `deadline:tuned` and under `other` alike.

The functions are pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from ..machine.policy import Policy
from .claims import goal_at_most, with_interval
from .misses import rtapp_is_reserved, tuned_misses_outcome
from .outcome import MET, MISSED, UNMEASURED, Outcome
from .results_frame import Row, Settings, control_of, of_section, paired_values, values
from .statistics import compare

# A player that drops fewer under the ordinary policy does not lack CPU time, and there is nothing to win.
STARVING = 0.1
DROPS_RATIO = 0.1
# Reserved CPU time against used.
SPARE = 1.6


def is_tuned(run: Row) -> bool:
    """Returns whether dlex-sched found the reservations of this run."""
    return Policy.parse(run.result.job.sched).tuned


def tuned_outcomes(settings: Settings, section: str) -> list[Outcome]:
    """Returns the outcomes for each player of a tuned section.

    They are: how much less it dropped, how much was reserved for it, and whether rt-app, if it has reservations, missed more.
    """
    found = []
    for workload, runs in of_section(settings, section).items():
        found.append(_drops_outcome(section, workload, runs, _ordinary(settings, runs[0])))
        found.append(_spare_outcome(section, workload, runs))
        if rtapp_is_reserved(runs[0]):
            found.append(tuned_misses_outcome(section, workload, runs, control_of(settings, section)))
    return found


def _ordinary(settings: Settings, tuned: Row) -> Sequence[Row]:
    """Returns the runs of the same player with the same clip and load under the ordinary policy, if there are any."""
    for (_section, workload), runs in settings.items():
        job, same = runs[0].result.job, tuned.result.job
        if workload == tuned.workload and job.sched == "other" and job.load == same.load and job.clip == same.clip:
            return runs
    return ()


def _drops_outcome(section: str, workload: str, runs: Sequence[Row], ordinary: Sequence[Row]) -> Outcome:
    name = f"{workload}: tuned, at most a tenth of the drops"
    before, after = values(ordinary, "drops_fraction"), values(runs, "drops_fraction")
    if not before or not after:
        return Outcome(name, section, UNMEASURED, "runs under other and under deadline:tuned are needed")
    text = f"{median(after):.1%} dropped, and {median(before):.1%} under other, medians of {len(after)} and {len(before)} runs"
    if median(before) < STARVING:
        return Outcome(name, section, UNMEASURED, f"{text}: it does not lack CPU time under other")
    a, b = paired_values(runs, ordinary, "drops_fraction")
    ratio = compare(a, b, paired=True).ratio if a else None
    if ratio is None:
        return Outcome(name, section, UNMEASURED, f"{text}; no repetition has both")
    return Outcome(name, section, goal_at_most(ratio, DROPS_RATIO), f"{text}; ratio {with_interval(ratio, '{:.3f}')}")


def _spare_outcome(section: str, workload: str, runs: Sequence[Row]) -> Outcome:
    """Compares the reserved CPU time with the used one. Runs hardly differ in it, so there is no interval."""
    name = f"{workload}: at most {SPARE - 1:.0%} more reserved than used"
    pairs = _known_pairs(runs)
    if not pairs:
        return Outcome(name, section, UNMEASURED, "nothing was reserved, or it was not used")
    ratio = median(reserved / used for reserved, used in pairs.values())
    means = [median(column) for column in zip(*pairs.values(), strict=True)]
    text = f"{means[0]:.1%} of a CPU reserved, {means[1]:.1%} used: {ratio:.2f} times as much, medians of {len(pairs)} runs"
    return Outcome(name, section, MET if ratio <= SPARE else MISSED, text)


def _known_pairs(runs: Sequence[Row]) -> Mapping[int, tuple[float, float]]:
    found = {run.repetition: (run.value("reserved"), run.value("reserved_used")) for run in runs}
    return {number: (reserved, used) for number, (reserved, used) in found.items() if reserved is not None and used}
