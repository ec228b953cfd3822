# SPDX-License-Identifier: LGPL-2.1-or-later
"""Records when chosen threads are woken and when they get a CPU, with an instance of the kernel's tracer of its own.

The kernel writes the records into memory. `drain` passes them on as text; run_delay.py reads it.
"""

from __future__ import annotations

import contextlib
import errno
import gzip
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import EXIT_SETUP, LabError
from .journal import journal, uninterrupted
from .tracefs import mounted_tracefs

# Memory for each CPU: some 100,000 records.
BUFFER_KB = 8192
CHUNK = 1 << 16
CLOCK = "mono"  # CLOCK_MONOTONIC
NS_PER_US = 1000
WAKING, SWITCH = "events/sched/sched_waking", "events/sched/sched_switch"
LOST = re.compile(r"^(?:overrun|commit overrun|dropped events): (\d+)$", re.MULTILINE)
# Gets the text of records.
Write = Callable[[bytes], Any]
TAKEN = "another run records context switches; wait until that has ended"


@dataclass(frozen=True)
class RecordingEnd:
    time_us: int  # CLOCK_MONOTONIC, as the records
    lost: int  # records


class SwitchRecording:
    """The instance, as long as it is there. Nothing is recorded before `begin`."""

    def __init__(self, instance: Path, write: Write) -> None:
        self._instance = instance
        self._write = write
        self._pipe = os.open(instance / "trace_pipe", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)

    def begin(self, threads_now: Callable[[], Iterable[int]]) -> None:
        """Begins to record these threads, and those that they start from now on.

        `threads_now` returns the threads; it is called until it returns no new ones.
        """
        known: set[int] = set()
        while new := set(threads_now()) - known:
            self._add(new)
            known |= new
        for event in (WAKING, SWITCH):
            (self._instance / event / "enable").write_text("1")

    def _add(self, threads: Iterable[int]) -> None:
        """Adds threads to those that are recorded. Python's own files cannot do this: they cut off the file, or seek in it."""
        file = os.open(self._instance / "set_event_pid", os.O_WRONLY | os.O_CLOEXEC)
        try:
            for thread in threads:
                os.write(file, f"{thread}\n".encode())
        finally:
            os.close(file)

    def drain(self) -> None:
        """Passes on what is recorded so far. Never waits."""
        while True:
            try:
                text = os.read(self._pipe, CHUNK)
            except BlockingIOError:
                return
            if not text:  # nothing is left, and nothing more is recorded
                return
            self._write(text)

    def end(self) -> RecordingEnd:
        """Ends recording and passes on the rest."""
        (self._instance / "tracing_on").write_text("0")
        time_us = recorded_now_us()
        self.drain()
        return RecordingEnd(time_us, self.lost())

    def lost(self) -> int:
        """Returns how many records the kernel has lost so far."""
        return sum(lost_records(file.read_text()) for file in sorted(self._instance.glob("per_cpu/cpu*/stats")))

    def close(self) -> None:
        os.close(self._pipe)


def recorded_now_us() -> int:
    """Returns the time that a record of this moment would have."""
    return time.monotonic_ns() // NS_PER_US


def require_recording() -> None:
    """Raises LabError if the kernel does not let us record, before anything is measured."""
    with _own_instance():
        pass


def lost_records(stats: str) -> int:
    """Returns how many records one CPU has lost, from the text of its file `stats`."""
    return sum(int(found) for found in LOST.findall(stats))


@contextlib.contextmanager
def recorded_switches(path: Path) -> Iterator[SwitchRecording]:
    """Makes an instance for the block, whose records go to the compressed file `path`, and removes it at the end.

    If this process is killed, the next run or `repair` removes it. Raises LabError if the kernel does not let us record, and
    OSError if the file cannot be written.
    """
    with (
        _own_instance() as instance,
        gzip.open(path, "wb", compresslevel=1) as file,
        contextlib.closing(SwitchRecording(instance, file.write)) as recording,
    ):
        yield recording


@contextlib.contextmanager
def passed_switches(write: Write) -> Iterator[SwitchRecording]:
    """Does the same, but passes the text of the records to `write`, in pieces that may end within a line."""
    with _own_instance() as instance, contextlib.closing(SwitchRecording(instance, write)) as recording:
        yield recording


@contextlib.contextmanager
def _own_instance() -> Iterator[Path]:
    with contextlib.ExitStack() as stack:
        try:
            root = stack.enter_context(mounted_tracefs())
            instance = root / "instances" / f"dlex-{os.getpid()}"
            steps = stack.enter_context(journal("trace", TAKEN))
            with uninterrupted():
                steps.make_instance(instance)
            _set_up(instance)
        except OSError as cause:
            raise LabError(_refusal(cause), EXIT_SETUP) from cause
        yield instance


def _set_up(instance: Path) -> None:
    for event in (WAKING, SWITCH):
        (instance / event / "enable").write_text("0")  # raises FileNotFoundError where the kernel has no such event
    (instance / "trace_clock").write_text(CLOCK)
    (instance / "buffer_size_kb").write_text(str(BUFFER_KB))
    (instance / "options/event-fork").write_text("1")


def _refusal(cause: OSError) -> str:
    if cause.errno in (errno.EPERM, errno.EACCES):
        reason, remedy = "only root may record them, outside of a container", "run it with sudo"
    elif cause.errno in (errno.ENODEV, errno.ENOENT, errno.ENOSYS):
        reason, remedy = "it has no tracefs with sched_waking and sched_switch", "use one with CONFIG_FTRACE"
    else:
        reason, remedy = f"{cause.filename}: {cause.strerror}", "see whether another program uses the tracer"
    return f"the kernel does not record context switches for us ({reason}); {remedy}"
