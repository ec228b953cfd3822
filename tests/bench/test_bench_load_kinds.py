# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the loads of ordinary programs: that they run, report their pace, and leave nothing behind.

Not covered: how much of the machine they take; a load beside a player (test_bench_job.py).
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from outside import Folder, children_of, state_of, wait_until, with_packages

with_packages("numpy, scipy, pydantic, rich, yaml")

from dlex_bench.agenda.job import JobLoad
from dlex_bench.agenda.jobs import expand
from dlex_bench.agenda.reader import parse_agenda
from dlex_bench.errors import LabError
from dlex_bench.job import companions, pace, setting
from dlex_bench.machine.policy import allowed_kinds
from dlex_bench.record import Frame
from dlex_bench.report.sections import _ordinary_load
from dlex_bench.rig.folder import private_folder
from dlex_bench.rig.guest import Guest
from dlex_bench.rig.load import writing as disk
from dlex_bench.rig.load.audio import audio
from dlex_bench.rig.load.browsing import browser_command, browsing, frames_in
from dlex_bench.rig.load.building import PACKAGES, building
from dlex_bench.rig.load.c_tree import FILES, write_c_tree
from dlex_bench.rig.load.other_films import due_in, due_of, times_to_play
from dlex_bench.rig.load.quota import ChangingQuota
from dlex_bench.rig.load.running import Due, RunningLoad, script
from dlex_bench.rig.load.stress import stress_load
from dlex_bench.rig.load.writing import writing

CPUS = os.sched_getaffinity(0)
AGENDA = "config:\n  defaults: {{clip: {{file: a.mp4}}, sched: {}, load: {}}}\nworkloads:\n  - {{id: a, name: dlex-play}}\n"


def load_of(text, sched="free"):
    """Returns the load of the only job of an agenda with this load."""
    return expand(parse_agenda(AGENDA.format(sched, text), "a.yaml"))[0].load


class Agendas(unittest.TestCase):
    def test_loads_and_their_defaults(self):
        loads = {
            "{kind: stress, cpu: 8, nice: 5}": {"kind": "stress", "cpu": 8, "vm": 0, "nice": 5},
            "{kind: build}": {"kind": "build"},
            "{kind: io}": {"kind": "io", "writers": 4},
            "{kind: audio, after_s: 5}": {"kind": "audio", "after_s": 5},
            "{kind: browser}": {"kind": "browser"},
            "{kind: films, count: 2}": {"kind": "films", "count": 2},
            "{kind: quota, percent: 150}": {"kind": "quota", "percent": [150], "every_s": 3},
            "{kind: quota, percent: [150, 75, 200], every_s: 2}": {"kind": "quota", "percent": [150, 75, 200], "every_s": 2},
        }
        for text, load in loads.items():
            self.assertEqual(load_of(text).to_json(), load)

    def test_impossible_loads_are_refused(self):
        for text in ("{kind: stress, cpu: 1, nice: -5}", "{kind: io, writers: 0}", "{kind: build, jobs: 3}",
                     "{kind: audio, after_s: -1}", "{kind: rtapp, after_s: 1}", "{kind: biuld}",
                     "{kind: films, count: 65}", "{kind: quota}", "{kind: quota, percent: []}", "{kind: quota, percent: 0.5}",
                     "{kind: quota, percent: [150, .inf]}", "{kind: quota, percent: 150, every_s: 0.5}",
                     "{kind: quota, percent: 150, after_s: 1}"):
            with self.assertRaises(LabError, msg=text) as refused:
                load_of(text)
            self.assertIn("a.yaml, line 2: ", str(refused.exception))

    def test_truth_values_and_empty_lists_are_no_numbers(self):
        for text, words in (("percent: []", "percent is empty; write at least one number"),
                            ("percent: yes", r"percent\[0\] is wrong: a number is needed"),
                            ("percent: {a: 1}", "should be a valid number"),
                            ("percent: 50, every_s: on", "every_s is wrong: a number is needed")):
            with self.assertRaisesRegex(LabError, words):
                load_of(f"{{kind: quota, {text}}}")
        with self.assertRaisesRegex(LabError, "after_s is wrong: a number is needed"):
            load_of("{kind: build, after_s: yes}")

    def test_load_that_would_start_after_the_end_is_refused(self):
        agenda = AGENDA.format("free", "{kind: build, after_s: 20}").replace("file: a.mp4", "file: a.mp4, length_s: 20")
        with self.assertRaisesRegex(LabError, "^all-a: the load would start 20 s after the player, which plays 20 s"):
            expand(parse_agenda(agenda, "a.yaml"))
        expand(parse_agenda(agenda.replace("after_s: 20", "after_s: 19"), "a.yaml"))

    def test_quota_over_all_cpus_needs_all_cpus(self):
        with self.assertRaisesRegex(LabError, "all-a: the load quota needs sched: free"):
            load_of("{kind: quota, percent: 150}", "other")

    def test_report_names_the_quotas_of_the_player(self):
        load = JobLoad(kind="quota", percent=(150, 75), every_s=3)
        self.assertEqual(_ordinary_load(load), "nothing else, and the player may use 150, 75 % of a CPU, each for 3 s in turn")

    def test_report_names_the_load_and_when_it_starts(self):
        load = JobLoad(kind="stress", cpu=8, nice=5, after_s=3)
        self.assertEqual(_ordinary_load(load), "stress, cpu 8, nice 5, from 3 s after the player's start on")

    def test_missing_compiler_is_named_with_its_package(self):
        with mock.patch.object(shutil, "which", lambda name: None if name == "ninja" else f"/bin/{name}"), \
                self.assertRaises(setting.JobUnsupported) as refused:
            setting._require_programs(SimpleNamespace(load=JobLoad(kind="build")))
        self.assertIn("ninja is not installed; install it with `apt install ninja-build`", str(refused.exception))


