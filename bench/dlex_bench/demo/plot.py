# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws the demo's plot: what became of every picture, and how late the shown ones were, policy by policy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from ..record import Frame
from .runs import Run

# Okabe and Ito's colours differ for every common kind of colour vision; the heights differ even without colour.
VERDICTS = {
    "shown": ("#d9dde0", 0.55),
    "late": ("#e69f00", 0.70),
    "skipped": ("#0072b2", 0.85),
    "aborted": ("#d55e00", 1.00),
}
LINES = {
    "none": ("#000000", "-"),
    "heuristic": ("#0072b2", "--"),
    "deadline paper": ("#cc79a7", "-."),
    "deadline slack": ("#d55e00", "-"),
}
# A-V is drawn linearly up to the duration of one picture of most films, and logarithmically above.
LINEAR_MS = 40


def draw(runs: Sequence[Run], frame_s: float, title: str, path: Path) -> None:
    """Draws one run for each policy; the file appears whole or not at all."""
    ratios = [1] * len(runs) + [5]
    figure = Figure(figsize=(11, 6), dpi=120, layout="constrained")
    axes = figure.subplots(len(ratios), 1, sharex=True, height_ratios=ratios)
    for run, strip in zip(runs, axes, strict=False):
        _draw_strip(strip, run, frame_s)
    _draw_skew(axes[-1], runs, frame_s)
    axes[-1].set_xlim(0, max(_times_s(run.frames)[-1] for run in runs) + frame_s)
    _draw_heading(axes[0], title)
    partial = path.with_name(f".{path.name}.partial")
    figure.savefig(partial, format="png")
    partial.replace(path)


def _times_s(frames: Sequence[Frame]) -> list[float]:
    return [(frame.pts_ns - frames[0].pts_ns) / 1e9 for frame in frames]


def _draw_heading(axes: Axes, title: str) -> None:
    axes.set_title(title, loc="left", fontsize=12, pad=26)
    axes.legend(
        handles=[Patch(color=colour, label=name) for name, (colour, _height) in VERDICTS.items()],
        loc="lower left",
        bbox_to_anchor=(0, 0.98),
        borderpad=0,
        borderaxespad=0.3,
        ncols=len(VERDICTS),
        frameon=False,
        fontsize=10,
        handlelength=1,
    )


def _draw_strip(axes: Axes, run: Run, frame_s: float) -> None:
    times_s = _times_s(run.frames)
    for name, (colour, height) in VERDICTS.items():
        starts = [start for start, frame in zip(times_s, run.frames, strict=True) if frame.verdict == name]
        axes.bar(starts, height, width=frame_s, align="edge", color=colour, linewidth=0)
    dropped = sum(frame.verdict != "shown" for frame in run.frames)
    axes.set_ylim(0, 1)
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
    axes.tick_params(bottom=False)
    axes.set_ylabel(run.policy.name, rotation=0, ha="right", va="center", fontsize=10)
    axes.text(1.008, 0.5, f"{dropped} of {len(times_s)}\ndropped", transform=axes.transAxes, va="center", fontsize=9)


def _draw_skew(axes: Axes, runs: Sequence[Run], frame_s: float) -> None:
    for run in runs:
        shown = [(time_s, frame.skew_ns) for time_s, frame in zip(_times_s(run.frames), run.frames, strict=True)]
        points = [(time_s, skew_ns / 1e6) for time_s, skew_ns in shown if skew_ns is not None]
        colour, style = LINES[run.policy.name]
        axes.plot(*zip(*points, strict=True), color=colour, linestyle=style, linewidth=1.5, label=run.policy.name)
    axes.axhspan(0, 1e3 * frame_s, color="#d9dde0", alpha=0.5, linewidth=0)
    axes.set_yscale("symlog", linthresh=LINEAR_MS, linscale=1.2)
    axes.set_yticks(
        [0, 20, 40, 100, 200, 500, 1000, 2000], ["0", "20", "40", "100", "200", "500", "1 s", "2 s"], minor=False
    )
    axes.set_yticks([], minor=True)
    top = max(frame.skew_ns or 0 for run in runs for frame in run.frames) / 1e6
    axes.set_ylim(-10, max(200.0, 1.3 * top))
    axes.set_ylabel(f"A-V, ms (> 0: late; band: one\npicture; linear to {LINEAR_MS} ms,\nlogarithmic above)")
    axes.set_xlabel("seconds played")
    axes.grid(axis="y", color="#d9dde0", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.1, ncols=len(runs), frameon=False, fontsize=10)
