# SPDX-License-Identifier: LGPL-2.1-or-later
"""Private folders in memory that are gone afterwards; those left by a kill -9 are removed at the next start."""

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
    """In memory: written back to a disk, the pages of a mapped screen would be locked now and then."""
    return MEMORY if os.access(MEMORY, os.W_OK | os.X_OK) else Path(tempfile.gettempdir())


@contextlib.contextmanager
def private_folder() -> Iterator[Path]:
    """A folder of mode 0700. Its owner holds a lock on it, so that who finds it unlocked may remove it."""
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
        # Another's sweep can come between the two steps; then there is nothing to lock, or the lock of a removed one.
        with contextlib.suppress(FileNotFoundError):
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if path.exists():
                return path, descriptor
            os.close(descriptor)


def sweep(base: Path) -> None:
    """Removes what owners that are gone have left."""
    for path in base.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path)
            finally:
                os.close(descriptor)
