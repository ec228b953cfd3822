# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests `dlex-sched tune` on programs and surroundings that do what they can to keep a reservation, or more rights than they should.

Skipped without root, because only root may reserve CPU time. Not covered: hostile journals (test_undo_journal), and what
single reservations survive (test_reservation).

Run as: test_tune_hostile.py DLEX_SCHED PERIODIC
"""
import os
import resource
import sys
import time
import unittest

from test_tune import PERIODIC, SKIPPED, Case, rows_of


class Surroundings(Case):
    def test_few_open_files_leave_some_threads_unwatched(self):
        run = self.tune(f"--record={self.dir}/rows", "--quiet", "--", PERIODIC, 25, 0.2, 30, 100,
                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (80, 80)))
        time.sleep(5)
        run.terminate()
        said = self.end_of(run)[1]
        self.assertGreaterEqual(len(rows_of(self.dir / "rows")), 3, said)
        self.assertRegex(said, r"threads were not watched: too many open files")
        self.expect_nothing_left()


if __name__ == "__main__":
    if os.geteuid():
        print("skipped: reserving CPU time needs root")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1], verbosity=2)
