# SPDX-License-Identifier: LGPL-2.1-or-later
"""From an agenda to jobs: every workload in every cross product of sections, interleaved over the repetitions."""

from __future__ import annotations

import fnmatch
import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from ..clips import film_is_here
from ..errors import EXIT_SETUP, LabError
from ..order import interleaved
from .model import Agenda, Conditions, NoLoad, Section, WorkloadBase

OURS = "dlex-play"
ALL = "all"  # the section of an agenda that has none
BETWEEN = "-"  # the ids of crossed sections; none has one of its own
QUICK_REPS, QUICK_LENGTH_S = 2, 10.0


@dataclass(frozen=True)
class Job:
    id: str
    repetition: int
    section: str
    workload: str
    player: str
    player_params: dict[str, Any]
    sched: str
    load: dict[str, Any]
    clip: dict[str, Any]
    observe: str
    cpu: int | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Job:
        """KeyError or TypeError when it is no job."""
        return cls(**{entry.name: content[entry.name] for entry in fields(cls)})


def rtapp_sched(sched: str, load: Mapping[str, Any]) -> str:
    """Returns the policy of rt-app's tasks beside a player under `sched`: the load's own, or with `same` the player's.

    Beside a quota, which no thread can have, they have their reservations. Those come without numbers: `deadline`."""
    told = str(load.get("sched") or "same")
    if told != "same":
        return told
    return "deadline" if sched.partition(":")[0] in ("deadline", "quota") else sched


@dataclass(frozen=True)
class Extent:
    """What of an agenda is wanted: None is what the agenda says."""

    reps: int | None = None
    length_s: float | None = None
    quick: bool = False
    only: tuple[str, ...] = field(default=())

    @property
    def wanted_reps(self) -> int | None:
        return self.reps or (QUICK_REPS if self.quick else None)

    @property
    def wanted_length_s(self) -> float | None:
        return self.length_s or (QUICK_LENGTH_S if self.quick else None)


@dataclass(frozen=True)
class _Setting:
    """A job but for its repetition."""

    job: Job
    repetitions: int


def expand(agenda: Agenda, extent: Extent = Extent(), base: Path = Path()) -> list[Job]:
    """In the order in which they run. Clips that are files are sought from `base`, the agenda's folder."""
    settings = [
        _setting(agenda, combination, workload, extent, base)
        for combination in combinations(agenda.sections)
        for workload in plays(agenda, combination)
    ]
    if not settings:
        raise LabError("the agenda's sections exclude every workload; look at their `only`", EXIT_SETUP)
    rounds = max(setting.repetitions for setting in settings)
    return [
        replace(setting.job, id=f"{setting.job.id}-r{number}", repetition=number)
        for number, setting in interleaved(settings, rounds)
        if number <= setting.repetitions
    ]


def select(jobs: Sequence[Job], patterns: Sequence[str]) -> list[Job]:
    """Those of which one of the patterns names the id, or the id without its repetition."""
    if not patterns:
        return list(jobs)
    chosen = [
        job
        for job in jobs
        if any(fnmatch.fnmatchcase(name, pattern) for name in (job.id, setting_of(job)) for pattern in patterns)
    ]
    if not chosen:
        raise LabError(f"no job is named by {' or '.join(patterns)}; `plan` lists their names", EXIT_SETUP)
    return chosen


def setting_of(job: Job) -> str:
    """What its repetitions have in common, as a name."""
    return f"{job.section}-{job.workload}"


def setting_name(combination: Sequence[Section], workload: WorkloadBase) -> str:
    """The same, before there are jobs."""
    return f"{_section_of(combination)}-{workload.id}"


def section_ids(section: str) -> frozenset[str]:
    """Of which sections, one of each group, a job's section consists."""
    return frozenset(section.split(BETWEEN))


def combinations(sections: Sequence[Section]) -> Iterator[tuple[Section, ...]]:
    groups: dict[str | None, list[Section]] = {}
    for section in sections:
        groups.setdefault(section.group, []).append(section)
    return itertools.product(*groups.values())


def plays(agenda: Agenda, combination: Sequence[Section]) -> list[Any]:
    """The workloads that are played under these sections together."""
    return [workload for workload in agenda.workloads if _wanted(combination, workload.id)]


def layers_of(agenda: Agenda, combination: Sequence[Section]) -> list[Conditions]:
    """Of which a later one counts more."""
    return [agenda.config.defaults, *(section.params for section in combination)]


def sched_of(layers: Sequence[Conditions]) -> str:
    sched: str = _last(layers, "sched") or "other"
    return sched


def observe_of(agenda: Agenda, layers: Sequence[Conditions], workload: WorkloadBase) -> str:
    """Only our own player has a view from inside; of a foreign one `both` leaves the view from outside."""
    wanted: str = _last(layers, "observe") or agenda.config.observe
    return wanted if workload.name == OURS or wanted == "inside" else "outside"  # type: ignore[attr-defined]


def _wanted(combination: Sequence[Section], workload: str) -> bool:
    return all(
        not section.only or any(fnmatch.fnmatchcase(workload, pattern) for pattern in section.only)
        for section in combination
    )


def _section_of(combination: Sequence[Section]) -> str:
    return BETWEEN.join(section.id for section in combination) or ALL


def _setting(
    agenda: Agenda, combination: Sequence[Section], workload: WorkloadBase, extent: Extent, base: Path
) -> _Setting:
    layers = layers_of(agenda, combination)
    section = _section_of(combination)
    player: str = workload.name  # type: ignore[attr-defined]
    params = workload.params.model_dump(mode="json")  # type: ignore[attr-defined]
    name = setting_name(combination, workload)
    job = Job(
        id=name,
        repetition=0,
        section=section,
        workload=workload.id,
        player=player,
        player_params=params,
        sched=sched_of(layers),
        load=(_last(layers, "load") or NoLoad(kind="none")).model_dump(mode="json"),
        clip=_clip(layers, extent, base, name),
        observe=_observe(observe_of(agenda, layers, workload), player, name),
        cpu=agenda.config.cpu,
    )
    return _Setting(job, extent.wanted_reps or _iterations(agenda, combination, workload))


def _iterations(agenda: Agenda, combination: Sequence[Section], workload: WorkloadBase) -> int:
    """The workload's own word counts most, then the last section's that has one."""
    told = [section.iterations for section in combination if section.iterations]
    return workload.iterations or (told[-1] if told else agenda.config.iterations)


def _last(layers: Sequence[Conditions], key: str) -> Any:
    """A later layer's word replaces an earlier one's as a whole: half of a clip is none."""
    told = [value for layer in layers if (value := getattr(layer, key)) is not None]
    return told[-1] if told else None


def _clip(layers: Sequence[Conditions], extent: Extent, base: Path, name: str) -> dict[str, Any]:
    clip = _last(layers, "clip")
    if clip is None:
        raise LabError(f"{name} has no clip; give one in config.defaults or in a section's params", EXIT_SETUP)
    length_s = extent.wanted_length_s or clip.length_s
    told = {"start_s": clip.start_s, "length_s": length_s}
    if clip.file is not None:
        return {"file": os.path.abspath(base / clip.file), **told}
    made = clip.without_film if clip.without_film and not film_is_here() else clip
    return {"recipe": made.recipe, "unstamped": made.unstamped, **told}


def _observe(wanted: str, player: str, name: str) -> str:
    if wanted == "inside" and player != OURS:
        raise LabError(f"{name}: only dlex-play has a record of its own; {player} wants observe: outside", EXIT_SETUP)
    return wanted
