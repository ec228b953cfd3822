# SPDX-License-Identifier: LGPL-2.1-or-later
"""Computes for WORK_US in each PERIOD_US under SCHED_FIFO, as a program does that makes sound with little delay.

    python beat.py PRIORITY WORK_US PERIOD_US

An activation is late when it ends after the next one is due. Writes two counts: activations that were on time, and late ones.
"""

import gc
import os
import sys
import time


def compute(cpu_ns: int) -> None:
    end_ns = time.thread_time_ns() + cpu_ns
    while time.thread_time_ns() < end_ns:
        for _ in range(200):
            pass


def main() -> None:
    priority, work_us, period_us = (int(word) for word in sys.argv[1:])
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    except OSError as cause:
        sys.exit(f"priority {priority} of SCHED_FIFO was refused: {cause.strerror}")
    gc.disable()
    work_ns, period_ns = 1000 * work_us, 1000 * period_us
    due_ns = time.monotonic_ns() + period_ns
    on_time = late = 0
    while True:
        time.sleep(max(0, due_ns - time.monotonic_ns()) / 1e9)
        compute(work_ns)
        behind = max(0, (time.monotonic_ns() - due_ns) // period_ns)  # whole periods that are over
        late += behind
        on_time += behind == 0
        due_ns += (behind + 1 if behind else 1) * period_ns
        os.pwrite(1, b"%12d %12d" % (on_time, late), 0)


if __name__ == "__main__":
    main()
