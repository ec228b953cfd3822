# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures what playing a film needs: dlex-play shows every picture, alone on its CPU, on the same stage as the jobs."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from ..agenda.job import Job, JobLoad, PlayerParams
from ..checksum import checksum
from ..disk_space import require_room, telling_full_disk
from ..errors import LabError
from .context import Context
from .demand import FilmDemand, needs_demand, read_demands, write_demands
from .execute import execute
from .films import film_name
from .result import DONE

FOLDER = "demand"
PLAYS = 3
PARAMS = PlayerParams(drop="none", queue="0")

Say = Callable[[str], None]


def jobs_without_demand(jobs: Sequence[Job], context: Context) -> list[Job]:
    """Returns one job for each film whose demand is wanted and not known yet."""
    known = read_demands(context.batch, context.machine)
    wanted: list[Job] = []
    for job in jobs:
        if needs_demand(job) and known.of(job, _content_of(job)) is None and not any(_same_film(job, other) for other in wanted):
            wanted.append(job)
    return wanted


def measure_film(pattern: Job, context: Context, say: Say) -> None:
    """Measures the demand of the film of `pattern`, and stores it."""
    known = read_demands(context.batch, context.machine)
    with telling_full_disk(context.batch):
        plays = tuple(_play(pattern, context, len(known.films) + 1, number) for number in range(1, PLAYS + 1))
        sha256 = context.films.get(film_name(pattern))
        film = FilmDemand(clip=pattern.clip, observe=pattern.observe, cpu=pattern.cpu, sha256=sha256, plays=plays)
        write_demands(context.batch, known.model_copy(update={"films": (*known.films, film)}))
    each = ", ".join(f"{rate:.1%}" for rate in sorted(plays))
    say(f"  playing {pattern.clip.recipe or pattern.clip.file} needs {film.rate:.1%} of a CPU ({each})")


def _content_of(job: Job) -> str | None:
    """Returns the checksum of the job's file. That of a recipe's clip is compared when the job is played."""
    return checksum(Path(job.clip.file)) if job.clip.file else None


def _same_film(one: Job, other: Job) -> bool:
    return (one.clip, one.observe, one.cpu) == (other.clip, other.observe, other.cpu)


def _play(pattern: Job, context: Context, film: int, number: int) -> float:
    """Returns the CPU time that one play used, for each second of the film."""
    require_room(context.batch)
    directory = context.batch / FOLDER / context.machine / f"film-{film}-{number}"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    job = pattern.but(
        id=f"{FOLDER}-{film}-{number}",
        section=FOLDER,
        workload="none",
        player="dlex-play",
        player_params=PARAMS,
        sched="other",
        load=JobLoad(kind="none"),
    )
    result = execute(job, directory, context)
    figures = result.figures
    if result.status != DONE or figures is None or not figures.cpu_ms_per_frame or not figures.frame_ms:
        raise LabError(f"what playing the film needs cannot be measured: {result.reason or 'its CPU time is not known'}")
    return figures.cpu_ms_per_frame / figures.frame_ms
