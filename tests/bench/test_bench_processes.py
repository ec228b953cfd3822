# SPDX-License-Identifier: LGPL-2.1-or-later
"""Children of dlex_bench end with the block that started them, whatever ends it."""

import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path
from unittest import mock

from dlex_bench import processes
from dlex_bench.errors import Interrupted
from dlex_bench.processes import child, cpu_clock_of, signals_as_exceptions

CPUS = os.sched_getaffinity(0)


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until(condition, limit_s=20):
    limit = time.monotonic() + limit_s
    while not condition() and time.monotonic() < limit:
        time.sleep(0.01)
    return condition()


class Children(unittest.TestCase):
    def test_child_ends_with_its_block(self):
        with child(["sleep", "60"], cpus=CPUS) as process:
            self.assertTrue(is_running(process.pid))
        self.assertEqual(process.returncode, -signal.SIGTERM)

    def test_child_ends_when_the_block_is_left_by_an_exception(self):
        with self.assertRaises(ZeroDivisionError), child(["sleep", "60"], cpus=CPUS) as process:
            raise ZeroDivisionError
        self.assertFalse(is_running(process.pid))

    def test_child_that_ignores_the_request_is_killed(self):
        command = [sys.executable, "-c", "import signal,time; signal.signal(15,signal.SIG_IGN); print(1); time.sleep(60)"]
        with mock.patch.object(processes, "GRACE_S", 0.1):
            with child([command[0], "-u", *command[1:]], cpus=CPUS, stdout=subprocess.PIPE) as process:
                process.stdout.readline()
        self.assertEqual(process.returncode, -signal.SIGKILL)

    def test_child_sits_where_it_is_put_and_yields_to_others(self):
        cpu = max(CPUS)
        with child(["sleep", "60"], cpus={cpu}, nice=19) as process:
            self.assertEqual(os.sched_getaffinity(process.pid), {cpu})
            self.assertEqual(os.getpriority(os.PRIO_PROCESS, process.pid), 19)
            self.assertEqual(os.getsid(process.pid), os.getsid(0))

    def test_child_does_not_outlive_a_parent_that_was_killed(self):
        script = (
            "import os, time\n"
            "from dlex_bench.processes import child\n"
            "with child(['sleep', '60'], cpus=os.sched_getaffinity(0)) as process:\n"
            "    print(process.pid, flush=True)\n"
            "    time.sleep(60)\n"
        )
        with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as parent:
            grandchild = int(parent.stdout.readline())
            parent.kill()
        self.assertTrue(wait_until(lambda: not is_running(grandchild)))

    def test_cpu_clock_is_that_of_the_process(self):
        before_ns = time.process_time_ns()
        seen_ns = time.clock_gettime_ns(cpu_clock_of(os.getpid()))
        self.assertLessEqual(before_ns, seen_ns)
        self.assertLessEqual(seen_ns, time.process_time_ns())


class Signals(unittest.TestCase):
    def test_ending_signal_becomes_an_exception_and_the_handler_is_put_back(self):
        before = signal.getsignal(signal.SIGTERM)
        with self.assertRaises(Interrupted) as caught, signals_as_exceptions():
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(60)
        self.assertEqual(caught.exception.signum, signal.SIGTERM)
        self.assertEqual(signal.getsignal(signal.SIGTERM), before)

    def test_second_signal_does_not_disturb_the_tidying_up(self):
        tidied = False
        with self.assertRaises(Interrupted), signals_as_exceptions():
            try:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(60)
            finally:
                os.kill(os.getpid(), signal.SIGINT)
                tidied = True
        self.assertTrue(tidied)


if __name__ == "__main__":
    unittest.main()
