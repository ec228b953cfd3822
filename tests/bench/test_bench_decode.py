# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests dlex-bench-decode as a command, on a small clip.

    test_bench_decode.py PROGRAM MEDIA_MAKE

Not covered: the values of the figures, which mean nothing on a machine that runs tests; the comparison with an unpatched
FFmpeg, which takes minutes to build.
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ABORTS = 200


class Decode(unittest.TestCase):
    """Tests that share one run."""

    @classmethod
    def setUpClass(cls):
        clip = subprocess.run([MAKE, "bpyramid"], capture_output=True, text=True, check=True).stdout.strip()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "decode.json"
            cls.ran = subprocess.run([PROGRAM, "--quick", "--deadline-base=0.3", f"--clip={clip}", f"--json={path}"],
                                     capture_output=True, text=True, timeout=300, check=False)
            found = json.loads(path.read_text())["latency"]
            cls.others = {(it["way"], it["threads"], it["load"] > 0): it for it in found}
            cls.cases = {it["way"]: it for it in found if it["threads"] == 1 and not it["load"]}

    def test_both_ways_are_measured_alone_and_beside_load_and_the_poll_with_threads(self):
        self.assertEqual(self.ran.returncode, 0, self.ran.stderr)
        self.assertEqual(set(self.others), {("jump", 1, False), ("poll", 1, False), ("jump", 1, True), ("poll", 1, True),
                                            ("poll", 2, False)})
        for name, case in self.others.items():
            self.assertEqual(case["policy"], "other")
            self.assertGreaterEqual(case["inside"]["count"], ABORTS, name)
            self.assertGreaterEqual(case["raw_timer"]["count"], ABORTS, name)

    def test_nothing_is_taken_before_its_deadline(self):
        for name, case in self.others.items():
            for kind in ("inside", "waited", "raw_timer"):
                self.assertGreaterEqual(min(case[kind]["samples_ns"], default=0), 0, f"{name}, {kind}")

    def test_the_goal_of_the_poll_is_one_row_of_the_same_run(self):
        self.assertEqual(self.cases["jump"]["row"]["count"], 0)
        self.assertGreater(self.cases["poll"]["row"]["count"], ABORTS)
        self.assertEqual(self.cases["poll"]["goal_above_raw_us"], self.cases["poll"]["row"]["p99_us"])

    def test_goals_are_reached_where_the_figures_say_so(self):
        for way, case in self.cases.items():
            limit = case["raw_timer"]["p99_us"] + case["goal_above_raw_us"]
            self.assertEqual(case["goal_reached"], case["inside"]["p99_us"] <= limit, way)
        self.assertEqual(self.ran.stdout.count("the raw timer's: reached"), sum(it["goal_reached"] for it in self.cases.values()))

    def test_load_and_threads_have_no_goal(self):
        for name, case in self.others.items():
            if name[1] > 1 or name[2]:
                self.assertEqual((case["goal_above_raw_us"], case["goal_reached"]), (None, None), name)


if __name__ == "__main__":
    PROGRAM, MAKE = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
