# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests single jobs with the real player, rt-app and stress. The player's own record provides the figures.

    test_bench_job.py BUILD MEDIA_MAKE

Not covered: how good the figures are; jobs on the stage and under policies that need privileges (test_bench_job_stage.py).
"""

import json
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
from types import SimpleNamespace
from unittest import mock

from outside import SKIPPED, Folder, children_of, state_of, with_packages

with_packages("pydantic, yaml, rich")

import made_up
from dlex_bench.agenda.job import Job
from dlex_bench.analysis.results_frame import rows
from dlex_bench.batch.one import result_line
from dlex_bench.errors import Interrupted
from dlex_bench.job import companions, pace
from dlex_bench.job import execute as execution
from dlex_bench.job import setting as settings
from dlex_bench.job.context import Context, loops_file
from dlex_bench.job.execute import execute
from dlex_bench.job.loops import Loops, loops_of, verified
from dlex_bench.job.result import LoadReport
from dlex_bench.processes import signals_as_exceptions
from dlex_bench.report.export import job_row
from dlex_bench.report.facts import batch_facts
from dlex_bench.report.gather import Batch
from dlex_bench.rig.load import other_films
from dlex_bench.rig.load.rtapp import RTAPP_LIMIT_S
from dlex_bench.rig.load.rtapp_log import TaskStats
from dlex_bench.rig.players.playing import LIMIT_EXTRA_S, LIMIT_FACTOR

KEYS = {"version", "job", "status", "reason", "machine", "commit", "started", "wall_s", "policy", "view", "figures", "inside",
        "outside", "rtapp", "load", "own_word", "threads", "steal", "tuned", "films", "whole_machine"}
FIGURES = {"frames", "frame_ms", "shown", "dropped", "drops_fraction", "skew_ms_mean", "skew_ms_abs_mean", "skew_ms_sd",
           "skew_ms_end", "rmse_q16_sum", "rmse_q16_median", "rmse_q16_p90", "torn", "av_source", "player_cpu_s",
           "cpu_ms_per_frame"}
CPU = max(os.sched_getaffinity(0))
ONLY_CPU = len(os.sched_getaffinity(0)) == 1
# 1 s of a clip of 25 pictures a second.
LENGTH_S, PICTURES = 1.0, 25


class Place(Folder):
    """A test case with a project root that has the built programs, and with a folder for a batch."""

    def setUp(self):
        super().setUp()
        root = self.folder / "root"
        (root / "build").mkdir(parents=True)
        (root / "build/release").symlink_to(BUILD)
        (root / "media").symlink_to(Path(MEDIA_MAKE).parent)
        self.batch = self.folder / "batch"
        self.context = Context(root, self.batch, machine="m", commit="c")
        self.job = Job(id="here-quiet-r1", repetition=1, section="here", workload="quiet", player="dlex-play", observe="inside",
                       sched="other", player_params={"drop": "none", "queue": "0"}, load={"kind": "none"},
                       clip={"file": CLIP, "start_s": 0.0, "length_s": LENGTH_S})

    def execute(self, **changes):
        job = self.job.but(**changes)
        directory = self.batch / job.id
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        return execute(job, directory, self.context).to_json()

    def expect_nothing_left(self):
        self.assertEqual(children_of(os.getpid()), {})


class Results(Place):
    def test_result_has_every_figure_of_the_own_view(self):
        # Twice the length: what was stolen is unknown if looks come so late that they see less than half a second.
        result, pictures = self.execute(clip={**self.job.clip.to_json(), "length_s": 2 * LENGTH_S}), 2 * PICTURES
        self.assertEqual((result["status"], result["reason"]), ("done", None))
        self.assertEqual(set(result), KEYS)
        self.assertLessEqual(FIGURES, set(result["figures"]))
        self.assertEqual((result["view"], result["outside"]), ("inside", None))
        self.assertEqual(result["figures"], result["inside"])
        figures = result["figures"]
        self.assertEqual((figures["frames"], figures["dropped"], figures["av_source"]), (pictures, 0, "own"))
        for family in (("accepted", "irritating", "distracting"), ("itu_undetected", "itu_acceptable", "itu_unacceptable")):
            self.assertAlmostEqual(sum(figures[f"lip_sync_{grade}"] for grade in family), 1)
        self.assertEqual(result["threads"][0]["work"], "decodes and presents")
        # A short thread may have been seen only before it took its own name.
        named = [thread for thread in result["threads"][1:] if thread["name"] != result["threads"][0]["name"]]
        self.assertNotIn("unknown", [thread["work"] for thread in named])
        self.assertGreater(figures["cpu_ms_per_frame"], 0)
        self.assertAlmostEqual(figures["player_cpu_s"] * 1e3, figures["cpu_ms_per_frame"] * pictures)
        self.assertEqual(result["policy"], {"asked": "other", "applied": "other", "throttled": None,
                                            "constrains": "the player's threads that decode or present"})
        held_ms, outside_ms = (figures[f"cpu_ms_per_frame_{where}"] for where in ("held", "outside"))
        self.assertAlmostEqual(held_ms + outside_ms, figures["cpu_ms_per_frame"])
        record = json.loads((self.batch / self.job.id / "own" / "run.json").read_text())
        self.assertAlmostEqual(held_ms * pictures, record["held_cpu_ns"] / 1e6)
        self.assertAlmostEqual(figures["player_cpu_s"], record["process_cpu_ns"] / 1e9)
        self.assertLessEqual(record["held_cpu_ns"] / 1e9, result["threads"][0]["cpu_s"])
        self.assertGreater(outside_ms, 0)
        self.assertEqual(json.loads(json.dumps(result)), result)
        self.assertTrue(0 <= result["steal"]["measured"] <= 1, result["steal"])
        self.assertEqual(result["steal"]["others"] is None, ONLY_CPU)

    def test_violations_are_counted_where_a_window_was_asked_for(self):
        params = {"drop": "deadline", "queue": "20"}
        result = self.execute(player_params={**params, "options": ["--window=1/5"]})
        self.assertEqual((result["status"], result["reason"]), ("done", None))
        self.assertLessEqual(result["figures"]["violations_aligned"], result["figures"]["violations_sliding"])
        self.assertIsNone(self.execute(player_params=params)["figures"]["violations_sliding"])

    def test_window_is_the_last_one_among_the_options_of_dlex_play(self):
        def window(player, *options):
            job = self.job.but(player_params={"options": options})
            return settings.Setting.window.fget(SimpleNamespace(job=job, adapter=SimpleNamespace(name=player)))

        self.assertEqual(window("dlex-play", "--window=1/5", "--strict", "--window=1/9"), "1/9")
        self.assertIsNone(window("dlex-play", "--strict"))
        self.assertIsNone(window("mpv", "--window=1/5"))

    def test_thread_that_decodes_ahead_is_held_beside_the_one_that_presents(self):
        result = self.execute(player_params={"drop": "none", "queue": "20"})
        self.assertEqual((result["status"], result["reason"]), ("done", None))
        main, *others = result["threads"]
        decoder = next(thread for thread in others if thread["name"] == "decoder")
        for thread, work, roles in ((main, "presents", ["present"]), (decoder, "decodes", ["decode"])):
            self.assertEqual((thread["work"], thread["roles"], thread["cpus"]), (work, roles, str(CPU)))
            self.assertEqual((thread["policy"], thread["outside_s"]), ("other", 0))
        # The threads that read such a short clip may end before anybody looks at them, or before they took their own names.
        for thread in (thread for thread in others if thread["name"] not in ("decoder", main["name"])):
            self.assertEqual((thread["roles"], thread["cpus"] == str(CPU)), ([], ONLY_CPU))
        record = json.loads((self.batch / self.job.id / "own" / "run.json").read_text())
        figures = result["figures"]
        self.assertAlmostEqual(figures["cpu_ms_per_frame_held"] * PICTURES, record["held_cpu_ns"] / 1e6)
        self.assertGreater(figures["cpu_ms_per_frame_held"] * PICTURES / 1e3, decoder["cpu_s"])
        self.assertAlmostEqual(figures["cpu_ms_per_frame_outside"] * PICTURES,
                               (record["process_cpu_ns"] - record["held_cpu_ns"]) / 1e6)

    def test_checksum_of_a_large_file_does_not_count_as_playing(self):
        large = self.folder / "large.mp4"
        shutil.copy(CLIP, large)
        box = 100 << 20  # an empty box, which players skip; it takes no room on the disk
        with large.open("r+b") as file:
            file.seek(0, os.SEEK_END)
            file.write(box.to_bytes(4, "big") + b"free")
            file.truncate(file.tell() - 8 + box)
        result = self.execute(clip={"file": str(large), "start_s": 0.0, "length_s": LENGTH_S})
        self.assertEqual((result["status"], result["reason"]), ("done", None))
        until_it_ended_s = sum(thread["cpu_s"] for thread in result["threads"])
        self.assertLess(result["figures"]["player_cpu_s"], until_it_ended_s / 2)
        self.assertLess(result["figures"]["cpu_ms_per_frame_held"] * PICTURES / 1e3, result["threads"][0]["cpu_s"] / 2)

    def test_figures_equal_those_of_dlex_qoe(self):
        params = {"drop": "deadline", "rule": "paper", "queue": "0", "options": ["--deadline-base=0"]}
        figures = self.execute(player_params=params)["figures"]
        folder = self.batch / self.job.id
        summary = json.loads((folder / "qoe-own.json").read_text())["summary"]
        self.assertGreater(figures["dropped"], 0)
        for key in ("frames", "shown", "dropped", "aborted", "skipped", "late", "rmse_q16_sum", "skew_ms_mean",
                    "degraded", "drifted", "rmse_q16_degraded", "rmse_q16_drifted"):
            self.assertEqual(figures[key], summary[key], key)
        self.assertEqual(figures["drops_fraction"], summary["dropped_fraction"])
        self.assertGreater(figures["aborted_cpu_s"], 0)

    def test_whole_clip_is_played_without_a_length(self):
        figures = self.execute(clip={"file": CLIP, "start_s": CLIP_S - 1})["figures"]
        self.assertEqual(figures["frames"], PICTURES)

    def test_driver_returns_to_its_cpus(self):
        before = os.sched_getaffinity(0)
        self.execute()
        self.assertEqual(os.sched_getaffinity(0), before)


@unittest.skipUnless(shutil.which("rt-app"), "rt-app is not installed")
class BesideRtApp(Place):
    LOAD = {"kind": "rtapp", "sched": "same"}

    def setUp(self):
        super().setUp()
        self.batch.mkdir()
        self.loops = loops_file(self.batch, self.context.machine)
        loops = {"cpu": max(os.sched_getaffinity(0)), "ns_per_loop": 25.0, "tries": [25.0, 25.0]}
        self.loops.write_text(json.dumps(loops))

    def test_only_rt_app_jobs_during_playing_count(self):
        result = self.execute(load=self.LOAD)
        self.assertEqual(result["status"], "done", result["reason"])
        tasks = result["rtapp"]
        self.assertEqual(set(tasks), {"rt-app-1", "rt-app-2"})
        window_us = execution.shown_window_us(self.batch / self.job.id / "own")
        most = (window_us[1] - window_us[0]) / 8_000 + 1 + 2  # if a job at either end seems to be released a little late
        self.assertLessEqual(tasks["rt-app-1"]["periods"], most)
        self.assertEqual((result["load"]["ns_per_loop"], result["load"]["sched"]), (25.0, "other"))

    def test_rt_app_outlasts_the_longest_play_of_its_clip(self):
        with mock.patch.object(companions, "rtapp", wraps=companions.rtapp) as started:
            result = self.execute(load=self.LOAD)
        self.assertEqual(result["status"], "done", result["reason"])
        self.assertGreaterEqual(started.call_args.kwargs["limit_s"], RTAPP_LIMIT_S)
        config = json.loads((self.batch / self.job.id / "rt-app" / "rt-app.json").read_text())
        self.assertEqual(config["global"]["duration"], started.call_args.kwargs["limit_s"])
        for length_s in (60, 1800, 7200):
            self.assertGreater(companions.rtapp_limit_s(length_s), LIMIT_FACTOR * length_s + LIMIT_EXTRA_S)

    @staticmethod
    def verified(setting, *works_ms):
        stats = {f"rt-app-{number}": TaskStats(periods=1, work_ms=work_ms) for number, work_ms in enumerate(works_ms, 1)}
        return verified(setting, LoadReport(kind="rtapp"), stats)

    def test_outdated_loops_are_measured_again(self):
        setting = mock.Mock(context=self.context)
        self.assertTrue(self.verified(setting, 2.2, None).work_held)
        self.assertTrue(self.loops.exists())
        self.assertFalse(self.verified(setting, 2.2, 20.6).work_held)
        self.assertFalse(self.loops.exists())

    def test_unknown_work_is_not_reported_as_held(self):
        setting = mock.Mock(context=self.context)
        told = self.verified(setting, None, None).to_json()
        self.assertEqual(told, {"kind": "rtapp", "work_held": None, "work_part": None, "work_light": None})
        self.assertTrue(self.loops.exists())

    def test_light_load_is_reported(self):
        setting = mock.Mock(context=self.context)
        for work_ms, light in ((2.46, False), (2.34, True), (None, False)):
            told = self.verified(setting, work_ms, 20.0)
            self.assertEqual((told.work_held, told.work_light), (True, light))
        self.assertEqual(told.work_part, 1.0)
        changes = {"load": {"work_light": True, "work_part": 0.78}, "rtapp": {"a": {"periods": 9, "missed": 0}}}
        line = result_line(made_up.changed(made_up.result("w"), **changes))
        self.assertEqual(line, "rt-app missed 0, its jobs took 78% of the paper's")

    def test_pace_of_the_others_is_in_the_line_and_in_the_tables(self):
        run = made_up.changed(made_up.result("w"), load={"kind": "build", "others": 0.834, "late": 3})
        self.assertIn("others at 83%", result_line(run))
        self.assertEqual([rows([run])[0].value(key) for key in ("load.others", "load.late")], [0.834, 3])
        self.assertEqual(job_row(rows([run])[0])["load.others"], 0.834)

    def test_report_counts_light_loads(self):
        runs = [made_up.changed(made_up.result("w", number), load={"work_light": number == 2}) for number in (1, 2, 3)]
        facts = dict(batch_facts(Batch(self.batch, rows(runs))))
        self.assertIn("in 1 of 3 runs", facts["light load"])
        self.assertNotIn("light load", dict(batch_facts(Batch(self.batch, rows(runs[:1])))))

    def test_threads_of_unknown_work_are_reported_with_the_results(self):
        known, unknown = ({"tid": 1, "name": name, "work": work, "cpu_s": 0.1}
                          for name, work in (("mpv", "decodes"), ("vo-next", "unknown")))
        runs = [made_up.changed(made_up.result("mpv_vo", number), threads=threads)
                for number, threads in ((1, [known]), (2, [known, unknown]))]
        told = [result_line(run) for run in runs]
        self.assertEqual([("unknown" in line, "vo-next" in line) for line in told], [(False, False), (True, True)])
        facts = dict(batch_facts(Batch(self.batch, rows(runs))))
        self.assertTrue(facts["unknown threads"].startswith("mpv vo-next: the laboratory does not know these threads"))
        self.assertNotIn("unknown threads", dict(batch_facts(Batch(self.batch, rows(runs[:1])))))

    def test_second_machine_measures_its_own_loops(self):
        other = replace(self.context, machine="other")
        setting = mock.Mock(context=other, cpu=max(os.sched_getaffinity(0)), directory=self.batch / self.job.id)
        with mock.patch("dlex_bench.job.loops.measure_ns_per_loop", return_value=12.5):
            self.assertEqual(loops_of(setting).ns_per_loop, 12.5)
        setting.context = self.context
        self.assertEqual(loops_of(setting).ns_per_loop, 25.0)

    def test_rt_app_that_dies_fails_the_job(self):
        def kill():
            while not (found := [pid for pid, name in children_of(os.getpid()).items() if name == "dlex-play"]):
                time.sleep(0.01)
            self.assertTrue(found)
            [os.kill(pid, signal.SIGKILL) for pid, name in children_of(os.getpid()).items() if name == "rt-app"]

        killer = threading.Thread(target=kill)
        killer.start()
        result = self.execute(load=self.LOAD, clip={"file": CLIP, "start_s": 0.0})
        killer.join()
        self.assertEqual(result["status"], "failed")
        self.assertIn("rt-app ended by itself with status -9", result["reason"])
        self.expect_nothing_left()

    def test_stress_is_a_load_too(self):
        if not shutil.which("stress"):
            self.skipTest("stress is not installed")
        with mock.patch.object(pace, "ALONE_S", 0.2):
            result = self.execute(load={"kind": "stress", "cpu": 1, "vm": 0})
        self.assertEqual((result["status"], result["rtapp"]), ("done", None))
        load = result["load"]
        self.assertEqual((load["kind"], load["unit"], load["late"]), ("stress", "s of CPU time", None))
        self.assertAlmostEqual(load["others"], load["beside_per_s"] / load["alone_per_s"])
        self.expect_nothing_left()

    def test_every_load_enters_the_domain(self):
        """With control groups of version 2, only members of the domain may run on the CPU."""
        entered = self.folder / "entered"
        loads = [(None, {"kind": "stress", "cpu": 1, "vm": 0})] if shutil.which("stress") else []
        if shutil.which("rt-app"):
            loads.append((Loops(cpu=CPU, ns_per_loop=20.0, tries=[]), self.LOAD))
        for loops, load in loads:
            job = self.job.but(load=load)
            setting = SimpleNamespace(job=job, cpu=CPU, directory=self.folder, load_sched="other", length_s=LENGTH_S,
                                      load_cpus={CPU}, is_free=False)
            with self.subTest(load["kind"]), companions.companion(setting, loops, lambda: entered.write_text("yes")):
                self.assertTrue(entered.exists())
            entered.unlink()


class BesidePrograms(Place):
    def test_other_films_are_a_load_too(self):
        with mock.patch.object(other_films, "SETTLE_S", 0.2):
            result = self.execute(load={"kind": "films", "count": 2})
        self.assertEqual((result["status"], result["reason"]), ("done", None))
        load = result["load"]
        self.assertEqual((load["kind"], load["unit"]), ("films", "pictures"))
        self.assertGreater(load["others"], 0)
        self.assertGreaterEqual(load["dropped"], 0)
        self.assertTrue((self.batch / self.job.id / "films/2/1/frames.csv").exists())
        self.expect_nothing_left()

    def test_quota_over_all_cpus_holds_the_player(self):
        if "quota" not in settings.allowed_kinds():
            self.skipTest("the policy quota needs root and writable control groups")
        result = self.execute(load={"kind": "quota", "percent": (150.0,), "every_s": 3.0}, sched="free")
        self.assertEqual((result["status"], result["reason"]), ("done", None))
        self.assertEqual([it["percent"] for it in result["load"]["quotas"]], [150])
        self.assertGreater(result["load"]["throttled"]["periods"], 5)
        self.expect_nothing_left()


class Failures(Place):
    def failure(self, **changes):
        result = self.execute(**changes)
        self.assertEqual(result["status"], "failed")
        self.assertEqual(set(result), KEYS)
        self.assertIsNone(result["figures"])
        self.expect_nothing_left()
        return result["reason"]

    def test_vanished_clip_fails_the_job(self):
        self.assertIn("there is no clip /nowhere.mp4", self.failure(clip={"file": "/nowhere.mp4", "start_s": 0}))

    def test_file_that_is_not_a_clip_fails_the_job(self):
        path = self.folder / "no film.mp4"
        path.write_text("no film")
        self.assertIn("cannot be used as a clip", self.failure(clip={"file": str(path), "start_s": 0}))

    def test_part_beyond_the_end_of_the_clip_fails_the_job(self):
        self.assertIn("has no pictures from 9999 s on", self.failure(clip={"file": CLIP, "start_s": 9999}))

    def test_missing_cpu_fails_the_job(self):
        self.assertIn("CPU 4000 is not one of the allowed CPUs", self.failure(cpu=4000))

    def test_unknown_policy_fails_the_job(self):
        self.assertIn("not a scheduling policy", self.failure(sched="idle"))

    def test_option_that_the_player_refuses_is_reported_in_the_players_words(self):
        reason = self.failure(player_params={"drop": "none", "queue": "0", "options": ["--length=nan"]})
        self.assertIn("dlex-play ended with status 1", reason)
        self.assertIn("--length", reason)

    def test_missing_calibration_fails_the_job(self):
        if "deadline" not in settings.allowed_kinds():
            self.skipTest("the policy deadline needs root and writable control groups")
        self.assertIn("call `dlex-bench calibrate`", self.failure(sched="deadline:calibrated/40"))

    def test_player_that_is_not_installed_is_skipped_with_its_package(self):
        which = shutil.which
        for player, program, package in (("mpv", "mpv", "mpv"), ("playbin", "gst-play-1.0", "gstreamer1.0-plugins-base-apps")):
            here = mock.patch.object(shutil, "which", lambda name, gone=program: None if name == gone else which(name))
            with self.subTest(player), here:
                result = self.execute(player=player, player_params={}, observe="outside")
                self.assertEqual(result["status"], "skipped")
                self.assertRegex(result["reason"], f"is not installed; install it with `apt install {package}`$")

    def skipped(self, *gone, **changes):
        """Returns why a job is skipped where these programs are not installed."""
        which = shutil.which
        with mock.patch.object(shutil, "which", lambda name: None if name in gone else which(name)):
            result = self.execute(**changes)
        self.assertEqual((result["status"], result["figures"]), ("skipped", None), result["reason"])
        self.expect_nothing_left()
        return result["reason"]

    def test_load_whose_program_is_not_installed_is_skipped_with_its_package(self):
        loads = {"stress": ({"kind": "stress", "cpu": 1, "vm": 0}, "stress"), "rt-app": ({"kind": "rtapp"}, "rt-app"),
                 "gcc": ({"kind": "build"}, "gcc"), "ninja": ({"kind": "build"}, "ninja-build"),
                 "chromium": ({"kind": "browser"}, "chromium")}
        for program, (load, package) in loads.items():
            with self.subTest(program):
                sentence = f"the load {load['kind']} is not possible: {program} is not installed; install it with "
                self.assertEqual(self.skipped(program, load=load), f"{sentence}`apt install {package}`")
        if shutil.which("rt-app"):
            load = {"kind": "rtapp", "stress": 4}
            self.assertIn("the load rtapp is not possible: stress is not", self.skipped("stress", load=load))

    def test_screen_that_is_not_installed_is_skipped_with_its_package(self):
        self.assertEqual(self.skipped("Xvfb", observe="both"), "Xvfb is not installed; install it with `apt install xvfb`")

    def test_clip_whose_encoder_is_missing_is_skipped(self):
        program = self.folder / "bin/ffmpeg"
        program.parent.mkdir()
        program.write_text(f'#!/bin/bash\nexec {shutil.which("ffmpeg")} "${{@/#mpeg4/nosuchencoder}}"\n')
        program.chmod(0o755)
        places = {"PATH": f"{program.parent}:{os.environ['PATH']}", "DLEX_CACHE": str(self.folder / "cache")}
        with mock.patch.dict(os.environ, places):
            reason = self.skipped(clip={"recipe": "mpeg4_small"})
        self.assertRegex(reason, "^the clip mpeg4_small cannot be made here: ffmpeg version .* has no encoder nosuchencoder; ")

    def test_load_that_would_start_after_the_end_fails_before_anything_starts(self):
        with mock.patch.object(execution, "play", side_effect=AssertionError("it played")):
            reason = self.failure(load={"kind": "stress", "cpu": 1, "vm": 0, "after_s": LENGTH_S})
        self.assertEqual(reason, "the load would start 1 s after the player, which plays 1 s; make after_s smaller")

    def test_policies_that_are_not_allowed_are_skipped_with_advice(self):
        with mock.patch.object(settings, "allowed_kinds", lambda: {"other"}):
            reason = self.skipped(sched="fifo:5")
            both = self.skipped(sched="fifo:5", load={"kind": "quota", "percent": (50,)})
        self.assertIn("no permission for fifo and quota here", both)
        self.assertIn("no permission for fifo here", reason)
        self.assertIn("limits.conf", reason)

    def test_priorities_that_are_not_allowed_are_skipped(self):
        kinds = {"other", "fifo", "nice"}
        with mock.patch.multiple(settings, allowed_kinds=lambda: kinds, is_granted=lambda it: 0 < it.priority < 5):
            for changes, missing in (({"sched": "fifo:9"}, "fifo:9"), ({"sched": "nice:-11"}, "nice:-11"),
                                     ({"load": {"kind": "audio"}}, "fifo:5")):
                self.assertIn(f"no permission for {missing} here", self.skipped(**changes))

    def test_signal_ends_the_encoder_of_a_clip_and_leaves_nothing_half_made(self):
        encoder = self.folder / "encoder"
        program = self.folder / "bin/ffmpeg"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\n[ "$1" = -version ] && exec {shutil.which("ffmpeg")} -version\n'
                           f'for last; do :; done; touch "$last"; echo $$ >{encoder}.part\n'
                           f'mv {encoder}.part {encoder}; exec sleep 60\n')
        program.chmod(0o755)

        def strike():
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
            while not encoder.exists():
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)

        striker = threading.Thread(target=strike)
        striker.start()
        places = {"PATH": f"{program.parent}:{os.environ['PATH']}", "DLEX_CACHE": str(self.folder / "cache")}
        with mock.patch.dict(os.environ, places), self.assertRaises(Interrupted), signals_as_exceptions():
            self.execute(clip={"recipe": "mpeg4_small"})
        striker.join()
        self.expect_nothing_left()
        self.assertEqual(state_of(int(encoder.read_text())), "X")
        self.assertEqual([it.name for it in (self.folder / "cache/clips").glob("*mpeg4_small*")], ["mpeg4_small.lock"])

    def test_signal_ends_the_job_and_all_its_processes(self):
        def strike():
            # Only the main thread may receive the signal, as in a command, which has only that thread.
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
            while "dlex-play" not in children_of(os.getpid()).values():
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)

        before = os.sched_getaffinity(0)
        striker = threading.Thread(target=strike)
        striker.start()
        with self.assertRaises(Interrupted), signals_as_exceptions():
            self.execute(clip={"file": CLIP, "start_s": 0.0})
        striker.join()
        self.expect_nothing_left()
        self.assertEqual(os.sched_getaffinity(0), before)


if __name__ == "__main__":
    BUILD, MEDIA_MAKE = (Path(argument).resolve() for argument in sys.argv[1:3])
    made = subprocess.run([MEDIA_MAKE, "progressive_cabac"], stdout=subprocess.PIPE, text=True)
    if made.returncode != 0:
        print("the clip progressive_cabac cannot be made here")
        sys.exit(SKIPPED)
    CLIP = made.stdout.strip()
    from dlex_bench.clips import clip_facts

    CLIP_S = clip_facts(Path(CLIP)).length_s
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
