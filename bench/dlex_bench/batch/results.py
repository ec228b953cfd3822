# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads and writes a folder of results.

A job is over when its folder holds result.json, which is written last and as a whole. Without result.json, or if the file ends
too early (schema.Torn), what lies in a job's folder is left from an interrupted run and may be removed. Any other result.json that
cannot be read is an error for the user, and its folder stays as it is.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..agenda.job import Job
from ..agenda.jobs import setting_name_of
from ..errors import EXIT_SETUP, LabError
from ..files import write_json
from ..job.context import loops_file
from ..job.films import with_recorded_film
from ..job.loops import Loops, read_loops
from ..job.result import OWN, JobResult
from ..schema import Torn
from .batch_file import BatchFile, MachineFile

BATCH, MACHINES, RESULT, LOCK = "batch.json", "machines", "result.json", ".lock"
# Calibration leaves files in a folder before its first batch. Their names begin like this.
BEFOREHAND = ("calibration", "rt-app", MACHINES, ".")

# Stands between the id of a job and the id of the machine that ran it, in a folder of several machines.
AT = "@"


class Store:
    """Reads and writes the results below one folder."""

    def __init__(self, out: Path) -> None:
        self.out = out

    # -- reading -----------------------------------------------------------------------------------------------------

    def folder(self, job_id: str) -> Path:
        return self.out / job_id

    def result(self, job_id: str) -> JobResult | None:
        """Returns the job's result. Returns None if the job is not over. Raises LabError if nobody can know that."""
        with contextlib.suppress(Torn):
            return read_result(self.folder(job_id))
        return None

    def results(self, torn: list[str] | None = None, foreign: dict[str, str] | None = None) -> dict[str, JobResult]:
        """Returns the results by job id, in the order of the batch. Jobs whose order is not known come last.

        Appends a sentence to `torn` for each file that ends too early. Raises LabError for any other file that cannot be read.
        If `foreign` is given, the sentence is kept there instead, by the name of the folder.
        """
        found: dict[str, JobResult] = {}
        for folder in self._job_folders():
            try:
                result = read_result(folder)
            except Torn as cause:
                if torn is not None:
                    torn.append(str(cause))
                continue
            except LabError as cause:
                if foreign is None:
                    raise
                foreign[folder.name] = str(cause)
                continue
            if result:
                found[folder.name] = with_recorded_film(result, folder / OWN)
        order = dict.fromkeys(job.id for job in self.jobs() if job.id in found)
        return {job_id: found.pop(job_id) for job_id in order} | found

    def _job_folders(self) -> list[Path]:
        """Returns the folders that may hold a result. Those with a dot hold what is not in its place yet."""
        return sorted(folder for folder in self.out.glob("*/") if not folder.name.startswith("."))

    def batch(self) -> BatchFile | None:
        return BatchFile.find(self.out / BATCH, "use the version of this program that wrote it, or another folder", EXIT_SETUP)

    def jobs(self) -> list[Job]:
        batch = self.batch()
        return batch.jobs if batch else []

    def settings(self) -> frozenset[str] | None:
        """Returns the settings of the jobs, or None before a batch has begun here."""
        return None if self.batch() is None else frozenset(map(setting_name_of, self.jobs()))

    def machines(self, left_out: list[str] | None = None) -> dict[str, MachineFile]:
        """Returns the facts of the machines that the results come from, by machine id.

        Raises LabError for a file that cannot be read. If `left_out` is given, the error is appended to that list instead.
        """
        advice = "move it away, and the next run on that machine writes it again"
        found = {}
        for path in sorted((self.out / MACHINES).glob("*.json")):
            try:
                found[path.stem] = MachineFile.read(path, advice, EXIT_SETUP)
            except LabError as cause:
                if left_out is None:
                    raise
                left_out.append(str(cause))
        return found

    def rtapp_calibration(self, machine: str) -> Loops | None:
        return read_loops(loops_file(self.out, machine))

    # -- writing -----------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def opened(self, *, shared: bool = False) -> Iterator[None]:
        """Locks the folder while the block runs. With `shared`, others that run single jobs may use it as well."""
        with self._locked(LOCK, shared, wait=False):
            yield

    @contextlib.contextmanager
    def _locked(self, name: str, shared: bool, wait: bool) -> Iterator[None]:
        try:
            self.out.mkdir(parents=True, exist_ok=True)
            lock = (self.out / name).open("w")
        except OSError as cause:
            raise _refusal(f"{self.out} cannot be written ({cause.strerror})") from cause
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        with lock:
            try:
                fcntl.flock(lock, kind | (0 if wait else fcntl.LOCK_NB))
            except OSError as cause:
                raise LabError(f"another batch is writing to {self.out}; wait until it has ended", EXIT_SETUP) from cause
            yield

    def claim(self, wanted: BatchFile) -> None:
        """Records these jobs and their agenda as those of the folder. Jobs of an earlier agenda stay, and so do other keys.

        Raises LabError if a job has changed.
        """
        with self._locked(".claim", shared=False, wait=True):
            batch = self.batch()
            if batch is None:
                self._refuse_foreign()
                batch = wanted.model_copy(update={"created": now(), "jobs": []})
            self.refuse_changed(wanted.jobs)
            known = {job.id for job in batch.jobs}
            added = [job for job in wanted.jobs if job.id not in known]
            if added or not batch.jobs:
                batch = batch.model_copy(update={"agenda": wanted.agenda, "jobs": [*batch.jobs, *added]})
                write_json(self.out / BATCH, batch.to_json())

    def refuse_changed(self, jobs: Sequence[Job]) -> None:
        """Raises LabError if a known job has changed.

        A result belongs to the job as it was, not to another job of the same name.
        """
        known = {job.id: job for job in self.jobs()}
        self._refuse_other_names([*known], [job.id for job in jobs])
        for job in jobs:
            _refuse_change(self.out, known.get(job.id), job)

    def _refuse_other_names(self, known: Sequence[str], wanted: Sequence[str]) -> None:
        """Raises LabError if only one side has machine ids in its names: one run could then be there twice."""
        if not known or not wanted or (AT in known[0]) == (AT in wanted[0]):
            return
        if AT in known[0]:
            raise _refusal(f"{self.out} holds results of several machines and needs --mixed")
        raise _refusal(f"{self.out} was started without --mixed, for one machine")

    def _refuse_foreign(self) -> None:
        foreign = [entry.name for entry in self.out.iterdir() if not entry.name.startswith(BEFOREHAND)]
        if foreign:
            raise _refusal(f"{self.out} holds {min(foreign)}, which does not belong to a batch")

    def keep_machine(self, machine: str, facts: MachineFile) -> None:
        with self._locked(".claim", shared=False, wait=True):
            (self.out / MACHINES).mkdir(exist_ok=True)
            write_json(self.out / MACHINES / f"{machine}.json", facts.to_json())

    def begin(self, job: Job) -> Path:
        """Returns an empty folder for the job. Removes what an interrupted run left there, or a result to be repeated."""
        folder = self.folder(job.id)
        if folder.exists():
            self._not_over(job.id)
            shutil.rmtree(folder)
        shutil.rmtree(self._aside(job.id), ignore_errors=True)
        folder.mkdir()
        return folder

    def finish(self, result: JobResult) -> None:
        """Writes the result. The raw records reach the disk before result.json, which says that they are there."""
        folder = self.folder(result.job.id)
        for path in folder.rglob("*"):
            if path.is_file() and not path.is_symlink():
                _reach_disk(path)
        write_json(folder / RESULT, result.to_json())
        _reach_disk(self.out)

    def begin_again(self, job: Job) -> Path:
        """Puts the records of a play aside, and returns an empty folder for another play of the job."""
        folder = self.folder(job.id)
        folder.rename(self._aside(job.id))
        folder.mkdir()
        return folder

    def choose(self, job: Job, *, earlier: bool) -> None:
        """Keeps either the records that were put aside or those of the later play, and removes the others."""
        if earlier:
            shutil.rmtree(self.folder(job.id))
            self._aside(job.id).rename(self.folder(job.id))
        else:
            shutil.rmtree(self._aside(job.id))

    def _aside(self, job_id: str) -> Path:
        return self.out / f".{job_id}"

    def drop(self, job_id: str) -> None:
        """Removes a job's folder, such as one that was left without a result."""
        with contextlib.suppress(OSError):
            self._not_over(job_id)
        shutil.rmtree(self.folder(job_id), ignore_errors=True)
        shutil.rmtree(self._aside(job_id), ignore_errors=True)

    def _not_over(self, job_id: str) -> None:
        """Removes result.json before the records are removed one by one.

        A process that is killed in between must not leave a result without its records. Raises LabError, and removes nothing,
        if the result is one that this program cannot read.
        """
        self.result(job_id)
        folder = self.folder(job_id)
        (folder / RESULT).unlink(missing_ok=True)
        _reach_disk(folder)


