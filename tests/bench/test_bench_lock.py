# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the lock of measurements: who has it, who waits, and what a refusal says.

Not covered: several users of one machine.
"""

import contextlib
import os
import threading
import unittest
from unittest import mock

from outside import program, with_packages

with_packages("pydantic")

from dlex_bench.errors import LabError
from dlex_bench.machine import lock
from dlex_bench.machine.lock import only_measurement


class Locks(unittest.TestCase):
    NUMBER = 100_000  # no CPU has this number

    def setUp(self):
        self.name = f"dlex-bench-test-{os.getpid()}"  # a separate lock, so that this test does not disturb real measurements
        patch = mock.patch.object(lock, "NAME", self.name)
        patch.start()
        self.addCleanup(patch.stop)

    def refusal(self, cpu):
        with self.assertRaises(LabError) as caught, only_measurement({cpu}):
            pass
        return str(caught.exception)

    def test_second_measurement_on_any_cpu_is_refused_and_names_the_holder(self):
        with only_measurement({self.NUMBER}):
            for cpu in (self.NUMBER, self.NUMBER + 1):
                self.assertIn(f"CPU {self.NUMBER} is being measured by process {os.getpid()}", self.refusal(cpu))
        with only_measurement({1, 2}):
            self.assertIn("the CPUs 1,2 are being measured by", self.refusal(1))
        with only_measurement({self.NUMBER}):
            pass

    def test_holder_is_named_after_any_number_of_requests(self):
        with only_measurement({self.NUMBER}):
            for _ in range(300):  # more than the backlog of a socket
                reason = self.refusal(self.NUMBER)
        self.assertIn(f"process {os.getpid()}", reason)

    def test_waiting_process_gets_the_reason_once_and_the_lock_next(self):
        said = []
        with contextlib.ExitStack() as first, mock.patch.object(lock, "WAITING_S", 0.01):
            first.enter_context(only_measurement({1}))
            ending = threading.Timer(0.2, first.close)

            def waiting(text):
                said.append(text)
                if len(said) == 1:
                    ending.start()

            with only_measurement({0}, waiting):
                self.assertIn("CPU 0 is being measured", self.refusal(1))
            ending.join()
        self.assertEqual(len(said), 1)
        self.assertIn(f"CPU 1 is being measured by process {os.getpid()}", said[0])

    def test_killed_measurement_holds_nothing(self):
        text = (f"import time\nfrom dlex_bench.machine import lock\nlock.NAME = {self.name!r}\n"
                f"with lock.only_measurement({{{self.NUMBER}}}): print(1); time.sleep(600)")
        with program(text) as holder:
            holder.stdout.readline()
            self.assertIn(f"process {holder.pid}", self.refusal(self.NUMBER))
            holder.kill()
            holder.wait()
            with only_measurement({self.NUMBER}):
                pass


if __name__ == "__main__":
    unittest.main()
