# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws seed 001's Figures 5 to 8 from real runs: mean delays over the number of players, and the delays of one player."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from statistics import median

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..files import save_figure
from .conditions import ALONE, BEST_EFFORT, DEADLINE, DISTURBED, DWCS, EVENTS, FIFO, OTHER
from .findings import Runs

# Okabe and Ito's colours; the line styles distinguish the curves without colour.
LINES: Mapping[str, tuple[str, str]] = {
    OTHER: ("#000000", ":"), FIFO: ("#009e73", "-."), DEADLINE: ("#cc79a7", "-."),
    DWCS: ("#0072b2", "--"), EVENTS: ("#d55e00", "-"),
}
GRID = "#d9dde0"
NAMES = ("figure-5.png", "figure-6.png", "figure-7.png", "figure-8.png")

Draw = Callable[[Axes, Runs, str], None]


def draw_windows(runs: Runs, kinds: Collection[str], folder: Path) -> list[str]:
    """Writes the pictures, with a panel for each kind of player. Returns their names."""
    draws: Sequence[Draw] = (
        _over_players((OTHER, FIFO, DEADLINE, DWCS), ALONE), _over_players((DWCS, EVENTS), ALONE),
        _over_players((DWCS, EVENTS), BEST_EFFORT), _over_wake_ups,
    )
    for name, draw in zip(NAMES, draws, strict=True):
        figure = Figure(figsize=(5 * len(kinds), 3), dpi=100, layout="constrained")
        for kind, axes in zip(kinds, figure.subplots(1, len(kinds), squeeze=False)[0], strict=True):
            draw(axes, runs, kind)
            _finish(axes, kind)
        save_figure(figure, folder / name)
    return list(NAMES)


def _over_players(ways: Sequence[str], beside: str) -> Draw:
    def draw(axes: Axes, runs: Runs, kind: str) -> None:
        for way in ways:
            found = sorted((setting.players, median(run.mean_ms for run in some)) for setting, some in runs.items()
                           if (setting.kind, setting.way, setting.beside) == (kind, way, beside))
            colour, style = LINES[way]
            axes.plot([count for count, _ms in found], [ms for _count, ms in found], color=colour, linestyle=style, marker=".",
                      linewidth=1.2, label=way)
        axes.set_xlabel("players")
        axes.set_ylabel("mean run-queue delay, ms")

    return draw


def _over_wake_ups(axes: Axes, runs: Runs, kind: str) -> None:
    """Draws the delays of the first player in the first run."""
    for setting, some in runs.items():
        if (setting.kind, setting.beside) == (kind, DISTURBED) and setting.way in (DWCS, EVENTS):
            colour, style = LINES[setting.way]
            first_ms = some[0].first_ms
            axes.plot(range(len(first_ms)), first_ms, color=colour, linestyle=style, linewidth=1, label=setting.way)
    axes.set_xlabel("wake-up")
    axes.set_ylabel("run-queue delay, ms")


def _finish(axes: Axes, kind: str) -> None:
    axes.set_title(kind, fontsize=9)
    axes.set_ylim(bottom=0)
    axes.grid(color=GRID, linewidth=0.5)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)
