# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws the demo's picture: what each policy loses as the load grows, and what became of every picture under one load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from ..files import save_figure
from ..record import Frame
from .findings import Figures
from .runs import Load, Run

# Okabe and Ito's colours differ for every common kind of colour vision; the heights differ even without colour.
VERDICTS = {
    "shown": ("#d9dde0", 0.55),
    "late": ("#e69f00", 0.70),
    "skipped": ("#0072b2", 0.85),
    "aborted": ("#d55e00", 1.00),
}
# The pictures that were not reached when the play was ended.
CUT_OFF = ("#4d4d4d", 0.40)
# By policy: colour, line, marker.
LINES = {
    "none": ("#000000", ":", "s"),
    "heuristic": ("#0072b2", "--", "^"),
    "paper": ("#cc79a7", "-.", "D"),
    "dlex-play": ("#d55e00", "-", "o"),
}
GREY = "#d9dde0"
# A-V is drawn linearly up to the duration of one picture of most films, and logarithmically above.
LINEAR_MS = 40
AV_TICKS = {0: "0", 20: "20", 40: "40", 100: "100", 200: "200", 500: "500", 1000: "1 s", 2000: "2 s", 5000: "5 s"}


@dataclass(frozen=True)
class Picture:
    """What is drawn. `spreads`: median, min and max by load and policy. `runs`: one run for each policy under `drawn`."""

    title: str
    loads: Sequence[Load]
    spreads: Mapping[tuple[Load, str], Mapping[str, Figures]]
    drawn: Load
    runs: Mapping[str, Run]


@dataclass(frozen=True)
class LossPanel:
    key: str
    title: str
    scale: float = 1.0
    is_skew: bool = False
    has_unreached: bool = True  # the pictures that were not reached count in it


PANELS = (
    LossPanel("lost_fraction", "pictures lost, %", 100.0),
    LossPanel("skew_ms_rms", "distance from the sound, ms", is_skew=True, has_unreached=False),
    LossPanel("longest_freeze_ms", "longest time without\na new picture, s", 1e-3),
    LossPanel("rmse_q16_sum", "error of lost pictures\n(RMSE sum, thousands)", 1e-3, has_unreached=False),
)


def draw(picture: Picture, path: Path) -> None:
    """Draws the picture; the file appears whole or not at all."""
    figure = Figure(figsize=(11, 8), dpi=120, layout="constrained")
    figure.suptitle(picture.title, x=0.01, ha="left", fontsize=13, parse_math=False)
    above, below = figure.subfigures(2, 1, height_ratios=[1, 1.25])
    _draw_panels(above, picture)
    _draw_timeline(below, picture)
    save_figure(figure, path)


def _draw_panels(figure: SubFigure, picture: Picture) -> None:
    axes = figure.subplots(1, len(PANELS))
    for panel, place in zip(PANELS, axes, strict=True):
        for policy in LINES:
            _draw_line(place, picture, panel, policy)
        _finish_panel(place, picture, panel)
    handles, _labels = axes[0].get_legend_handles_labels()
    if any(_unreached(picture, load, policy) for load in picture.loads for policy in LINES):
        handles.append(Line2D([], [], color="black", marker="o", markersize=5, markerfacecolor="white", linestyle="",
                              label="ended early: without the pictures that were not reached"))
    figure.legend(handles=handles, loc="outside upper left", ncols=len(handles), frameon=False, fontsize=10)
    figure.supxlabel("load: CPU time that the film needs, in % of what it may use", fontsize=10)


def _draw_line(axes: Axes, picture: Picture, panel: LossPanel, policy: str) -> None:
    points, hollow = [], []
    for load in picture.loads:
        spread = picture.spreads[load, policy]
        median, low, high = (spread[measure].get(panel.key) for measure in ("median", "min", "max"))
        if median is not None and low is not None and high is not None:
            points.append((100 * load.ratio, panel.scale * median, panel.scale * (median - low), panel.scale * (high - median)))
            hollow.append(not panel.has_unreached and _unreached(picture, load, policy))
    if not points:
        return
    x, y, below, above = zip(*points, strict=True)
    colour, style, marker = LINES[policy]
    axes.errorbar(x, y, yerr=(below, above), color=colour, linestyle=style, marker=marker, markersize=5, capsize=2,
                  linewidth=1.5, label=policy)
    early = [(x_, y_) for x_, y_, is_hollow in zip(x, y, hollow, strict=True) if is_hollow]
    if early:
        axes.plot(*zip(*early, strict=True), color=colour, linestyle="", marker=marker, markersize=5, markerfacecolor="white",
                  zorder=3)