class Paces(unittest.TestCase):
    SAMPLES = [pace.PaceSample(*it) for it in ((0, 0, 0), (1e6, 10, 0), (3e6, 50, 4))]

    def test_pace_within_a_window_is_interpolated(self):
        self.assertEqual(pace.pace_in(self.SAMPLES, (0.5e6, 2e6)), pace.Pace(25 / 1.5, 2))

    def test_window_begins_and_ends_with_the_samples(self):
        self.assertEqual(pace.pace_in(self.SAMPLES[1:], (0, 2e6)), pace.Pace(20, 2))
        self.assertEqual(pace.pace_in(self.SAMPLES, (2e6, 9e6)), pace.Pace(20, 2))
        self.assertIsNone(pace.pace_in(self.SAMPLES, (4e6, 9e6)))
        self.assertIsNone(pace.pace_in(self.SAMPLES[:1], (0, 9e6)))


class Times(unittest.TestCase):
    """A load, the time and the sleep are made up here. The load does 10 a second."""

    def setUp(self):
        self.now_s, self.started_s = 100.0, None
        clock = SimpleNamespace(monotonic=lambda: self.now_s, monotonic_ns=lambda: round(self.now_s * 1e9), sleep=self.sleep)
        self.enterContext(mock.patch.object(pace, "time", clock))
        self.stack = self.enterContext(contextlib.ExitStack())

    def sleep(self, seconds):
        self.now_s += seconds

    @contextlib.contextmanager
    def load(self):
        self.started_s = self.now_s
        yield RunningLoad(lambda: None, lambda: 10 * (self.now_s - self.started_s), "pieces")

    def test_settled_load_is_measured_before_the_player_starts(self):
        timed = pace.TimedLoad(self.load, None, self.stack)
        timed.before_player()
        self.assertEqual((self.started_s, self.now_s), (100.0, 100.0 + 0.5 + pace.ALONE_S))
        self.assertAlmostEqual(timed.alone.per_s, 10)

    def test_late_load_starts_while_the_player_plays_and_is_measured_after_it(self):
        timed = pace.TimedLoad(self.load, 3.0, self.stack)
        timed.before_player()
        for _ in range(10):
            self.sleep(0.5)
            timed.watch()
        self.assertEqual(self.started_s, 103.0)
        timed.after_player()
        self.assertAlmostEqual(timed.alone.per_s, 10)
        self.assertAlmostEqual(timed.beside((0, 104e6)).per_s, 10)

    def test_load_that_never_started_is_an_error(self):
        timed = pace.TimedLoad(self.load, 3.0, self.stack)
        timed.before_player()
        timed.watch()
        with self.assertRaisesRegex(LabError, "the player ended before the load began, 3 s after it"):
            timed.after_player()


