# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds this project's folder, from any current folder. Tests name a folder with programs of their own."""

import os
from pathlib import Path

from .errors import EXIT_SETUP, LabError

PROJECT = Path(os.environ.get("DLEX_BENCH_ROOT") or Path(__file__).resolve().parents[2])


def require_program(path: Path) -> Path:
    if not os.access(path, os.X_OK):
        raise LabError(f"{path} is missing; build it with `./dlex build`", EXIT_SETUP)
    return path
