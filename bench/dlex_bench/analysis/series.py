# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prepares the paper's Figures 7 and 8 as data: one line over the runs per setting, one panel per figure.

Figure 7 shows the baseline, Figure 8 deadlines as exceptions. Every other setting has the same panels. The functions
are pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .results_frame import Row, Settings

# Panel -> (title, figure); (d) is a scatter of two figures. Slack < 0 means that the deadline was missed.
PANELS: dict[str, tuple[str, str]] = {
    "a": ("mean A-V, ms (> 0: the video is late)", "skew_ms_mean"),
    "b": ("s.d. of A-V, ms", "skew_ms_sd"),
    "c": ("dropped pictures", "dropped"),
    "e": ("rt-app, short task: least slack, us", "rtapp-1.slack_us.min"),
    "f": ("rt-app, short task: 5th percentile of slack, us", "rtapp-1.slack_us.p5"),
    "g": ("rt-app, short task: 25th percentile of slack, us", "rtapp-1.slack_us.p25"),
    "h": ("rt-app, short task: mean slack, us", "rtapp-1.slack_us.mean"),
    "i": ("rt-app, long task: least slack, us", "rtapp-2.slack_us.min"),
    "j": ("rt-app, long task: mean slack, us", "rtapp-2.slack_us.mean"),
}
SCATTER = ("d", "mean A-V, ms, over dropped pictures", "dropped", "skew_ms_mean")


@dataclass(frozen=True)
class Line:
    """Holds one section's runs in a panel. `y[i]` belongs to the job `ids[i]`, and is None if it has no such figure."""

    section: str
    repetitions: list[int]
    ids: list[str]
    x: list[float | None]
    y: list[float | None]


@dataclass(frozen=True)
class Panel:
    letter: str
    title: str
    lines: list[Line]


def panels(settings: Settings, workload: str) -> list[Panel]:
    """Returns the panels (a) to (j) of one workload, one line per section. Panels without any figure are left out."""
    runs = {section: found for (section, of), found in settings.items() if of == workload}
    found = [Panel(letter, title, _lines(runs, None, key)) for letter, (title, key) in PANELS.items()]
    letter, title, x, y = SCATTER
    found.append(Panel(letter, title, _lines(runs, x, y)))
    return sorted((panel for panel in found if panel.lines), key=lambda panel: panel.letter)


def _lines(runs: Mapping[str, Sequence[Row]], x: str | None, y: str) -> list[Line]:
    lines = []
    for section, found in runs.items():
        repetitions = [run.repetition for run in found]
        across = [run.value(x) if x else float(run.repetition) for run in found]
        up = [run.value(y) for run in found]
        if any(value is not None for value in up):
            lines.append(Line(section, repetitions, [run.id for run in found], across, up))
    return lines
