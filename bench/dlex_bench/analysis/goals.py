# SPDX-License-Identifier: LGPL-2.1-or-later
"""The goals of the measurement against other players, each with a word and its figures. Pure.

Nothing here knows how the runs were made; what a section is for is read from its jobs (their load and policy).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from .front import AXES, AXIS_NAMES, OURS, Goal, goal
from .results_frame import Row, Settings, of_section, paired_values, values
from .seed import DROPPED, RMSE_Q16_SUM, reduction
from .statistics import ENOUGH, Comparison, compare

# What our policies are set against: the paper's baseline, and this player with its deadlines taken away, so that mere
# efficiency of the player is not credited to a policy.
NOTHING_DROPPED = "dlex_none"
REFERENCES = ("mplayer_framedrop", NOTHING_DROPPED, "dlex_heuristic")
# A section with a film that costs next to nothing: the misses of rt-app that are there are no player's fault.
CONTROL = "control"
MET, UNCERTAIN, MISSED, UNMEASURED = "met", "not certain", "missed", "not measured"
# Of the resamples in which a policy is no worse than every peer; in fewer the next batch may well say otherwise.
CERTAIN = 0.9
PEER_RATIO = 1.0
SHORT_TASK = "rtapp-1"
LONG_TASK = "rtapp-2"


@dataclass(frozen=True)
class Ratio:
    section: str
    workload: str
    against: str
    figure: str
    found: Comparison


@dataclass(frozen=True)
class Outcome:
    """One goal: `sentence` says what was found and in how many runs."""

    name: str
    section: str
    word: str
    sentence: str


def seed_ratios() -> dict[str, float]:
    """The paper's own, of its cbs row."""
    return {"rmse_q16_sum": reduction(RMSE_Q16_SUM, "cbs"), "dropped": reduction(DROPPED, "cbs")}


def ratios(settings: Settings, section: str) -> list[Ratio]:
    """Every policy of ours against every reference, in all four figures, paired by repetition."""
    runs = of_section(settings, section)
    found = []
    for workload, ours in runs.items():
        if ours[0].player != OURS:
            continue
        for against in (it for it in REFERENCES if it != workload and it in runs):
            for key in AXES:
                a, b = paired_values(ours, runs[against], key)
                if a:
                    found.append(Ratio(section, workload, against, key, compare(a, b, paired=True)))
    return found


def outcomes(settings: Settings, sections: Sequence[str], failed: Sequence[Row] = ()) -> list[Outcome]:
    """`failed`: the jobs that were tried in vain. A peer of which nothing is known was not reached by anybody."""
    told = []
    unprovoked = _miss_shares([run for runs in of_section(settings, CONTROL).values() for run in runs])
    for section in sections:
        runs = of_section(settings, section)
        if section == CONTROL:
            continue
        if _kind(runs, "load") == "rtapp":
            told.append(_front_outcome(section, runs, goal(section, runs), failed))
            if _reserved(runs):
                told.append(_misses_outcome(section, runs, unprovoked))
        elif _kind(runs, "load") == "none":
            told.append(_efficiency_outcome(section, runs))
    return told


def _front_outcome(
    section: str, runs: Mapping[str, Sequence[Row]], found: Goal | None, failed: Sequence[Row]
) -> Outcome:
    name = "no worse than every peer in all four figures"
    if found is None:
        return Outcome(name, section, UNMEASURED, "one of our policies and one peer are needed")
    peers = sum(1 for it in found.points if it not in found.worse_in)
    certain = "too few runs for resamples" if found.holds_in is None else f"in {found.holds_in:.0%} of the resamples"
    beaten = f"our policies dominate {len(found.dominated_peers)} of {peers} peer settings"
    if found.winner:
        merit = " (the player's efficiency, as it leaves nothing out)" if found.winner == NOTHING_DROPPED else ""
        told = f"{found.winner} is{merit}, {certain}; {beaten}"
        if missing := _peers_without_figures(section, runs, found, failed):
            return Outcome(name, section, UNMEASURED, f"{told}, but nothing can be said of {', '.join(missing)}")
        return Outcome(name, section, MET if (found.holds_in or 0) >= CERTAIN else UNCERTAIN, told)
    if found.best is None:
        return Outcome(name, section, UNMEASURED, "no policy of ours was measured")
    worse = found.worse_in[found.best]
    named = {peer: ", ".join(AXIS_NAMES[axis] for axis in axes) for peer, axes in list(worse.items())[:3]}
    where = "; ".join(f"{axes} than {peer}" for peer, axes in named.items())
    more = f" and {len(worse) - 3} more" if len(worse) > 3 else ""
    free = ", ".join(found.undominated) or "none"
    return Outcome(
        name,
        section,
        MISSED,
        f"the nearest is {found.best} ({certain}): worse in {where}{more}. {beaten[0].upper()}{beaten[1:]}; "
        f"dominated by no peer: {free}",
    )


