# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests single jobs with real Xvfb, PulseAudio, observer and players, also under the policies that need privileges.

    test_bench_job_stage.py BUILD MEDIA_MAKE

Not covered: how good the figures are; the observer's own precision (tests/observer).
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

from outside import SKIPPED, Folder, children_of, with_packages

with_packages("pydantic, yaml, rich")

from dlex_bench import processes
from dlex_bench.agenda.job import Job
from dlex_bench.job import pace
from dlex_bench.job.context import Context
from dlex_bench.job.execute import execute
from dlex_bench.machine.cgroups import hierarchy_of
from dlex_bench.machine.domain import threads_of
from dlex_bench.machine.lock import only_measurement
from dlex_bench.machine.policy import Policy, allowed_kinds
from dlex_bench.rig.players import playing as player_playing

ALLOWED = allowed_kinds()
CPUS = os.sched_getaffinity(0)
MPV_QUEUE = ("--vd-queue-enable=yes", "--vd-queue-max-samples=50", "--vd-queue-max-bytes=512MiB", "--vd-queue-max-secs=10")
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
        self.job = Job(id="job", repetition=1, section="s", workload="w", player="dlex-play", observe="both", sched="other",
                       player_params={"drop": "none", "queue": "0"}, load={"kind": "none"}, clip=clip)
        self.directory = batch / self.job.id

    def execute(self, **changes):
        shutil.rmtree(self.directory, ignore_errors=True)
        self.directory.mkdir(parents=True)
        result = execute(self.job.but(**changes), self.directory, self.context)
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
        self.assertEqual(result["policy"]["constrains"], "the player's threads that decode or present")
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


class Escapes(Place):
    """While a player plays, one of its threads is put where it does not belong, again and again."""

    def setUp(self):
        super().setUp()
        if len(CPUS) == 1:
            self.skipTest("there is only one CPU")

    def failure_when(self, change, player, names, **changes):
        """Calls `change` with each of the player's threads with one of these names, until the job is over."""
        over = threading.Event()

        def bother():
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM])
            while not over.wait(0.01):
                for tid in (tid for pid, name in children_of(os.getpid()).items() if name == player for tid in threads_of(pid)):
                    with contextlib.suppress(OSError):
                        if Path(f"/proc/{tid}/comm").read_text().strip() in names:
                            change(tid)

        bothering = threading.Thread(target=bother)
        bothering.start()
        try:
            result = self.execute(clip=self.job.clip.to_json() | {"length_s": None}, player=player, **changes)
        finally:
            over.set()
            bothering.join()
        self.assertEqual(result["status"], "failed", result["threads"])
        playing = [thread for thread in result["threads"] if thread["roles"]]
        self.assertTrue([thread for thread in playing if thread["outside_s"] > 0], playing)
        return result["reason"]

    @staticmethod
    def move(tid):
        os.sched_setaffinity(tid, {min(CPUS)})

    def test_moved_decode_thread_of_our_player_fails_the_job(self):
        reason = self.failure_when(self.move, "dlex-play", ["decoder"], player_params={"drop": "none", "queue": "20"})
        self.assertRegex(reason, rf"^dlex-play's thread decoder \(decodes\) used \d\.\d\d s of CPU time on CPU {min(CPUS)} under "
                                 rf"other, and not on CPU {max(CPUS)} under other")

    def test_one_moved_codec_thread_of_our_player_fails_the_job(self):
        params = {"drop": "none", "queue": "20", "options": ["--threads=2"]}
        reason = self.failure_when(self.move, "dlex-play", ["av:h264:df1"], player_params=params)
        where = rf"\d\.\d\d s of CPU time on CPU {min(CPUS)} under other, and not on CPU {max(CPUS)} under other"
        self.assertRegex(reason, rf"^dlex-play's thread av:h264:df1 \(decodes\) used {where}")

    def test_moved_decode_thread_of_mpv_fails_the_job(self):
        if not shutil.which("mpv"):
            self.skipTest("mpv is not installed")
        params = {"framedrop": "vo", "threads": 1, "options": MPV_QUEUE}
        reason = self.failure_when(self.move, "mpv", ["vdec", "mpv/vdec", "dec/video"], player_params=params, observe="outside")
        where = rf"\d\.\d\d s of CPU time on CPU {min(CPUS)} "
        self.assertRegex(reason, rf"^mpv's thread (mpv/vdec|vdec|dec/video) \(decodes\) used {where}")

    def test_moved_main_thread_of_mplayer_fails_the_job(self):
        if not shutil.which("mplayer"):
            self.skipTest("mplayer is not installed")
        reason = self.failure_when(self.move, "mplayer", ["mplayer"], player_params=SOFT, observe="outside")
        self.assertIn("mplayer's thread mplayer (demuxes, decodes and presents) used ", reason)

    @unittest.skipUnless("fifo" in ALLOWED, "fixed priorities are not available here")
    def test_decode_thread_that_lost_its_priority_fails_the_job(self):
        def demote(tid):
            os.sched_setscheduler(tid, os.SCHED_OTHER, os.sched_param(0))

        params = {"drop": "none", "queue": "20"}
        reason = self.failure_when(demote, "dlex-play", ["decoder"], player_params=params, sched="fifo:5")
        self.assertIn(f"of CPU time on CPU {max(CPUS)} under other, and not on CPU {max(CPUS)} under fifo", reason)


