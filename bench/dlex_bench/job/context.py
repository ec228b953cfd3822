# SPDX-License-Identifier: LGPL-2.1-or-later
"""Holds what a job needs to know about its batch and about the machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ..paths import require_program


@dataclass(frozen=True)
class Context:
    root: Path  # the project's root: programs are in its build/release, recipes in its media
    batch: Path  # where the calibrations are (calibration-MACHINE.json, rt-app-MACHINE.json)
    machine: str = ""  # the id of machines/<id>.json
    commit: str | None = None
    films: dict[str, str] = field(default_factory=dict)  # the SHA-256 of the films of the batch by name; jobs add theirs
    tick: Callable[[], None] = lambda: None  # called about twice a second while something plays

    def program(self, place: str) -> Path:
        """Returns the path of one of the project's programs; `place` is its path within the build."""
        return require_program(self.root / "build/release" / place)


def loops_file(batch: Path, machine: str) -> Path:
    """Returns the file that says how long rt-app's loops take.

    Each machine has its own, because a loop takes a different time on another machine.
    """
    return batch / f"rt-app-{machine}.json"
