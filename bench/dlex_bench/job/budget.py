# SPDX-License-Identifier: LGPL-2.1-or-later
"""Keeps calibration-MACHINE.json: this machine's equivalent of the seed's budget, and the data it was found from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from pydantic import Field

from ..agenda.job import JobClip
from ..errors import EXIT_SETUP, LabError
from ..files import write_json
from ..schema import Amount, Count, Part, Positive, Stored

VERSION: Literal[1] = 1


class CalibrationTry(Stored):
    """One play of the baseline with a budget."""

    share: Part  # the budget as a part of the period
    budget_ms: Amount | None = None
    frames: Count | None = None  # pictures of the part that was played
    dropped: Count | None = None
    drops_fraction: Part
    skew_ms_mean: float | None = None  # A-V > 0: the video is late; null: nobody knows the sound's time
    skew_ms_sd: Amount | None = None
    # CPU time of a job of rt-app's tasks, by their names; null: not known
    rtapp_work_ms: dict[str, float | None] = Field(default_factory=dict)
    work_held: bool | None = None  # whether rt-app's jobs took what they should; null: not known
    counts: bool = True  # False: the load was not held, and the try is repeated


class CalibrationSpread(Stored):
    """The plays with the budget that was chosen."""

    plays: Count | None = None
    drops_fraction_mean: Part | None = None
    drops_fraction_sd: Amount | None = None  # null: of a single play
    within_tolerance: bool = True
    work_held: bool | None = None  # whether rt-app's jobs took what they should in all plays; null: not known


class Calibration(Stored):
    """What calibration-MACHINE.json holds: the search for the budget, finished or not."""

    version: Literal[1] = VERSION
    machine: str
    clip: JobClip | None = None
    sha256: str | None = None  # of the clip; absent from older versions
    cpu: Count | None = None  # as the agenda has it; null: the laboratory chose
    baseline: str | None = None  # the player that was played
    period_ms: Positive = 40.0
    aim: Part | None = None  # the part of the pictures that the baseline should drop
    tolerance: Amount | None = None
    budget_ms: Positive | None = None  # null: the search is not finished
    spread: CalibrationSpread | None = None  # null: the search is not finished
    tries: tuple[CalibrationTry, ...] = ()


def read_calibration(batch: Path, machine: str) -> Calibration | None:
    """Returns the calibration of this machine; None before there is one."""
    path = _file_of(batch, machine)
    return parse_calibration(path) if os.path.lexists(path) else None


def parse_calibration(path: Path) -> Calibration:
    """Raises LabError, which names the file and the field, if the file is not the calibration of the machine in its name."""
    advice = "move it away and calibrate again"
    content = Calibration.read(path, advice, EXIT_SETUP)
    if path != _file_of(path.parent, content.machine):
        raise LabError(f"{path} cannot be read: machine: it is the calibration of {content.machine}; {advice}", EXIT_SETUP)
    return content


def write_calibration(batch: Path, machine: str, content: Calibration) -> None:
    write_json(_file_of(batch, machine), content.to_json())


def forget_calibration(batch: Path, machine: str) -> None:
    _file_of(batch, machine).unlink(missing_ok=True)


def calibration_files(batch: Path) -> list[Path]:
    """Returns the calibration files of all machines."""
    return sorted(batch.glob("calibration-*.json"))


def calibrated_budget_is_known(batch: Path, machine: str) -> bool:
    found = read_calibration(batch, machine)
    return found is not None and found.budget_ms is not None


def calibrated_budget_ms(batch: Path, machine: str, period_ms: float) -> float:
    """Returns the calibrated budget for a period of `period_ms`. Another period gets the same part of the CPU."""
    found = read_calibration(batch, machine)
    if found is None or found.budget_ms is None:
        raise LabError(
            f"the job needs the calibrated budget, but {_file_of(batch, machine)} has none; call `dlex-bench calibrate`",
            EXIT_SETUP,
        )
    return found.budget_ms * period_ms / found.period_ms


def _file_of(batch: Path, machine: str) -> Path:
    """Returns the path of the machine's calibration.

    Each machine has its own file: a budget that fits one machine does not fit another, and hosts that share a folder
    calibrate at the same time.
    """
    return batch / f"calibration-{machine}.json"
