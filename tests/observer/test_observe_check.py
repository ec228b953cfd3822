# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the command dlex-bench observe-check with one run. Not covered: how large the differences are."""

import json
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

from outside import SKIPPED, Folder, python_with_packages

PYTHON = python_with_packages("import numpy, pydantic, rich, yaml")


class Checking(Folder):
    def check(self, *options):
        command = [PYTHON, "-m", "dlex_bench", "observe-check", f"--out={self.folder}/out", *options]
        return subprocess.run(command, capture_output=True, text=True, timeout=300)

    def test_observe_check_compares_both_records(self):
        run = self.check("--reps=1")
        if "is not installed" in run.stderr or "could not be made" in run.stderr:
            self.skipTest(run.stderr.strip())
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("missed", run.stdout)
        (row,) = json.loads((self.folder / "out/agreement.json").read_text())["runs"]
        self.assertEqual((row["missed"], row["only_outside"]), (0, 0))
        self.assertGreater(row["both"], 0)
        self.assertLessEqual(row["shown_ms"]["p1"], row["shown_ms"]["p99"])
        self.assertEqual(self.check("--reps=0").returncode, 1)
        again = self.check("--reps=1")
        self.assertEqual(again.returncode, 1)
        self.assertIn("--out", again.stderr)


def main():
    result = unittest.main(verbosity=2, exit=False).result
    if not result.wasSuccessful():
        return 1
    if not result.skipped:
        return 0
    print(result.skipped[0][1])
    return SKIPPED


if __name__ == "__main__":
    sys.exit(main())