def _peers_without_figures(
    section: str, runs: Mapping[str, Sequence[Row]], found: Goal, failed: Sequence[Row]
) -> list[str]:
    """Those whose runs all failed, or told no A-V. (One that was skipped cannot be put under the section's policy.)"""
    silent = [name for name in found.unmeasured if runs[name][0].player != OURS]
    lost = [it.workload for it in failed if it.section == section and it.player != OURS and it.workload not in runs]
    return list(dict.fromkeys([*silent, *lost]))


def _misses_outcome(section: str, runs: Mapping[str, Sequence[Row]], unprovoked: Sequence[float]) -> Outcome:
    """Misses of rt-app's tasks under their reservations. A player confined to its own should cause none."""
    name = "no rt-app miss under deadline that the player causes"
    shares = {workload: it for workload, found in runs.items() if (it := _miss_shares(found))}
    ours = {workload: it for workload, it in shares.items() if runs[workload][0].player == OURS}
    if not ours:
        return Outcome(name, section, UNMEASURED, "no log of rt-app beside a policy of ours was read")
    guilty = [workload for workload, it in ours.items() if _more_than(it, unprovoked)]
    word = MISSED if guilty else MET if all(_can_be_told(it, unprovoked) for it in ours.values()) else UNMEASURED
    text = f"{_told_shares(ours)}; beside other players {_told_shares(shares, without=ours)}"
    text += f"; beside a film that costs next to nothing {_told_shares({CONTROL: unprovoked})}" if unprovoked else ""
    if word == UNMEASURED:
        text += "; too few runs to tell them apart" if unprovoked else "; without a control they may be rt-app's own"
    return Outcome(name, section, word, text)


def _can_be_told(shares: Sequence[float], unprovoked: Sequence[float]) -> bool:
    """No misses are no fault, in however few runs; some are set against those of the control, which takes several."""
    return not any(shares) or min(len(shares), len(unprovoked)) >= ENOUGH


def _more_than(shares: Sequence[float], unprovoked: Sequence[float]) -> bool:
    """Than in the control, for certain. A task whose loops take longer than its budget misses deadlines all by itself."""
    if not unprovoked:
        return False
    if not any(unprovoked):
        return any(shares)
    return compare(shares, unprovoked, middle=np.mean).verdict == "more"


def _told_shares(shares: Mapping[str, Sequence[float]], without: Mapping[str, Sequence[float]] | None = None) -> str:
    counted = [it for workload, of_one in shares.items() if workload not in (without or {}) for it in of_one]
    if not counted:
        return "not measured"
    share = f"{np.mean(counted):.3%} of the periods" if any(counted) else "none"
    return f"{share} in {len(counted)} runs"


def _efficiency_outcome(section: str, runs: Mapping[str, Sequence[Row]]) -> Outcome:
    """CPU a picture without load or drops, against the cheapest peer that showed all pictures as well."""
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
        return Outcome(name, section, UNMEASURED, f"{cheapest} has no CPU time")
    ratio = found.ratio
    extent = f"{ratio.low:.3f} to {ratio.high:.3f}" if ratio.known else "too few runs for an interval"
    text = f"{median(ours):.2f} ms against {median(peers[cheapest]):.2f} ms ({cheapest}): {ratio.value:.3f} ({extent})"
    return Outcome(name, section, MET if ratio.value <= PEER_RATIO else MISSED, text)


def _all_shown(runs: Sequence[Row]) -> bool:
    """Under 1 % dropped: a start-up or a wake-up may cost a picture in any player."""
    dropped = values(runs, "drops_fraction")
    return bool(dropped) and median(dropped) < 0.01


def _miss_shares(runs: Sequence[Row]) -> list[float]:
    """Of each run that has rt-app's logs: which part of both tasks' periods was missed."""
    shares = []
    for run in runs:
        counts = [(run.value(f"{task}.missed"), run.value(f"{task}.periods")) for task in (SHORT_TASK, LONG_TASK)]
        missed = [it for it, _periods in counts if it is not None]
        periods = sum(it for _missed, it in counts if it is not None)
        if missed:
            shares.append(sum(missed) / max(periods, 1))
    return shares


def _kind(runs: Mapping[str, Sequence[Row]], key: str) -> str | None:
    first = next(iter(runs.values()), None)
    return (first[0].result["job"].get(key) or {}).get("kind") if first else None


def _reserved(runs: Mapping[str, Sequence[Row]]) -> bool:
    """Whether rt-app's tasks have reservations: by their own policy, or as the player has one or a quota."""
    job = next(iter(runs.values()))[0].result["job"]
    sched = str((job.get("load") or {}).get("sched", "same"))
    return (str(job.get("sched", "")) if sched == "same" else sched).startswith(("deadline", "quota"))
