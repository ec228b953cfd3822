# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws when the processes of a graph ran, over some ticks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from dlex_bench.graphs.instances import GraphLog, Instance

from .graph_statistics import NS_PER_MS

# Okabe and Ito's colours.
WORK, MISSED, TICK = "#0072b2", "#d55e00", "#999999"
TICKS = 8  # on a picture
HEIGHT = 0.6  # of a bar


def draw_timeline(log: GraphLog, names: Sequence[str], path: Path, *, ticks: int = TICKS) -> bool:
    """Draws the ticks in the middle of the log: a bar for each instance. Returns False if there are not so many ticks."""
    numbers = sorted(log.ticks)
    if len(numbers) <= ticks:
        return False
    first = (len(numbers) - ticks) // 2
    begin_ns, end_ns = (log.ticks[numbers[at]].time_ns for at in (first, first + ticks))
    figure = Figure(figsize=(9, 1 + 0.3 * len(names)), dpi=100, layout="constrained")
    axes = figure.subplots()
    for tick in log.ticks.values():
        if begin_ns <= tick.time_ns <= end_ns:
            axes.axvline((tick.time_ns - begin_ns) / NS_PER_MS, color=TICK, linewidth=0.8, zorder=0)
    for row, name in enumerate(names):
        _bars(axes, row, [each for each in log.of_process(name) if _is_in(each, begin_ns, end_ns)], begin_ns)
    _finish(axes, names, (end_ns - begin_ns) / NS_PER_MS)
    partial = path.with_name(f".{path.name}.partial")
    figure.savefig(partial, format="png")
    partial.replace(path)
    return True


def _is_in(instance: Instance, begin_ns: int, end_ns: int) -> bool:
    return instance.begun_ns < end_ns and instance.finished_ns is not None and instance.finished_ns > begin_ns


def _bars(axes: Axes, row: int, instances: Sequence[Instance], begin_ns: int) -> None:
    for instance in instances:
        left = (instance.begun_ns - begin_ns) / NS_PER_MS
        width = ((instance.finished_ns or instance.begun_ns) - instance.begun_ns) / NS_PER_MS
        colour = MISSED if instance.missed else WORK
        axes.barh(row, width, left=left, height=HEIGHT, color=colour, edgecolor=colour, linewidth=0.8)  # the edge: short ones, too


def _finish(axes: Axes, names: Sequence[str], width_ms: float) -> None:
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlim(0, width_ms)
    axes.set_xlabel("ms")
    axes.spines[["top", "right"]].set_visible(False)
    shown = [Patch(color=WORK, label="in time"), Patch(color=MISSED, label="deadline missed"), Patch(color=TICK, label="tick")]
    axes.legend(handles=shown, frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
