# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws the laxities as the seed's Figure 4 does: over the packets, a row for each policy, a column for each number of loads."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from .findings import COST_MS, PERIOD_MS, Cells

MISSED, IN_TIME = "#d55e00", "#0072b2"


def draw_laxities(cells: Cells, path: Path) -> None:
    """Writes the picture. It appears whole or not at all."""
    kinds = list(dict.fromkeys(kind for kind, _load in cells))
    loads = list(dict.fromkeys(load for _kind, load in cells))
    figure = Figure(figsize=(2.6 * len(loads), 2.2 * len(kinds)), dpi=75, layout="constrained")
    for row, axes_of_row in enumerate(figure.subplots(len(kinds), len(loads), squeeze=False, sharex=True)):
        for column, axes in enumerate(axes_of_row):
            values_ms = cells[kinds[row], loads[column]].values_ms
            colours = [MISSED if value < 0 else IN_TIME for value in values_ms]
            axes.scatter(range(len(values_ms)), values_ms, s=3, c=colours)
            axes.axhline(0, color="#555555", linewidth=0.7)
            axes.axhline(PERIOD_MS - COST_MS, color="#555555", linewidth=0.7, linestyle=":")
            axes.set_yscale("symlog", linthresh=PERIOD_MS)
            axes.tick_params(labelsize=7)
            axes.spines[["top", "right"]].set_visible(False)
            if row == 0:
                axes.set_title(f"{loads[column]} programs beside", fontsize=9)
            if column == 0:
                axes.set_ylabel(f"{kinds[row]}: laxity, ms", fontsize=8)
    partial = path.with_name(f".{path.name}.partial")
    figure.savefig(partial, format="png")
    partial.replace(path)
