# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the task that uses what rt-app leaves of a CPU."""

import json
import os
import signal
import subprocess
import sys
import time
import unittest
from unittest import mock

from outside import with_packages

with_packages("pydantic")

from dlex_bench.rig.load import filler


class Filler(unittest.TestCase):
    def test_filler_reports_its_cpu_time_at_its_end(self):
        argv = [sys.executable, "-ISE", filler.__file__, "0.5", "1000", str(os.getpid())]
        with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
            self.assertEqual(process.stdout.readline(), "eating\n")  # from now on it knows the signal
            clock = (~process.pid << 3) | 2
            while time.clock_gettime(clock) < 0.2:
                time.sleep(0.01)
            process.send_signal(signal.SIGTERM)
            told = json.loads(process.stdout.read())
        self.assertEqual(process.returncode, 0)
        self.assertEqual(set(told), {"elapsed_s", "rtapp", "filler", "forgone"})

    def test_due_time_is_the_rest_of_the_share(self):
        eater = filler.Filler(0.25, 10_000_000, os.getpid())
        with mock.patch.object(eater, "elapsed_ns", return_value=20_000_000), \
                mock.patch.object(eater, "eaten_by_others_ns", return_value=4_000_000), \
                mock.patch.object(eater, "eaten_here_ns", return_value=5_000_000):
            self.assertEqual(eater.due_ns(), 6_000_000)

    def test_large_backlog_is_dropped(self):
        eater = filler.Filler(0.0, 10_000_000, os.getpid())
        with mock.patch.object(eater, "elapsed_ns", return_value=1_000_000_000), \
                mock.patch.object(eater, "eaten_by_others_ns", return_value=0), \
                mock.patch.object(eater, "eaten_here_ns", return_value=0):
            self.assertEqual(eater.due_ns(), filler.BACKLOG_PERIODS * 10_000_000)
            self.assertEqual(eater.due_ns(), filler.BACKLOG_PERIODS * 10_000_000)


if __name__ == "__main__":
    unittest.main()
