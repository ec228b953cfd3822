# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the room on the disk of the results. If it is full, raises DiskFull; nothing is lost or half written."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from .errors import LabError

# What a job may write: the rows of a long film, the samples of the screen, and rt-app's logs.
ROOM_BYTES = 16 << 20


class DiskFull(LabError):
    """Concerns the whole batch, because the next job would fail in the same way."""

    def __init__(self, out: Path) -> None:
        super().__init__(
            f"the disk of {out} is full; no result was lost: free about {ROOM_BYTES >> 20} MiB and repeat the command"
        )


def no_space_left(cause: OSError) -> bool:
    """Returns True for ENOSPC or EDQUOT, on any file system."""
    return cause.errno in (errno.ENOSPC, errno.EDQUOT)


def is_full_disk(cause: OSError, out: Path) -> bool:
    """Returns whether the disk of the results caused the error.

    /run, /dev/shm or the cache may be full as well, and control groups return ENOSPC if they cannot grant a request.
    """
    if not no_space_left(cause):
        return False
    return cause.errno == errno.EDQUOT or _is_below(cause.filename, out) or not _has_room(out)


def require_room(out: Path) -> None:
    if not _has_room(out):
        raise DiskFull(out)


def _has_room(out: Path) -> bool:
    disk = os.statvfs(out)
    has_inodes = disk.f_favail > 0 or disk.f_files == 0  # some file systems do not count them
    return has_inodes and shutil.disk_usage(out).free >= ROOM_BYTES


def _is_below(path: object, out: Path) -> bool:
    return isinstance(path, str) and Path(path).resolve().is_relative_to(out.resolve())


@contextlib.contextmanager
def telling_full_disk(out: Path) -> Iterator[None]:
    """Raises DiskFull if a write in the block fails because the disk of the results is full.

    If another file system is full, raises LabError.
    """
    try:
        yield
    except OSError as cause:
        if is_full_disk(cause, out):
            raise DiskFull(out) from cause
        if no_space_left(cause):
            raise LabError(full_elsewhere(cause, out)) from cause
        raise


def full_elsewhere(cause: OSError, out: Path) -> str:
    where = cause.filename or "a file elsewhere (in /run, /dev/shm, the cache or a control group)"
    return f"there is room on the disk of {out}, but none for {where}; make room there and repeat the command"
