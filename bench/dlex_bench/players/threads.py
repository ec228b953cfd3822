# SPDX-License-Identifier: LGPL-2.1-or-later
"""A player's threads as the kernel names them, and where those sit that are not measured."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from .player import Adapter

# A clip without sound has no sound thread: then who is there after this long is everybody.
STAND_LIMIT_S = 10.0
POLL_S = 0.005
EXPECTED = "!"


@dataclass(frozen=True)
class Thread:
    tid: int
    name: str
    work: str


def threads_of(adapter: Adapter, pid: int) -> list[Thread]:
    """The main thread comes first. One that ends meanwhile is left out."""
    found = []
    for tid in sorted(_tids(pid)):
        with contextlib.suppress(OSError):
            name = Path(f"/proc/{pid}/task/{tid}/comm").read_text().strip()
            found.append(Thread(tid, name, "main" if tid == pid else _work(adapter, name)))
    return found


def _tids(pid: int) -> list[int]:
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return []


def _work(adapter: Adapter, name: str) -> str:
    works = [work for begin, work in adapter.threads.items() if name.startswith(begin)]
    return works[0].rstrip(EXPECTED) if works else "unknown"


def wait_for_threads(adapter: Adapter, process: subprocess.Popen[bytes]) -> list[Thread]:
    """Returns when those threads stand that play: a policy that is put on earlier would miss some."""
    expected = {begin for begin, work in adapter.threads.items() if work.endswith(EXPECTED)}
    limit = time.monotonic() + STAND_LIMIT_S
    while True:
        threads = threads_of(adapter, process.pid)
        names = [thread.name for thread in threads[1:]]
        if all(any(name.startswith(begin) for name in names) for begin in expected):
            return threads
        if process.poll() is not None or time.monotonic() > limit:
            return threads
        time.sleep(POLL_S)


def move_helpers(adapter: Adapter, pid: int, cpus: Collection[int]) -> list[Thread]:
    """Puts the threads that are not held by a policy onto `cpus`, as dlex-play does with its own; returns them.

    Left behind a policy of fixed priority on the measured CPU, the sound would starve, in a player of one thread only.
    """
    if adapter.reserved_threads(pid) != "main":
        return []
    helpers = threads_of(adapter, pid)[1:]
    for thread in helpers:
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(thread.tid, cpus)
    return helpers
