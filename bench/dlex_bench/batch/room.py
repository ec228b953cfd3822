# SPDX-License-Identifier: LGPL-2.1-or-later
"""Room on the disk of the results. Where there is none, nothing is lost, nothing is half written, and it is told."""

from __future__ import annotations

import contextlib
import errno
import shutil
from collections.abc import Iterator
from pathlib import Path

from ..errors import DemoError

# What a job may write: the rows of a long film, the samples of the screen, and rt-app's logs.
ROOM_BYTES = 16 << 20


class DiskFull(DemoError):
    """The whole batch's affair: the next job would fail alike."""

    def __init__(self, out: Path) -> None:
        super().__init__(
            f"the disk of {out} is full; no result was lost: make some {ROOM_BYTES >> 20} MiB of room and give the "
            "same command again"
        )


def is_full_disk(cause: OSError) -> bool:
    return cause.errno in (errno.ENOSPC, errno.EDQUOT)


def require_room(out: Path) -> None:
    if shutil.disk_usage(out).free < ROOM_BYTES:
        raise DiskFull(out)


@contextlib.contextmanager
def telling_full_disk(out: Path) -> Iterator[None]:
    """Whatever is written while the block runs."""
    try:
        yield
    except OSError as cause:
        if is_full_disk(cause):
            raise DiskFull(out) from cause
        raise
