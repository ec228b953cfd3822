# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws seed 003's Figures 3, 4, 10 and 11: what was reserved over time, and how long it took from job to job."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..files import save_figure
from .findings import FILM, OWN_MS, TASK, PeriodRun

# Okabe and Ito's colours, by the length of the period.
COLOURS = ("#d55e00", "#e69f00", "#000000", "#56b4e9", "#0072b2", "#009e73", "#cc79a7", "#999999", "#f0e442")


def draw_periods(runs: Sequence[PeriodRun], path: Path) -> None:
    """Writes the picture, from the first repetition. It appears whole or not at all."""
    figure = Figure(figsize=(10, 7), dpi=80, layout="constrained")
    for column, workload in zip(figure.subplots(2, 2).T, (TASK, FILM), strict=True):
        first = [run for run in runs if run.workload == workload and run.repetition == 1]
        _draw_reserved(column[0], first, workload)
        _draw_steps(column[1], first)
    save_figure(figure, path)


def _draw_reserved(axes: Axes, runs: Sequence[PeriodRun], workload: str) -> None:
    for run, colour in zip(runs, COLOURS, strict=False):
        if run.period_ms <= OWN_MS:
            seconds, parts = [it.second for it in run.reserved], [it.part for it in run.reserved]
            axes.plot(seconds, parts, color=colour, label=f"{run.period_ms} ms")
    axes.set_title(workload)
    axes.set_xlabel("second")
    axes.set_ylabel("reserved, part of a CPU")
    axes.legend(fontsize=8)


def _draw_steps(axes: Axes, runs: Sequence[PeriodRun]) -> None:
    for run, colour in zip(runs, COLOURS, strict=False):
        steps = np.sort(run.steps_ms)
        axes.plot(steps, np.arange(1, len(steps) + 1) / len(steps), color=colour, label=f"{run.period_ms} ms", linewidth=1)
    axes.axvline(OWN_MS, color="#555555", linewidth=0.7, linestyle=":")
    axes.set_xlabel("from job to job, ms")
    axes.set_ylabel("part of all jobs")
    axes.legend(fontsize=7)
