# SPDX-License-Identifier: LGPL-2.1-or-later
"""Child processes that sit on given CPUs and never outlive us.

Children stay in our session, because under autogroup nice values count only between the processes of one session.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import resource
import select
import signal
import subprocess
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import IO, NoReturn

from .errors import EXIT_SETUP, EXIT_SIGNAL, Interrupted, LabError, TimedOut

PR_SET_PDEATHSIG = 1
GRACE_S = 10.0
POLL_S = 0.5
CPUCLOCK_SCHED = 2  # the kernel's precise clock of a process's CPU time
ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_libc = ctypes.CDLL(None, use_errno=True)


def choose_cpus(wanted: int | None = None) -> tuple[int, frozenset[int]]:
    """Returns the CPU that is measured, and the CPUs for everything else (the same one if there is no other).

    `wanted` is the measured CPU. By default it is the highest allowed one: interrupts mostly go to the lowest.
    """
    allowed = os.sched_getaffinity(0)
    cpu = max(allowed) if wanted is None else wanted
    if cpu not in allowed:
        names = ", ".join(map(str, sorted(allowed)))
        raise LabError(f"CPU {cpu} is not one of the allowed CPUs ({names}); choose one of these", EXIT_SETUP)
    return cpu, frozenset(allowed - {cpu} or allowed)


@contextlib.contextmanager
def aside(cpus: Collection[int]) -> Iterator[None]:
    """Keeps this process on `cpus`, away from the measured CPU, while the block runs. Children have CPUs of their own."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _placement(
    cpus: Collection[int] | None, nice: int, enter: Callable[[], None] | None, orphaned: int
) -> Callable[[], None]:
    parent = os.getpid()

    def place() -> None:
        _libc.prctl(PR_SET_PDEATHSIG, orphaned)
        if os.getppid() != parent:
            os._exit(EXIT_SIGNAL)  # the parent died before the prctl, so no signal will come
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING_SIGNALS)
        if enter:
            enter()  # before the affinity, which must lie within the group's CPUs
        if cpus is not None:
            os.sched_setaffinity(0, cpus)
        os.nice(nice)
        # A core file of an aborted player takes longer to write than the demo takes.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    return place


@contextlib.contextmanager
def child(
    argv: Sequence[str | Path],
    *,
    cpus: Collection[int] | None,
    nice: int = 0,
    stdout: int | IO[bytes] = subprocess.DEVNULL,
    stderr: int | IO[bytes] = subprocess.DEVNULL,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    enter: Callable[[], None] | None = None,
    orphaned: int = signal.SIGKILL,
) -> Iterator[subprocess.Popen[bytes]]:
    """Starts a process on `cpus` (None: wherever we may run) and ends it at the latest when the block is left.

    `env` is its whole environment; None: ours. `enter` is called in the child before the child becomes its program, and
    may put the child into a control group. `orphaned` is the signal that the child gets when we are killed ourselves. A
    child that would leave something behind needs a signal that it can catch.
    """
    process = None
    # A signal in the middle of the start would leave a child that nobody knows about.
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)
    try:
        process = subprocess.Popen(
            [str(arg) for arg in argv],
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            env=env,
            cwd=cwd,
            preexec_fn=_placement(cpus, nice, enter, orphaned),
        )
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING_SIGNALS)  # a signal that waited is raised here
        yield process
    finally:
        if process:
            end(process)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING_SIGNALS)


def own_environment() -> dict[str, str]:
    """Returns our environment without the user of sudo.

    dlex-sched would run its command and write its files as that user, who may not be able to write to our folders.
    """
    return {name: value for name, value in os.environ.items() if name != "SUDO_UID"}


def end(process: subprocess.Popen[bytes], signum: int = signal.SIGTERM) -> None:
    """Sends `signum`, waits for up to GRACE_S, then kills the process. Harmless on a process that has ended."""
    if process.poll() is None:
        process.send_signal(signum)
        try:
            process.wait(GRACE_S)
        except BaseException as cause:
            process.kill()
            process.wait()
            if not isinstance(cause, subprocess.TimeoutExpired):
                raise
    for pipe in (process.stdout, process.stderr):
        if pipe:
            pipe.close()


def wait_for(
    process: subprocess.Popen[bytes],
    limit_s: float,
    tick: Callable[[], None],
    what: str,
    at_end: Callable[[], None] | None = None,
) -> None:
    """Waits until the process has ended by itself. Raises TimedOut after `limit_s`.

    `tick` is called every half a second; an exception from it ends the waiting. `at_end` is called when all threads
    have ended and the kernel still knows the CPU time of the main thread.
    """
    limit = time.monotonic() + limit_s
    while not has_ended(process, POLL_S):
        if time.monotonic() > limit:
            raise TimedOut(what, limit_s)
        tick()
    if at_end:
        at_end()
    process.wait()


def has_ended(process: subprocess.Popen[bytes], within_s: float = 0) -> bool:
    """Returns whether all threads of the process have ended, or end within `within_s`.

    The process is not reaped: its /proc entry stays.
    """
    if process.returncode is not None:
        return True
    end = os.pidfd_open(process.pid)
    try:
        poll = select.poll()
        poll.register(end, select.POLLIN)
        return bool(poll.poll(1e3 * within_s))
    finally:
        os.close(end)


def children_cpu_s() -> float:
    """Returns the CPU time of the children that have been waited for, and of their children.

    The difference between before and after a wait is the CPU time of that child.
    """
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def cpu_time_s(pid: int) -> float | None:
    """Returns the CPU time that a process has used, with that of threads that have ended; None: there is no such process."""
    try:
        return time.clock_gettime((~pid << 3) | CPUCLOCK_SCHED)  # as clock_getcpuclockid(3) makes it; Python lacks that
    except OSError:
        return None


def last_words(log: Path) -> str:
    """Returns the program's last sentence that begins with its name, without the name; else the last line of `log`."""
    lines = log.read_text(errors="replace").strip().splitlines()
    named = [found[1] for line in lines if (found := re.match("dlex-[a-z]+: (.+)", line))]
    return (named or lines or [""])[-1]


@contextlib.contextmanager
def signals_as_exceptions() -> Iterator[None]:
    """Turns the ending signals into Interrupted. A second signal is ignored, because we are already tidying up."""

    def interrupt(signum: int, _frame: FrameType | None) -> NoReturn:
        for later in ENDING_SIGNALS:
            signal.signal(later, signal.SIG_IGN)
        raise Interrupted(signum)

    before = {signum: signal.signal(signum, interrupt) for signum in ENDING_SIGNALS}
    try:
        yield
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)