class Free(Place):
    """Where nothing is placed: all programs on all CPUs, as they start by themselves."""

    def policies_while_playing(self, **changes):
        """Returns the result, and the CPUs and policies of all threads by program, as they were seen while the job ran."""
        over, found = threading.Event(), {}

        def look():
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM])
            while not over.wait(0.05):
                for pid, program in children_of(os.getpid()).items():
                    for tid in threads_of(pid):
                        with contextlib.suppress(OSError):
                            found.setdefault(program, set()).add((frozenset(os.sched_getaffinity(tid)), os.sched_getscheduler(tid)))

        looking = threading.Thread(target=look)
        looking.start()
        try:
            return self.done(sched="free", **changes), found
        finally:
            over.set()
            looking.join()

    def test_nothing_is_placed_and_the_result_says_what_the_play_met(self):
        self.enterContext(mock.patch.object(pace, "ALONE_S", 0.1))
        load = {"kind": "stress", "cpu": 1, "vm": 0} if shutil.which("stress") else {"kind": "none"}
        result, found = self.policies_while_playing(load=load)
        # PulseAudio is an ordinary program even where we are idle ones.
        wanted = {(frozenset(CPUS), os.SCHED_OTHER), (frozenset(CPUS), os.sched_getscheduler(0))}
        del found["dlex-bench-obse"]  # only the observer protects itself
        self.assertGreaterEqual(set(found), {"Xvfb", "pulseaudio", "dlex-play", load["kind"]} - {"none"})
        self.assertEqual({program: places for program, places in found.items() if places - wanted}, {})
        policy = {key: result["policy"][key] for key in ("asked", "applied", "constrains")}
        self.assertEqual(policy, {"asked": "free", "applied": "other", "constrains": "nothing"})
        self.assertIsNone(result["figures"]["cpu_ms_per_frame_held"])
        met = result["whole_machine"]
        self.assertEqual((met["cpus"], result["steal"]["others"]), (len(CPUS), None))
        self.assertEqual(met["steal"], result["steal"]["measured"])
        self.assertTrue(0 <= met["idle"] <= 1)
        self.assertGreater(met["servers"]["laboratory"], 0)
        self.assertGreater(met["servers"]["observer"], 0)
        self.assertEqual(met["servers"]["observer_policy"], "fifo:10" if "fifo" in ALLOWED else "other")
        self.assertGreater(met["servers"]["screen_ms_per_frame"], 0)
        self.assertGreater(met["waiting"]["run_s"], 0)
        self.assertGreater(met["waiting"]["slices"], PICTURES)
        main = result["threads"][0]
        self.assertGreaterEqual({str(cpu) for cpu in CPUS}, set(main["ran_on"].split(",")))
        self.assertGreater(main["wait_s"] * 1e9, 0)


