# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws seed 003's Figures 6 to 9: the events of mplayer, their spectrum, and what is found after how long."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..files import save_figure
from .findings import EVENT_NAMES, SEED_HZ, SEED_PLAYER, Detection, seeds_own
from .spectrum import spectrum_of

DRAWN_S = 1.0
FINE_STEP_HZ = 0.1
RIGHT, WRONG, GREY = "#0072b2", "#d55e00", "#555555"


def draw_detections(detections: Sequence[Detection], times_s: Sequence[float], path: Path) -> None:
    """Writes the picture. It appears whole or not at all. `times_s`: events of one observation, from its beginning on."""
    events, seeds = seeds_own(detections)
    figure = Figure(figsize=(9, 8), dpi=80, layout="constrained")
    figure.suptitle(f"{SEED_PLAYER} at {SEED_HZ:g} pictures/s: {EVENT_NAMES[events]}", fontsize=10)
    train, spectrum, found = figure.subplots(3, 1)
    _draw_events(train, times_s)
    _draw_spectrum(spectrum, times_s)
    _draw_found(found, seeds)
    save_figure(figure, path)


def _draw_events(axes: Axes, times_s: Sequence[float]) -> None:
    axes.vlines([it for it in times_s if it <= DRAWN_S], 0, 1, color=RIGHT, linewidth=0.6)
    axes.set_xlabel("time, s")
    axes.set_yticks([])


def _draw_spectrum(axes: Axes, times_s: Sequence[float]) -> None:
    if times_s:
        spectrum = spectrum_of(times_s, FINE_STEP_HZ)
        axes.plot(spectrum.hz, spectrum.part, color=RIGHT, linewidth=0.8)
    axes.set_xlabel("frequency, Hz")
    axes.set_ylabel("part of all events")


def _draw_found(axes: Axes, detections: Sequence[Detection]) -> None:
    lengths = sorted({it.seconds for it in detections})
    for it in detections:
        axes.plot(lengths.index(it.seconds), it.paper_hz or 0, "o", color=RIGHT if it.is_found_by_paper else WRONG, alpha=0.4)
    axes.axhline(SEED_HZ, color=GREY, linewidth=0.7, linestyle=":")
    axes.set_xticks(range(len(lengths)), [f"{it:g}" for it in lengths])
    axes.set_xlabel("watched for, s")
    axes.set_ylabel("found, Hz (0: none)")
