# SPDX-License-Identifier: LGPL-2.1-or-later
"""Keeps measurements apart: one batch or experiment at a time on a machine, one demo per cache folder.

There is not one lock for each CPU. The programs that a batch does not measure run on all the other CPUs, and the loops
of rt-app are measured while all the other CPUs are busy. Also, only one CPU can have a scheduling domain by itself.

The lock of the machine is a name in the kernel's abstract socket space. Every user reaches it, no file stays behind,
and it disappears with its process. A second name next to it states who measures what. Reading it needs no connection,
so no connection is left waiting at the holder.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from ..errors import EXIT_SETUP, LabError
from ..paths import cache_folder
from .cgroups import spell_cpus

NAME = "dlex-bench-measures"
WAITING_S = 0.5

Say = Callable[[str], None]


@contextlib.contextmanager
def only_measurement(cpus: Collection[int], waiting: Say | None = None) -> Iterator[None]:
    """Keeps the machine to ourselves while the block runs, for measuring on `cpus`.

    If somebody else has the machine, raises LabError. With `waiting`, waits instead, and calls it once with the reason.
    """
    with contextlib.ExitStack() as stack:
        while not _held(stack, NAME):
            if not waiting:
                advice = "wait until that has ended, as run, run-job, seek and latency do with --wait"
                raise LabError(f"{_reason()}; {advice}", EXIT_SETUP)
            waiting(f"waiting: {_reason()}")
            waiting = _silent
            time.sleep(WAITING_S)
        _held(stack, f"{NAME} {spell_cpus(cpus)} {os.getpid()} {_pid_space()}")
        yield


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


def _silent(_text: str) -> None:
    pass


def _held(stack: contextlib.ExitStack, name: str) -> bool:
    holder = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        holder.bind(f"\0{name}")
    except OSError:  # somebody has the name; or it is too long, and then those who ask learn less
        holder.close()
        return False
    stack.enter_context(holder)
    return True


def _reason() -> str:
    """Returns who measures what. Possibly no holder is found, because it has just come or is just going."""
    known = [words for words in _names() if words[0] == NAME and len(words) == 4]
    cpus, pid, space = known[0][1:] if known else ("", "", "")
    what = f"CPU {cpus}" if cpus.isdecimal() else f"the CPUs {cpus}" if cpus else "this machine"
    who = f"process {pid}" if space == _pid_space() else "a process in another PID namespace" if known else "another process"
    return f"{what} {'are' if ',' in cpus else 'is'} being measured by {who}; a machine allows one measurement at a time"


def _names() -> Iterator[list[str]]:
    """Yields the names in the abstract socket space, each split into words."""
    for line in Path("/proc/net/unix").read_text(errors="replace").splitlines():
        fields = line.split(maxsplit=7)
        if len(fields) == 8 and fields[7].startswith("@"):
            yield fields[7][1:].split(" ")


def _pid_space() -> str:
    """Returns the PID namespace. PIDs compare only within one PID namespace."""
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return "unknown"