class Quotas(unittest.TestCase):
    """The control group and the time are made up here."""

    def test_quotas_hold_in_turn(self):
        set_to, now = [], SimpleNamespace(s=10.0)
        group = SimpleNamespace(limit=lambda policy: set_to.append(str(policy)))
        quota = ChangingQuota(group, (150, 75, 200), 3.0, begun_s=10.0, changes=[(0, 150)])
        clock = SimpleNamespace(monotonic=lambda: now.s, monotonic_ns=lambda: round(1e9 * now.s))
        with mock.patch("dlex_bench.rig.load.quota.time", clock):
            for now.s in (10.5, 12.9, 13.2, 15.0, 16.4, 19.0):
                quota.follow()
        self.assertEqual(set_to, ["quota:75/100", "quota:200/100", "quota:150/100"])
        self.assertEqual(quota.changes, [(0, 150), (13_200_000_000, 75), (16_400_000_000, 200), (19_000_000_000, 150)])


class OtherFilms(Folder):
    def frame(self, verdict, shown_us=None):
        return Frame(0, "P", False, 0, verdict, shown_us and 1000 * shown_us, None)

    def test_pictures_between_the_first_and_the_last_shown_one_in_the_window_count(self):
        frames = [self.frame(*it) for it in (("shown", 90), ("late",), ("shown", 110), ("skipped",), ("aborted",), ("shown", 190),
                                             ("late",), ("shown", 210))]
        self.assertEqual(due_in(frames, (100, 200)), Due(2, 2))
        self.assertEqual(due_in(frames, (300, 400)), Due(0, 0))

    def test_play_that_ended_before_its_first_picture_has_none(self):
        record = self.folder / "1/1"
        record.mkdir(parents=True)
        columns = ("pts_ns", "type", "droppable", "decode_cpu_ns", "verdict", "shown_ns", "skew_ns", "decode_end_ns")
        (record / "frames.csv").write_text(",".join(columns) + "\n0,I,0,,late,,,\n")
        self.assertEqual(due_of([self.folder / "1"], (0, 100)), Due(0, 0))

    def test_films_that_show_nothing_get_nothing(self):
        job = SimpleNamespace(load=JobLoad(kind="films"))
        report = companions._report_on_due(SimpleNamespace(job=job, is_free=True), Due(0, 0))
        self.assertEqual((report.others, report.dropped), (0, 0))

    def test_film_is_played_until_the_player_has_to_end(self):
        self.assertEqual([times_to_play(100, clip_s) for clip_s in (8, 99, 100, 300)], [14, 3, 2, 2])


class Browser(Folder):
    def test_last_count_of_frames_is_found_in_the_log(self):
        log = self.folder / "log"
        log.write_text("")
        self.assertEqual(frames_in(log), 0)
        line = '[1:1:INFO:CONSOLE:4] "frames {}", source: file:///page.html (4)\n'
        log.write_text("".join(line.format(number) for number in range(6, 6000, 6)) + '[1:1:INFO:CONSOLE:4] "fram')
        self.assertEqual(frames_in(log), 5994)

    def test_root_browses_as_the_guest(self):
        self.assertEqual(browser_command(self.folder, None)[0], "chromium")
        user = Guest(1000, 1001)
        self.assertEqual(browser_command(self.folder, user)[: len(user.prefix) + 1], [*user.prefix, "chromium"])

    @unittest.skipUnless(shutil.which("chromium"), "chromium is not installed")
    def test_page_is_drawn_and_the_browser_ends(self):
        with private_folder() as folder:
            try:
                running = self.enterContext(browsing(folder, CPUS))
            except LabError as cause:
                if "sandbox" in str(cause).lower():
                    self.skipTest(f"Chromium's sandbox is not possible here: {cause}")
                raise
            before = running.done()
            self.assertTrue(wait_until(lambda: running.done() > before))
            process = next(iter(children_of(os.getpid())))
            below = list(children_of(process))
            self.doCleanups()
        self.assertTrue(below)
        self.assertTrue(wait_until(lambda: all(state_of(pid) in "XZ" for pid in below)))


