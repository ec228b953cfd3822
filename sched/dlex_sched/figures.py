# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws the paper's Figures 5 to 8 from simulated runs."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dlex_bench.files import save_figure

from .program import ExperimentRun

# Okabe and Ito's colours; the line styles distinguish the curves without colour.
LINES = {False: ("#0072b2", "--", "without events"), True: ("#d55e00", "-", "with events")}
OVER_PLAYERS = {"figure-5": "figure-5.png", "table-4": "figure-6.png", "table-6": "figure-7.png"}
OVER_FRAMES = {"figure-8": "figure-8.png"}

Settings = Mapping[tuple[str, int, bool], Sequence[ExperimentRun]]


def draw_all(settings: Settings, folder: Path) -> list[str]:
    """Draws the figures for which there are runs. Returns the names of the files."""
    made = []
    found = {experiment for experiment, _players, _has_events in settings}
    for experiment, name in {**OVER_PLAYERS, **OVER_FRAMES}.items():
        if experiment not in found:
            continue
        figure = Figure(figsize=(5, 3), dpi=100, layout="constrained")
        axes = figure.subplots()
        if experiment in OVER_PLAYERS:
            _over_players(axes, settings, experiment)
        else:
            _over_frames(axes, settings, experiment)
        _finish(axes)
        save_figure(figure, folder / name)
        made.append(name)
    return made


def _over_players(axes: Axes, settings: Settings, experiment: str) -> None:
    """Draws the mean run-queue delay over the number of players. Figure 5 has no events."""
    for has_events, (colour, style, label) in LINES.items():
        if has_events and experiment == "figure-5":
            continue
        players = sorted(count for name, count, events in settings if (name, events) == (experiment, has_events))
        delays = [statistics.median(run.delay_ms_mean for run in settings[experiment, count, has_events]) for count in players]
        axes.plot(players, delays, color=colour, linestyle=style, marker=".", linewidth=1.2, label=label)
    axes.set_xlabel("players")
    axes.set_ylabel("mean run-queue delay, ms")


def _over_frames(axes: Axes, settings: Settings, experiment: str) -> None:
    """Draws the delays of the first player's first frames in the first run."""
    for (name, _players, has_events), runs in settings.items():
        if name != experiment:
            continue
        colour, style, label = LINES[has_events]
        axes.plot(range(len(runs[0].delays_ms)), runs[0].delays_ms, color=colour, linestyle=style, linewidth=1, label=label)
    axes.set_xlabel("frame")
    axes.set_ylabel("run-queue delay, ms")


def _finish(axes: Axes) -> None:
    axes.set_ylim(bottom=0)
    axes.grid(color="#d9dde0", linewidth=0.5)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)
