# SPDX-License-Identifier: LGPL-2.1-or-later
"""Figures of the simulated experiments by experiment and number of players, with the intervals of their medians. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from dlex_bench.analysis.statistics import Interval, median_interval

from .program import ExperimentRun, Experiments, Reading

ABOUT_READINGS: Mapping[Reading, str] = {
    "first-event": "The event scheduler looks at the first event of its queue only.",
    "by-deadline": "Work-conserving players that have had their service compete by their deadlines with the others.",
    "together": "All periods begin together, and go on while a player sleeps.",
}


@dataclass(frozen=True)
class Setting:
    """The runs of an experiment with some players: without events and with them, in the same order of seeds."""

    experiment: str
    players: int
    without: Sequence[ExperimentRun]
    events: Sequence[ExperimentRun]

    @property
    def is_papers(self) -> bool:
        return self.without[0].is_papers

    @property
    def utilisation(self) -> float:
        return self.without[0].utilisation

    @cached_property
    def mean_without(self) -> Interval | None:
        return median_interval([run.delay_ms_mean for run in self.without])

    @cached_property
    def mean_with(self) -> Interval | None:
        return median_interval([run.delay_ms_mean for run in self.events])

    @cached_property
    def response_without(self) -> Interval | None:
        return median_interval([run.response_ms_mean for run in self.without])

    @cached_property
    def response_with(self) -> Interval | None:
        return median_interval([run.response_ms_mean for run in self.events])

    @cached_property
    def longest_without(self) -> Interval | None:
        return median_interval([run.delay_ms_max for run in self.without])

    @cached_property
    def longest_with(self) -> Interval | None:
        return median_interval([run.delay_ms_max for run in self.events])

    @cached_property
    def reduction(self) -> Interval | None:
        """Returns by how many percent of the mean delay events reduce it."""
        pairs = zip(self.without, self.events, strict=True)
        return median_interval([100 * (1 - one.delay_ms_mean / none.delay_ms_mean) for none, one in pairs if none.delay_ms_mean])

    @cached_property
    def swaps(self) -> Interval | None:
        """Returns how many percent of the events made another process run."""
        return median_interval([100 * run.swaps / run.events for run in self.events if run.events])


def settings_of(runs: Iterable[ExperimentRun]) -> list[Setting]:
    """Returns the settings in the order of their first runs."""
    found: dict[tuple[str, int], dict[bool, list[ExperimentRun]]] = {}
    for run in runs:
        found.setdefault((run.experiment, run.players), {False: [], True: []})[run.has_events].append(run)
    return [Setting(experiment, players, each[False], each[True]) for (experiment, players), each in found.items()]


def shown_settings(settings: Sequence[Setting]) -> list[Setting]:
    """Returns those with the paper's numbers of players; all, if none has."""
    return [each for each in settings if each.is_papers] or list(settings)


def by_experiment(settings: Sequence[Setting]) -> Mapping[str, list[Setting]]:
    found: dict[str, list[Setting]] = {}
    for each in settings:
        found.setdefault(each.experiment, []).append(each)
    return found


def changes(experiments: Experiments) -> list[str]:
    """Returns sentences that say how these experiments differ from those without options."""
    sentences = [ABOUT_READINGS[reading] for reading in experiments.readings]
    if experiments.cost_ms_min is not None and experiments.cost_ms_max is not None:
        sentences.append(f"A picture costs {experiments.cost_ms_min:g} to {experiments.cost_ms_max:g} ms.")
    if experiments.sleep_ms is not None:
        sentences.append(f"A player sleeps for {experiments.sleep_ms:g} ms after each picture.")
    return sentences
