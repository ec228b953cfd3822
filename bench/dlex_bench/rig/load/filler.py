# SPDX-License-Identifier: LGPL-2.1-or-later
"""The third load task: eats what the two rt-app tasks leave of a CPU, save a given share.

    python filler.py SHARE PERIOD_US RTAPP_PID

Each period it computes for as much CPU time as brings rt-app's and its own to (1 - SHARE) of the time since it began. A
third rt-app task with a fixed amount of work does not do: the amounts that rt-app's calibrated loops really take differ
by several per cent from run to run, and of a CPU that is meant to be 90 % busy, 3 % more are a third of what the player
is left. Measured with a share of 0.10 asked for: rt-app task 0.018 to 0.105 in five runs, this task 0.095 to 0.099.

Stands alone (no import of the package, so that it starts within milliseconds), prints a line when it has begun and a
JSON object at SIGTERM.
"""

import contextlib
import json
import signal
import sys
import time

# What could not be eaten is made good later, up to this many periods of it; more would starve the player in one piece.
BACKLOG_PERIODS = 4


def burn(cpu_ns: float) -> None:
    end_ns = time.thread_time_ns() + cpu_ns
    while time.thread_time_ns() < end_ns:
        for _ in range(1000):
            pass


class Filler:
    def __init__(self, share: float, period_ns: int, other_pid: int) -> None:
        self.share = share
        self.period_ns = period_ns
        self.other_clock = (~other_pid << 3) | 2  # clock_getcpuclockid(3)
        self.other_ns = time.clock_gettime_ns(self.other_clock)
        self.other_start_ns = self.other_ns
        self.own_start_ns = time.thread_time_ns()
        self.start_ns = time.monotonic_ns()
        self.forgone_ns = 0.0

    def elapsed_ns(self) -> int:
        return time.monotonic_ns() - self.start_ns

    def eaten_by_others_ns(self) -> int:
        with contextlib.suppress(OSError):  # it has ended: what it took in all is the last value
            self.other_ns = time.clock_gettime_ns(self.other_clock)
        return self.other_ns - self.other_start_ns

    def eaten_here_ns(self) -> int:
        return time.thread_time_ns() - self.own_start_ns

    def due_ns(self) -> float:
        wanted_ns = (1 - self.share) * self.elapsed_ns()
        due_ns = wanted_ns - self.eaten_by_others_ns() - self.eaten_here_ns() - self.forgone_ns
        surplus_ns = max(0.0, due_ns - BACKLOG_PERIODS * self.period_ns)
        self.forgone_ns += surplus_ns
        return due_ns - surplus_ns

    def period(self, number: int) -> None:
        due_ns = self.due_ns()
        if due_ns > 0:
            burn(due_ns)
        rest_ns = number * self.period_ns - self.elapsed_ns()
        if rest_ns > 0:
            time.sleep(rest_ns / 1e9)

    def report(self) -> dict[str, float]:
        elapsed_ns = self.elapsed_ns()
        return {
            "elapsed_s": elapsed_ns / 1e9,
            "rtapp": self.eaten_by_others_ns() / elapsed_ns,
            "filler": self.eaten_here_ns() / elapsed_ns,
            "forgone": self.forgone_ns / elapsed_ns,
        }


def main() -> None:
    ending: list[int] = []
    signal.signal(signal.SIGTERM, lambda signum, _frame: ending.append(signum))
    filler = Filler(float(sys.argv[1]), int(sys.argv[2]) * 1000, int(sys.argv[3]))
    print("eating", flush=True)
    number = 0
    while not ending:
        number += 1
        filler.period(number)
    print(json.dumps(filler.report()))


if __name__ == "__main__":
    main()
