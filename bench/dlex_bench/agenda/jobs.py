# SPDX-License-Identifier: LGPL-2.1-or-later
"""Turns an agenda into jobs: every workload in every cross product of sections, interleaved over the repetitions."""

from __future__ import annotations

import fnmatch
import itertools
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..clips import film_is_here
from ..errors import EXIT_SETUP, LabError
from ..machine.policy import Policy
from ..order import interleaved
from .job import Job, JobClip, JobLoad, PlayerParams
from .loads import Load, NoLoad
from .model import Agenda, Clip, Conditions, Section, Workload, WorkloadBase

OURS = "dlex-play"
ALL = "all"  # the section's name in an agenda without sections
BETWEEN = "-"  # joins the ids of crossed sections; no id contains it
JOBS_MAX = 100_000
QUICK_REPS, QUICK_LENGTH_S = 2, 10.0


@dataclass(frozen=True)
class Extent:
    """Which part of an agenda is wanted. None means what the agenda says."""

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
class _RepeatedJob:
    """A job without its repetition, and the number of repetitions."""

    job: Job
    repetitions: int


def expand(agenda: Agenda, extent: Extent = Extent(), base: Path = Path()) -> list[Job]:
    """Returns the jobs in the order in which they run. Clip files are relative to `base`, the agenda's folder."""
    _refuse_many_settings(agenda)
    settings = [
        _repeated_job(agenda, combination, workload, extent, base)
        for combination in combinations(agenda.sections)
        for workload in plays(agenda, combination)
    ]
    if not settings:
        raise LabError("the agenda's sections exclude every workload; check their `only`", EXIT_SETUP)
    count = sum(setting.repetitions for setting in settings)
    if count > JOBS_MAX:
        raise LabError(f"the agenda has {count} jobs, more than {JOBS_MAX}; give fewer repetitions, sections or workloads",
                       EXIT_SETUP)
    rounds = max(setting.repetitions for setting in settings)
    return [
        setting.job.but(id=f"{setting.job.id}-r{number}", repetition=number)
        for number, setting in interleaved(settings, rounds)
        if number <= setting.repetitions
    ]


def _refuse_many_settings(agenda: Agenda) -> None:
    """Raises LabError before there are more settings than jobs may be: groups of sections multiply each other."""
    groups: dict[str | None, int] = {}
    for section in agenda.sections:
        groups[section.group] = groups.get(section.group, 0) + 1
    count = math.prod(groups.values())
    if count > JOBS_MAX:
        raise LabError(f"the agenda's groups of sections make more than {JOBS_MAX} combinations; leave out some", EXIT_SETUP)


def select(jobs: Sequence[Job], patterns: Sequence[str]) -> list[Job]:
    """Returns the jobs for which a pattern matches the id, or the id without its repetition. No patterns: all jobs."""
    if not patterns:
        return list(jobs)
    chosen = [
        job
        for job in jobs
        if any(fnmatch.fnmatchcase(name, pattern) for name in (job.id, setting_name_of(job)) for pattern in patterns)
    ]
    if not chosen:
        raise LabError(f"no job matches {' or '.join(patterns)}; `plan` lists the jobs", EXIT_SETUP)
    return chosen


def setting_name_of(job: Job) -> str:
    """Returns the name that all repetitions of a job have in common."""
    return f"{job.section}-{job.workload}"


def setting_name(combination: Sequence[Section], workload: WorkloadBase) -> str:
    """Returns the same name as setting_name_of, before there are jobs."""
    return f"{_section_of(combination)}-{workload.id}"


def section_ids(section: str) -> frozenset[str]:
    """Returns the ids of the sections, one of each group, that make up a job's section."""
    return frozenset(section.split(BETWEEN))


def combinations(sections: Sequence[Section]) -> Iterator[tuple[Section, ...]]:
    groups: dict[str | None, list[Section]] = {}
    for section in sections:
        groups.setdefault(section.group, []).append(section)
    return itertools.product(*groups.values())


def plays(agenda: Agenda, combination: Sequence[Section]) -> list[Workload]:
    """Returns the workloads that are played under this combination of sections."""
    return [workload for workload in agenda.workloads if _wanted(combination, workload.id)]


def layers_of(agenda: Agenda, combination: Sequence[Section]) -> list[Conditions]:
    """Returns the conditions that apply to the combination. A later one overrides an earlier one."""
    return [agenda.config.defaults, *(section.params for section in combination)]


def sched_of(layers: Sequence[Conditions]) -> str:
    sched: str = _last(layers, "sched") or "other"
    return sched


