# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the demo as a command: what it refuses, that no process outlives it, and its outputs from invented run records.

    test_bench_demo.py PLAYER MEDIA_MAKE

Not covered: a whole demo with real plays. It takes minutes, and its figures mean nothing on a machine that runs tests.
"""

import contextlib
import fcntl
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path
from unittest import mock

from outside import SKIPPED, Folder, children_of, python_with_packages


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

    def test_option_that_the_player_refuses_is_reported_in_the_players_words(self):
        status, told = self.refusal(f"--clip={self.clip}", "--start=nan")
        self.assertEqual(status, 2)
        self.assertIn("--start", told)

    def test_file_instead_of_a_folder_is_refused(self):
        status, told = self.refusal(f"--clip={self.clip}", "--out=/dev/null")
        self.assertEqual(status, 1)
        self.assertIn("/dev/null is not a directory", told)

    def test_failed_demo_leaves_the_previous_results_unchanged(self):
        old = self.folder / "out/runs/calibration"
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

    def test_missing_rt_app_is_reported(self):
        status, told = self.refusal(f"--clip={self.clip}", PATH="/nowhere")
        self.assertEqual(status, 1)
        self.assertIn("rt-app is not installed", told)

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
        offspring = self.wait_for_child(demo, "rt-app")
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


class Outputs(Folder):
    def setUp(self):
        super().setUp()
        from dlex_bench.demo.runs import DROP_POLICIES, Run
        from dlex_bench.record import Frame

        verdicts = ("shown", "shown", "aborted", "late", "skipped")
        self.runs = {}
        for policy in DROP_POLICIES:
            frames = []
            for number in range(100):
                verdict = verdicts[number % 5]
                skew_ns = number * 3_000_000 if verdict == "shown" else None
                frames.append(Frame(number * 40_000_000, "P", False, 3_000_000, verdict, skew_ns, skew_ns))
            run = Run(policy, self.folder, frames, 1.0)
            run.summary = {"shown": 40, "aborted": 20, "skipped": 20, "late": 20, "dropped_fraction": 0.6,
                           "skew_ms_mean": 80.0, "skew_ms_sd": 40.0, "rmse_q16_sum": 123456.7}
            self.runs[policy] = [run] * 3

    def test_new_results_replace_only_the_old_results(self):
        from dlex_bench.demo.output import publish, workshop

        out = self.folder / "out"
        for name in ("runs/calibration/old", "runs/1-none/old"):
            (out / name).mkdir(parents=True)
        (out / "notes").write_text("mine")
        (out / "summary.json").write_text("old")
        with workshop(out) as folder:
            (folder / "runs/calibration").mkdir()
            (folder / "runs/calibration/qoe.json").write_text(f'"{folder}/runs"')
            for name in ("summary.json", "timeline.png"):
                (folder / name).write_text("new")
            self.assertEqual((out / "summary.json").read_text(), "old")
            publish(folder, out.resolve())
        self.assertEqual(sorted(path.name for path in out.iterdir()), ["notes", "runs", "summary.json", "timeline.png"])
        self.assertEqual([path.name for path in (out / "runs").iterdir()], ["calibration"])
        self.assertEqual((out / "runs/calibration/qoe.json").read_text(), f'"{out.resolve()}/runs"')
        self.assertEqual((out / "summary.json").read_text(), "new")

    def test_plot_is_drawn(self):
        from dlex_bench.demo.plot import draw

        path = self.folder / "timeline.png"
        draw([found[0] for found in self.runs.values()], 0.04, "a title", path)
        self.assertEqual(path.read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual([entry.name for entry in self.folder.iterdir()], ["timeline.png"])

    def test_table_fits_the_terminal(self):
        from rich.console import Console

        from dlex_bench.demo.runs import ranges
        from dlex_bench.table import WIDE, medians_table

        spreads = {policy.name: ranges(found) for policy, found in self.runs.items()}
        for measure, add in (("min", -60.5), ("max", 1876.5)):
            for entry in spreads.values():
                entry[measure] = {key: value + add for key, value in entry[measure].items()}
        for width in (80, WIDE):
            console = Console(width=width)
            with console.capture() as captured:
                console.print(medians_table(spreads, 3, width))
            lines = captured.get().splitlines()
            self.assertFalse([line for line in lines if "…" in line or len(line) > width], captured.get())
            self.assertEqual(sum("123,457" in line for line in lines), 4)

    def test_summary_has_one_entry_per_policy_with_its_medians(self):
        from dlex_bench.demo.output import policy_entry
        from dlex_bench.demo.runs import ranges
        from dlex_bench.files import write_json

        path = self.folder / "summary.json"
        write_json(path, {"runs": [policy_entry(policy, found, ranges(found)) for policy, found in self.runs.items()]})
        entries = json.loads(path.read_text())["runs"]
        self.assertEqual([(entry["drop"], entry["rule"]) for entry in entries],
                         [("none", None), ("heuristic", None), ("deadline", "paper"), ("deadline", "slack")])
        self.assertEqual(entries[0]["aborted"], 20)
        self.assertEqual(len(entries[0]["repetitions"]), 3)


class Busy(Folder):
    """Whole demos with simulated plays, on a machine where no share makes the player 15 % late."""

    def played(self, setup, policy, directory, share, *_arguments, nice=19, limit_s=None, **_options):
        from dlex_bench.demo.runs import LoadUsage, Run
        from dlex_bench.errors import TimedOut
        from dlex_bench.record import Frame

        self.plays.append((share, nice, limit_s))
        if self.crowded and share < 1 and nice == 19:
            raise TimedOut("dlex-play", limit_s)
        late_s = setup.length_s * self.late[(len(self.plays) - 1) % len(self.late)]
        directory.mkdir(parents=True)
        skews_ns = [round(1e9 * late_s * number / 99) for number in range(100)]
        frames = [Frame(number * 40_000_000, "P", False, 3_000_000, "shown", skew_ns, skew_ns)
                  for number, skew_ns in enumerate(skews_ns)]
        return Run(policy, directory, frames, 1.0, LoadUsage(elapsed_s=1.0))

    def assessed(self, _setup, runs, _tick):
        for run in runs:
            run.summary = {"shown": 100, "aborted": 0, "skipped": 0, "late": 0, "dropped_fraction": 0.0,
                           "skew_ms_mean": 80.0, "skew_ms_sd": 40.0, "rmse_q16_sum": 0.0}

    def demo(self, *late, crowded=False):
        """Runs a demo. `late` says how late its plays end in turn, as fractions of the played time.

        Returns the demo's summary and its output.
        """
        from rich.console import Console

        from dlex_bench.demo import calibration, demo

        self.plays, self.late, self.crowded = [], late, crowded
        clip, out, said = self.folder / "clip.mp4", self.folder / "out", io.StringIO()
        clip.touch()
        with contextlib.ExitStack() as stack:
            def put(module, **replacements):
                stack.enter_context(mock.patch.multiple(module, **replacements))

            cpus = os.sched_getaffinity(0)
            stack.callback(os.sched_setaffinity, 0, cpus)
            stack.enter_context(mock.patch.dict(os.environ, DLEX_CACHE=str(self.folder / "cache")))
            put(demo, probe=mock.DEFAULT, require_program=mock.DEFAULT, assess=self.assessed, play_loaded=self.played)
            put(demo, Console=lambda: Console(file=said, width=200))
            put(calibration, play_loaded=self.played, measure_ns_per_loop=lambda *_: 20.0,
                play_once=lambda setup, policy, folder, **_: self.played(setup, policy, folder, 1.0))
            demo.demo(demo.DemoOptions(self.folder, out, quick=True, clip=clip, start_s=None))

        self.assertEqual((out / "timeline.png").read_bytes()[:4], b"\x89PNG")
        return json.loads((out / "summary.json").read_text()), said.getvalue()

    def test_demo_continues_with_the_nearest_try_and_reports_its_distance(self):
        found, said = self.demo(0.9, 0.02, 0.8, 0.03)
        calibration = found["calibration"]
        nearest = min(calibration["tries"], key=lambda it: abs(it["end_late_fraction"] - 0.15))
        self.assertEqual(len(calibration["tries"]), 4)
        self.assertEqual(self.plays[5:], [(nearest["share"], 19, 35.0)] * 12)
        self.assertAlmostEqual(calibration["missed_by"], -0.12)
        self.assertIn("ended 3% of the played time late, the aim was 15%", calibration["missed"])
        self.assertEqual(found["findings"][0], calibration["missed"])
        self.assertEqual(said.count(calibration["missed"]), 2)
        self.assertRegex(said, r"deadline slack +100 ")

    def test_player_crowded_out_by_others_gets_an_equal_nice_value_and_more_time(self):
        found, said = self.demo(2.15, crowded=True)
        self.assertEqual((found["calibration"]["nice"], found["calibration"]["missed_by"]), (0, 2.0))
        self.assertEqual({play[1:] for play in self.plays[-12:]}, {(0, 105.0)})
        self.assertIn("`none` does not end in time", said)
        self.assertIn("ended 215% of the played time late", said)


if __name__ == "__main__":
    found = python_with_packages("import matplotlib, pydantic, rich")
    if found != sys.executable:
        os.execv(found, [found, *sys.argv])
    if not shutil.which("rt-app"):
        print("rt-app is not installed")
        sys.exit(SKIPPED)
    PLAYER, MEDIA_MAKE = (os.path.abspath(path) for path in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])
