# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests single jobs with real Xvfb, PulseAudio, observer and players, also under the policies that need privileges.

    test_bench_job_stage.py BUILD MEDIA_MAKE

Not covered: how good the figures are; the observer's own precision (tests/observer).
"""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest
from dataclasses import replace
from pathlib import Path

from outside import SKIPPED, Folder, children_of, with_packages

with_packages("pydantic, yaml, rich")

from dlex_bench.agenda.job import Job
from dlex_bench.job.context import Context
from dlex_bench.job.execute import execute
from dlex_bench.machine.cgroups import hierarchy_of
from dlex_bench.machine.lock import only_measurement
from dlex_bench.machine.policy import allowed_kinds

ALLOWED = allowed_kinds()
SOFT = {"framedrop": "soft", "threads": 1, "options": []}
RTAPP = {"kind": "rtapp", "sched": "same"}
PICTURES = 50


def root_balances():
    hierarchy = hierarchy_of("cpuset")
    file = hierarchy.root / "cpuset.sched_load_balance" if hierarchy else None
    return file.read_text() if file and file.exists() else None


class Place(Folder):
    def setUp(self):
        super().setUp()
        # A batch takes this lock for its jobs as well.
        self.enterContext(only_measurement({max(os.sched_getaffinity(0))}, print))
        root = self.folder / "root"
        (root / "build").mkdir(parents=True)
        (root / "build/release").symlink_to(BUILD)
        (root / "media").symlink_to(Path(MEDIA_MAKE).parent)
        batch = self.folder / "batch"
        self.context = Context(root, batch, machine="m", commit="c")
        clip = {"recipe": "stamped_small", "unstamped": "progressive_cabac", "start_s": 0.0, "length_s": 2.0}
        self.job = Job("job", 1, "s", "w", "dlex-play", {"drop": "none", "queue": "0"}, "other", {"kind": "none"}, clip, "both")
        self.directory = batch / self.job.id

    def execute(self, **changes):
        shutil.rmtree(self.directory, ignore_errors=True)
        self.directory.mkdir(parents=True)
        result = execute(replace(self.job, **changes), self.directory, self.context)
        self.assertEqual(children_of(os.getpid()), {})
        return result.to_json()

    def done(self, **changes):
        result = self.execute(**changes)
        self.assertEqual((result["status"], result["reason"]), ("done", None))
        return result

    def mplayer(self, **changes):
        return self.done(player="mplayer", player_params=SOFT, observe="outside", **changes)


class Views(Place):
    def test_own_player_is_observed_from_both_sides(self):
        result = self.done()
        self.assertEqual(result["view"], "outside")
        self.assertEqual(result["figures"], result["outside"])
        self.assertEqual((result["inside"]["frames"], result["outside"]["frames"]), (PICTURES, PICTURES))
        self.assertEqual((result["inside"]["av_source"], result["outside"]["av_source"]), ("own", "monitor"))
        self.assertIsNotNone(result["outside"]["torn"])
        self.assertGreater(result["outside"]["shown"], 0)

    def test_foreign_player_is_observed_from_outside(self):
        if not shutil.which("mplayer"):
            self.skipTest("mplayer is not installed")
        result = self.mplayer()
        self.assertIsNone(result["inside"])
        self.assertEqual(result["outside"]["frames"], PICTURES)
        self.assertGreater(result["outside"]["shown"], 0)
        self.assertEqual(result["policy"]["constrains"], "the player's main thread")
        self.assertEqual(result["own_word"]["av_source"], "status")

    def test_pictures_are_compared_without_their_stamps(self):
        self.done()
        text = (self.directory / "qoe-seen.json").read_text()
        self.assertIn("progressive_cabac", text)


class Deaths(Place):
    def failure_when_dies(self, name):
        def kill():
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM])
            while "dlex-play" not in (found := children_of(os.getpid())).values():
                time.sleep(0.01)
            [os.kill(pid, signal.SIGKILL) for pid, known in found.items() if known == name]

        killer = threading.Thread(target=kill)
        killer.start()
        result = self.execute(clip=self.job.clip.to_json() | {"length_s": None})
        killer.join()
        self.assertEqual(result["status"], "failed")
        return result["reason"]

    def test_dead_screen_is_named(self):
        self.assertIn("Xvfb was ended by signal 9", self.failure_when_dies("Xvfb"))

    def test_dead_sound_server_is_named(self):
        self.assertIn("pulseaudio was ended by signal 9", self.failure_when_dies("pulseaudio"))

    def test_dead_observer_is_named(self):
        self.assertIn("the observer ended with status -9", self.failure_when_dies("dlex-bench-obse"))


@unittest.skipUnless("deadline" in ALLOWED, "SCHED_DEADLINE is not available here")
class Reservations(Place):
    def setUp(self):
        super().setUp()
        self.before = root_balances()
        self.addCleanup(lambda: self.assertEqual(root_balances(), self.before))

    def test_own_player_and_rt_app_get_their_reservations(self):
        if not shutil.which("rt-app"):
            self.skipTest("rt-app is not installed")
        result = self.done(sched="deadline:15/40", load=RTAPP)
        self.assertEqual(result["policy"]["applied"], "deadline:15/40")
        self.assertEqual(result["load"]["sched"], "deadline")
        log = next((self.directory / "rt-app").glob("log-rt-app-1-*.log")).read_text()
        self.assertIn("SCHED_DEADLINE", log)

    def test_foreign_player_gets_its_reservation_from_outside(self):
        if not shutil.which("mplayer"):
            self.skipTest("mplayer is not installed")
        self.assertEqual(self.mplayer(sched="deadline:15/40")["policy"]["applied"], "deadline:15/40")

    def test_stress_may_run_beside_a_reservation(self):
        if not shutil.which("stress"):
            self.skipTest("stress is not installed")
        result = self.done(sched="deadline:15/40", load={"kind": "stress", "cpu": 2, "vm": 0})
        self.assertEqual(result["policy"]["applied"], "deadline:15/40")
        self.assertEqual(result["load"], {"cpu": max(os.sched_getaffinity(0)), "kind": "stress"})

    def test_refused_reservation_is_reported(self):
        result = self.execute(sched="deadline:39.9/40")
        self.assertEqual(result["status"], "failed")
        self.assertIn("deadline:39.9/40", result["reason"])

    def test_player_of_several_threads_is_skipped_with_the_reason(self):
        if not shutil.which("mpv"):
            self.skipTest("mpv is not installed")
        params = {"framedrop": "vo", "threads": 1, "options": []}
        result = self.execute(player="mpv", player_params=params, observe="outside", sched="deadline:15/40")
        self.assertEqual(result["status"], "skipped")
        self.assertIn("one reservation cannot hold", result["reason"])


@unittest.skipUnless("fifo" in ALLOWED, "fixed priorities are not available here")
class Priorities(Place):
    def test_own_player_and_rt_app_get_their_priorities(self):
        result = self.done(sched="fifo:5", load=RTAPP if shutil.which("rt-app") else {"kind": "none"})
        self.assertEqual(result["policy"]["applied"], "fifo:5")

    def test_foreign_player_gets_its_priority_from_outside(self):
        if not shutil.which("mplayer"):
            self.skipTest("mplayer is not installed")
        self.assertEqual(self.mplayer(sched="rr:5")["policy"]["applied"], "rr:5")


@unittest.skipUnless("quota" in ALLOWED, "quotas are not available here")
class Quotas(Place):
    def test_quota_holds_the_whole_process(self):
        result = self.done(sched="quota:15/40")
        self.assertEqual(result["policy"]["constrains"], "the whole process")


if __name__ == "__main__":
    BUILD, MEDIA_MAKE = (Path(argument).resolve() for argument in sys.argv[1:3])
    for program in ("Xvfb", "pulseaudio"):
        if not shutil.which(program):
            print(f"{program} is not installed")
            sys.exit(SKIPPED)
    for clip in ("stamped_small", "progressive_cabac"):
        if subprocess.run([MEDIA_MAKE, clip], stdout=subprocess.DEVNULL).returncode != 0:
            print(f"the clip {clip} cannot be made here")
            sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
