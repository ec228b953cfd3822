# SPDX-License-Identifier: LGPL-2.1-or-later
"""Misses of rt-app's tasks under their reservations: those beside a player, less those that nobody provoked. Pure.

A task whose loops take longer than its budget misses deadlines all by itself, and so does one whose CPU an interrupt
takes. So a control is played: the same tasks beside a film that costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ..agenda.jobs import OURS
from .outcome import MET, MISSED, UNCERTAIN, UNMEASURED, Outcome
from .results_frame import Row
from .statistics import ENOUGH, Comparison, compare

NAME = "no rt-app miss under deadline that the player causes"
TASKS = ("rtapp-1", "rtapp-2")
# Of the periods: an interval that reaches further up acquits nobody, and beside a clean control more is a fault.
MARGIN = 0.001

Shares = Sequence[float]


def misses_outcome(
    section: str, runs: Mapping[str, Sequence[Row]], control: Sequence[Row], failed: Sequence[Row] = ()
) -> Outcome:
    """Runs in which rt-app's jobs were not as long as planned say nothing of its deadlines: named and left out."""
    shares = {workload: it for workload, found in runs.items() if (it := miss_shares(found))}
    ours = {workload: it for workload, it in shares.items() if runs[workload][0].player == OURS}
    others = [it for workload, of_one in shares.items() if workload not in ours for it in of_one]
    unprovoked = miss_shares(control)
    left_out = _left_out(section, [run for found in runs.values() for run in found], control)
    if not ours:
        return Outcome(NAME, section, UNMEASURED, f"no log of rt-app beside a policy of ours can be used{left_out}")
    against = {workload: compare(it, unprovoked, middle=np.mean) for workload, it in ours.items()} if unprovoked else {}
    words = {_word(it, unprovoked, against.get(workload)) for workload, it in ours.items()}
    unusable = _unusable(section, runs, ours, failed)
    words |= {UNMEASURED} if unusable else set()
    word = next(it for it in (MISSED, UNMEASURED, UNCERTAIN, MET) if it in words)
    told = [_told([it for of_one in ours.values() for it in of_one]), f"beside other players {_told(others)}"]
    if unprovoked:
        told.append(f"beside a film that costs next to nothing {_told(unprovoked)}")
        told.append(f"more than there: {_differences(against)}; at most {MARGIN:.1%} acquits")
    elif word == UNMEASURED:
        told.append("without a control they may be rt-app's own")
    if unusable:
        told.append(f"no usable run of {', '.join(unusable)}")
    return Outcome(NAME, section, word, "; ".join(told) + left_out)


def miss_shares(runs: Iterable[Row]) -> list[float]:
    """Of each run that has rt-app's logs and its whole work: which part of both tasks' periods was missed."""
    shares = []
    for run in runs:
        counts = [(run.value(f"{task}.missed"), run.value(f"{task}.periods")) for task in TASKS]
        missed = [it for it, _periods in counts if it is not None]
        periods = sum(it for _missed, it in counts if it is not None)
        if missed and run.load_held:
            shares.append(sum(missed) / max(periods, 1))
    return shares


def _word(shares: Shares, unprovoked: Shares, found: Comparison | None) -> str:
    """No misses are no fault, in however few runs; some are set against those of the control, which takes several."""
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
    """Our policies that were tried and of which no run tells anything of rt-app."""
    tried = [*(of_one[0] for of_one in runs.values()), *(it for it in failed if it.section == section)]
    known = set(usable)
    return list(dict.fromkeys(it.workload for it in tried if it.player == OURS and it.workload not in known))


def _told(shares: Shares) -> str:
    if not shares:
        return "not measured"
    share = f"{np.mean(shares):.3%} of the periods" if any(shares) else "none"
    return f"{share} in {len(shares)} run{'s' if len(shares) > 1 else ''}"


def _differences(against: Mapping[str, Comparison]) -> str:
    told = []
    for workload, it in against.items():
        found = it.difference
        known = found.low is not None and found.high is not None
        extent = f"{found.low:+.3%} to {found.high:+.3%}" if known else "too few runs for an interval"
        told.append(f"{workload} {found.value:+.3%} ({extent})")
    return ", ".join(told)


def _left_out(section: str, *groups: Sequence[Row]) -> str:
    """By setting, with the repetitions; a whole section, or another one, by its name."""
    told = []
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
            told.append(f"{logged[0].section} as a whole, {len(logged)} run{'s' if len(logged) > 1 else ''}")
        else:
            told += [f"{name} {' '.join(repetitions)}" for name, repetitions in found.items()]
    why = "as rt-app's jobs were not as long as stated, which a player may cause through the cache"
    return f"; left out {lost} of {tried} runs, {why}: {', '.join(told)}" if told else ""
