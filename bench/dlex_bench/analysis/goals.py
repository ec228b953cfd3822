# SPDX-License-Identifier: LGPL-2.1-or-later
"""Judges the goals against other players. Each goal gets a word (such as "met") and its figures.

The functions are pure. Nothing here knows how the runs were made. The purpose of a section is derived from its jobs
(their load and policy).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from ..agenda.jobs import OURS
from ..paper import DROPPED, RMSE_Q16_SUM, reduction
from .claims import goal_at_most, with_interval
from .front import AXES, FREEZE_MARGIN_MS, Goal, goal
from .front_outcome import NOTHING_DROPPED, front_outcome
from .gain import gain_outcomes
from .misses import misses_outcome, rtapp_is_reserved
from .outcome import MET, MISSED, UNMEASURED, Outcome
from .results_frame import Row, Settings, control_of, is_control, of_section, paired_values, values
from .statistics import Comparison, compare
from .tuned import is_tuned, tuned_outcomes
from .whole_machine_goals import is_free, over_all_cells, whole_machine_outcomes

# Our policies are compared with these: the paper's baseline, and this player without its deadlines. The latter ensures
# that the mere efficiency of the player is not credited to a policy.
REFERENCES = ("mplayer_framedrop", NOTHING_DROPPED, "dlex_heuristic")
# An agenda that tries a change of the default has the default under this name.
ALL_REFERENCES = (*REFERENCES, "dlex_default")
PEER_RATIO = 1.0
# Policies that limit the CPU time of a player.
BUDGETS = ("deadline", "quota")


@dataclass(frozen=True)
class Ratio:
    section: str
    workload: str
    against: str
    figure: str
    found: Comparison


def seed_ratios() -> dict[str, float]:
    """Returns the paper's own ratios, from its cbs row."""
    return {"rmse_q16_sum": reduction(RMSE_Q16_SUM, "cbs"), "dropped": reduction(DROPPED, "cbs")}


def ratios(settings: Settings, section: str) -> list[Ratio]:
    """Compares each of our policies with each reference, in all four figures, paired by repetition."""
    runs = of_section(settings, section)
    found = []
    for workload, ours in runs.items():
        if ours[0].player != OURS:
            continue
        for against in (it for it in ALL_REFERENCES if it != workload and it in runs):
            for key in AXES:
                a, b = paired_values(ours, runs[against], key)
                if a:
                    found.append(Ratio(section, workload, against, key, compare(a, b, paired=True)))
    return found


def standing(settings: Settings, section: str) -> Goal | None:
    """Returns the points of a section in which our policies should be no worse than every peer.

    Only a section in which the player lacks CPU time has this goal. Returns None for the others.
    """
    runs = of_section(settings, section)
    first = next(iter(runs.values()), None)
    return goal(section, runs) if not is_control(section) and first and _is_short(first[0]) else None


def outcomes(settings: Settings, sections: Sequence[str], failed: Sequence[Row] = ()) -> list[Outcome]:
    """Returns the outcomes for one machine. `failed`: the jobs that failed.

    The goal is not reached against a peer of which nothing is known. There is no outcome about our players in a section
    that has none of them, and no outcome about peers in a section that has no peers.
    """
    found = []
    for section in (it for it in sections if not is_control(it)):
        runs = of_section(settings, section)
        tried = [*(of_one[0] for of_one in runs.values()), *(it for it in failed if it.section == section)]
        ours = any(it.player == OURS for it in tried)
        both = ours and any(it.player != OURS for it in tried)
        kind = _load_kind(tried[0]) if ours else None
        if both and _is_short(tried[0]):
            found.append(front_outcome(section, runs, standing(settings, section), failed))
            found.append(_freeze_outcome(section, runs, standing(settings, section)))
        if kind == "none" and ours and _is_short(tried[0]):
            found += gain_outcomes(section, runs)
        if ours and rtapp_is_reserved(tried[0]):
            found.append(misses_outcome(section, runs, control_of(settings, section), failed))
        if runs and is_tuned(tried[0]):
            found += tuned_outcomes(settings, section)
        if both and is_free(tried[0]):
            found += whole_machine_outcomes(section, runs, failed)
        elif kind == "none" and both and not _is_short(tried[0]):
            found.append(_efficiency_outcome(section, runs))
    return [*found, *over_all_cells(settings, sections)]


