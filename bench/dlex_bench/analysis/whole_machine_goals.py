# SPDX-License-Identifier: LGPL-2.1-or-later
"""Judges the goals of plays on all CPUs (`sched: free`): ours against every peer, beside each load and with each film.

A cell is a section: one load and one film. The functions are pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from ..agenda.jobs import OURS, section_ids
from ..machine.policy import Policy
from .claims import goal_at_least, goal_at_most, with_interval
from .front import ALL_AXIS_NAMES, WITH_FREEZE, Goal, goal, margins_between, worse_axes
from .front_outcome import front_outcome
from .outcome import MET, MISSED, UNCERTAIN, UNMEASURED, Outcome
from .results_frame import Row, Settings, is_control, of_section, paired_values, values
from .statistics import Comparison, Interval, compare

# The cells that have enough repetitions for resamples, by the ids in machine.yaml.
NAMED_LOADS = frozenset({"build", "stress8", "stress16", "quota150", "quota_changes"})
NAMED_FILMS = frozenset({"trailer", "sixty"})
# Where the best peer drops less, nothing can be gained.
STARVING = 0.05
DROPS_RATIO, RMSE_RATIO = 1 / 3, 1 / 5
CELLS_SHARE = 0.8
MARGINS_MOST = 2.0
CPU_RATIO = 0.97
SHOWS_ALL = 0.01  # a start may cost any player a picture
# What other programs keep of their pace may differ by this part without being a difference.
OTHERS_RATIO = 0.98
POLITE = ("mpv", "vlc")

Runs = Mapping[str, Sequence[Row]]


def is_free(run: Row) -> bool:
    return Policy.parse(run.result.job.sched).is_free


def whole_machine_outcomes(section: str, runs: Runs, failed: Sequence[Row]) -> list[Outcome]:
    """Returns the outcomes of one cell, which has our player and peers. `failed`: the jobs that failed."""
    ours, peers = _sides(runs)
    found = []
    if _is_named(section):
        found.append(front_outcome(section, runs, goal(section, runs, WITH_FREEZE), failed, "five"))
        found += _starving_outcome(section, ours, peers)
    if any(values(of_one, "load.others") for of_one in runs.values()):
        found.append(_others_outcome(section, ours, peers))
    if any(of_one[0].result.job.load.kind == "none" for of_one in runs.values()):
        found += [_cpu_outcome(section, ours, peers), _nearest_outcome(section, ours, peers)]
    return found


def over_all_cells(settings: Settings, sections: Sequence[str]) -> list[Outcome]:
    """Returns the outcome over all cells of a batch; none if the batch has no cell with our player and peers."""
    cells = {section: runs for section in sections if not is_control(section) and (runs := _free_cell(settings, section))}
    if not cells:
        return []
    name = f"no worse than every peer by medians in {CELLS_SHARE:.0%} of the cells, and by twice the margins in none"
    points = {section: goal(section, runs, WITH_FREEZE) for section, runs in cells.items()}
    known = {section: found for section, found in points.items() if found and found.best}
    if not known:
        return [Outcome(name, "all cells", UNMEASURED, "no cell has the five figures of our player and of a peer")]
    won = [section for section, found in known.items() if found.winner]
    far = {section: text for section, found in known.items() if (text := _far_behind(found, cells[section]))}
    text = f"{len(won)} of {len(known)} cells"
    if lost := [section for section in known if section not in won]:
        text += f"; worse in {', '.join(lost)}"
    if far:
        text += "; by more than twice the margins " + "; ".join(f"in {section} {what}" for section, what in far.items())
    if unknown := [section for section in cells if section not in known]:
        text += f"; no figures of {', '.join(unknown)}"
    reached = len(won) >= CELLS_SHARE * len(known) and not far
    return [Outcome(name, "all cells", MISSED if not reached else UNCERTAIN if unknown else MET, text)]


def _free_cell(settings: Settings, section: str) -> Runs | None:
    runs = of_section(settings, section)
    ours, peers = _sides(runs)
    return runs if ours and peers and all(is_free(of_one[0]) for of_one in runs.values()) else None


def _sides(runs: Runs) -> tuple[Runs, Runs]:
    """Returns the settings of our player, and those of the others."""
    ours = {name: of_one for name, of_one in runs.items() if of_one[0].player == OURS}
    return ours, {name: of_one for name, of_one in runs.items() if name not in ours}


def _is_named(section: str) -> bool:
    ids = section_ids(section)
    return bool(ids & NAMED_LOADS) and bool(ids & NAMED_FILMS)


def _far_behind(found: Goal, runs: Runs) -> str:
    """Returns the figures in which our best policy is worse than a peer by more than twice the margins; "" if in none."""
    best = str(found.best)
    parts = []
    for peer in found.peers:
        margins = {axis: MARGINS_MOST * it for axis, it in margins_between(runs[best], runs[peer]).items()}
        if axes := worse_axes(found.points[best], found.points[peer], margins):
            parts.append(f"{', '.join(ALL_AXIS_NAMES[axis] for axis in axes)} than {peer}")
    return ", ".join(parts)


def _starving_outcome(section: str, ours: Runs, peers: Runs) -> list[Outcome]:
    """Judges a cell in which every peer drops much; no outcome for the others."""
    dropped = _medians(peers, "drops_fraction")
    best = _least(dropped)
    if best is None or dropped[best] < STARVING:
        return []
    name = "at most a third of the best peer's drops and a fifth of its RMSE"
    mine = _least(_medians(ours, "drops_fraction"))
    drops = _ratio(ours, mine, peers[best], "dropped")
    rmse = _ratio(ours, mine, peers[best], "rmse_q16_sum")
    words = {goal_at_most(drops, DROPS_RATIO), goal_at_most(rmse, RMSE_RATIO)}
    text = f"{best} drops {dropped[best]:.1%}; of its drops {mine} has {with_interval(drops)}, of its RMSE {with_interval(rmse)}"
    return [Outcome(name, section, _worst(words), text)]


def _others_outcome(section: str, ours: Runs, peers: Runs) -> Outcome:
    """Judges what the programs beside the player keep of their pace alone."""
    name = "other programs keep at least as much as beside mpv and VLC"
    kept = {it: of_one for it, of_one in peers.items() if of_one[0].player in POLITE and values(of_one, "load.others")}
    mine = next((it for it, of_one in ours.items() if values(of_one, "load.others")), None)
    if mine is None or not kept:
        return Outcome(name, section, UNMEASURED, "the load's pace beside our player and beside mpv or VLC is needed")
    ratios = {it: _ratio(ours, mine, of_one, "load.others") for it, of_one in kept.items()}
    words = {goal_at_least(ratio, OTHERS_RATIO) for ratio in ratios.values()}
    against = "; ".join(f"{with_interval(ratio)} of that beside {it}" for it, ratio in ratios.items())
    alone = median(values(ours[mine], "load.others"))
    return Outcome(name, section, _worst(words), f"beside {mine} {alone:.0%} of their pace alone: {against}")


def _cpu_outcome(section: str, ours: Runs, peers: Runs) -> Outcome:
    name = f"CPU a picture at most {CPU_RATIO:g} of the cheapest peer's"
    spent = [_medians({it: runs for it, runs in side.items() if _shows_all(runs)}, "cpu_ms_per_frame") for side in (ours, peers)]
    mine, cheapest = (_least(it) for it in spent)
    if mine is None or cheapest is None:
        return Outcome(name, section, UNMEASURED, "our player and a peer, both without drops, are needed")
    ratio = _ratio(ours, mine, peers[cheapest], "cpu_ms_per_frame")
    text = f"{mine} {spent[0][mine]:.2f} ms, {cheapest} {spent[1][cheapest]:.2f} ms: {with_interval(ratio, '{:.3f}')}"
    return Outcome(name, section, goal_at_most(ratio, CPU_RATIO), text)


def _nearest_outcome(section: str, ours: Runs, peers: Runs) -> Outcome:
    """Judges whether our pictures are nearest to their sound, by the mean and by the s.d."""
    name = "A-V nearest to 0, and steadiest, of all players"
    words, parts = set(), []
    for key in ("skew_ms_abs_mean", "skew_ms_sd"):
        medians = [_medians(side, key) for side in (ours, peers)]
        mine, nearest = (_least(it) for it in medians)
        found = _paired(ours[mine], peers[nearest], key) if mine and nearest else None
        words.add(goal_at_most(found.difference, 0.0) if found else UNMEASURED)
        if mine and nearest:
            parts.append(f"{ALL_AXIS_NAMES[key]} {medians[0][mine]:.1f} ms ({mine}), {medians[1][nearest]:.1f} ms ({nearest})")
    return Outcome(name, section, _worst(words), "; ".join(parts) or "A-V of our player and of a peer is needed")


def _medians(side: Runs, key: str) -> dict[str, float]:
    return {name: median(found) for name, runs in side.items() if (found := values(runs, key))}


def _least(medians: Mapping[str, float]) -> str | None:
    return min(medians, key=lambda it: medians[it]) if medians else None


def _shows_all(runs: Sequence[Row]) -> bool:
    dropped = values(runs, "drops_fraction")
    return bool(dropped) and median(dropped) < SHOWS_ALL


def _paired(a: Sequence[Row], b: Sequence[Row], key: str) -> Comparison | None:
    ours, theirs = paired_values(a, b, key)
    return compare(ours, theirs, paired=True) if ours else None


def _ratio(ours: Runs, mine: str | None, peer: Sequence[Row], key: str) -> Interval | None:
    found = _paired(ours[mine], peer, key) if mine else None
    return found.ratio if found else None


def _worst(words: set[str]) -> str:
    """Returns the word for a goal of several parts: one that is missed misses it, and all must be met."""
    return next((it for it in (MISSED, UNMEASURED, UNCERTAIN) if it in words), MET)