class Faults(Place):
    """What fails on a machine on which nothing is placed: the job says so in one sentence, and nothing is left."""

    def reason(self, **changes):
        result = self.execute(sched="free", **changes)
        self.assertEqual(result["status"], "failed")
        self.assertNotIn("\n", result["reason"])
        return result["reason"]

    def replaced(self, program, script):
        """Puts another program with this name before all others."""
        path = self.folder / "bin" / program
        path.parent.mkdir()
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        self.enterContext(mock.patch.dict(os.environ, PATH=f"{path.parent}:{os.environ['PATH']}"))

    def test_player_that_hangs_is_ended_even_if_it_does_not_want_to(self):
        self.replaced("mpv", "trap '' TERM\nwhile :; do sleep 0.1; done")
        self.enterContext(mock.patch.multiple(player_playing, LIMIT_FACTOR=0.0, LIMIT_EXTRA_S=0.2))
        self.enterContext(mock.patch.object(processes, "GRACE_S", 0.2))
        params = {"framedrop": "vo", "threads": "auto", "options": []}
        reason = self.reason(player="mpv", player_params=params, observe="outside")
        self.assertEqual(reason, "mpv did not end within 0 s, for a clip of 2 s; see player.log, and run the job again")

    def test_player_that_shows_nothing_is_named(self):
        self.replaced("mpv", "exit 0")
        params = {"framedrop": "vo", "threads": "auto", "options": []}
        reason = self.reason(player="mpv", player_params=params, observe="outside")
        self.assertEqual(reason, "mpv showed no picture with a number, unscaled in the upper left corner of the screen; see "
                                 "player.log, or play the clip by hand")

    def test_last_words_of_a_player_are_no_commands_for_the_terminal(self):
        self.replaced("mpv", r"printf '\033]0;title\007\033[2Jbroken'; exit 3")
        params = {"framedrop": "vo", "threads": "auto", "options": []}
        reason = self.reason(player="mpv", player_params=params, observe="outside")
        self.assertTrue(reason.isprintable(), reason)
        self.assertRegex(reason, r"^mpv ended with status 3 \(.*broken\); try it by hand$")

    def test_screen_that_does_not_start_is_named(self):
        self.replaced("Xvfb", "echo there is no screen >&2; exit 1")
        self.assertEqual(self.reason(), "Xvfb does not start (there is no screen); try it by hand")

    def test_load_that_does_not_start_is_named(self):
        self.replaced("stress", "exit 1")
        self.assertIn("stress ended by itself", self.reason(load={"kind": "stress", "cpu": 8, "vm": 0}))


