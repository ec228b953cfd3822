# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the films that results were made from. A name (a path, or a recipe) may have another content by now."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ..agenda.job import INSIDE, Job
from ..checksum import checksum
from ..errors import EXIT_SETUP, LabError
from ..schema import Stored
from .result import DONE, JobResult

if TYPE_CHECKING:
    from .setting import Setting


def film_name(job: Job) -> str:
    """Returns the name of the film that a job plays."""
    clip = job.clip
    return clip.file or (clip.unstamped if clip.unstamped and job.observe == INSIDE else clip.recipe) or ""


def films_of(setting: Setting) -> dict[str, str]:
    """Returns the SHA-256 of the played film, and of the one with which its pictures are compared, by name."""
    found = {film_name(setting.job): checksum(setting.clip)}
    if setting.unstamped and setting.job.clip.unstamped:
        found[setting.job.clip.unstamped] = checksum(setting.unstamped)
    return {name: content for name, content in found.items() if content}


def films_of_results(results: Iterable[JobResult]) -> dict[str, str]:
    """Returns the SHA-256 of each film in the results that are done; if there are several of a name, the first."""
    found: dict[str, str] = {}
    for result in results:
        if result.status == DONE:
            found = {**(result.films or {}), **found}
    return found


def refuse_other_films(films: dict[str, str], known: dict[str, str], batch: Path) -> None:
    """Raises LabError if a film has another content than that in `known`, to which new films are added."""
    for name, content in films.items():
        if known.setdefault(name, content) != content:
            raise other_film(name, batch)


def refuse_replaced_files(jobs: Iterable[Job], known: dict[str, str], batch: Path) -> None:
    """Raises LabError before anything is played, if a file has another content than when the kept results were made."""
    for file in dict.fromkeys(job.clip.file for job in jobs if job.clip.file):
        content = checksum(Path(file)) if file in known else None
        if content and content != known[file]:
            raise other_film(file, batch)


def other_film(name: str, batch: Path) -> LabError:
    return LabError(
        f"{name} has another content than the film that {batch} was measured with (its SHA-256 differs); put that film back, or "
        "choose another folder with -o",
        EXIT_SETUP,
    )


class _Media(Stored):
    sha256: str | None = None


class _Record(Stored):
    media: _Media | None = None


def with_recorded_film(result: JobResult, record: Path) -> JobResult:
    """Returns a result of an older version, which lacks its films, with the checksum that dlex-play has put into its record."""
    if result.films is not None or result.status != DONE or not (record / "run.json").is_file():
        return result
    try:
        media = _Record.read(record / "run.json", "").media
    except LabError:
        return result
    content = media.sha256 if media else None
    return result.model_copy(update={"films": {film_name(result.job): content}}) if content else result
