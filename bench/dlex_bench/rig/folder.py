# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes private folders in memory and removes them after use. Those left by a kill -9 are removed at the next start."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ..errors import EXIT_SETUP, LabError

MEMORY = Path("/dev/shm")
PREFIX = f"dlex-stage-{os.getuid()}-"


def _base() -> Path:
    """Returns where the folders are made: in memory, if that is possible.

    On a disk, the pages of a mapped screen would be locked now and then while they are written back.
    """
    return MEMORY if os.access(MEMORY, os.W_OK | os.X_OK) else Path(tempfile.gettempdir())


@contextlib.contextmanager
def private_folder() -> Iterator[Path]:
    """Makes a folder of mode 0700, and removes it when the block is left.

    Its owner holds a lock on it, so that a process that finds it unlocked may remove it.
    """
    base = _base()
    sweep(base)
    try:
        path, descriptor = _make(base)
    except OSError as cause:
        raise LabError(f"no folder can be made in {base} ({cause.strerror}); make room there", EXIT_SETUP) from cause
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(descriptor)


def _make(base: Path) -> tuple[Path, int]:
    while True:
        path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))
        # Another process's sweep can come between the two steps. Then the folder is gone, or a removed one is locked.
        with contextlib.suppress(FileNotFoundError):
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if path.exists():
                return path, descriptor
            os.close(descriptor)


def sweep(base: Path) -> None:
    """Removes the folders of owners that no longer run."""
    for path in base.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path)
            finally:
                os.close(descriptor)
