# SPDX-License-Identifier: LGPL-2.1-or-later
"""The cache folder, which is the same as the launcher's, and the locks of commands that must not run twice at once."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from .errors import EXIT_SETUP, LabError


def cache_folder() -> Path:
    named = os.environ.get("DLEX_CACHE")
    return Path(named) if named else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dlex"


@contextlib.contextmanager
def only_one(what: str) -> Iterator[None]:
    """Holds the lock of `what` while the block runs. Raises LabError if another process holds it.

    Two at once would measure each other.
    """
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / f"{what}.lock").open("w")
    except OSError as cause:
        raise LabError(f"{folder} cannot be written ({cause.strerror}); set DLEX_CACHE to another folder", EXIT_SETUP) from cause
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as cause:
            raise LabError(f"another {what} is running; wait until it has ended", EXIT_SETUP) from cause
        yield
