# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares settings as points of four figures, each better when smaller. The functions are pure.

Drops and skew trade against each other (a player that shows every picture shows them late), so no single figure orders
the settings. A point dominates another if it is no worse in all four figures and better in at least one. A difference
counts only if it is more than a viewer could care about: see `margins_between`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
from numpy.typing import NDArray

from ..agenda.jobs import OURS
from .results_frame import Row, values
from .statistics import ENOUGH

AXIS_NAMES = {
    "skew_ms_sd": "s.d. of A-V",
    "skew_ms_abs_mean": "|mean A-V|",
    "rmse_q16_sum": "RMSE sum",
    "dropped": "dropped",
}
AXES = tuple(AXIS_NAMES)
SKEW_MARGIN_MS = 1.0
DROPS_MARGIN = 0.005  # of the pictures
FREEZE = "longest_freeze_ms"
FREEZE_MARGIN_MS = 500.0
# On the whole machine, the longest freeze is a figure of the points, too.
WITH_FREEZE = (*AXES, FREEZE)
ALL_AXIS_NAMES = {**AXIS_NAMES, FREEZE: "longest freeze"}
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


def margins_between(ours: Sequence[Row], peer: Sequence[Row]) -> Point:
    """Returns by how much the figures of one of our policies may be worse than a peer's and still count as no worse.

    The screen is sampled every 0.5 ms; 1 ms of skew is two samples. 0.5 % of the pictures are 4 of the trailer's 812. The
    margin of the RMSE sum is as many pictures, each with the median error of the pictures that the peer repeated, or of
    ours if it repeated none.
    """
    frames = values([*ours, *peer], "frames")
    pictures = DROPS_MARGIN * median(frames) if frames else 0.0
    return {
        "skew_ms_sd": SKEW_MARGIN_MS,
        "skew_ms_abs_mean": SKEW_MARGIN_MS,
        "rmse_q16_sum": pictures * (_repeat(peer) or _repeat(ours)),
        "dropped": pictures,
        FREEZE: FREEZE_MARGIN_MS,
    }


def _repeat(runs: Sequence[Row]) -> float:
    """Returns the median error of a repeated picture; 0 if no picture was repeated."""
    found = [value for value in values(runs, "rmse_q16_median") if value > 0]
    return median(found) if found else 0.0


def no_worse(a: Point, b: Point, margins: Point) -> bool:
    return not worse_axes(a, b, margins)


def worse_axes(a: Point, b: Point, margins: Point) -> list[str]:
    """Returns the figures of `a` that are worse by more than the margins."""
    return [axis for axis in a if a[axis] > b[axis] + margins[axis]]


def dominates(a: Point, b: Point, margins: Point) -> bool:
    return no_worse(a, b, margins) and bool(worse_axes(b, a, margins))


def point(runs: Sequence[Row], axes: Sequence[str] = AXES) -> Point | None:
    """Returns the medians over the repetitions, or None if no run knows every figure."""
    found = list(_complete(runs, axes).values())
    return dict(zip(axes, np.median(found, axis=0).tolist(), strict=True)) if found else None


def goal(section: str, runs: Runs, axes: Sequence[str] = AXES) -> Goal | None:
    """Compares our policies with the peers in one section by these figures. Returns None if one of the two groups is empty."""
    points = {name: found for name, of_one in runs.items() if (found := point(of_one, axes))}
    ours = [name for name in points if runs[name][0].player == OURS]
    peers = [name for name in points if name not in ours]
    if not ours or not peers:
        return None
    margins = {(name, peer): margins_between(runs[name], runs[peer]) for name in ours for peer in peers}
    reached = _reached({name: _complete(runs[name], axes) for name in points}, margins, axes)
    shares = {name: float(np.mean(flags)) for name, flags in reached.items()}
    # On a tie, take the policy that is worse than the fewest peers.
    worse: dict[str, dict[str, list[str]]] = {name: {} for name in ours}
    for (name, peer), margin in margins.items():
        if axes := worse_axes(points[name], points[peer], margin):
            worse[name][peer] = axes
    dominated = {name for (name, peer), margin in margins.items() if dominates(points[peer], points[name], margin)}
    dominated |= {peer for (name, peer), margin in margins.items() if dominates(points[name], points[peer], margin)}
    best = max(ours, key=lambda name: (not worse[name], shares.get(name, 0.0), -len(worse[name])))
    return Goal(
        section=section,
        points=points,
        best=best,
        winner=None if worse[best] else best,
        holds_in=shares.get(best),
        some_holds_in=float(np.mean(np.any(list(reached.values()), axis=0))) if reached else None,
        worse_in=worse,
        undominated=[name for name in ours if name not in dominated],
        dominated_peers=[peer for peer in peers if peer in dominated],
        unmeasured=[name for name in runs if name not in points],
    )


def _complete(runs: Sequence[Row], axes: Sequence[str]) -> Complete:
    """Returns the repetitions for which all figures are known."""
    found: Complete = {}
    for run in runs:
        figures = [value for axis in axes if (value := run.value(axis)) is not None]
        if len(figures) == len(axes):
            found[run.machine, run.repetition] = figures
    return found


def _reached(
    tables: Mapping[str, Complete], margins: Mapping[tuple[str, str], Point], axes: Sequence[str]
) -> dict[str, Flags]:
    """Returns, for each of our policies, in which resamples it is no worse than every peer.

    `margins` has a pair for each of our policies and each peer. The result is empty if too few repetitions are common to
    all settings. A resample is drawn once for all settings. A machine that slows down from one repetition to the next slows
    all of them; separate draws would show that as a difference between settings.
    """
    common = [it for it in next(iter(tables.values())) if all(it in table for table in tables.values())]
    if len(common) < ENOUGH:
        return {}
    drawn = np.random.default_rng(SEED).integers(0, len(common), size=(RESAMPLES, len(common)))
    medians = {
        name: np.median(np.array([table[it] for it in common])[drawn], axis=1) for name, table in tables.items()
    }
    reached: dict[str, Flags] = {name: np.full(RESAMPLES, True) for name, _peer in margins}
    for (name, peer), margin in margins.items():
        most = medians[peer] + np.array([margin[axis] for axis in axes])
        reached[name] &= np.all(medians[name] <= most, axis=1)
    return reached
