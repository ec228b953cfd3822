# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests dlex-bench-gates as a command.

    test_gates_command.py PROGRAM

Not covered: whether it finds harm (test_bit_exact.c).
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

NUMBERS_OF_THREADS = 3  # 2, 3 and 4


class Gates(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "gates.json"
            cls.ran = subprocess.run([PROGRAM, "--aborts=1", "--codecs=h264,vp8", f"--json={path}"], capture_output=True, text=True,
                                     timeout=600, check=False)
            cls.cells = {(it["codec"], it["mode"]): it for it in json.loads(path.read_text())["cells"]}

    def test_no_picture_differs(self):
        self.assertEqual(self.ran.returncode, 0, self.ran.stdout + self.ran.stderr)
        self.assertIn("no fault", self.ran.stdout)
        for cell in self.cells.values():
            self.assertGreater(cell["interrupted"] + cell["refused"], 0, cell)

    def test_one_thread_is_tried_once_with_each_clip(self):
        for codec in ("h264", "vp8"):
            once, often = (self.cells[codec, mode]["storms"] for mode in ("poll, 1 thread", "poll, frame threads"))
            self.assertEqual(often, NUMBERS_OF_THREADS * once, codec)

    def test_too_few_aborts_are_an_error(self):
        ran = subprocess.run([PROGRAM, "--aborts=1000000", "--codecs=vp8", "--passes=1"], capture_output=True, text=True,
                             timeout=600, check=False)
        self.assertEqual(ran.returncode, 1)
        self.assertRegex(ran.stdout, r"vp8: only \d+ of 1000000 decodes were given up")
        self.assertIn("no fault", ran.stdout)


if __name__ == "__main__":
    PROGRAM = sys.argv[1]
    unittest.main(argv=sys.argv[:1])
