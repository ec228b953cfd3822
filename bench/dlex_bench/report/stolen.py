# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows what runs from which the host took much CPU time do to the medians: the medians with and without them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from ..analysis.results_frame import Row, by_setting, values
from ..machine.steal import MUCH
from .metrics import FRONT, Metric


@dataclass(frozen=True)
class StolenRuns:
    """The runs of a setting from which the host took much CPU time, among all its runs."""

    workload: str
    runs: Sequence[Row]

    @property
    def stolen(self) -> list[Row]:
        return [run for run in self.runs if run.much_is_stolen]

    @property
    def others(self) -> list[Row]:
        return [run for run in self.runs if not run.much_is_stolen]

    def medians(self) -> dict[str, tuple[float | None, float | None]]:
        """Returns the medians of all runs and of those without the stolen ones, by the keys of the figures."""
        return {metric.key: (_median(metric, self.runs), _median(metric, self.others)) for metric in FRONT}

    def sentence(self) -> str:
        names = " ".join(f"r{run.repetition}" for run in self.stolen)
        stolen = f"{self.workload}: from {len(self.stolen)} of {len(self.runs)} runs ({names}) the host took more than {MUCH:.0%}"
        if not self.others:
            return f"{stolen}; there are no other runs."
        medians = self.medians()
        parts = [f"{metric.label} {_both(metric, *medians[metric.key])}" for metric in FRONT]
        return f"{stolen}; medians with and without them: {', '.join(parts)}."


def stolen_runs(rows: Sequence[Row]) -> list[StolenRuns]:
    """Returns the settings of a section that have such runs."""
    found = [StolenRuns(workload, runs) for (_section, workload), runs in by_setting(rows).items()]
    return [it for it in found if it.stolen]


def _median(metric: Metric, runs: Sequence[Row]) -> float | None:
    found = values(runs, metric.key)
    return median(found) if found else None


def _both(metric: Metric, one: float | None, other: float | None) -> str:
    return f"{metric.text(one)} and {metric.text(other)}{f' {metric.unit}' if metric.unit else ''}"
