# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds this project's folder, the cache folder, and programs: built ones by path, installed ones by name."""

import contextlib
import os
import shutil
from pathlib import Path

from .errors import EXIT_SETUP, LabError, NotInstalled

# The first line of the mark (patches/cache.sh).
MARK = "dlex made this folder; ./dlex clean --cache deletes it."
# Tests name a folder with programs of their own.
PROJECT = Path(os.environ.get("DLEX_BENCH_ROOT") or Path(__file__).resolve().parents[2])


def cache_folder() -> Path:
    """Returns the cache folder, which is the same as the launcher's."""
    named = os.environ.get("DLEX_CACHE")
    return Path(named) if named else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dlex"


def made_folder(name: str) -> Path:
    """Returns the folder of this name in the cache. Makes it with the mark by which ./dlex clean --cache recognises it."""
    folder = cache_folder() / name
    folder.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        folder.mkdir()
        (folder / ".made-by-dlex").write_text(f"{MARK}\n{name}\n")
    return folder


def require_program(path: Path) -> Path:
    if not os.access(path, os.X_OK):
        raise LabError(f"{path} is missing; build it with `./dlex build`", EXIT_SETUP)
    return path


def require_installed(program: str, package: str) -> str:
    path = shutil.which(program)
    if not path:
        raise NotInstalled(program, package)
    return path
