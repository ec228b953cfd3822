# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws the paper's Figures 5 to 8 from simulated runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dlex_bench.analysis.statistics import Interval
from dlex_bench.files import save_figure

from .sim_settings import Setting, by_experiment, shown_settings

# Okabe and Ito's colours; the line styles distinguish the curves without colour.
LINES = {False: ("#0072b2", "--", "without events"), True: ("#d55e00", "-", "with events")}
OVER_PLAYERS = {"figure-5": "figure-5.png", "table-4": "figure-6.png", "table-6": "figure-7.png"}
OVER_FRAMES = {"figure-8": "figure-8.png"}


def draw_all(settings: Sequence[Setting], folder: Path) -> dict[str, str]:
    """Draws the figures for which there are runs. Returns the name of the file for each experiment that has a figure."""
    made = {}
    found = by_experiment(settings)
    for experiment, name in {**OVER_PLAYERS, **OVER_FRAMES}.items():
        if experiment not in found:
            continue
        figure = Figure(figsize=(5, 3), dpi=100, layout="constrained")
        axes = figure.subplots()
        if experiment in OVER_PLAYERS:
            _over_players(axes, found[experiment], has_both=experiment != "figure-5")
        else:
            _over_frames(axes, shown_settings(found[experiment])[-1])
        _finish(axes)
        save_figure(figure, folder / name)
        made[experiment] = name
    return made


def _over_players(axes: Axes, settings: Sequence[Setting], *, has_both: bool) -> None:
    """Draws the mean run-queue delay over the number of players: medians of the runs with their intervals."""
    players = [each.players for each in settings]
    for has_events in (False, True) if has_both else (False,):
        colour, style, label = LINES[has_events]
        found = [each.mean_with if has_events else each.mean_without for each in settings]
        known = [it for it in found if it is not None]
        axes.plot(players, [it.value for it in known], color=colour, linestyle=style, marker=".", linewidth=1.2, label=label)
        _shade(axes, players, known, colour)
    axes.set_xlabel("players")
    axes.set_ylabel("mean run-queue delay, ms")


def _shade(axes: Axes, players: Sequence[int], found: Sequence[Interval], colour: str) -> None:
    low, high = ([getattr(it, side) if it.known else it.value for it in found] for side in ("low", "high"))
    axes.fill_between(players, low, high, color=colour, alpha=0.2, linewidth=0)


def _over_frames(axes: Axes, setting: Setting) -> None:
    """Draws the delays of the first player's first frames in the first run."""
    for has_events, run in ((False, setting.without[0]), (True, setting.events[0])):
        colour, style, label = LINES[has_events]
        axes.plot(range(len(run.delays_ms)), run.delays_ms, color=colour, linestyle=style, linewidth=1, label=label)
    axes.set_xlabel("frame")
    axes.set_ylabel("run-queue delay, ms")


def _finish(axes: Axes) -> None:
    axes.set_ylim(bottom=0)
    axes.grid(color="#d9dde0", linewidth=0.5)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)
