# SPDX-License-Identifier: LGPL-2.1-or-later
"""Merges several folders of results into one.

The result of a job on a machine is kept once, even if several folders hold it. It is an error if a job was done twice
on one machine. Results of a second machine are an error as well, unless --mixed allows them.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from ..agenda.job import Job
from ..errors import EXIT_SETUP, LabError
from ..files import write_json
from ..job.budget import Calibration, calibration_files, parse_calibration, write_calibration
from ..job.demand import Demands, demand_files, parse_demands, write_demands
from ..job.result import DONE, JobResult
from ..progress import tell
from .batch_file import VERSION, BatchFile, MachineFile, StoredAgenda
from .results import RESULT, Store, difference, on_machine, open_results, planned_id

PARTIAL = ".merging"


@dataclass(frozen=True)
class Found:
    store: Store
    result: JobResult

    @property
    def machine(self) -> str:
        return self.result.machine or ""

    @property
    def job(self) -> Job:
        return self.result.job

    @property
    def is_done(self) -> bool:
        return self.result.status == DONE

    def under(self, job_id: str) -> JobResult:
        return self.result.model_copy(update={"job": self.job.but(id=job_id)})


def merge(sources: Sequence[Path], out: Path, mixed: bool, console: Console) -> None:
    stores, target = [open_results(source) for source in sources], Store(out)
    torn: list[str] = []
    found, there = _found(stores, torn), _found([target])
    for sentence in torn:
        tell(console, f"left out: {sentence}")
    if not found:
        raise LabError(f"none of {', '.join(map(str, sources))} has a result yet; run the batch first", EXIT_SETUP)
    if not mixed:
        _refuse_several_machines(stores, [*found, *there])
    _refuse_several_films([*there, *found])
    planned = _planned([*stores, target])
    united = _unite([*there, *found])
    chosen = {_named(entry.job, entry.machine, mixed).id: entry for entry in united}
    machines = dict.fromkeys(entry.machine for entry in united)
    jobs = [_named(job, machine, mixed) for job in planned for machine in machines]
    copied = _write(target, stores, jobs, chosen)
    results = f"{len(chosen)} result{'s' if len(chosen) > 1 else ''}"
    folders = f"{len(stores)} folder{'s' if len(stores) > 1 else ''}"
    tell(console, f"{out} holds {results} of {folders}; {copied} of them {'is' if copied == 1 else 'are'} new")


def _found(stores: Iterable[Store], torn: list[str] | None = None) -> list[Found]:
    return [Found(store, result) for store in stores for result in store.results(torn).values()]


def _named(job: Job, machine: str, mixed: bool) -> Job:
    """Applies the one rule of names. It does not depend on the folder the job comes from, or on its name there."""
    return on_machine(job, machine) if mixed else job.but(id=planned_id(job.id))


def _refuse_several_machines(stores: Sequence[Store], found: Sequence[Found]) -> None:
    origin = {entry.machine: entry.store.out for entry in reversed(found)}
    if len(origin) > 1:
        facts = {machine: kept for store in stores for machine, kept in store.machines().items()}
        named = [f"{out} of {_spelled(facts.get(machine))} ({machine})" for machine, out in origin.items()]
        raise LabError(
            f"the results come from different machines: {', '.join(named)}; merge only the results of one, or use --mixed, which "
            "reports them separately",
            EXIT_SETUP,
        )


def _refuse_several_films(found: Sequence[Found]) -> None:
    """Raises LabError if a film has several contents under one name: its results could not be combined."""
    seen: dict[str, tuple[str, Path]] = {}
    for entry in (it for it in found if it.is_done):
        for name, content in (entry.result.films or {}).items():
            known, where = seen.setdefault(name, (content, entry.store.out))
            if known != content:
                raise LabError(
                    f"{name} had another content in {where} than in {entry.store.out} (its SHA-256 differs); merge only results of "
                    "one film",
                    EXIT_SETUP,
                )


def _spelled(facts: MachineFile | None) -> str:
    cpu, kernel = (facts.cpu, facts.kernel) if facts else (None, None)
    return f"{cpu or 'an unknown CPU'}, Linux {kernel or 'unknown'}"


def _planned(stores: Sequence[Store]) -> list[Job]:
    """Returns the jobs under their names in the agenda.

    Jobs without a result are included: they can still be run in the new folder.
    """
    planned: dict[str, Job] = {}
    for store in stores:
        for job in (job.but(id=planned_id(job.id)) for job in store.jobs()):
            known = planned.setdefault(job.id, job)
            if changed := difference(known.conditions(), job.conditions()):
                key, before, after = changed
                raise LabError(
                    f"{store.out} comes from another agenda: {key} of {job.id} is {after} there, but {before} in others; "
                    "merge only results of one agenda and the same options",
                    EXIT_SETUP,
                )
    return [*planned.values()]


def _unite(found: Iterable[Found]) -> list[Found]:
    """Returns one result per job and machine."""
    chosen: dict[tuple[str, str], Found] = {}
    for entry in found:
        run = planned_id(entry.job.id), entry.machine
        chosen[run] = _better(chosen.get(run, entry), entry, run[0])
    return [*chosen.values()]


def _better(known: Found, other: Found, name: str) -> Found:
    """Returns the result that counts. A job that failed or was skipped may have been repeated: its last outcome counts.

    Raises LabError if both are done and differ.
    """
    if known.is_done != other.is_done:
        return known if known.is_done else other
    if known.under(name) == other.under(name):
        return known
    if known.is_done:
        raise LabError(
            f"{name} was done twice on one machine, in {known.store.out} and in {other.store.out}; remove one of them", EXIT_SETUP
        )
    return max(known, other, key=lambda entry: entry.result.started or "")


def _calibrations(stores: Sequence[Store]) -> dict[str, Calibration]:
    """Returns the calibration of each machine. A machine must have one budget, or its results could not be combined."""
    kept: dict[str, tuple[Path, Calibration]] = {}
    read = [(store.out, parse_calibration(path)) for store in stores for path in calibration_files(store.out)]
    for out, calibration in read:
        path, known = kept.setdefault(calibration.machine, (out, calibration))
        if known.budget_ms != calibration.budget_ms:
            raise LabError(
                f"{path} and {out} were calibrated separately, to {known.budget_ms} and "
                f"{calibration.budget_ms} ms, so their jobs had different budgets; use one calibration for both",
                EXIT_SETUP,
            )
    return {machine: calibration for machine, (_path, calibration) in kept.items()}


def _demands(stores: Sequence[Store]) -> list[Demands]:
    """Returns the demands on each machine. A film must have one demand, or its results could not be combined."""
    kept: dict[str, Demands] = {}
    for path in (path for store in stores for path in demand_files(store.out)):
        found = parse_demands(path)
        known = kept.setdefault(found.machine, Demands(version=found.version, machine=found.machine))
        try:
            kept[found.machine] = known.with_films_of(found)
        except ValueError as cause:
            raise LabError(f"{path}: {cause}, so jobs had different budgets; use one folder for both", EXIT_SETUP) from cause
    return [*kept.values()]


def _write(target: Store, stores: Sequence[Store], jobs: Sequence[Job], chosen: Mapping[str, Found]) -> int:
    """Writes the merged folder and returns how many results are new in it. All files are read before the first is written.

    The agenda of a new batch.json is that of the first folder, and so are the commit and the keys that only another version knows.
    """
    batch = stores[0].batch() or BatchFile(version=VERSION, jobs=[])
    wanted = batch.model_copy(update={"agenda": batch.agenda or StoredAgenda(), "jobs": jobs})
    facts = {machine: kept for store in (target, *stores) for machine, kept in store.machines().items()}
    calibrations = _calibrations([target, *stores])
    demands = _demands([target, *stores])
    with target.opened():
        target.claim(wanted)
        for machine, kept in facts.items():
            target.keep_machine(machine, kept)
        for machine, calibration in calibrations.items():
            write_calibration(target.out, machine, calibration)
        for of_machine in demands:
            write_demands(target.out, of_machine)
        return sum(_copy(entry, job_id, target) for job_id, entry in chosen.items())


def _copy(entry: Found, job_id: str, target: Store) -> bool:
    """Copies a job's folder as a whole or not at all. Returns False if it was there already."""
    if entry.store.out.resolve() == target.out.resolve():
        return False
    partial = target.out / PARTIAL
    shutil.rmtree(partial, ignore_errors=True)
    try:
        shutil.copytree(entry.store.folder(entry.job.id), partial, symlinks=True)
        if job_id != entry.job.id:
            write_json(partial / RESULT, entry.under(job_id).to_json())
        target.drop(job_id)
        partial.rename(target.folder(job_id))
    except OSError as cause:
        shutil.rmtree(partial, ignore_errors=True)
        raise LabError(
            f"{target.folder(job_id)} cannot be written ({cause.strerror}); correct this and repeat the command"
        ) from cause
    return True
