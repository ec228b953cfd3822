# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws laxities as the seed's Figure 4 does: over the packets, a row for each policy, a column for each setting."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from ..files import save_figure
from .findings import PERIOD_MS, Laxities

TICKS_MS = (-5000, -1000, -500, -200, -100, -50, 0, 50)
ROOM_MS = 5
MISSED, IN_TIME, GREY = "#d55e00", "#0072b2", "#555555"


def draw_laxities(cells: Mapping[tuple[str, str], Laxities], columns: Mapping[str, float], path: Path) -> None:
    """Writes the picture. It appears whole or not at all.

    `cells`: by row and column. `columns`: for each column the laxity in ms of a packet that is never kept waiting.
    """
    rows = list(dict.fromkeys(row for row, _column in cells))
    least_ms = min(value for found in cells.values() for value in found.values_ms)
    figure = Figure(figsize=(2.6 * len(columns), 2.2 * len(rows)), dpi=75, layout="constrained")
    for row, axes_of_row in zip(rows, figure.subplots(len(rows), len(columns), squeeze=False), strict=True):
        for (column, most_ms), axes in zip(columns.items(), axes_of_row, strict=True):
            if (row, column) in cells:
                _draw_panel(axes, cells[row, column], most_ms, min(least_ms, 0.0))
            else:
                axes.set_axis_off()
            if row == rows[0]:
                axes.set_title(column, fontsize=9)
            if column == next(iter(columns)):
                axes.set_ylabel(f"{row}: laxity, ms", fontsize=8)
    save_figure(figure, path)


def _draw_panel(axes: Axes, found: Laxities, most_ms: float, least_ms: float) -> None:
    colours = [MISSED if value < 0 else IN_TIME for value in found.values_ms]
    axes.scatter(range(len(found.values_ms)), found.values_ms, s=3, c=colours)
    axes.axhline(0, color=GREY, linewidth=0.7)
    axes.axhline(most_ms, color=GREY, linewidth=0.7, linestyle=":")
    # All panels have the same scale: linear up to a period, logarithmic beyond it.
    axes.set_yscale("symlog", linthresh=PERIOD_MS)
    axes.set_ylim(least_ms * 1.2 - ROOM_MS, PERIOD_MS)
    axes.yaxis.set_major_locator(FixedLocator(TICKS_MS))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter("{x:g}")
    axes.tick_params(labelsize=7)
    axes.spines[["top", "right"]].set_visible(False)
