# SPDX-License-Identifier: LGPL-2.1-or-later
"""Words the goal that one of our policies is no worse than every peer (front.py). The functions are pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..agenda.jobs import OURS
from .front import ALL_AXIS_NAMES, Goal
from .outcome import MET, MISSED, UNCERTAIN, UNMEASURED, Outcome
from .results_frame import Row
from .statistics import ENOUGH

NOTHING_DROPPED = "dlex_none"
# Shares of the resamples in which a policy is no worse than every peer. From CERTAIN upwards, the policy is no worse.
# Up to UNLIKELY, none of our policies is. Between the two, the next batch may well give another answer.
CERTAIN = 0.9
UNLIKELY = 0.1


def front_outcome(
    section: str, runs: Mapping[str, Sequence[Row]], found: Goal | None, failed: Sequence[Row], figures: str = "four"
) -> Outcome:
    """Judges whether one of our policies is no worse than every peer in all `figures` (a number in words)."""
    name = f"no worse than every peer in all {figures} figures"
    if found is None:
        return Outcome(name, section, UNMEASURED, "at least one of our policies and one peer are needed")
    certain = _share(found)
    beaten = f"our policies dominate {len(found.dominated_peers)} of {len(found.peers)} peer settings"
    if found.winner:
        merit = " (because of the player's efficiency: it drops nothing)" if found.winner == NOTHING_DROPPED else ""
        sentence = f"{found.winner} is{merit}, {certain}; {beaten}"
        if missing := _peers_without_figures(section, runs, found, failed):
            return Outcome(name, section, UNMEASURED, f"{sentence}, but there are no figures of {', '.join(missing)}")
        return Outcome(name, section, MET if (found.holds_in or 0) >= CERTAIN else UNCERTAIN, sentence)
    if found.best is None:
        return Outcome(name, section, UNMEASURED, "none of our policies was measured")
    worse = found.worse_in[found.best]
    named = {peer: ", ".join(ALL_AXIS_NAMES[axis] for axis in axes) for peer, axes in list(worse.items())[:3]}
    where = "; ".join(f"{axes} than {peer}" for peer, axes in named.items())
    more = f" and {len(worse) - 3} more" if len(worse) > 3 else ""
    free = ", ".join(found.undominated) or "none"
    return Outcome(
        name,
        section,
        MISSED if found.some_holds_in is not None and found.some_holds_in <= UNLIKELY else UNCERTAIN,
        f"the nearest is {found.best} ({certain}): worse in {where}{more}. {beaten[0].upper()}{beaten[1:]}; "
        f"dominated by no peer: {free}",
    )


def _share(found: Goal) -> str:
    """Words the share of the best policy, and the share of all our policies together where that differs."""
    if found.holds_in is None or found.some_holds_in is None:
        return f"fewer than {ENOUGH} repetitions are common to all: too few for resamples"
    best, some = f"{found.holds_in:.0%}", f"{found.some_holds_in:.0%}"
    return f"in {best} of the resamples" + (f", at least one of our policies in {some}" if some != best else "")


def _peers_without_figures(
    section: str, runs: Mapping[str, Sequence[Row]], found: Goal, failed: Sequence[Row]
) -> list[str]:
    """Returns the peers whose runs all failed or reported no A-V.

    A peer that was skipped under a policy is not among them: it cannot be put under that. Under `free`, every player can be played,
    so a skipped peer is one that is missing; `failed` has it.
    """
    silent = [name for name in found.unmeasured if runs[name][0].player != OURS]
    lost = [it.workload for it in failed if it.section == section and it.player != OURS and it.workload not in runs]
    return list(dict.fromkeys([*silent, *lost]))
