# SPDX-License-Identifier: LGPL-2.1-or-later
"""Keeps demand-MACHINE.json: how much CPU time playing each film needs on this machine, if every picture is shown.

A budget such as `quota:120%/40` follows from it: playing the whole film needs 120 % of the budget.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from ..agenda.job import Job, JobClip
from ..errors import EXIT_SETUP, LabError
from ..files import write_json
from ..machine.policy import Policy
from ..schema import Count, Positive, Stored

VERSION: Literal[1] = 1
ADVICE = "move it away, and the demand is measured again"


class FilmDemand(Stored):
    """Plays of one film by dlex-play without drops, alone on its CPU. The middle one counts."""

    clip: JobClip
    observe: str
    cpu: Count | None = None  # as the agenda has it; null: the laboratory chose
    sha256: str | None = None  # of the film; absent from older versions
    plays: Annotated[tuple[Positive, ...], Field(min_length=1)]  # CPU time of the whole process, for each second of the film

    @property
    def rate(self) -> float:
        return sorted(self.plays)[len(self.plays) // 2]

    def is_of(self, job: Job | FilmDemand, sha256: str | None = None) -> bool:
        """Returns whether it is the demand of the job's film. An unknown checksum equals any."""
        if self.sha256 and sha256 and self.sha256 != sha256:
            return False
        return (self.clip, self.observe, self.cpu) == (job.clip, job.observe, job.cpu)


class Demands(Stored):
    """What demand-MACHINE.json holds."""

    version: Literal[1] = VERSION
    machine: str
    films: tuple[FilmDemand, ...] = ()

    def of(self, job: Job | FilmDemand, sha256: str | None = None) -> FilmDemand | None:
        """Returns the demand that was measured last, because an earlier one may be that of a film of the same name."""
        return next((film for film in reversed(self.films) if film.is_of(job, sha256)), None)

    def with_films_of(self, other: Demands) -> Demands:
        """Returns the films of both. Raises ValueError if a film has two different demands."""
        films = list(self.films)
        for film in other.films:
            known = self.of(film, film.sha256)
            if known is None:
                films.append(film)
            elif known != film:
                name = film.clip.recipe or film.clip.file
                raise ValueError(f"the demand of {name} was measured separately, as {known.rate:.3f} and {film.rate:.3f} of a CPU")
        return self.model_copy(update={"films": tuple(films)})


def needs_demand(job: Job) -> bool:
    return Policy.parse(job.sched).demand_percent > 0


def read_demands(batch: Path, machine: str) -> Demands:
    """Returns the demands that are known on this machine."""
    path = _file_of(batch, machine)
    return parse_demands(path) if os.path.lexists(path) else Demands(version=VERSION, machine=machine)


def parse_demands(path: Path) -> Demands:
    """Raises LabError, which names the file and the field, if the file does not hold the demands of the machine in its name."""
    content = Demands.read(path, ADVICE, EXIT_SETUP)
    if path != _file_of(path.parent, content.machine):
        raise LabError(f"{path} cannot be read: machine: it has the demands on {content.machine}; {ADVICE}", EXIT_SETUP)
    return content


def write_demands(batch: Path, content: Demands) -> None:
    write_json(_file_of(batch, content.machine), content.to_json())


def demand_files(batch: Path) -> list[Path]:
    """Returns the files of all machines."""
    return sorted(batch.glob("demand-*.json"))


def budget_for_demand_ms(job: Job, policy: Policy, batch: Path, machine: str, sha256: str | None = None) -> float:
    """Returns the budget of which the job's film, with this checksum, needs `policy.demand_percent`."""
    film = read_demands(batch, machine).of(job, sha256)
    if film is None:
        raise LabError(f"{job.sched} needs to know what playing the film needs, and that could not be measured", EXIT_SETUP)
    budget_ms = round(film.rate * policy.period_ms * 100 / policy.demand_percent, 6)
    if budget_ms > policy.period_ms:
        raise LabError(
            f"playing the film needs {film.rate:.0%} of a CPU, so {job.sched} would be more than a whole CPU; ask for a "
            f"larger percentage than {100 * film.rate:.0f}% in its place",
            EXIT_SETUP,
        )
    return budget_ms


def _file_of(batch: Path, machine: str) -> Path:
    return batch / f"demand-{machine}.json"