class Roles(Place):
    """Threads that decode or present are on the measured CPU, and the others are not."""

    def threads(self, result, **roles):
        """Returns the threads by their names. Fails if one of `roles` has other roles, or is where it does not belong."""
        found = {}
        for thread in result["threads"]:  # the main thread first; others have its name until they get their own
            name = {"vdec": "dec/video"}.get(short := thread["name"].removeprefix("mpv/"), short)
            found.setdefault(name, thread)
        self.assertEqual({name: found[name]["roles"] for name in roles}, roles)
        for name in roles:  # other threads may live for a moment only, in which nobody can place them
            expected = {max(CPUS)} if roles[name] or len(CPUS) == 1 else CPUS - {max(CPUS)}
            self.assertEqual(found[name]["cpus"], ",".join(map(str, sorted(expected))), found[name])
        return found

    def test_threads_of_mpv_with_a_queue(self):
        if not shutil.which("mpv"):
            self.skipTest("mpv is not installed")
        sched = "fifo:5" if "fifo" in ALLOWED else "other"
        params = {"framedrop": "vo", "threads": 1, "options": MPV_QUEUE}
        result = self.done(player="mpv", player_params=params, observe="outside", sched=sched)
        decoder = "dec/video"
        found = self.threads(result, mpv=["present"], vo=["present"], ao=[], demux=[], **{decoder: ["decode"]})
        policies = {name: found[name]["policy"] for name in ("mpv", decoder, "vo", "ao", "demux")}
        self.assertEqual(policies, {"mpv": sched, decoder: sched, "vo": sched, "ao": "other", "demux": "other"})
        self.assertEqual(result["policy"]["applied"], sched)
        held_s, outside_s = (result["figures"][f"cpu_ms_per_frame_{where}"] * PICTURES / 1e3 for where in ("held", "outside"))
        # A millisecond for rounding; what no look saw is divided between both.
        self.assertGreater(held_s + 1e-3, sum(it["cpu_s"] for it in result["threads"] if it["roles"]))
        self.assertGreater(outside_s + 1e-3, sum(it["cpu_s"] for it in result["threads"] if not it["roles"]))
        self.assertAlmostEqual(held_s + outside_s, result["figures"]["player_cpu_s"])

    def test_codec_threads_of_our_player(self):
        sched = "fifo:5" if "fifo" in ALLOWED else "other"
        result = self.done(player_params={"drop": "none", "queue": "20", "options": ["--threads=2"]}, sched=sched)
        decoders = ("decoder", "av:h264:df0", "av:h264:df1")
        found = self.threads(result, **{"dlex-play": ["present"]}, **{name: ["decode"] for name in decoders})
        self.assertEqual({found[name]["policy"] for name in decoders}, {"fifo:4" if sched == "fifo:5" else "other"})

    def test_threads_of_ffplay(self):
        if not shutil.which("ffplay"):
            self.skipTest("ffplay is not installed")
        params = {"framedrop": True, "threads": 1, "options": []}
        result = self.done(player="ffplay", player_params=params, observe="outside")
        self.threads(result, ffplay=["present"], video_decoder=["decode"], audio_decoder=[], read_thread=[])

    def test_threads_of_vlc(self):
        if not shutil.which("vlc"):
            self.skipTest("vlc is not installed")
        sched = "fifo:5" if "fifo" in ALLOWED else "other"
        params = {"framedrop": True, "threads": 1, "options": []}
        result = self.done(player="vlc", player_params=params, observe="outside", sched=sched)
        held = [it for it in result["threads"] if it["roles"]]
        self.assertEqual(held[0], result["threads"][0])
        decoder = max(held, key=lambda it: it["cpu_s"])  # the threads have one name
        self.assertEqual((decoder["name"], decoder["policy"], decoder["cpus"]), ("vlc", sched, str(max(CPUS))))
        self.assertEqual(result["policy"]["applied"], sched)
        self.assertGreater(result["outside"]["shown"], PICTURES / 2)


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

    def test_own_player_divides_its_reservation_between_decoding_and_presenting(self):
        result = self.done(sched="deadline:15/40", player_params={"drop": "none", "queue": "20"})
        found = {thread["name"]: (thread["roles"], thread["policy"]) for thread in result["threads"] if thread["roles"]}
        presenting, decoding = found["dlex-play"][1], found["decoder"][1]
        self.assertEqual(found, {"dlex-play": (["present"], presenting), "decoder": (["decode"], decoding)})
        self.assertEqual(result["policy"]["applied"], "deadline:15/40")
        parts = [Policy.parse(policy) for policy in (presenting, decoding)]
        self.assertEqual([(part.kind, part.period_ms) for part in parts], [("deadline", 40)] * 2)
        self.assertAlmostEqual(sum(part.runtime_ms for part in parts), 15)
        self.assertLessEqual(parts[0].runtime_ms, 3.3)  # it begins with 22 %, and gives back what it does not need

    def test_foreign_player_gets_its_reservation_from_outside(self):
        if not shutil.which("mplayer"):
            self.skipTest("mplayer is not installed")
        self.assertEqual(self.mplayer(sched="deadline:15/40")["policy"]["applied"], "deadline:15/40")

    def test_stress_may_run_beside_a_reservation(self):
        if not shutil.which("stress"):
            self.skipTest("stress is not installed")
        result = self.done(sched="deadline:15/40", load={"kind": "stress", "cpu": 2, "vm": 0})
        self.assertEqual(result["policy"]["applied"], "deadline:15/40")
        load = result["load"]
        self.assertEqual((load["cpu"], load["kind"]), (max(os.sched_getaffinity(0)), "stress"))
        self.assertGreater(load["beside_per_s"], 0)

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

    def test_own_player_that_decodes_ahead_presents_with_the_higher_priority(self):
        result = self.done(sched="rr:5", player_params={"drop": "none", "queue": "20"})
        self.assertEqual(result["policy"]["applied"], "rr:5 + rr:4")

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