def observe_of(agenda: Agenda, layers: Sequence[Conditions], workload: Workload) -> str:
    """Returns how a workload is observed.

    Only our own player has a view from inside. For another player, `both` means the view from outside.
    """
    wanted: str = _last(layers, "observe") or agenda.config.observe
    return wanted if workload.name == OURS or wanted == "inside" else "outside"


def _wanted(combination: Sequence[Section], workload: str) -> bool:
    return all(
        not section.only or any(fnmatch.fnmatchcase(workload, pattern) for pattern in section.only)
        for section in combination
    )


def _section_of(combination: Sequence[Section]) -> str:
    return BETWEEN.join(section.id for section in combination) or ALL


def _repeated_job(
    agenda: Agenda, combination: Sequence[Section], workload: Workload, extent: Extent, base: Path
) -> _RepeatedJob:
    layers = layers_of(agenda, combination)
    section = _section_of(combination)
    name = setting_name(combination, workload)
    load = _load(layers, name)
    job = Job(
        id=name,
        repetition=0,
        section=section,
        workload=workload.id,
        player=workload.name,
        player_params=_player_params(workload, sched_of(layers)),
        sched=sched_of(layers),
        load=JobLoad(**load.model_dump(exclude_none=True)),
        clip=_clip(layers, extent, base, name),
        observe=_observe(observe_of(agenda, layers, workload), workload.name, name),
        cpu=agenda.config.cpu,
        gl=bool((screen := _last(layers, "screen")) and screen.gl),
    )
    return _RepeatedJob(job, extent.wanted_reps or _iterations(agenda, combination, workload))


def _player_params(workload: Workload, sched: str) -> PlayerParams:
    """Returns the player's settings. Where the agenda does not say how many threads decode, the conditions say it.

    On one CPU, several threads would only be in each other's way. Where nothing is placed, the player decides.
    """
    params = workload.params.model_dump()
    if "threads" in params and params["threads"] is None:
        params["threads"] = "auto" if Policy.parse(sched).is_free else 1
    return PlayerParams(**params)


def _iterations(agenda: Agenda, combination: Sequence[Section], workload: Workload) -> int:
    """Returns the workload's own iterations, else those of the last section that has some, else the agenda's."""
    own = [section.iterations for section in combination if section.iterations]
    return workload.iterations or (own[-1] if own else agenda.config.iterations)


def _last(layers: Sequence[Conditions], key: str) -> Any:
    """Returns the value of the last layer that has one, or None.

    It replaces an earlier layer's value as a whole: half of a clip is not a clip.
    """
    values = [value for layer in layers if (value := getattr(layer, key)) is not None]
    return values[-1] if values else None


def _load(layers: Sequence[Conditions], name: str) -> Load:
    load: Load = _last(layers, "load") or NoLoad(kind="none")
    if load.kind == "quota" and not Policy.parse(sched_of(layers)).is_free:
        raise LabError(f"{name}: the load quota needs sched: free; on the measured CPU, use sched: quota:15/40", EXIT_SETUP)
    after_s, clip = getattr(load, "after_s", None), _last(layers, "clip")
    if after_s is not None and clip and clip.length_s is not None and after_s >= clip.length_s:
        raise LabError(f"{name}: {late_load_sentence(after_s, clip.length_s)}", EXIT_SETUP)
    return load


def late_load_sentence(after_s: float, length_s: float) -> str:
    """Returns the sentence about a load that would start when the player has ended."""
    return f"the load would start {after_s:g} s after the player, which plays {length_s:g} s; make after_s smaller"


def _clip(layers: Sequence[Conditions], extent: Extent, base: Path, name: str) -> JobClip:
    clip: Clip | None = _last(layers, "clip")
    if clip is None:
        raise LabError(f"{name} has no clip; give one in config.defaults or in a section's params", EXIT_SETUP)
    length_s = extent.wanted_length_s or clip.length_s
    if clip.file is not None:
        return JobClip(file=os.path.abspath(base / clip.file), start_s=clip.start_s, length_s=length_s)
    made = clip.without_film if clip.without_film and not film_is_here() else clip
    return JobClip(recipe=made.recipe, unstamped=made.unstamped, start_s=clip.start_s, length_s=length_s)


def _observe(wanted: str, player: str, name: str) -> str:
    if wanted == "inside" and player != OURS:
        raise LabError(f"{name}: only dlex-play writes its own record; use observe: outside for {player}", EXIT_SETUP)
    return wanted
