# SPDX-License-Identifier: LGPL-2.1-or-later
"""Keeps calibration-MACHINE.json: this machine's equivalent of the seed's budget, and the data it was found from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..errors import EXIT_SETUP, LabError
from ..files import write_json


def read_calibration(batch: Path, machine: str) -> dict[str, Any] | None:
    """Returns the calibration of this machine; None before there is one."""
    return _read(_file_of(batch, machine))


def write_calibration(batch: Path, machine: str, content: dict[str, Any]) -> None:
    write_json(_file_of(batch, machine), content)


def forget_calibration(batch: Path, machine: str) -> None:
    _file_of(batch, machine).unlink(missing_ok=True)


def calibration_files(batch: Path) -> list[Path]:
    """Returns the calibration files of all machines."""
    return sorted(batch.glob("calibration-*.json"))


def calibrated_budget_is_known(batch: Path, machine: str) -> bool:
    return (read_calibration(batch, machine) or {}).get("budget_ms") is not None


def calibrated_budget_ms(batch: Path, machine: str, period_ms: float) -> float:
    """Returns the calibrated budget for a period of `period_ms`. Another period gets the same part of the CPU."""
    found = read_calibration(batch, machine)
    if not found or found.get("budget_ms") is None:
        raise LabError(
            f"the job needs the calibrated budget, but {_file_of(batch, machine)} has none; call `dlex-bench calibrate`",
            EXIT_SETUP,
        )
    return float(found["budget_ms"]) * period_ms / float(found["period_ms"])


def _file_of(batch: Path, machine: str) -> Path:
    """Returns the path of the machine's calibration.

    Each machine has its own file: a budget that fits one machine does not fit another, and hosts that share a folder
    calibrate at the same time.
    """
    return batch / f"calibration-{machine}.json"


def _read(path: Path) -> dict[str, Any] | None:
    try:
        content: dict[str, Any] = json.loads(path.read_text())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as cause:
        raise LabError(f"{path} cannot be read ({cause}); remove it and calibrate again", EXIT_SETUP) from cause
    return content
