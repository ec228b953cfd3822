# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a job needs to know of the batch it belongs to, and of the machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..paths import require_program


@dataclass(frozen=True)
class Context:
    root: Path  # of the project: programs are found in its build/release, recipes in its media
    batch: Path  # where calibrations lie (calibration-MACHINE.json, rt-app-MACHINE.json)
    machine: str = ""  # the id of machines/<id>.json
    commit: str | None = None
    tick: Callable[[], None] = lambda: None  # called about twice a second while something plays

    def program(self, place: str) -> Path:
        """One of ours, by its place in the build."""
        return require_program(self.root / "build/release" / place)


def loops_file(batch: Path, machine: str) -> Path:
    """How long rt-app's loops take; of each machine its own, as one loop takes another time on another machine."""
    return batch / f"rt-app-{machine}.json"
