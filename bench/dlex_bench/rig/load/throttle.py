# SPDX-License-Identifier: LGPL-2.1-or-later
"""Limits the CPU time of a process without privileges: it is stopped when it has used its share of a period.

The kernel's quota (cpu.max of control groups) does the same, but needs root. The kernel stops a process on the microsecond.
This program does it up to a millisecond late, and the process gets so much less in the next period. Other work on the CPU
may leave the process less than its share: `Supply` says what it got, and what it waited for.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType

from ...processes import has_ended

PERIOD_S = 0.040
# If this program wakes up late, the process may catch up on so many periods, and has to pay back no more than that.
CATCH_UP_PERIODS = 5
# A shorter sleep is not worth its own cost.
SLEEP_MIN_S = 0.0005
TICK_S = 0.5
# A thread that ends takes its waiting time with it. So the threads are looked at this often.
LOOK_S = 0.1


@dataclass(frozen=True)
class Supply:
    """What a process got while it was limited. `rate`: CPU time in each unit of wall time."""

    cpu_s: float
    wall_s: float
    ended: bool  # by itself, before the limit
    waited: float = 0.0  # part of the CPU time that its threads were ready to use, which other threads had
    stopped_s: float = 0.0  # this program was stopped (Ctrl-Z), and the process with it; not a part of wall_s

    @property
    def rate(self) -> float:
        return self.cpu_s / self.wall_s if self.wall_s > 0 else 0.0


class Allowance:
    """How much CPU time the process may have used by now. Pure.

    Each period gives its share, also if several have passed since the last look. What the process did not want in a period
    is lost, as with the kernel's quota.
    """

    def __init__(self, share: float, begun_s: float) -> None:
        self.share_s = share * PERIOD_S  # of one period
        self.period_end_s = begun_s + PERIOD_S
        self.allowed_s = self.share_s

    def go_on(self, now_s: float, used_s: float, *, was_stopped: bool) -> bool:
        """Adds the shares of the periods that have begun. Returns whether there are any."""
        periods = int((now_s - self.period_end_s) // PERIOD_S) + 1
        if periods < 1:
            return False
        self.period_end_s += periods * PERIOD_S
        self.allowed_s += min(periods, CATCH_UP_PERIODS) * self.share_s
        if not was_stopped:
            self.allowed_s = min(self.allowed_s, used_s + self.share_s)
        self.allowed_s = max(self.allowed_s, used_s - CATCH_UP_PERIODS * self.share_s)
        return True


class WaitingTime:
    """Sums how long the threads of a process waited for the CPU (schedstat of proc(5): the run delay)."""

    def __init__(self, pid: int) -> None:
        self.folder = f"/proc/{pid}/task"
        self.waited_ns: dict[str, int] = {}  # by thread; the last value stays when the thread ends

    def look(self) -> None:
        with contextlib.suppress(OSError):
            for thread in os.listdir(self.folder):
                self._look_at(thread)

    def _look_at(self, thread: str) -> None:
        with contextlib.suppress(OSError, IndexError, ValueError), open(f"{self.folder}/{thread}/schedstat") as file:
            self.waited_ns[thread] = int(file.read().split()[1])

    def part_of(self, used_s: float) -> float:
        """Returns the waiting time, summed over the threads, as a part of that time and the used CPU time."""
        waited_s = sum(self.waited_ns.values()) / 1e9
        return waited_s / (waited_s + used_s) if waited_s > 0 else 0.0


class _Clock:
    """Monotonic time without the time in which this program was stopped."""

    def __init__(self) -> None:
        self.stopped_s = 0.0

    def now_s(self) -> float:
        return time.monotonic() - self.stopped_s


def limited(process: subprocess.Popen[bytes], share: float, limit_s: float, tick: Callable[[], None]) -> Supply:
    """Waits until the process has ended by itself, or for `limit_s`, and lets it use `share` of a CPU meanwhile.

    `tick` is called about twice a second. The process runs when this returns or raises. If this program is stopped by Ctrl-Z,
    the process stops as well, and that time does not count.
    """
    cpu, waiting = cpu_clock(process.pid), WaitingTime(process.pid)
    with _stopping_both(process) as clock:
        begun_s = next_tick_s = next_look_s = clock.now_s()
        allowance, used_s, ended = Allowance(share, begun_s), 0.0, False
        while not (ended := has_ended(process)) and clock.now_s() < begun_s + limit_s:
            used_s = _cpu_s(cpu, used_s)
            left_s = allowance.allowed_s - used_s
            _let_run(process, clock, allowance, left_s)
            if allowance.go_on(clock.now_s(), _cpu_s(cpu, used_s), was_stopped=left_s <= 0):
                process.send_signal(signal.SIGCONT)
            if clock.now_s() >= next_look_s:
                next_look_s = clock.now_s() + LOOK_S
                waiting.look()
            if clock.now_s() >= next_tick_s + TICK_S:
                next_tick_s += TICK_S
                tick()
        waiting.look()
        used_s = _cpu_s(cpu, used_s)
        return Supply(used_s, clock.now_s() - begun_s, ended, waiting.part_of(used_s), clock.stopped_s)


def _let_run(process: subprocess.Popen[bytes], clock: _Clock, allowance: Allowance, left_s: float) -> None:
    """Lets the process run for at most `left_s`, or stops it. Returns at the end of the period at the latest."""
    if left_s <= 0:
        process.send_signal(signal.SIGSTOP)
    rest_s = allowance.period_end_s - clock.now_s()
    time.sleep(max(min(left_s, rest_s) if left_s > 0 else rest_s, SLEEP_MIN_S))


@contextlib.contextmanager
def _stopping_both(process: subprocess.Popen[bytes]) -> Iterator[_Clock]:
    """Stops the process too when this program is stopped, and lets both go on together. Lets it run at the end."""
    clock = _Clock()

    def stop(_signum: int, _frame: FrameType | None) -> None:
        begun_s = time.monotonic()
        process.send_signal(signal.SIGSTOP)
        os.kill(os.getpid(), signal.SIGSTOP)  # returns when this program goes on
        clock.stopped_s += time.monotonic() - begun_s
        process.send_signal(signal.SIGCONT)

    before = signal.getsignal(signal.SIGTSTP)
    handles = before is signal.SIG_DFL  # a program without a terminal may ignore it
    try:
        if handles:
            signal.signal(signal.SIGTSTP, stop)
        yield clock
    finally:
        if handles:
            signal.signal(signal.SIGTSTP, before)
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGCONT)


def cpu_clock(pid: int) -> int:
    """Returns the id of the clock that shows the CPU time of a process (clock_getcpuclockid(3), which Python lacks)."""
    return ~pid << 3 | 2


def _cpu_s(clock: int, last_s: float) -> float:
    """Returns the CPU time that the process has used; the last known one if it has just ended."""
    try:
        return time.clock_gettime(clock)
    except OSError:
        return last_s
