# SPDX-License-Identifier: LGPL-2.1-or-later
"""calibration-MACHINE.json: the budget that stands for the seed's on this machine, and what it was found from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..errors import EXIT_SETUP, DemoError
from ..files import write_json

# As the file was called when a folder had one: it holds for the machine that it names.
NAMELESS = "calibration.json"


def read_calibration(batch: Path, machine: str) -> dict[str, Any] | None:
    """None before there is one for this machine."""
    own = _read(_place(batch, machine))
    return _read_nameless(batch, machine) if own is None else own


def write_calibration(batch: Path, machine: str, content: dict[str, Any]) -> None:
    write_json(_place(batch, machine), content)
    _forget_nameless(batch, machine)


def forget_calibration(batch: Path, machine: str) -> None:
    _place(batch, machine).unlink(missing_ok=True)
    _forget_nameless(batch, machine)


def calibrated_budget_is_known(batch: Path, machine: str) -> bool:
    return (read_calibration(batch, machine) or {}).get("budget_ms") is not None


def calibrated_budget_ms(batch: Path, machine: str, period_ms: float) -> float:
    """Of a period of `period_ms`: another period gets the same part of the CPU."""
    found = read_calibration(batch, machine)
    if not found or found.get("budget_ms") is None:
        raise DemoError(
            f"the job's budget is the calibrated one, and {_place(batch, machine)} tells none; call `dlex-bench calibrate`",
            EXIT_SETUP,
        )
    return float(found["budget_ms"]) * period_ms / float(found["period_ms"])


def _place(batch: Path, machine: str) -> Path:
    """A file of each machine: the budget that fits one fits no other, and hosts that share a folder calibrate at once."""
    return batch / f"calibration-{machine}.json"


def _read_nameless(batch: Path, machine: str) -> dict[str, Any] | None:
    known = _read(batch / NAMELESS)
    return known if known and known.get("machine") == machine else None


def _forget_nameless(batch: Path, machine: str) -> None:
    if _read_nameless(batch, machine) is not None:
        (batch / NAMELESS).unlink(missing_ok=True)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        content: dict[str, Any] = json.loads(path.read_text())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as cause:
        raise DemoError(f"{path} cannot be read ({cause}); remove it and calibrate again", EXIT_SETUP) from cause
    return content
