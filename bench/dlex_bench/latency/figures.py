# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws the seed's Figures 3 to 6: means and standard deviations over the duration, and distributions, by load."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from ..files import whole_file
from .records import Samples
from .report import Curves, by_duration

MEANS, DEVIATIONS = "latency-mean.png", "latency-sd.png"
DEADLINES, WCETS = "latency-deadline-cdf.png", "latency-wcet-cdf.png"

# Okabe and Ito's colours; the line styles distinguish the curves without colour.
LINES = {"other": ("#d55e00", "-"), "fifo": ("#0072b2", "--"), "deadline": ("#009e73", "-.")}
RAW = ("#555555", ":")
MOST_POINTS = 400
PALETTE_SIZE = 255

Curve = dict[str, Samples]
Drawing = Callable[[Axes, str, Curve], None]


def draw_all(curves: Curves, folder: Path) -> list[str]:
    """Draws the figures for which these curves have samples. Each file appears whole or not at all.

    Returns the names of the files.
    """
    made = []
    if any(kind == "deadline" for _policy, _load, kind in curves):
        _draw_pairs(curves, "mean of the deadline's latency, us", _over_duration("mean_us"), folder / MEANS)
        _draw_pairs(
            curves, "s.d. of the deadline's latency, us", _over_duration("sd_us"), folder / DEVIATIONS
        )
        _draw_pairs(curves, "share of the deadline violations", _distribution, folder / DEADLINES)
        made += [MEANS, DEVIATIONS, DEADLINES]
    if any(kind == "wcet" for _policy, _load, kind in curves):
        _draw_wcets(curves, folder / WCETS)
        made.append(WCETS)
    return made


def _draw_pairs(curves: Curves, label: str, drawing: Drawing, path: Path) -> None:
    """Draws all curves above. The lower row omits the ordinary policy beside a load, which hides the others."""
    loads = _loads(curves, "deadline")
    figure = Figure(figsize=(3 * len(loads), 5), dpi=75, layout="constrained")
    rows = figure.subplots(2, len(loads), squeeze=False)
    for column, load in enumerate(loads):
        for row, axes in enumerate(rows[:, column]):
            for policy, curve in _of_load(curves, load, "deadline").items():
                if row == 0 or policy != "other" or load == 0:
                    drawing(axes, policy, curve)
            axes.set_title(
                f"{load} load tasks" + (", without other+load" if row and load else ""), fontsize=9
            )
            _finish(axes, column == 0, label, "latency, us" if drawing is _distribution else "duration, ms")
    _legend(figure, rows[0][0])
    _save(figure, path)


def _draw_wcets(curves: Curves, path: Path) -> None:
    loads = _loads(curves, "wcet")
    figure = Figure(figsize=(3 * len(loads), 3), dpi=75, layout="constrained")
    row = figure.subplots(1, len(loads), squeeze=False)[0]
    for column, (axes, load) in enumerate(zip(row, loads, strict=True)):
        of_load = _of_load(curves, load, "wcet")
        for policy, curve in of_load.items():
            _distribution(axes, policy, curve)
        raw_ns = np.concatenate([curve["raw_ns"] for curve in of_load.values()])
        _step(axes, raw_ns / 1e3, "raw CPU-time timer", RAW)
        axes.set_title(f"{load} load tasks", fontsize=9)
        _finish(axes, column == 0, "share of the WCET violations", "latency in CPU time, us")
    _legend(figure, row[0])
    _save(figure, path)


def _loads(curves: Curves, kind: str) -> list[int]:
    return sorted({load for _policy, load, of_kind in curves if of_kind == kind})


def _of_load(curves: Curves, load: int, kind: str) -> dict[str, Curve]:
    return {policy: curve for (policy, at, of_kind), curve in curves.items() if (at, of_kind) == (load, kind)}


def _over_duration(name: str) -> Drawing:
    def draw(axes: Axes, policy: str, curve: Curve) -> None:
        means = by_duration(curve)
        colour, style = LINES[policy]
        axes.plot(means["duration_ms"], means[name], color=colour, linestyle=style, linewidth=1, label=policy)
        axes.set_yscale("log")

    return draw


def _distribution(axes: Axes, policy: str, curve: Curve) -> None:
    _step(axes, curve["caught_ns"] / 1e3, policy, LINES[policy])


def _step(axes: Axes, values_us: Samples, label: str, line: Sequence[str]) -> None:
    ordered = np.sort(values_us)
    parts = np.linspace(0, 1, min(len(ordered), MOST_POINTS))
    axes.plot(
        np.quantile(ordered, parts), parts, color=line[0], linestyle=line[1], linewidth=1.3, label=label
    )
    axes.set_xscale("log")
    axes.set_ylim(0, 1.02)


def _finish(axes: Axes, first: bool, label: str, below: str) -> None:
    axes.grid(color="#d9dde0", linewidth=0.5)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)
    axes.set_xlabel(below, fontsize=8)
    if first:
        axes.set_ylabel(label, fontsize=8)


def _legend(figure: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=len(labels), frameon=False, fontsize=9)


def _save(figure: Figure, path: Path) -> None:
    """Saves the figure with a palette: a third of the size, and no visible difference."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png")
    with whole_file(path) as partial:
        Image.open(drawn).convert("RGB").quantize(PALETTE_SIZE).save(partial, format="PNG", optimize=True)
