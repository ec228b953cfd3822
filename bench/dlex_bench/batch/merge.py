# SPDX-License-Identifier: LGPL-2.1-or-later
"""One folder of results from several. A job that is there twice, or a second machine, is no accident that goes unseen."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from ..agenda.jobs import Job
from ..errors import EXIT_SETUP, DemoError
from ..progress import tell
from ..files import write_json
from ..job.budget import NAMELESS, write_calibration
from .results import DONE, RESULT, Result, Store, difference, open_results

PARTIAL = ".merging"


@dataclass(frozen=True)
class Found:
    store: Store
    result: Result

    @property
    def machine(self) -> str:
        return str(self.result["machine"])

    @property
    def job(self) -> Job:
        return Job.from_json(self.result["job"])


def merge(sources: Sequence[Path], out: Path, mixed: bool, console: Console) -> None:
    stores = [open_results(source) for source in sources]
    found = [Found(store, result) for store in stores for result in store.results().values()]
    if not found:
        raise DemoError(f"none of {', '.join(map(str, sources))} has a result yet; run the batch first", EXIT_SETUP)
    if not mixed:
        _refuse_several_machines(stores, found, Store(out))
    planned = _planned(stores)
    chosen = _unite(found)
    target = Store(out)
    with target.opened():
        batch = stores[0].batch() or {}
        target.claim(batch.get("agenda", {}), _jobs(planned, chosen), batch.get("commit"))
        _keep_machines(stores, target)
        _keep_calibrations(stores, target)
        copied = sum(_copy(entry, job_id, target) for job_id, entry in chosen.items())
    results = f"{len(chosen)} result{'s' if len(chosen) > 1 else ''}"
    folders = f"{len(stores)} folder{'s' if len(stores) > 1 else ''}"
    tell(console, f"{out} holds {results} of {folders}; {copied} of them {'was' if copied == 1 else 'were'} not there before")


def _refuse_several_machines(stores: Sequence[Store], found: Sequence[Found], target: Store) -> None:
    origin = {entry.machine: entry.store.out for entry in found}
    origin |= {str(result["machine"]): target.out for result in target.results().values()}
    if len(origin) > 1:
        facts = {machine: kept for store in stores for machine, kept in store.machines().items()}
        named = [f"{out} of {_spelled(facts.get(machine, {}))} ({machine})" for machine, out in origin.items()]
        raise DemoError(
            f"the results come from different machines: {', '.join(named)}; merge those of one, or all by --mixed, which keeps "
            "them apart in reports",
            EXIT_SETUP,
        )


def _spelled(facts: dict[str, Any]) -> str:
    return f"{facts.get('cpu') or 'an unknown CPU'}, Linux {facts.get('kernel') or 'unknown'}"


def _planned(stores: Sequence[Store]) -> dict[str, Job]:
    planned: dict[str, Job] = {}
    for store in stores:
        for job in store.jobs():
            known = planned.setdefault(job.id, job)
            if changed := difference(known.to_json(), job.to_json()):
                key, before, after = changed
                raise DemoError(
                    f"{store.out} is of another agenda: {key} of {job.id} is {after} there and {before} before; merge only "
                    "results of one agenda and the same options",
                    EXIT_SETUP,
                )
    return planned


def _unite(found: Sequence[Found]) -> dict[str, Found]:
    """By the id under which they are kept: a job that several machines did gets the machine's name behind its own."""
    machines: dict[str, set[str]] = {}
    for entry in found:
        machines.setdefault(entry.job.id, set()).add(entry.machine)
    chosen: dict[str, Found] = {}
    for entry in found:
        name = entry.job.id
        job_id = name if len(machines[name]) == 1 or "@" in name else f"{name}@{entry.machine}"
        other = chosen.setdefault(job_id, entry)
        if (entry.result["status"] == DONE) != (other.result["status"] == DONE):
            chosen[job_id] = entry if entry.result["status"] == DONE else other  # tried in vain on one host, repeated on another
        elif other.result != entry.result:
            raise DemoError(
                f"{name} was done twice on one machine, in {other.store.out} and in {entry.store.out}; remove one of them",
                EXIT_SETUP,
            )
    return chosen


def _jobs(planned: dict[str, Job], chosen: dict[str, Found]) -> list[Job]:
    """All that were planned, those without a result included: they can still be run in the new folder."""
    renamed = {entry.job.id for job_id, entry in chosen.items() if job_id != entry.job.id}
    done = {job_id: replace(entry.job, id=job_id) for job_id, entry in chosen.items()}
    left = {job_id: job for job_id, job in planned.items() if job_id not in renamed}
    return [*(left | done).values()]


def _keep_machines(stores: Sequence[Store], target: Store) -> None:
    for store in stores:
        for machine, facts in store.machines().items():
            target.keep_machine(machine, facts)


def _keep_calibrations(stores: Sequence[Store], target: Store) -> None:
    """Under one budget for a machine, or the results could not be put together."""
    kept: dict[str, tuple[Path, Any]] = {}
    for store, calibration in ((store, found) for store in [target, *stores] for found in _read_calibrations(store.out)):
        machine = str(calibration.get("machine"))
        path, known = kept.setdefault(machine, (store.out, calibration))
        if known.get("budget_ms") != calibration.get("budget_ms"):
            raise DemoError(
                f"{path} and {store.out} were calibrated apart, to {known.get('budget_ms')} and "
                f"{calibration.get('budget_ms')} ms: their jobs had different budgets; use one calibration for both",
                EXIT_SETUP,
            )
    for machine, (_path, calibration) in kept.items():
        write_calibration(target.out, machine, calibration)


def _read_calibrations(out: Path) -> Iterator[dict[str, Any]]:
    """Those of all machines."""
    for path in (out / NAMELESS, *sorted(out.glob("calibration-*.json"))):
        with contextlib.suppress(OSError, ValueError):
            content = json.loads(path.read_text())
            if isinstance(content, dict):
                yield content


def _copy(entry: Found, job_id: str, target: Store) -> bool:
    """A job's folder is there as a whole or not at all; false: it was there already."""
    result = {**entry.result, "job": {**entry.result["job"], "id": job_id}}
    there = target.result(job_id)
    if there is not None:
        if there != result:
            raise DemoError(f"{target.out} has another result of {job_id} already; choose another folder by -o", EXIT_SETUP)
        return False
    partial = target.out / PARTIAL
    shutil.rmtree(partial, ignore_errors=True)
    try:
        shutil.copytree(entry.store.folder(entry.job.id), partial, symlinks=True)
        if job_id != entry.job.id:
            write_json(partial / RESULT, result)
        target.drop(job_id)
        partial.rename(target.folder(job_id))
    except OSError as cause:
        shutil.rmtree(partial, ignore_errors=True)
        raise DemoError(
            f"{target.folder(job_id)} cannot be written ({cause.strerror}); see to it and give the same command again"
        ) from cause
    return True
