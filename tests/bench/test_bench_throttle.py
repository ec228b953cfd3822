# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the quota without privileges. Not covered: how exact it is on an idle machine."""

import os
import signal
import subprocess
import sys
import time
import unittest

from dlex_bench.rig.load.throttle import Allowance, WaitingTime, limited
from outside import state_of, wait_until


class Throttling(unittest.TestCase):
    """Real processes under the quota."""

    def spin(self, seconds):
        code = f"import time\nend = time.monotonic() + {seconds}\nwhile time.monotonic() < end: pass"
        process = subprocess.Popen([sys.executable, "-ISE", "-c", code])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def rate_under_quota(self):
        """Returns the rate of a process that wants a whole CPU and may have a quarter of one."""
        process, ticks = self.spin(60), []
        supply = limited(process, 0.25, 2.0, lambda: ticks.append(1))
        self.assertFalse(supply.ended)
        self.assertGreater(len(ticks), 1)
        self.assertNotEqual(state_of(process.pid), "T")
        process.kill()
        return supply.rate

    def test_process_gets_its_share_and_runs_afterwards(self):
        # If this program does not run for a moment, the process gets more. So the median of five decides; three on one side of
        # the bound are enough. On a busy machine the process may get less.
        rates, exact = [], []
        while max(exact.count(True), exact.count(False)) < 3:
            rates.append(self.rate_under_quota())
            exact.append(rates[-1] < 0.30)
        self.assertEqual(exact.count(True), 3, rates)

    def test_process_that_ends_by_itself_ends_the_wait(self):
        supply = limited(self.spin(0.3), 0.9, 30, lambda: None)
        self.assertTrue(supply.ended)
        self.assertLess(supply.wall_s, 20)

    def test_process_runs_again_after_an_exception(self):
        def interrupt():
            raise KeyboardInterrupt

        process = self.spin(60)
        with self.assertRaises(KeyboardInterrupt):
            limited(process, 0.1, 30, interrupt)
        self.wait_for_states("RS", process.pid)

    def wait_for_states(self, wanted, *pids):
        self.assertTrue(wait_until(lambda: all(state_of(pid) in wanted for pid in pids)))

    def test_process_stops_and_goes_on_with_its_program(self):
        code = (
            "import subprocess, sys\n"
            "from dlex_bench.rig.load.throttle import limited\n"
            "process = subprocess.Popen([sys.executable, '-ISE', '-c', 'while True: pass'])\n"
            "supply = limited(process, 1.0, 60, lambda: print(process.pid, flush=True))\n"
            "print('stopped', supply.stopped_s, flush=True)\n"
        )
        program = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        self.addCleanup(program.communicate)
        spinner = int(program.stdout.readline())  # it is limited now
        self.addCleanup(program.kill)
        program.send_signal(signal.SIGTSTP)
        self.wait_for_states("T", program.pid, spinner)
        time.sleep(0.5)
        program.send_signal(signal.SIGCONT)
        self.wait_for_states("RS", program.pid, spinner)
        os.kill(spinner, signal.SIGKILL)
        stopped_s = program.stdout.read().split()[-1]
        self.assertGreaterEqual(float(stopped_s), 0.5)

    def test_threads_that_have_ended_count_in_the_waiting_time(self):
        waiting = WaitingTime(os.getpid())
        waiting.look()
        waiting.waited_ns = {"0": 2_000_000_000, "main": 1_000_000_000}
        waiting.folder = "/proc/none"
        waiting.look()
        self.assertEqual(waiting.part_of(3.0), 0.5)
        self.assertEqual(WaitingTime(os.getpid()).part_of(0.0), 0.0)


class Allowances(unittest.TestCase):
    """Periods of 40 ms with a share of a quarter."""

    def setUp(self):
        self.allowance = Allowance(0.25, 0.0)

    def go_on(self, now_s, used_s, was_stopped=True):
        self.allowance.go_on(now_s, used_s, was_stopped=was_stopped)
        return self.allowance.allowed_s - used_s

    def test_period_that_has_not_ended_gives_nothing(self):
        self.assertFalse(self.allowance.go_on(0.039, 0.010, was_stopped=True))
        self.assertTrue(self.allowance.go_on(0.040, 0.010, was_stopped=True))

    def test_each_period_that_was_slept_through_gives_its_share(self):
        self.assertAlmostEqual(self.go_on(0.125, 0.010), 0.030)

    def test_periods_are_caught_up_only_to_a_limit(self):
        self.assertAlmostEqual(self.go_on(60.001, 0.010), 0.050)
        self.assertAlmostEqual(self.allowance.period_end_s, 60.04)

    def test_what_was_not_wanted_is_lost(self):
        self.assertAlmostEqual(self.go_on(0.201, 0.001, was_stopped=False), 0.010)

    def test_what_was_used_too_much_is_missing_later(self):
        self.assertAlmostEqual(self.go_on(0.041, 0.013), 0.007)

    def test_debt_has_a_limit(self):
        self.assertAlmostEqual(self.go_on(0.041, 5.0, was_stopped=False), -0.050)


if __name__ == "__main__":
    unittest.main()
