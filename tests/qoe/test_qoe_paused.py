# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that run.json and dlex-qoe agree on how long pictures stood, whatever stopped the film: pauses, seeks, the sound's device.

The time comes from the column stood_ns of frames.csv. Not covered: a stop of the
whole program in the middle (tests/input/test_ahead.py).

Run as: python3 test_qoe_paused.py DLEX_PLAY MEDIA_MAKE DLEX_QOE
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

SUPPORT = Path(__file__).resolve().parents[1] / "support"
sys.path.insert(0, str(SUPPORT.parent / "input"))

from playing import PLAY, KeysCase, clip, environment, main

QOE = sys.argv[3]
LEFT = b"\x1b[D"
STOPPED_S = 0.6

GRADES: dict[str, Callable[[float], bool]] = {
    "lip_sync_accepted": lambda ms: -80 <= ms <= 80,
    "lip_sync_distracting": lambda ms: ms <= -240 or ms >= 160,
    "lip_sync_itu_undetected": lambda ms: -125 <= ms <= 45,
    "lip_sync_itu_unacceptable": lambda ms: ms < -185 or ms > 90,
}


class Paused(KeysCase):
    KEY_STEP_S = 0.4

    def expect_one_truth(self, name: str = "record") -> list[dict[str, str]]:
        """Checks the figures of run.json and of dlex-qoe by the rows. Returns the shown ones, in the order of time."""
        run, rows = self.record(name)
        out = subprocess.run([QOE, self.dir / name, "--json=-"], env=environment(), capture_output=True, text=True, check=True)
        summary = json.loads(out.stdout)["summary"]
        shown = sorted((row for row in rows if row["verdict"] == "shown"), key=lambda row: int(row["shown_ns"]))
        stood = [int(row["stood_ns"]) for row in shown]
        self.assertEqual({row["stood_ns"] for row in rows if row["verdict"] != "shown"} | {""}, {""})
        self.assertAlmostEqual(summary["longest_freeze_ms"], run["totals"]["longest_freeze_s"] * 1e3, places=3)
        if not run["totals"]["dropped"]:
            self.assertAlmostEqual(summary["longest_freeze_ms"], max(stood) / 1e6, places=3)
        for grade, is_in in GRADES.items():
            in_grade = [ns for ns, row in zip(stood, shown, strict=True) if is_in(int(row["skew_ns"]) / 1e6)]
            self.assertAlmostEqual(summary[grade], sum(in_grade) / sum(stood), places=6, msg=grade)
        return shown

    def test_pauses_do_not_count_whatever_follows_them(self):
        for queue, keys in (
            ("auto", [b" ", LEFT, b" ", b" ", b"q"]),  # a seek in a pause; the end in a pause
            ("0", [b" ", b" " + LEFT, b" ", b"  ", b" ", b"q"]),  # a seek just after a pause; two pauses of one picture
        ):
            with self.subTest(queue=queue):
                shutil.rmtree(self.dir / "record", ignore_errors=True)
                arguments = ("--drop=none", f"--queue={queue}", f"--record={self.dir}/record")
                self.assertEqual(self.press(keys, *arguments, clip("stamped_small")), 0)
                shown = self.expect_one_truth()
                gaps = sorted(int(b["shown_ns"]) - int(a["shown_ns"]) for a, b in pairwise(shown))
                longest_ns = max(int(row["stood_ns"]) for row in shown)
                self.assertLess(longest_ns, gaps[-1] - 0.9 * self.KEY_STEP_S * 1e9)

    def test_suspended_sink_is_a_freeze_for_both(self):
        if not shutil.which("pactl"):
            self.skipTest("pactl is not installed; install Debian's package pulseaudio-utils")
        # At the end the program is stopped: the last picture stands until the user ends it.
        code = (
            "for queue in auto 0; do\n"
            '    "$1" --ao=pulse --vo=null --quiet --drop=none --queue=$queue --record="$2/$queue" "$3" &\n'
            "done\n"
            "sleep 1; pactl suspend-sink private 1; sleep 0.6; pactl suspend-sink private 0; sleep 2.6\n"
            f"kill -STOP $(jobs -p); sleep {STOPPED_S}; kill -TERM $(jobs -p); kill -CONT $(jobs -p); wait\n"
        )
        ran = subprocess.run([SUPPORT / "with-pulse", "bash", "-c", code, "-", PLAY, self.dir, clip("stamped_small")],
                             env=environment(), capture_output=True, text=True, timeout=60, check=False)
        if ran.returncode == 77:
            self.skipTest(ran.stdout.strip())
        for queue in ("auto", "0"):
            with self.subTest(queue=queue):
                shown = self.expect_one_truth(queue)
                self.assertGreater(max(int(row["stood_ns"]) for row in shown[:-1]), 0.5e9)
                self.assertGreater(int(shown[-1]["stood_ns"]), 0.9e9 * STOPPED_S)


if __name__ == "__main__":
    main()
