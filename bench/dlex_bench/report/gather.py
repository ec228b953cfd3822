# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads everything that a result directory holds about a batch, even when parts of it are missing or torn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from ..analysis.results_frame import SHOWN_DIGITS, Row, machines_apart, replaced_films, row
from ..batch.batch_file import MachineFile, StoredAgenda
from ..batch.results import Store
from ..errors import EXIT_SETUP, LabError
from ..job.budget import Calibration, calibration_files, parse_calibration
from ..job.demand import Demands, demand_files, parse_demands
from ..job.result import DONE, FAILED, SKIPPED

Read = TypeVar("Read")


@dataclass(frozen=True)
class Batch:
    """The contents of one result directory.

    `torn` has a sentence for each file that exists but cannot be used. `waiting` has the ids of jobs without a result.
    `apart` has the rows of each machine; its key is a suffix for the names of that machine's sections. No figure is
    made from two machines.
    """

    folder: Path
    rows: list[Row]
    agenda: StoredAgenda = field(default_factory=StoredAgenda)
    created: str | None = None
    commit: str | None = None
    machines: Mapping[str, MachineFile] = field(default_factory=dict)
    calibrations: list[Calibration] = field(default_factory=list)
    demands: list[Demands] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    torn: list[str] = field(default_factory=list)

    @property
    def apart(self) -> dict[str, list[Row]]:
        return machines_apart(self.rows)

    @property
    def mixed(self) -> bool:
        """Returns whether the results come from several machines."""
        return len({one.machine for one in self.rows}) > 1

    @property
    def replaced(self) -> list[str]:
        """Returns a sentence for each film that was replaced under its name while the batch was measured."""
        return [
            f"{name} had {len(contents)} contents ({', '.join(it[:SHOWN_DIGITS] for it in contents)}...); their results are in "
            "sections of their own"
            for name, contents in replaced_films(self.rows).items()
        ]

    @property
    def counts(self) -> str:
        found = [(len(self.of_status(status)), str(status)) for status in (DONE, FAILED, SKIPPED)]
        found.append((len(self.waiting), "not run yet"))
        return ", ".join(f"{count} {what}" for count, what in found if count)

    @property
    def not_done(self) -> list[Row]:
        return [*self.of_status(FAILED), *self.of_status(SKIPPED)]

    def of_status(self, status: str) -> list[Row]:
        return [one for one in self.rows if one.status == status]


def gather(folder: Path) -> Batch:
    if not folder.is_dir():
        raise LabError(f"there is no folder {folder}; name the folder that was given to `run -o`", EXIT_SETUP)
    try:
        return _gathered(Store(folder))
    except OSError as cause:
        raise LabError(f"{folder} cannot be read ({cause.strerror}); check its permissions", EXIT_SETUP) from cause


def _gathered(store: Store) -> Batch:
    torn: list[str] = []
    foreign: dict[str, str] = {}
    results = store.results(torn, foreign)
    torn = [*foreign.values(), *torn]
    if not results:
        raise LabError(_nothing(store.out, torn))
    batch = store.batch()
    rows = [row(result) for result in results.values()]
    return Batch(
        folder=store.out,
        rows=rows,
        agenda=(batch and batch.agenda) or StoredAgenda(),
        created=batch.created if batch else None,
        commit=batch.commit if batch else None,
        machines=store.machines(torn),
        calibrations=_parsed(calibration_files(store.out), parse_calibration, torn),
        demands=_parsed(demand_files(store.out), parse_demands, torn),
        waiting=[job.id for job in store.jobs() if job.id not in {**results, **foreign}],
        torn=torn,
    )


def _nothing(folder: Path, torn: list[str]) -> str:
    if torn:
        return f"none of the {len(torn)} results in {folder} can be used: {torn[0]}"
    return f"{folder} has no results; fill it with `dlex bench run AGENDA -o {folder}`"


def _parsed(paths: Iterable[Path], parse: Callable[[Path], Read], torn: list[str]) -> list[Read]:
    """Reads files of which a merged batch has one for each machine."""
    found = []
    for path in paths:
        try:
            found.append(parse(path))
        except LabError as cause:
            torn.append(str(cause))
    return found
