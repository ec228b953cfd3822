# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the demo as a command: what it refuses, and that no process outlives it.

    test_bench_demo.py PLAYER MEDIA_MAKE

Not covered: a whole demo with real plays. It takes minutes, and its figures mean nothing on a machine that runs tests.
"""

import fcntl
import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from outside import Folder, children_of, python_with_packages


class Command(Folder):
    """Tests that run the command in their own project root, with their own cache, so that a real demo is not disturbed."""

    def setUp(self):
        super().setUp()
        for program in ("player/dlex-play", "qoe/dlex-qoe"):
            place = self.folder / "build/release" / program
            place.parent.mkdir(parents=True)
            place.symlink_to(PLAYER)
        self.clip = self.folder / "clip.mp4"
        self.clip.write_text("no film")
        self.environment = {**os.environ, "DLEX_CACHE": str(self.folder / "cache"), "TERM": "dumb"}
        self.environment["DLEX_BENCH_ROOT"] = str(self.folder)

    def start(self, *arguments, **environment):
        return subprocess.Popen(
            [sys.executable, "-m", "dlex_bench", "demo", *arguments],
            cwd=self.folder, env={**self.environment, **environment}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )

    def refusal(self, *arguments, **environment):
        process = self.start(*arguments, **environment)
        _out, told = process.communicate(timeout=60)
        self.assertEqual(told.count("\n"), 1, told)
        return process.returncode, told

    def test_unknown_option_is_refused(self):
        status, told = self.refusal("--fast")
        self.assertEqual(status, 1)
        self.assertEqual(told, "dlex demo: unrecognized arguments: --fast; see ./dlex demo --help\n")

    def test_missing_film_is_refused(self):
        status, told = self.refusal("--clip=nowhere.mp4")
        self.assertEqual(status, 1)
        self.assertIn("dlex demo: there is no file nowhere.mp4;", told)

    def test_unplayable_film_is_reported(self):
        status, told = self.refusal(f"--clip={self.clip}")
        self.assertEqual(status, 2)
        self.assertIn(f"dlex demo: {self.clip}: cannot open it", told)

    def test_folder_that_cannot_be_written_is_refused(self):
        status, told = self.refusal(f"--clip={self.clip}", "--out=/proc/demo")
        self.assertEqual(status, 1)
        self.assertIn("/proc/demo cannot be written", told)

    def test_start_that_is_not_a_time_is_refused(self):
        status, told = self.refusal(f"--clip={self.clip}", "--start=nan")
        self.assertEqual(status, 1)
        self.assertIn("--start", told)

    def test_file_instead_of_a_folder_is_refused(self):
        status, told = self.refusal(f"--clip={self.clip}", "--out=/dev/null")
        self.assertEqual(status, 1)
        self.assertIn("/dev/null is not a directory", told)

    def test_failed_demo_leaves_the_previous_results_unchanged(self):
        old = self.folder / "out/runs/demand"
        old.mkdir(parents=True)
        self.refusal(f"--clip={self.clip}", "--out=out")
        self.assertTrue(old.is_dir())
        self.assertEqual([path.name for path in (self.folder / "out").iterdir()], ["runs"])

    def test_failed_demo_leaves_no_folder_behind(self):
        self.refusal(f"--clip={self.clip}", "--out=out")
        self.assertFalse((self.folder / "out").exists())

    def test_results_that_are_not_the_demos_are_not_replaced(self):
        (self.folder / "out/runs/mine").mkdir(parents=True)
        status, told = self.refusal(f"--clip={self.clip}", "--out=out")
        self.assertEqual(status, 1)
        self.assertIn("not the demo's", told)

    def test_second_demo_is_refused(self):
        (self.folder / "cache").mkdir()
        with (self.folder / "cache/demo.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            status, told = self.refusal(f"--clip={self.clip}")
        self.assertEqual(status, 1)
        self.assertIn("another demo is running", told)

    def test_missing_build_is_reported(self):
        (self.folder / "build/release/qoe/dlex-qoe").unlink()
        status, told = self.refusal(f"--clip={self.clip}")
        self.assertEqual(status, 1)
        self.assertIn("./dlex build", told)

    def test_no_process_outlives_a_demo_ended_by_a_signal(self):
        made = subprocess.run([MEDIA_MAKE, "progressive_cabac"], capture_output=True, text=True)
        if made.returncode != 0:
            self.skipTest("the clip progressive_cabac cannot be made here")
        demo = self.start(f"--clip={made.stdout.strip()}")
        self.addCleanup(demo.kill)
        offspring = self.wait_for_child(demo, "dlex-play")
        demo.send_signal(signal.SIGTERM)
        said, told = demo.communicate(timeout=60)
        self.assertEqual(demo.returncode, 4, said + told)
        self.assertIn("ended by a signal", told)
        self.assertEqual([pid for pid in offspring if Path(f"/proc/{pid}").exists()], [])
        self.assertFalse((self.folder / "build/demo").exists())

    def wait_for_child(self, process, name):
        """Returns the children of the process as soon as one of them has this name."""
        while process.poll() is None:
            children = children_of(process.pid)
            if name in children.values():
                return children
            time.sleep(0.02)
        self.fail(f"the demo ended before it started {name}: {process.stderr.read()}")


if __name__ == "__main__":
    found = python_with_packages("import matplotlib, pydantic, rich")
    if found != sys.executable:
        os.execv(found, [found, *sys.argv])
    PLAYER, MEDIA_MAKE = (os.path.abspath(path) for path in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])
