# SPDX-License-Identifier: LGPL-2.1-or-later
"""calibration.json: the budget that stands for the seed's on this machine, and what it was found from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..errors import EXIT_SETUP, DemoError
from ..summary import write_json

CALIBRATION = "calibration.json"


def read_calibration(batch: Path) -> dict[str, Any] | None:
    """None before there is one."""
    path = batch / CALIBRATION
    try:
        content: dict[str, Any] = json.loads(path.read_text())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as cause:
        raise DemoError(f"{path} cannot be read ({cause}); remove it and calibrate again", EXIT_SETUP) from cause
    return content


def write_calibration(batch: Path, content: dict[str, Any]) -> None:
    write_json(batch / CALIBRATION, content)


def forget_calibration(batch: Path) -> None:
    (batch / CALIBRATION).unlink(missing_ok=True)


def calibrated_budget_is_known(batch: Path) -> bool:
    return (read_calibration(batch) or {}).get("budget_ms") is not None


def calibrated_budget_ms(batch: Path, period_ms: float) -> float:
    """Of a period of `period_ms`: another period gets the same part of the CPU."""
    found = read_calibration(batch)
    if not found or found.get("budget_ms") is None:
        raise DemoError(
            f"the job's budget is the calibrated one, and {batch / CALIBRATION} tells none; call `dlex-bench calibrate`",
            EXIT_SETUP,
        )
    return float(found["budget_ms"]) * period_ms / float(found["period_ms"])
