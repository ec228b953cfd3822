# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows what a batch will do and how long it will take, or lists one command per job for GNU parallel."""

from __future__ import annotations

import shlex
import time
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from ..agenda.job import Job
from ..agenda.jobs import Extent, expand, select
from ..agenda.model import Agenda
from ..agenda.reader import read_agenda
from ..errors import EXIT_SETUP, LabError
from ..job.result import JobResult
from ..progress import spoken_time, tell
from .expected import Expectation
from .results import Store, on_machine, planned_id


@dataclass(frozen=True)
class Plan:
    path: Path
    agenda: Agenda
    jobs: list[Job]  # all jobs of the agenda
    wanted: list[Job]  # the jobs that --only selects

    def on(self, machine: str) -> Plan:
        """Returns the plan with its jobs named as in a folder of several machines."""
        jobs, wanted = ([on_machine(job, machine) for job in some] for some in (self.jobs, self.wanted))
        return replace(self, jobs=jobs, wanted=wanted)

    def job(self, name: str) -> Job:
        """Returns the job with this id. `name` may be its id in this plan or its id in the agenda."""
        for job in self.jobs:
            if name in (job.id, planned_id(job.id)):
                return job
        raise LabError(f"{self.path} has no job {name}; `plan` lists its jobs", EXIT_SETUP)


def read_plan(path: Path, extent: Extent, begun: Collection[str] | None = None) -> Plan:
    """Reads the agenda and lists its jobs.

    `begun`: the settings that the folder of results already knows. Their jobs report what has become of their clips.
    """
    agenda = read_agenda(path, begun=begun)
    jobs = expand(agenda, extent, path.parent)
    return Plan(path, agenda, jobs, select(jobs, extent.only))


def show_plan(console: Console, root: Path, plan: Plan, store: Store) -> None:
    store.refuse_changed(plan.wanted)
    results = store.results()
    expectation = Expectation(root, results.values())
    width = max(len(job.id) for job in plan.wanted)
    for job in plan.wanted:
        tell(console, f"{job.id:{width}}  {_state(results.get(job.id), expectation.job_s(job))}", wrap=False)
    to_do = [job for job in plan.wanted if job.id not in results]
    tell(console, total_sentence(len(plan.wanted), to_do, expectation))


def _state(result: JobResult | None, seconds: float) -> str:
    if result is None:
        return f"{seconds:.0f} s"
    reason = f": {result.reason}" if result.reason else ""
    return f"{result.status}{reason}"


def total_sentence(count: int, to_do: list[Job], expectation: Expectation) -> str:
    if not to_do:
        return f"{count} jobs, all of them finished"
    seconds = expectation.jobs_s(to_do)
    over = f", {count - len(to_do)} of them finished" if len(to_do) < count else ""
    return f"{count} jobs{over}; about {long_time(seconds)}, until {end_time(seconds)} if started now"


def long_time(seconds: float) -> str:
    hours = seconds / 3600
    return spoken_time(seconds) if hours < 2 else f"{hours:.1f} h" if hours < 48 else f"{hours / 24:.1f} days"


def end_time(seconds: float) -> str:
    end = time.localtime(time.time() + seconds)
    return time.strftime("%H:%M" if seconds < 12 * 3600 else "%A %d %B %H:%M", end)


def command_lines(plan: Plan, extent: Extent, out: Path, launcher: str, mixed: bool) -> list[str]:
    """Returns one command per wanted job. Each command runs only its own job.

    The commands may run in any order, and on any machine that has the project and the agenda.
    """
    options = _extent_options(extent) + (["--mixed"] if mixed else [])
    return [
        " ".join([launcher, *map(shlex.quote, ["run-job", str(plan.path), job.id, *options, "--wait", "-o", str(out)])])
        for job in plan.wanted
    ]


def _extent_options(extent: Extent) -> list[str]:
    """Returns the options that change what a job is. No option has to choose jobs: each command names its job."""
    options = [f"--reps={extent.reps}"] if extent.reps else []
    options += [f"--length={extent.length_s:g}"] if extent.length_s else []
    return options + (["--quick"] if extent.quick else [])
