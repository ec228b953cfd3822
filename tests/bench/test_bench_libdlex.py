# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests dlex-bench-libdlex as a command, with few rounds and samples.

    test_bench_libdlex.py PROGRAM

Not covered: the values of the figures, which mean nothing on a machine that runs tests. Only their presence is checked,
and that events that must never happen did not happen.
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LITTLE = ("--rounds=3", "--samples=3", "--aborts=200")
GOALS = (
    ("deadline block that does not expire", 1 / 5),
    ("deadline block that does not expire", 2),
    ("WCET block that does not expire", 1 / 2),
    ("protected section enter+leave", 1 / 50),
    ("checkpoint", 2),
    ("remaining time", 2),
    ("deadline to handler, p50", 1.15),
    ("deadline to handler, p99", 1.5),
    ("WCET to handler, p50", 1.3),
    ("WCET to handler, p50", 1 / 50),
    ("malloc and free, guard and a block open", 1.6),
)


def run(*options):
    return subprocess.run([PROGRAM, *options], capture_output=True, text=True, timeout=300, check=False)


class Little(unittest.TestCase):
    """Tests that share one run."""

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "libdlex.json"
            cls.ran = run(*LITTLE, f"--json={path}")
            cls.report = json.loads(path.read_text())
            cls.files = [entry.name for entry in Path(folder).iterdir()]

    def figure(self, what):
        return next(figure for figure in self.report["figures"] if figure["what"].startswith(what))

    def test_run_succeeds_and_is_silent_on_stderr(self):
        self.assertEqual((self.ran.returncode, self.ran.stderr), (0, ""))
        self.assertEqual(self.files, ["libdlex.json"])

    def test_report_has_every_goal_of_the_table(self):
        found = [(figure["what"], figure["goal"]) for figure in self.report["figures"]]
        for what, goal in GOALS:
            self.assertTrue([1 for name, value in found if name == what and abs(value - goal) < 1e-6], what)

    def test_last_line_counts_the_goals_that_hold(self):
        held = sum(figure["holds"] for figure in self.report["figures"])
        last = self.ran.stdout.splitlines()[-1]
        self.assertEqual(last, f"{held} of {len(self.report['figures'])} goals hold")
        self.assertEqual((self.report["goals"], self.report["goals_held"]), (len(self.report["figures"]), held))

    def test_goal_holds_when_the_upper_end_of_the_interval_is_within_it(self):
        for figure in self.report["figures"]:
            self.assertEqual(figure["holds"], figure["high"] <= figure["goal"], figure["what"])
            self.assertLessEqual(figure["low"], figure["value"])
            self.assertLessEqual(figure["value"], figure["high"])

    def test_protected_section_makes_no_system_call(self):
        self.assertEqual(self.figure("system calls")["value"], 0)

    def test_no_violation_comes_early(self):
        figure = self.figure("WCET violations that come early")
        self.assertEqual((figure["value"], figure["tries"]), (0, 200))

    def test_machine_is_described(self):
        machine = self.report["machine"]
        self.assertGreater(machine["cpus"], 0)
        self.assertGreater(machine["tick_hz"], 0)
        self.assertTrue(all(machine[key] for key in ("cpu", "kernel", "governor", "clock_source")))


class Refusals(unittest.TestCase):
    def refusal(self, *options):
        ran = run(*options)
        self.assertEqual(ran.stderr.count("\n"), 1, ran.stderr)
        self.assertEqual(ran.stderr[:20], "dlex-bench-libdlex: ")
        return ran.returncode

    def test_bad_options_are_refused_in_one_sentence(self):
        for option in ("--nonsense", "nonsense", "--rounds=0", "--rounds=1001", "--aborts=many", "--samples", "--json"):
            with self.subTest(option):
                self.assertEqual(self.refusal(option), 1)

    def test_unwritable_file_is_reported_in_one_sentence(self):
        self.assertEqual(self.refusal(*LITTLE, "--json=/proc/nowhere.json"), 2)

    def test_help_works_alone(self):
        ran = run("--help")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertIn("--quick", ran.stdout)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
