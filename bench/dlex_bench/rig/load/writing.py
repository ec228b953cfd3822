# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs programs that write files and wait until they are on the disk, as a database or a backup does."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from ...errors import LabError
from .running import RunningLoad, script

BLOCK_BYTES = 256 << 10
WRITER_BYTES = 16 << 20
# What must stay free beside the files, so that nobody else's write fails because of this load.
SPARE_BYTES = 64 << 20


@contextlib.contextmanager
def writing(
    writers: int, disk: Path, folder: Path, cpus: Collection[int] | None, enter: Callable[[], None] | None = None
) -> Iterator[RunningLoad]:
    """Runs `writers` programs while the block runs, which begins when each has written something.

    Their files are on the disk of `disk` and have no names; `folder` is for their counts. Raises LabError if that disk has too
    little room.
    """
    require_room_for(writers, disk)
    arguments: list[str | Path] = [disk, str(BLOCK_BYTES), str(WRITER_BYTES)]
    with contextlib.ExitStack() as stack:
        running = [
            stack.enter_context(script(f"io-{number + 1}", "writer.py", arguments, folder, cpus, enter))
            for number in range(writers)
        ]
        for writer in running:
            writer.wait_for_count()

        def check() -> None:
            for writer in running:
                writer.check()

        yield RunningLoad(check, lambda: sum(writer.counts()[0] for writer in running), "writes")


def require_room_for(writers: int, disk: Path) -> None:
    needed = writers * WRITER_BYTES + SPARE_BYTES
    if shutil.disk_usage(disk).free < needed:
        raise LabError(f"the load io needs {needed >> 20} MiB of free room on the disk of {disk}; make room there")
