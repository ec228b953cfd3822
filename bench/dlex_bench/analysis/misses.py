# SPDX-License-Identifier: LGPL-2.1-or-later
"""Judges the misses of rt-app's tasks under their reservations: those beside a player, minus those that no player
causes. One goal is that of our policies, another that of each player under `dlex-sched tune`.

A task misses deadlines all by itself if its loops take longer than its budget, or if an interrupt takes its CPU. So a
control is played: the same tasks beside a film that costs almost nothing. The functions are pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ..agenda.job import rtapp_sched
from ..agenda.jobs import OURS
from .claims import with_interval
from .outcome import MET, MISSED, UNCERTAIN, UNMEASURED, Outcome
from .results_frame import Row
from .statistics import ENOUGH, Comparison, compare

NAME = "no rt-app miss under deadline that the player causes"
TASKS = ("rtapp-1", "rtapp-2")
# A share of the periods. An interval that reaches above it does not acquit a player. If the control has no misses, a
# higher mean is a fault.
MARGIN = 0.001

Shares = Sequence[float]


def rtapp_is_reserved(run: Row) -> bool:
    """Returns whether rt-app's tasks play beside the player and have reservations.

    They have them by their own policy, or because the player has a reservation or a quota.
    """
    job = run.result.job
    return job.load.kind == "rtapp" and rtapp_sched(job.sched, job.load).startswith("deadline")


def misses_outcome(
    section: str, runs: Mapping[str, Sequence[Row]], control: Sequence[Row], failed: Sequence[Row] = ()
) -> Outcome:
    """Returns the outcome for one section.

    A run in which rt-app's jobs were not as long as planned says nothing about its deadlines. Such runs are named and
    left out.
    """
    shares = {workload: it for workload, found in runs.items() if (it := miss_shares(found))}
    ours = {workload: it for workload, it in shares.items() if runs[workload][0].player == OURS}
    others = [it for workload, of_one in shares.items() if workload not in ours for it in of_one]
    unprovoked = miss_shares(control)
    left_out = _left_out(section, [run for found in runs.values() for run in found], control)
    if not ours:
        return Outcome(NAME, section, UNMEASURED, f"no log of rt-app beside our policies is usable{left_out}")
    against = {workload: compare(it, unprovoked, middle=np.mean) for workload, it in ours.items()} if unprovoked else {}
    words = {_word(it, unprovoked, against.get(workload)) for workload, it in ours.items()}
    unusable = _unusable(section, runs, ours, failed)
    words |= {UNMEASURED} if unusable else set()
    word = next(it for it in (MISSED, UNMEASURED, UNCERTAIN, MET) if it in words)
    parts = [_shares_text([it for of_one in ours.values() for it in of_one]), f"beside other players {_shares_text(others)}"]
    if unprovoked:
        parts.append(f"beside a film that costs almost nothing {_shares_text(unprovoked)}")
        parts.append(f"more than there: {_differences(against)}; up to {MARGIN:.1%} meets the goal")
    elif word == UNMEASURED:
        parts.append("without a control, rt-app itself may be the cause")
    if unusable:
        parts.append(f"no usable run of {', '.join(unusable)}")
    return Outcome(NAME, section, word, "; ".join(parts) + left_out)


def tuned_misses_outcome(section: str, workload: str, runs: Sequence[Row], control: Sequence[Row]) -> Outcome:
    """Returns the outcome for one player under `dlex-sched tune`: rt-app misses no more beside it than in the control."""
    name = f"{workload}: tuned, rt-app misses no more than in the control"
    shares, unprovoked = miss_shares(runs), miss_shares(control)
    left_out = _left_out(section, runs, control)
    if not shares:
        return Outcome(name, section, UNMEASURED, f"no log of rt-app beside it is usable{left_out}")
    found = compare(shares, unprovoked, middle=np.mean) if unprovoked else None
    text = f"{_shares_text(shares)}; beside a film that costs almost nothing {_shares_text(unprovoked)}"
    if found:
        text += f"; more than there: {with_interval(found.difference, '{:+.3%}')}; up to {MARGIN:.1%} meets the goal"
    return Outcome(name, section, _word(shares, unprovoked, found), text + left_out)


def miss_shares(runs: Iterable[Row]) -> list[float]:
    """Returns the share of both tasks' periods that was missed, for each run with rt-app's logs and its whole work."""
    shares = []
    for run in runs:
        counts = [(run.value(f"{task}.missed"), run.value(f"{task}.periods")) for task in TASKS]
        missed = [it for it, _periods in counts if it is not None]
        periods = sum(it for _missed, it in counts if it is not None)
        if missed and run.load_held:
            shares.append(sum(missed) / max(periods, 1))
    return shares


def _word(shares: Shares, unprovoked: Shares, found: Comparison | None) -> str:
    """Returns the word for one policy, or one player.

    No misses mean no fault, even with few runs. Misses are compared with those of the control; this takes several runs.
    """
    if not any(shares):
        return MET
    if found is None or len(unprovoked) < ENOUGH:
        return UNMEASURED
    if found.difference.high is None:
        return UNCERTAIN
    if found.verdict == "more":
        return MISSED
    if not any(unprovoked):
        return MISSED if np.mean(shares) > MARGIN else UNCERTAIN
    return MET if found.difference.high <= MARGIN else UNCERTAIN


def _unusable(
    section: str, runs: Mapping[str, Sequence[Row]], usable: Iterable[str], failed: Sequence[Row]
) -> list[str]:
    """Returns our policies that were tried, but of which no run says anything about rt-app."""
    tried = [*(of_one[0] for of_one in runs.values()), *(it for it in failed if it.section == section)]
    known = set(usable)
    return list(dict.fromkeys(it.workload for it in tried if it.player == OURS and it.workload not in known))


def _shares_text(shares: Shares) -> str:
    if not shares:
        return "not measured"
    share = f"{np.mean(shares):.3%} of the periods" if any(shares) else "none"
    return f"{share} in {len(shares)} run{'s' if len(shares) > 1 else ''}"


def _differences(against: Mapping[str, Comparison]) -> str:
    return ", ".join(f"{workload} {with_interval(it.difference, '{:+.3%}')}" for workload, it in against.items())


def _left_out(section: str, *groups: Sequence[Row]) -> str:
    """Names the runs that are left out, by setting and repetition.

    A whole section is named as such, and a run of another section with the name of that section.
    """
    parts = []
    lost = tried = 0
    for runs in groups:
        logged = [run for run in runs if run.value(f"{TASKS[0]}.missed") is not None]
        tried += len(logged)
        lost += sum(not run.load_held for run in logged)
        found: dict[str, list[str]] = {}
        for run in (it for it in logged if not it.load_held):
            name = run.workload if run.section == section else f"{run.section}-{run.workload}"
            found.setdefault(name, []).append(f"r{run.repetition}")
        if logged and not any(run.load_held for run in logged):
            parts.append(f"{logged[0].section} as a whole, {len(logged)} run{'s' if len(logged) > 1 else ''}")
        else:
            parts += [f"{name} {' '.join(repetitions)}" for name, repetitions in found.items()]
    why = "because rt-app's jobs did not have the stated length, which a player may cause through the cache"
    return f"; left out {lost} of {tried} runs, {why}: {', '.join(parts)}" if parts else ""
