# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests `dlex-sched tune` on programs and surroundings that do what they can to keep a reservation, or more rights than they should.

Skipped without root, because only root may reserve CPU time. Not covered: hostile journals (test_undo_journal), and what
single reservations survive (test_reservation).

Run as: test_tune_hostile.py DLEX_SCHED PERIODIC
"""
import os
import resource
import signal
import sys
import time
import unittest

from test_tune import PERIODIC, SKIPPED, Case, family, rows_of


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

    def test_threads_beyond_those_that_can_be_watched_are_counted(self):
        run = self.tune("--dry-run", "--", "sh", "-c", f"{PERIODIC} 5 0.05 30 128; exit 1")
        time.sleep(3)
        player = family(run.pid)[-1]
        run.terminate()
        time.sleep(0.5)
        os.kill(player, signal.SIGKILL)  # the shell that it outlives was ended
        said = self.end_of(run)[1]
        self.assertIn(" 129 threads", said)
        self.assertIn("1 threads were not watched: there are too many", said)


if __name__ == "__main__":
    if os.geteuid():
        print("skipped: reserving CPU time needs root")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1], verbosity=2)
