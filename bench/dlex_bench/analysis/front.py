# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares settings as points of four figures, each better when smaller. The functions are pure.

Drops and skew trade against each other (a player that shows every picture shows them late), so no single figure orders
the settings. A point dominates another if it is no worse in all four figures and better in at least one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..agenda.jobs import OURS
from .results_frame import Row
from .statistics import ENOUGH

# A difference counts only if it exceeds this. The screen is sampled every 0.5 ms, so finer skews are not seen.
AXES: dict[str, float] = {
    "skew_ms_sd": 0.5,
    "skew_ms_abs_mean": 0.5,
    "rmse_q16_sum": 0.0,
    "dropped": 0.0,
}
AXIS_NAMES = {
    "skew_ms_sd": "s.d. of A-V",
    "skew_ms_abs_mean": "|mean A-V|",
    "rmse_q16_sum": "RMSE sum",
    "dropped": "dropped",
}
# Short names, for tables that name several figures in one cell.
AXIS_WORDS = {"skew_ms_sd": "s.d.", "skew_ms_abs_mean": "mean", "rmse_q16_sum": "RMSE", "dropped": "drops"}
RESAMPLES = 2000
SEED = 21

Point = Mapping[str, float]
Runs = Mapping[str, Sequence[Row]]
Flags = NDArray[np.bool_]
# The machine and the number of the repetition. Runs are paired by both: such runs are neighbours in time, because the
# settings are interleaved.
Repetition = tuple[str, int]
Complete = dict[Repetition, list[float]]


@dataclass(frozen=True)
class Goal:
    """Records what holds in one section, and in which share of bootstrap resamples of its repetitions.

    A policy wins a resample if it is no worse in all figures than every peer.

    - `winner`: our policy that is no worse in all figures than every peer, if there is one.
    - `best`: the winner, or else our policy that wins the greatest share of the resamples.
    - `holds_in`: the share of the resamples that `best` wins.
    - `some_holds_in`: the share of the resamples that at least one of our policies wins. Both shares are None if too
      few repetitions are common to all settings for a share to mean anything.
    - `undominated`: our policies that no peer dominates.
    - `dominated_peers`: the peers that at least one of our policies dominates.
    - `unmeasured`: the settings of which no run knows all four figures.
    """

    section: str
    points: dict[str, Point]
    best: str | None
    winner: str | None
    holds_in: float | None
    some_holds_in: float | None
    worse_in: dict[str, dict[str, list[str]]]
    undominated: list[str]
    dominated_peers: list[str]
    unmeasured: list[str]

    @property
    def peers(self) -> list[str]:
        return [name for name in self.points if name not in self.worse_in]

    def worse_words(self, ours: str, peer: str) -> str:
        """Returns the figures in which the median of our policy is worse, for a table cell. Empty if there are none."""
        axes = self.worse_in[ours].get(peer, [])
        return "all four" if len(axes) == len(AXES) else ", ".join(AXIS_WORDS[axis] for axis in axes)


def no_worse(a: Point, b: Point) -> bool:
    return not worse_axes(a, b)


def worse_axes(a: Point, b: Point) -> list[str]:
    return [axis for axis, least in AXES.items() if a[axis] > b[axis] + least]


def dominates(a: Point, b: Point) -> bool:
    return no_worse(a, b) and bool(worse_axes(b, a))


def point(runs: Sequence[Row]) -> Point | None:
    """Returns the medians over the repetitions, or None if no run knows every figure."""
    found = list(_complete(runs).values())
    return dict(zip(AXES, np.median(found, axis=0).tolist(), strict=True)) if found else None


def goal(section: str, runs: Runs) -> Goal | None:
    """Compares our policies with the peers in one section. Returns None if one of the two groups is empty."""
    points = {name: found for name, of_one in runs.items() if (found := point(of_one))}
    ours = [name for name in points if runs[name][0].player == OURS]
    peers = [name for name in points if name not in ours]
    if not ours or not peers:
        return None
    reached = _reached({name: _complete(runs[name]) for name in points}, ours, peers)
    shares = {name: float(np.mean(flags)) for name, flags in reached.items()}
    # On a tie, take the policy that is worse than the fewest peers.
    worse = {name: {peer: axes for peer in peers if (axes := worse_axes(points[name], points[peer]))} for name in ours}
    best = max(ours, key=lambda name: (not worse[name], shares.get(name, 0.0), -len(worse[name])))
    return Goal(
        section=section,
        points=points,
        best=best,
        winner=None if worse[best] else best,
        holds_in=shares.get(best),
        some_holds_in=float(np.mean(np.any(list(reached.values()), axis=0))) if reached else None,
        worse_in=worse,
        undominated=[name for name in ours if not any(dominates(points[peer], points[name]) for peer in peers)],
        dominated_peers=[peer for peer in peers if any(dominates(points[name], points[peer]) for name in ours)],
        unmeasured=[name for name in runs if name not in points],
    )


def _complete(runs: Sequence[Row]) -> Complete:
    """Returns the repetitions for which all four figures are known."""
    found: Complete = {}
    for run in runs:
        figures = [value for axis in AXES if (value := run.value(axis)) is not None]
        if len(figures) == len(AXES):
            found[run.machine, run.repetition] = figures
    return found


def _reached(tables: Mapping[str, Complete], ours: Sequence[str], peers: Sequence[str]) -> dict[str, Flags]:
    """Returns, for each of our policies, in which resamples it is no worse than every peer.

    The result is empty if too few repetitions are common to all settings. A resample is drawn once for all settings. A
    machine that slows down from one repetition to the next slows all of them; separate draws would show that as a
    difference between settings.
    """
    common = [it for it in tables[ours[0]] if all(it in table for table in tables.values())]
    if len(common) < ENOUGH:
        return {}
    drawn = np.random.default_rng(SEED).integers(0, len(common), size=(RESAMPLES, len(common)))
    medians = {
        name: np.median(np.array([table[it] for it in common])[drawn], axis=1) for name, table in tables.items()
    }
    # A policy is no worse than every peer if it is no worse than the least value of each figure among the peers.
    least = np.min([medians[peer] for peer in peers], axis=0) + np.array(list(AXES.values()))
    return {name: np.all(medians[name] <= least, axis=1) for name in ours}
