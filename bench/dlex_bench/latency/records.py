# SPDX-License-Identifier: LGPL-2.1-or-later
"""Stores a latency experiment in a folder: the plan, and a file for every cell that is done."""

from __future__ import annotations

import contextlib
import fcntl
import json
import platform
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import EXIT_SETUP, LabError
from ..files import whole_file, write_json
from ..machine.facts import machine_facts
from .plan import Cell, LatencyPlan

Samples = NDArray[np.float64]

PLAN, RECORDS = "plan.json", "records"
HEADER = "duration_us,caught_ns,noticed_ns,raw_ns"
COLUMNS = HEADER.split(",")


class CellStore:
    """Stores each cell as soon as it is done. Refuses a folder of another plan or of another machine."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.records = out / RECORDS

    @contextlib.contextmanager
    def opened(self, plan: LatencyPlan) -> Iterator[None]:
        """Opens the folder for this process alone while the block runs."""
        try:
            self._prepare()
            lock = (self.out / ".lock").open("w")
        except OSError as cause:
            raise _refusal(f"{self.out} cannot be written ({cause.strerror})") from cause
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as cause:
                raise _refusal(f"another experiment is writing to {self.out}") from cause
            self._claim(plan)
            yield

    def _prepare(self) -> None:
        if self.out.exists() and not self.out.is_dir():
            raise _refusal(f"{self.out} is not a directory")
        if self.records.exists() and not (self.out / PLAN).exists():
            raise _refusal(f"{self.out} holds records of something else")
        self.records.mkdir(parents=True, exist_ok=True)

    def _claim(self, plan: LatencyPlan) -> None:
        wanted: dict[str, Any] = {"plan": json.loads(json.dumps(asdict(plan))), "machine": _machine()}
        path = self.out / PLAN
        if not path.exists():
            write_json(path, wanted)
            return
        try:
            found = json.loads(path.read_text())
        except ValueError:
            found = None
        if found != wanted:
            raise _refusal(f"{self.out} holds an experiment with other options or from another machine")

    def done(self) -> frozenset[str]:
        return frozenset(path.stem for path in self.records.glob("*.csv"))

    def keep(self, cell: Cell, text: str) -> None:
        """Writes the cell's record completely or not at all."""
        with whole_file(self.records / f"{cell.name}.csv") as partial:
            partial.write_text(text)

    def read(self, load: int, policy: str, kind: str) -> dict[str, Samples] | None:
        """Returns all samples of a curve by column, or None if there are none."""
        paths = sorted(self.records.glob(f"*-load{load}-{policy}-{kind}.csv"))
        if not paths:
            return None
        rows = np.concatenate([np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2) for path in paths])
        return dict(zip(COLUMNS, rows.T, strict=True))


def is_record(text: str, count: int) -> bool:
    lines = text.splitlines()
    return lines[:1] == [HEADER] and len(lines) == count + 1


def _refusal(reason: str) -> LabError:
    return LabError(f"{reason}; choose another folder with --out=", EXIT_SETUP)


def _machine() -> dict[str, Any]:
    """Returns the facts by which this experiment recognises a machine."""
    facts = machine_facts()
    return {"cpu": facts.cpu, "cpus": facts.cpus, "kernel": facts.kernel, "name": platform.node()}