def _unreached(picture: Picture, load: Load, policy: str) -> bool:
    """Returns whether a play was ended before all pictures had their turn."""
    return bool(picture.spreads[load, policy]["max"].get("unreached"))


def _finish_panel(axes: Axes, picture: Picture, panel: LossPanel) -> None:
    axes.set_title(panel.title, fontsize=10, loc="left")
    axes.set_xscale("log")
    axes.set_xticks([100 * load.ratio for load in picture.loads], [f"{100 * load.ratio:.0f}" for load in picture.loads])
    axes.set_xticks([], minor=True)
    axes.grid(axis="y", color=GREY, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_ylim(bottom=0)
    if panel.is_skew:
        _scale_skew(axes, axes.get_ylim()[1])


def _scale_skew(axes: Axes, top: float, bottom: float = 0.0) -> None:
    axes.set_yscale("symlog", linthresh=LINEAR_MS, linscale=1.2)
    axes.set_yticks(list(AV_TICKS), list(AV_TICKS.values()), minor=False)
    axes.set_yticks([], minor=True)
    axes.set_ylim(bottom, max(100.0, 1.3 * top))


def _draw_timeline(figure: SubFigure, picture: Picture) -> None:
    runs = list(picture.runs.items())
    axes = figure.subplots(len(runs) + 1, 1, sharex=True, height_ratios=[1] * len(runs) + [4])
    demand = picture.drawn.demand
    first_ns = min(run.frames[0].pts_ns for _name, run in runs)
    for (name, run), strip in zip(runs, axes, strict=False):
        _draw_strip(strip, name, run, first_ns)
    _draw_skew(axes[-1], runs, first_ns, demand.frame_s)
    axes[-1].set_xlim(0, demand.pictures * demand.frame_s)
    axes[0].set_title(f"every picture at load {picture.drawn.name}", loc="left", fontsize=11, pad=4)
    verdicts = {**VERDICTS, "cut off": CUT_OFF} if any(run.unreached for _name, run in runs) else VERDICTS
    axes[0].legend(handles=[Patch(color=colour, label=name) for name, (colour, _height) in verdicts.items()], loc="lower right",
                   bbox_to_anchor=(1, 0.98), borderpad=0, borderaxespad=0.3, ncols=len(verdicts), frameon=False, fontsize=9,
                   handlelength=1)


def _times_s(frames: Sequence[Frame], first_ns: int) -> list[float]:
    return [(frame.pts_ns - first_ns) / 1e9 for frame in frames]


def _draw_strip(axes: Axes, name: str, run: Run, first_ns: int) -> None:
    demand, times_s = run.load.demand, _times_s(run.frames, first_ns)
    for verdict, (colour, height) in VERDICTS.items():
        starts = [start for start, frame in zip(times_s, run.frames, strict=True) if frame.verdict == verdict]
        axes.bar(starts, height, width=demand.frame_s, align="edge", color=colour, linewidth=0)
    if run.unreached:
        colour, height = CUT_OFF
        width_s = run.unreached * demand.frame_s
        axes.bar(times_s[-1] + demand.frame_s, height, width=width_s, align="edge", color=colour, linewidth=0)
    pictures = demand.pictures
    lost = pictures - sum(frame.verdict == "shown" for frame in run.frames)
    axes.set_ylim(0, 1)
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
    axes.tick_params(bottom=False)
    axes.set_ylabel(name, rotation=0, ha="right", va="center", fontsize=10)
    axes.text(1.008, 0.5, f"{lost} of {pictures}\nlost", transform=axes.transAxes, va="center", fontsize=9)


def _draw_skew(axes: Axes, runs: Sequence[tuple[str, Run]], first_ns: int, frame_s: float) -> None:
    for name, run in runs:
        shown = [(time_s, it.skew_ns / 1e6) for time_s, it in zip(_times_s(run.frames, first_ns), run.frames, strict=True)
                 if it.skew_ns is not None]
        colour, style, _marker = LINES[name]
        if shown:
            axes.plot(*zip(*shown, strict=True), color=colour, linestyle=style, linewidth=1.5)
    axes.axhspan(0, 1e3 * frame_s, color=GREY, alpha=0.5, linewidth=0)
    top = max(frame.skew_ns or 0 for _name, run in runs for frame in run.frames) / 1e6
    _scale_skew(axes, top, -10)
    axes.set_ylabel("behind the sound, ms\n(band: one picture)")
    axes.set_xlabel("seconds of the film")
    axes.grid(axis="y", color=GREY, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
