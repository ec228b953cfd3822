# SPDX-License-Identifier: LGPL-2.1-or-later
"""Estimates how long a job will take: the time it plays, plus what finished jobs of its kind took beyond that."""

from __future__ import annotations

import statistics
import subprocess
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ..agenda.job import Job
from ..agenda.recipes import read_recipes
from ..errors import EXIT_SETUP, LabError
from ..job.result import DONE, JobResult

# Used until a job of the same kind has finished: the time for starting, settling and dlex-qoe. "inside" is without
# screen and sound, the others are with them.
OVERHEAD_S = {"inside": 2.0, "outside": 10.0, "both": 12.0}
UNKNOWN_LENGTH_S = 30.0
PROBING_S = 10.0


class Expectation:
    def __init__(self, root: Path, results: Iterable[JobResult]) -> None:
        self.root = root
        self.overheads_s: dict[tuple[str, str], list[float]] = {}
        for result in results:
            self.learn(result)

    def learn(self, result: JobResult) -> None:
        if result.status == DONE and result.wall_s is not None:
            job = result.job
            self.overheads_s.setdefault(_kind(job), []).append(result.wall_s - self.played_s(job))

    def played_s(self, job: Job) -> float:
        whole_s = clip_length_s(self.root, job.clip.recipe, job.clip.file)
        left_s = max(0.0, whole_s - job.clip.start_s)
        return min(left_s, job.clip.length_s or left_s)

    def job_s(self, job: Job) -> float:
        learnt = self.overheads_s.get(_kind(job))
        overhead_s = statistics.median(learnt) if learnt else OVERHEAD_S[job.observe]
        return self.played_s(job) + max(0.0, overhead_s)

    def jobs_s(self, jobs: Sequence[Job]) -> float:
        return sum(map(self.job_s, jobs))


def _kind(job: Job) -> tuple[str, str]:
    return job.player, job.observe


@cache
def clip_length_s(root: Path, recipe: str | None, file: str | None) -> float:
    """Returns the length of a clip. A recipe's length comes from its text, so the clip need not be made yet.

    Raises LabError if there is no such recipe.
    """
    if recipe is None:
        return _probed_length_s(file or "")
    length_s = _expected_seconds(root, recipe)
    return sum(length_s) / 2 if isinstance(length_s, list) else float(length_s or UNKNOWN_LENGTH_S)


def _expected_seconds(root: Path, recipe: str) -> Any:
    recipes = read_recipes(root)
    if recipe not in recipes:
        raise LabError(f"there is no clip {recipe!r}; `media/make --list` lists all clips", EXIT_SETUP)
    return recipes[recipe].get("expect", {}).get("seconds")


def _probed_length_s(file: str) -> float:
    """Returns the length of a file, or UNKNOWN_LENGTH_S. A missing file is not an error here: its job handles it."""
    argv = ["ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", file]
    try:
        return float(subprocess.run(argv, capture_output=True, text=True, timeout=PROBING_S, check=True).stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return UNKNOWN_LENGTH_S