def read_result(folder: Path) -> JobResult | None:
    """Returns the result in a job's folder, or None if there is none.

    Raises Torn if the file ends too early, so that the job is not over. Raises another LabError, which names the file and the
    field, if the file cannot be opened, has another shape or version, or belongs to another job.
    """
    path = folder / RESULT
    advice = f"move {folder} away, or use the version of this program that wrote it"
    try:
        result = JobResult.find(path, advice, EXIT_SETUP)
    except Torn as cause:
        raise Torn(f"{path} is incomplete; run its job again", EXIT_SETUP) from cause
    if result and result.job.id != folder.name:
        other = f"job.id: it is the result of {result.job.id}, not of {folder.name}"
        raise LabError(f"{path} cannot be read: {other}; {advice}", EXIT_SETUP)
    return result


def on_machine(job: Job, machine: str) -> Job:
    """Returns the job under its name in a folder of several machines, where each machine runs all the jobs."""
    return job.but(id=f"{planned_id(job.id)}{AT}{machine}")


def planned_id(job_id: str) -> str:
    """Returns the id that the job has in the agenda, without the machine that ran it."""
    return job_id.partition(AT)[0]


def open_results(out: Path) -> Store:
    """Returns the store of an existing batch, for reading only. Raises LabError if `out` holds no batch."""
    store = Store(out)
    if store.batch() is None:
        raise LabError(f"{out} holds no batch; name the folder that was given to `run -o`", EXIT_SETUP)
    return store


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _refusal(reason: str) -> LabError:
    return LabError(f"{reason}; choose another folder with -o", EXIT_SETUP)


def _refuse_change(out: Path, old: Job | None, new: Job) -> None:
    if old is None:
        return
    changed = difference(old.conditions(), new.conditions())
    if changed:
        key, before, after = changed
        raise _refusal(f"{out} was started with another agenda or other options: {key} of {new.id} was {before} and is now {after}")


def difference(old: Any, new: Any, key: str = "") -> tuple[str, str, str] | None:
    """Returns the first key at which the contents of two JSON files differ, and both values; None if they are equal."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in [*old, *(name for name in new if name not in old)]:
            if found := difference(old.get(name), new.get(name), f"{key}.{name}".removeprefix(".")):
                return found
        return None
    return None if old == new else (key, json.dumps(old), json.dumps(new))


def _reach_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
