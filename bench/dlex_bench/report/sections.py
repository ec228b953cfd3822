# SPDX-License-Identifier: LGPL-2.1-or-later
"""Summarises what happened in each section (scheduling row, clip, load), setting by setting. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..agenda.job import JobLoad
from ..agenda.jobs import section_ids
from ..analysis.held import fairness, held
from ..analysis.results_frame import Row, by_setting, sections, values
from ..analysis.statistics import Interval, median_interval
from ..batch.batch_file import AgendaSection, AgendaWorkload
from .gather import Batch
from .metrics import FRONT, TABLE, Metric
from .stolen import StolenRuns, stolen_runs


@dataclass(frozen=True)
class Estimate:
    """The median of a figure with its uncertainty: the interval, or the single runs if they are too few for one."""

    metric: Metric
    interval: Interval | None
    runs: list[float]

    @property
    def sort(self) -> float | str:
        return self.interval.value if self.interval else ""

    @property
    def median(self) -> str:
        return self.metric.text(self.interval.value if self.interval else None)

    @property
    def spread(self) -> str:
        if self.interval is None or len(set(self.runs)) < 2:
            return ""
        if self.interval.low is not None and self.interval.high is not None:
            return f"{self.metric.text(self.interval.low)} to {self.metric.text(self.interval.high)}"
        return f"{len(self.runs)} runs: {', '.join(map(self.metric.text, self.runs))}"


@dataclass(frozen=True)
class SettingSummary:
    name: str
    label: str
    player: str
    done: int
    planned: int
    cells: list[Estimate]
    point: dict[str, Any]


@dataclass(frozen=True)
class SectionSummary:
    """A section of the batch; `where` names the machine if there are several."""

    section: str
    where: str
    label: str
    facts: list[tuple[str, str]]
    note: str | None
    stolen: list[StolenRuns]
    metrics: list[Metric]
    settings: list[SettingSummary]

    @property
    def name(self) -> str:
        return f"{self.section}{self.where}"

    @property
    def title(self) -> str:
        return f"{self.name}: {self.label}" if self.label else self.name

    @property
    def anchor(self) -> str:
        return f"section-{re.sub(r'[^A-Za-z0-9_-]+', '-', self.name)}"


def section_summaries(batch: Batch) -> list[SectionSummary]:
    of_sections, of_workloads = _labels(batch.agenda.sections), _labels(batch.agenda.workloads)
    return [
        _section(name, where, _joined(name, of_sections), of_workloads, [one for one in rows if one.section == name])
        for where, rows in batch.apart.items()
        for name in sections(rows)
    ]


def _labels(entries: Iterable[AgendaSection | AgendaWorkload]) -> dict[str, str]:
    return {it.id: it.label for it in entries if it.id and it.label}


def _joined(section: str, labels: Mapping[str, str]) -> str:
    """Joins the labels of all sections that are crossed in this one, in the agenda's order."""
    ids = section_ids(section)
    return "; ".join(label for name, label in labels.items() if name in ids)


def _section(name: str, where: str, label: str, of_workloads: Mapping[str, str], rows: Sequence[Row]) -> SectionSummary:
    planned = by_setting(rows, done=False)
    metrics = [metric for metric in TABLE if values((one for one in rows if one.done), metric.key)]
    settings = [
        _setting(workload, of_workloads.get(workload, ""), runs, metrics)
        for (_section, workload), runs in planned.items()
    ]
    return SectionSummary(name, where, label, section_facts(rows), fairness(rows), stolen_runs(rows), metrics, settings)


def _setting(workload: str, label: str, runs: Sequence[Row], metrics: Sequence[Metric]) -> SettingSummary:
    done = [one for one in runs if one.done]
    cells = [estimate(metric, done) for metric in metrics]
    return SettingSummary(workload, label, runs[0].player, len(done), len(runs), cells, _point(done))


def estimate(metric: Metric, runs: Iterable[Row]) -> Estimate:
    found = values(runs, metric.key)
    return Estimate(metric, median_interval(found), found)


def _point(runs: Sequence[Row]) -> dict[str, Any]:
    """Returns a setting's point on the front: each run, and the median with its interval, in the displayed units."""
    point = {}
    for metric in FRONT:
        about = median_interval(values(runs, metric.key))
        point[metric.key] = {
            "median": _scaled(metric, about.value if about else None),
            "low": _scaled(metric, about.low if about else None),
            "high": _scaled(metric, about.high if about else None),
            "runs": [_scaled(metric, one.value(metric.key)) for one in runs],
        }
    return point


def _scaled(metric: Metric, value: float | None) -> float | None:
    return None if value is None else round(value * metric.scale, 4)


def section_facts(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Returns how the players were constrained, the load, the clip, and where the figures come from; each once."""
    facts = [("scheduling", _each(rows, held)), ("beside", _each(rows, _load))]
    facts += [("clip", _each(rows, _clip)), ("figures", _each(rows, _view)), ("observer", _unprotected(rows))]
    return [(name, text) for name, text in facts if text]


def _each(rows: Sequence[Row], tell: Callable[[Row], str]) -> str:
    """Returns `text`, or `text (players); other text (other players)` if it is not the same for all."""
    parts: dict[str, dict[str, None]] = {}
    for one in rows:
        if text := tell(one):
            parts.setdefault(text, {})[one.player] = None
    if len(parts) < 2:
        return "".join(parts)
    return "; ".join(f"{text} ({', '.join(players)})" for text, players in parts.items())


def _load(one: Row) -> str:
    load = one.result.job.load
    if load.kind == "rtapp":
        under = {"same": ", under the same policy", None: ""}.get(load.sched, f", under {load.sched}")
        beside = f", and {load.stress} ordinary tasks that compute" if load.stress else ""
        return f"two rt-app tasks, 3/8 and 20/200 ms{under}{beside}"
    return "nothing else" if load.kind == "none" else _ordinary_load(load)


def _ordinary_load(load: JobLoad) -> str:
    if load.kind == "quota":
        return _quota(load)
    keys = [f"{key} {value}" for key, value in load.to_json().items() if key not in ("kind", "after_s") and value is not None]
    after = [] if load.after_s is None else [f"from {load.after_s:g} s after the player's start on"]
    return ", ".join([load.kind, *keys, *after])


def _quota(load: JobLoad) -> str:
    percents = [f"{percent:g}" for percent in load.percent or ()]
    turns = f", each for {load.every_s:g} s in turn" if len(percents) > 1 else ""
    return f"nothing else, and the player may use {', '.join(percents)} % of a CPU{turns}"


def _clip(one: Row) -> str:
    clip = one.result.job.clip
    name = clip.recipe or clip.file or ""
    start_s, length_s = clip.start_s, clip.length_s
    return name + (f", from {start_s:g} s" if start_s else "") + (f", {length_s:g} s" if length_s else "")


def _unprotected(rows: Sequence[Row]) -> str:
    """Returns in how many runs the observer had to compete with the load. It may have missed pictures there."""
    count = sum(one.result.observer_is_unprotected for one in rows)
    return f"without a real-time priority in {count} of {len(rows)} runs; it may have looked too late" if count else ""


SOURCES = {"monitor": "the tones in the sound", "status": "the player's status line", "own": "the player's own record"}


def _view(one: Row) -> str:
    if not one.done:
        return ""
    seen = {"outside": "from the screen", "inside": "from the player's own record"}.get(one.view, one.view)
    source = SOURCES.get(one.figures.av_source or "")
    return f"{seen}; A-V from {source}" if source and one.view == "outside" else seen
