# SPDX-License-Identifier: LGPL-2.1-or-later
"""The third load task: uses what the two rt-app tasks leave of a CPU, except a given share.

    python filler.py SHARE PERIOD_US RTAPP_PID

In each period it uses the CPU time that is missing: rt-app's and its own together should be (1 - SHARE) of the time
since it began. A third rt-app task with a fixed amount of work is not good enough: the time that rt-app's calibrated
loops really take differs by several per cent from run to run. On a CPU that should be 90 % busy, 3 % more are a third
of what is left for the player. Measured with a requested share of 0.10: rt-app task 0.018 to 0.105 in five runs, this
task 0.095 to 0.099.

It stands alone: it does not import the package, so that it starts within milliseconds. It prints a line when it has
begun, and a JSON object at SIGTERM.
"""

import contextlib
import json
import signal
import sys
import time

# CPU time that it could not use is used later, up to this many periods. More would starve the player in one stretch.
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
        with contextlib.suppress(OSError):  # rt-app has ended: the last value is its total
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
