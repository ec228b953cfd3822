# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that a refused value or an unknown option of any length is one short sentence, and refused at once.

    test_refused_values.py BUILD_FOLDER

Not covered: arguments of the command that a program runs; values of the commands in Python (test_bench_output.py).
"""

import subprocess
import sys
import unittest
from pathlib import Path

BUILD = Path(sys.argv[1])
LONG = "9" * 100_000  # the kernel takes 131071 bytes
OPTIONS = {
    "player/dlex-play": ("--drop=", "--deadline-rule=", "--deadline-base=x", "--deadline-gain=", "--ao=", "--vo=", "--queue=",
                         "--threads=", "--window=", "--degrade=", "--skip-to-key=", "--sched=", "--cpu=",
                         "--start=x", "--length=x"),
    "qoe/dlex-qoe": ("--window=",),
    "sched/dwcs/dlex-sched-dwcs": ("--seconds=", "--cpu=", "--priority=", "--slot=", "--task=", "--rules=", "--server="),
    "sched/pman/dlex-sched-pman": ("--tick=", "--seconds=", "--ticks=", "--process=a,1,0,0,0,", "--deadlines=", "--name=",
                                   "--restarts="),
    "sched/sim/dlex-sched-sim": ("--runs=", "--seed=", "--cost=", "--sleep=", "--event=", "--reading=", "--experiment="),
    "sched/pictures/dlex-pictures": ("--rate=x", "--size=x", "--part=x", "--work=x"),
    "bench/sim/dlex-bench-sim": ("--runs=", "--supply=", "--noise=", "--draw=", "--degraded="),
    "bench/observer/dlex-bench-observe": ("--rate=", "--size=x", "--frames=", "--cpu="),
    "bench/storm/dlex-bench-storm": ("--aborts=", "--threads=", "--seed="),
    "bench/gates/dlex-bench-gates": ("--aborts=", "--passes=", "--seed=", "--codecs="),
    "bench/libdlex/dlex-bench-libdlex": ("--rounds=", "--samples=", "--aborts="),
    "bench/dlex-bench-decode": ("--deadline-base=",),
}
SCHED = (("tune", "--limit="), ("tune", "--rule="), ("tune", "--pid="), ("period", "--pid="), ("period", "--seconds="),
         ("period", "--events="), ("rm", "run", "--rate="), ("rm", "run", "--cost="))


class RefusedValues(unittest.TestCase):
    def expect_short(self, *command):
        run = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertIn(run.returncode, (1, 64), run.stderr[:300])
        self.assertLess(len(run.stderr), 600)

    def test_long_value_of_an_option_is_shown_in_part(self):
        for program, options in OPTIONS.items():
            for option in options if (BUILD / program).exists() else ():
                with self.subTest(program, option=option):
                    self.expect_short(BUILD / program, option + LONG)

    def test_long_value_of_a_command_is_shown_in_part(self):
        for *words, option in SCHED:
            with self.subTest(words, option=option):
                self.expect_short(BUILD / "sched/cmd/dlex-sched", *words, option + LONG)

    def test_long_name_of_an_option_is_shown_in_part(self):
        for program in OPTIONS:
            for words in ((f"--{LONG}",), ("word", f"--{LONG}=1")) if (BUILD / program).exists() else ():
                with self.subTest(program, words=len(words)):
                    self.expect_short(BUILD / program, *words)
        for words in (("tune",), ("period",), ("rm", "run")):
            with self.subTest(words):
                self.expect_short(BUILD / "sched/cmd/dlex-sched", *words, f"--{LONG}")

    def test_arguments_of_a_command_are_not_cut(self):
        run = subprocess.run([BUILD / "sched/cmd/dlex-sched", "tune", "--dry-run", "--", "expr", "length", f"--{LONG}"],
                             capture_output=True, text=True, timeout=60)
        self.assertIn(str(len(LONG) + 2), run.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