class Loads(Folder):
    def tearDown(self):
        self.assertEqual(children_of(os.getpid()), {})

    def progress(self, running):
        """Waits until the load has done more than before."""
        before = running.done()
        self.assertTrue(wait_until(lambda: running.done() > before))
        running.check()

    @unittest.skipUnless(all(map(shutil.which, PACKAGES)), "gcc or ninja is not installed")
    def test_compiler_compiles_and_ends(self):
        with building(self.folder, CPUS) as running:
            self.progress(running)
            self.assertGreaterEqual(len(list((self.folder / "tree").glob("*.o"))), 1)

    @unittest.skipUnless(all(map(shutil.which, PACKAGES)), "gcc or ninja is not installed")
    def test_ninja_and_its_compilers_end_when_the_script_is_killed(self):
        with building(self.folder, CPUS):
            script_pid = next(iter(children_of(os.getpid())))
            ninja = wait_until(lambda: [pid for pid, name in children_of(script_pid).items() if name == "ninja"])[0]
            compilers = wait_until(lambda: list(children_of(ninja)))
            os.kill(script_pid, signal.SIGKILL)
            self.assertTrue(wait_until(lambda: all(state_of(pid) in "XZ" for pid in (ninja, *compilers))))

    def test_tree_is_the_same_each_time(self):
        trees = [self.folder / name for name in ("one", "other")]
        for tree in trees:
            tree.mkdir()
            write_c_tree(tree, "gcc")
        one, other = ({path.name: path.read_text() for path in tree.iterdir()} for tree in trees)
        self.assertEqual(one, other)
        self.assertEqual(len({one[f"part{number}.c"].replace(f"part{number}", "") for number in range(FILES)}), FILES)

    def test_compiler_error_is_in_the_sentence(self):
        with script("build", "builder.py", [self.folder], self.folder, CPUS) as running, \
                self.assertRaisesRegex(LabError, "the load build ended by itself with status 1 .*build.ninja"):
            running.wait_for_count()

    def test_writers_write_and_their_files_have_no_names(self):
        disk_folder = self.folder / "disk"
        disk_folder.mkdir()
        with writing(2, disk_folder, self.folder, CPUS) as running:
            self.progress(running)
            self.assertEqual(list(disk_folder.iterdir()), [])

    def test_too_little_room_for_the_writers_is_refused(self):
        with mock.patch.object(disk.shutil, "disk_usage", lambda _: SimpleNamespace(free=95 << 20)), \
                self.assertRaisesRegex(LabError, "the load io needs 96 MiB of free room"):
            self.enterContext(writing(2, self.folder, self.folder, CPUS))

    def test_writer_whose_disk_is_full_ends_with_a_sentence(self):
        argv = [sys.executable, "-ISE", Path(disk.__file__).with_name("writer.py"), "/proc", "1024", "2048"]
        ended = subprocess.run(argv, capture_output=True, text=True, timeout=30)
        self.assertEqual((ended.returncode, ended.stderr), (1, "/proc cannot be written: No such file or directory\n"))

    @unittest.skipUnless("fifo" in allowed_kinds(), "fixed priorities are not available here")
    def test_audio_runs_under_fifo(self):
        with audio(self.folder, CPUS) as running:
            self.progress(running)
            process = next(iter(children_of(os.getpid())))
            self.assertEqual(os.sched_getscheduler(process), os.SCHED_FIFO)
            self.assertGreaterEqual(running.late(), 0)

    @unittest.skipUnless(shutil.which("stress"), "stress is not installed")
    def test_stress_is_nice_and_reports_its_cpu_time(self):
        with stress_load(2, 0, 5, CPUS) as running:
            self.progress(running)
            tasks = [pid for pid, name in children_of(os.getpid()).items() if name == "stress"]
            self.assertEqual({os.getpriority(os.PRIO_PROCESS, pid) for pid in tasks}, {5})
            self.assertLess(running.done(), time.monotonic())
            os.kill(max(tasks), signal.SIGKILL)
            with self.assertRaisesRegex(LabError, "stress ended by itself"):
                self.assertTrue(wait_until(lambda: running.check()))


if __name__ == "__main__":
    unittest.main()