def outcomes_without_peers(settings: Settings, sections: Sequence[str]) -> list[Outcome]:
    """Returns the outcomes that do not need both our player and another: our settings against each other, and tuned players."""
    found = []
    for section in (it for it in sections if not is_control(it)):
        runs = of_section(settings, section)
        first = next((of_one[0] for of_one in runs.values()), None)
        if first is None:
            continue
        if _load_kind(first) == "none" and _is_short(first):
            found += gain_outcomes(section, runs)
        if is_tuned(first):
            found += tuned_outcomes(settings, section)
    return found


def _freeze_outcome(section: str, runs: Mapping[str, Sequence[Row]], found: Goal | None) -> Outcome:
    """Judges the longest time without a new picture, of the policy that was compared with the peers."""
    name = f"longest freeze at most the best peer's and {FREEZE_MARGIN_MS / 1e3:g} s"
    medians = {it: median(ms) for it, of_one in runs.items() if (ms := values(of_one, "longest_freeze_ms"))}
    peers = {it: ms for it, ms in medians.items() if runs[it][0].player != OURS}
    if found is None or found.best not in medians or not peers:
        return Outcome(name, section, UNMEASURED, "the freezes of one of our policies and of a peer are needed")
    least = min(peers, key=lambda it: peers[it])
    text = f"{found.best} {medians[found.best]:.0f} ms, {least} {peers[least]:.0f} ms, medians"
    word = MET if medians[found.best] <= peers[least] + FREEZE_MARGIN_MS else MISSED
    return Outcome(name, section, word, text)


def _efficiency_outcome(section: str, runs: Mapping[str, Sequence[Row]]) -> Outcome:
    """Judges our CPU time per picture without load or drops, against the cheapest peer that showed all as well."""
    name = "CPU a picture at most that of the cheapest peer"
    spent = {workload: values(found, "cpu_ms_per_frame") for workload, found in runs.items() if _all_shown(found)}
    peers = {it: ms for it, ms in spent.items() if ms and runs[it][0].player != OURS}
    ours = spent.get(NOTHING_DROPPED)
    if not ours or not peers:
        return Outcome(name, section, UNMEASURED, f"{NOTHING_DROPPED} and a peer, both without drops, are needed")
    cheapest = min(peers, key=lambda it: median(peers[it]))
    a, b = paired_values(runs[NOTHING_DROPPED], runs[cheapest], "cpu_ms_per_frame")
    found = compare(a, b, paired=True) if a else compare(ours, peers[cheapest])
    if found.ratio is None:
        return Outcome(name, section, UNMEASURED, f"the CPU time of {cheapest} is unknown")
    ratio = with_interval(found.ratio, "{:.3f}")
    text = f"{median(ours):.2f} ms against {median(peers[cheapest]):.2f} ms ({cheapest}): {ratio}"
    return Outcome(name, section, goal_at_most(found.ratio, PEER_RATIO), text)


def _all_shown(runs: Sequence[Row]) -> bool:
    """Returns whether under 1 % was dropped. A start-up or a wake-up may cost a picture in any player."""
    dropped = values(runs, "drops_fraction")
    return bool(dropped) and median(dropped) < 0.01


def _load_kind(run: Row) -> str:
    return run.result.job.load.kind


def _is_short(run: Row) -> bool:
    """Returns whether the player lacks CPU time: beside rt-app, or because only its own budget limits it."""
    has_budget = run.result.job.sched.partition(":")[0] in BUDGETS
    return _load_kind(run) == "rtapp" or (_load_kind(run) == "none" and has_budget)
