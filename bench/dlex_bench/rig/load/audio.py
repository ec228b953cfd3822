# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a thread under SCHED_FIFO that computes 1 ms of 5, as a program does that makes sound with little delay."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from .running import RunningLoad, script

# PulseAudio's own, by default. The observer of the screen has a higher one, so that this load does not make it look too late.
PRIORITY = 5
WORK_US, PERIOD_US = 1_000, 5_000


@contextlib.contextmanager
def audio(folder: Path, cpus: Collection[int] | None, enter: Callable[[], None] | None = None) -> Iterator[RunningLoad]:
    """Runs the thread while the block runs, which begins after its first activation."""
    arguments = [str(number) for number in (PRIORITY, WORK_US, PERIOD_US)]
    with script("audio", "beat.py", arguments, folder, cpus, enter) as running:
        running.wait_for_count()
        yield RunningLoad(running.check, lambda: running.counts()[0], "activations on time", lambda: running.counts()[1])
