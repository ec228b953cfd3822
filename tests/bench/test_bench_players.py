# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the real players on a real stage with a stamped clip: the place of their pictures, how they end, how they fail.

    test_bench_players.py DLEX_PLAY MEDIA_MAKE

Not covered: when each picture is seen and heard (the observer's tests); scheduling policies (test_bench_machine).
"""

import contextlib
import os
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest
from pathlib import Path
from unittest import mock

from outside import SKIPPED, Folder, with_packages

CPUS = os.sched_getaffinity(0)
SIZE = (640, 360)
BLOCK, BITS = 32, 12
# A player's threads are looked at twice a second. In a play of this length, they are seen also if some looks come late.
LOOKED_AT_S = 2.0
AGENDA = """
config:
  observe: both
  defaults: {clip: {recipe: stamped_small, length_s: 1.0}}
workloads:
  - {id: dlex_none, name: dlex-play, params: {drop: none, queue: 0}}
  - {id: dlex_heuristic, name: dlex-play, params: {drop: heuristic, queue: 0}}
  - {id: dlex_paper, name: dlex-play, params: {drop: deadline, rule: paper, queue: 0}}
  - {id: dlex_slack, name: dlex-play, params: {drop: deadline, rule: slack, queue: 0}}
  - {id: dlex_ahead, name: dlex-play, params: {drop: deadline, rule: slack, queue: 20, options: [--threads=1]}}
  - {id: dlex_threads, name: dlex-play, params: {drop: deadline, rule: slack, queue: 20, options: [--threads=2]}}
  - {id: mplayer_none, name: mplayer}
  - {id: mplayer_framedrop, name: mplayer, params: {framedrop: soft}}
  - {id: mplayer_hard, name: mplayer, params: {framedrop: hard}}
  - {id: mplayer_auto, name: mplayer, params: {framedrop: soft, threads: auto}}
  - {id: mpv_no, name: mpv, params: {framedrop: no}}
  - {id: mpv_vo, name: mpv}
  - {id: mpv_both, name: mpv, params: {framedrop: decoder+vo}}
  - {id: mpv_auto, name: mpv, params: {threads: auto}}
  - {id: mpv_queue, name: mpv, params: {options: [--vd-queue-enable=yes, --vd-queue-max-samples=50]}}
  - {id: ffplay_framedrop, name: ffplay}
  - {id: ffplay_none, name: ffplay, params: {framedrop: false}}
  - {id: ffplay_auto, name: ffplay, params: {threads: auto}}
  - {id: vlc_framedrop, name: vlc}
  - {id: vlc_none, name: vlc, params: {framedrop: false}}
  - {id: vlc_auto, name: vlc, params: {threads: auto}}
  - {id: playbin, name: playbin}
"""
PROGRAMS = {"playbin": "gst-play-1.0"} | {name: name for name in ("mplayer", "mpv", "ffplay", "vlc")}
INSTALLED = {name: bool(shutil.which(program)) for name, program in PROGRAMS.items()} | {"dlex-play": True}
DECODING = ("decodes", "decodes and presents", "demuxes, decodes and presents")
NAME_THEIR_THREADS = ("dlex_slack", "mplayer_framedrop", "mpv_vo", "ffplay_framedrop")
ONE_OF_EACH = (*NAME_THEIR_THREADS, "vlc_framedrop", "playbin")
WITH_QUEUE = ("dlex_ahead", "mpv_queue")
# VLC plays in pieces of a quarter of a second.
PICTURES_TOO_MANY = {"vlc": 6}
# gst-play shows the first picture of the film before it seeks to its start.
SHOWN_BEFORE_THE_START = {"playbin": (0,)}
# The versions whose thread names are known, from Debian 12 and 13. Other versions are played, with threads called unknown.
VERSIONS = {"mplayer": ("1.5",), "mpv": ("0.35.", "0.40."), "ffplay": ("5.1.", "7.1."), "vlc": ("3.0.",),
            "playbin": ("1.22.",)}


def version_of(player):
    """Returns the version of the player's Debian package, without the epoch; "" if it comes from no package."""
    from dlex_bench.machine.facts import program_facts

    fact = program_facts(Path("/nonexistent"))[PROGRAMS[player]]
    return ((fact and fact.version) or "").split(":")[-1]


def jobs():
    from dlex_bench.agenda.jobs import expand
    from dlex_bench.agenda.reader import parse_agenda

    return {job.workload: job for job in expand(parse_agenda(AGENDA, "a.yaml"))}


def changed(job, **clip):
    return job.but(clip={**job.clip.to_json(), **clip})


def adapter_of(job):
    from dlex_bench.rig.players.playing import adapter_for

    return adapter_for(job.player, DLEX_PLAY)


class Screen:
    """Reads the stamps from the frame buffer. It finds them only if the picture is at 0,0 and unscaled."""

    def __init__(self, path):
        self.path = path
        header = struct.unpack(">25I", path.read_bytes()[:100])
        self.begin, self.line_bytes = header[0] + 12 * header[19], header[12]
        self.seen = []

    def look(self):
        with self.path.open("rb") as pixels:
            top, bottom = (self._number(pixels, y) for y in (BLOCK // 2, SIZE[1] - BLOCK // 2))
        if top is not None and top == bottom and self.seen[-1:] != [top]:
            self.seen.append(top)

    def _number(self, pixels, y):
        pixels.seek(self.begin + y * self.line_bytes)
        line = pixels.read(self.line_bytes)
        blocks = [line[4 * (BLOCK * place + BLOCK // 2) + 1] > 127 for place in range(BITS + 4)]
        if (*blocks[:2], *blocks[-2:]) != (True, False, False, True):
            return None
        number = 0
        for bit in blocks[2:-2]:
            number = number << 1 | (bit ^ (number & 1))
        return number


class OnStage(Folder):
    def setUp(self):
        super().setUp()
        from dlex_bench.rig.guest import guest
        from dlex_bench.rig.stage import stage

        holder = contextlib.ExitStack()
        self.addCleanup(holder.close)
        self.stage = holder.enter_context(stage(SIZE, CPUS, guest()))
        self.screen = Screen(self.stage.display.screen_file)

    def playing(self, job, clip=None):
        from dlex_bench.rig.players.playing import playing

        self.out = self.folder / job.id
        self.out.mkdir()
        adapter = adapter_of(job)
        return playing(adapter, job, clip or adapter.prepare(job, CLIP), self.out, environment=self.stage.environment, cpus=CPUS)

    def play(self, job):
        """Plays the job to its end. Returns the numbers of the pictures that were on the screen."""
        self.screen.seen.clear()
        with self.playing(job) as player:
            while player.process.poll() is None:
                self.screen.look()
                time.sleep(0.002)
            player.wait(job.clip.length_s, self.stage.require_alive)
        return list(self.screen.seen)

    def each(self, check, workloads=None):
        for workload, job in jobs().items():
            if INSTALLED[job.player] and (workloads is None or workload in workloads):
                with self.subTest(workload):
                    check(job)


class Pictures(OnStage):
    def test_every_setting_shows_its_pictures_unscaled_at_the_origin_and_in_order(self):
        def check(job):
            seen = self.play(job)
            self.assertGreaterEqual(len(seen), 2, (self.out / "player.log").read_text(errors="replace"))
            self.assertEqual(seen, sorted(set(seen)))
            self.assertLessEqual(seen[-1], 1.0 * 25 + 2)

        self.each(check)

    def test_playing_starts_at_the_requested_position(self):
        # Some players seek only to key frames, and picture 100 is a key frame.
        def check(job):
            before = SHOWN_BEFORE_THE_START.get(job.player, ())
            seen = [it for it in self.play(changed(job, start_s=4.0, length_s=1.0)) if it not in before]
            self.assertTrue(98 <= seen[0] <= seen[-1] <= 128 + PICTURES_TOO_MANY.get(job.player, 0), seen)

        self.each(check, ONE_OF_EACH)

    def test_sound_reaches_the_sink(self):
        def check(job):
            heard = ""
            with self.playing(changed(job, length_s=8.0)) as player:  # it is ended as soon as it is heard
                while player.process.poll() is None and not heard:
                    heard = self.says("pactl", "list", "short", "sink-inputs")
                    time.sleep(0.02)
            self.assertNotEqual(heard, "")

        self.each(check, ONE_OF_EACH)

    def says(self, *argv):
        return subprocess.run(argv, env=self.stage.environment, capture_output=True, text=True, timeout=120).stdout

    def test_status_line_is_parsed_if_the_player_has_one(self):
        def check(job):
            self.play(job)
            view = adapter_of(job).own_view(job, self.out)
            self.assertGreaterEqual(view.lines, 2)
            self.assertEqual(view.av_source, "status")

        self.each(check, ("mplayer_framedrop", "mpv_vo", "ffplay_framedrop"))

    def test_own_player_leaves_its_record(self):
        self.play(jobs()["dlex_slack"])
        self.assertTrue((self.out / "own/frames.csv").exists())
        self.assertIsNone(adapter_of(jobs()["dlex_slack"]).own_view(jobs()["dlex_slack"], self.out))


class Parts(Folder):
    """A film without its end, for playbin, which has no option for the length."""

    def test_part_has_every_picture_before_its_end_and_at_most_a_few_after_it(self):
        from dlex_bench.clips import clip_facts
        from dlex_bench.rig.players.film_part import film_part

        with mock.patch.dict(os.environ, DLEX_CACHE=str(self.folder)):
            part = film_part(CLIP, 2.5)
            self.assertTrue(63 <= clip_facts(part).frames <= 67, clip_facts(part))
            self.assertEqual(clip_facts(part).first_pts_ns, clip_facts(CLIP).first_pts_ns)
            made_ns = part.stat().st_mtime_ns
            self.assertEqual(film_part(CLIP, 2.5).stat().st_mtime_ns, made_ns)
            self.assertEqual(sorted(it.name for it in part.parent.iterdir()), sorted([".made-by-dlex", part.name]))

    def test_film_that_cannot_be_copied_is_refused_and_leaves_nothing(self):
        from dlex_bench.rig.players.film_part import film_part

        empty = self.folder / "empty.mp4"
        empty.touch()
        with mock.patch.dict(os.environ, DLEX_CACHE=str(self.folder)):
            with self.assertRaisesRegex(Exception, r"^the first 1 s of .*empty.mp4 cannot be copied \(.+\); choose another clip$"):
                film_part(empty, 1.0)
        self.assertEqual([it.name for it in (self.folder / "parts").iterdir()], [".made-by-dlex"])


class Threads(OnStage):
    def seen(self, job):
        """Plays the job. Returns the player's process id and every thread that it had.

        Left out are short threads that the only look at them saw before they took their own names.
        """
        with self.playing(job) as player:
            player.wait(job.clip.length_s, lambda: None)
            pid = player.process.pid
            main = player.seen[pid]
            named = {tid: it for tid, it in player.seen.items() if it is main or it.name != main.name or len(it.looks) > 1}
            return pid, {tid: (it, player.work_of(tid, it.name)) for tid, it in named.items()}

    def test_work_of_every_thread_is_known(self):
        # dlex-play's feeder may have read such a short clip, and ended, before it is looked at.
        expected = {
            "dlex_slack": {"decodes and presents", "sound", "decodes sound"},
            "dlex_ahead": {"presents", "decodes", "sound", "decodes sound"},
            "dlex_threads": {"presents", "decodes", "sound", "decodes sound"},
            "mplayer_framedrop": {"demuxes, decodes and presents", "sound"},
            "mpv_vo": {"decodes", "presents", "sound"},
            "mpv_queue": {"passes pictures on", "decodes", "presents", "sound"},
            "ffplay_framedrop": {"presents", "decodes", "decodes sound", "demuxes", "sound"},
            "playbin": {"waits", "decodes", "demuxes or decodes", "presents", "sound"},
            "vlc_framedrop": {"starts the others", "demuxes, decodes or presents", "sound"},
        }

        def check(job):
            pid, threads = self.seen(changed(job, length_s=4.0))
            self.assertEqual(threads[pid][1], adapter_of(job).works(job, self.out)["main"])
            self.assertGreater(threads[pid][0].cpu_s, 0)
            if job.player in VERSIONS and not version_of(job.player).startswith(VERSIONS[job.player]):
                self.skipTest(f"{job.player} {version_of(job.player)} may give its threads other names: "
                              f"{sorted((thread.name, work.text) for thread, work in threads.values())}")
            works = {work.text for _thread, work in threads.values()}
            self.assertEqual(works & expected[job.workload], expected[job.workload])
            self.assertNotIn("unknown", works, [thread.name for thread, _work in threads.values()])

        self.each(check, (*ONE_OF_EACH, *WITH_QUEUE, "dlex_threads"))

    def test_two_requested_codec_threads_are_two_beside_the_decode_thread(self):
        _pid, threads = self.seen(changed(jobs()["dlex_threads"], length_s=LOOKED_AT_S))
        names = sorted(thread.name for thread, work in threads.values() if work.text == "decodes")
        self.assertEqual(len(names), 3, names)
        self.assertEqual(names.count("decoder"), 1, names)
        # FFmpeg's threads name themselves soon after they have started; until then they are called codec.
        self.assertTrue(all(name == "codec" or name.startswith("av:h264:df") for name in names if name != "decoder"), names)

    def test_one_requested_decode_thread_is_one_thread(self):
        def check(job):
            works = [work.text for _thread, work in self.seen(changed(job, length_s=LOOKED_AT_S))[1].values()]
            self.assertEqual(len([work for work in works if work in DECODING]), 1, works)

        self.each(check, (*NAME_THEIR_THREADS, *WITH_QUEUE))


class Faults(OnStage):
    def test_missing_clip_is_reported_in_one_sentence(self):
        def check(job):
            with self.playing(job, clip=Path("/nonexistent/film.mp4")) as player:
                with self.assertRaisesRegex(Exception, rf"{job.player} (ended|did not play).*; try it by hand"):
                    player.wait(1.0, self.stage.require_alive)

        self.each(check, ONE_OF_EACH)

    @unittest.skipUnless(INSTALLED["playbin"], "gst-play-1.0 is not installed")
    def test_missing_element_of_playbin_is_named_with_its_package(self):
        from dlex_bench.errors import NotInstalled
        from dlex_bench.rig.players import playbin

        job = jobs()["playbin"]
        with mock.patch.dict(playbin.ELEMENTS, {"nosuchsink": "gstreamer1.0-nosuch"}), self.assertRaisesRegex(
            NotInstalled, "^playbin's nosuchsink is not installed; install it with `apt install gstreamer1.0-nosuch`$"
        ):
            adapter_of(job).prepare(job, CLIP)

    @unittest.skipUnless(INSTALLED["playbin"], "gst-play-1.0 is not installed")
    def test_what_playbin_lacks_for_a_film_is_named_with_its_package(self):
        from dlex_bench.errors import NotInstalled

        words = "Missing plugins\n (gstreamer|1.0|gst-discoverer-1.0|AV1 decoder|decoder-video/x-av1)\nProperties:\n"
        program = self.folder / "gst-discoverer-1.0"
        job = jobs()["playbin"]
        adapter_of(job).prepare(job, CLIP)  # the real one says that nothing is missing
        with mock.patch.dict(os.environ, PATH=f"{self.folder}:{os.environ['PATH']}"):
            for said in (words, words.replace("decoder-video", "decoder-subpicture")):
                program.write_text(f"#!/bin/sh\ncat <<'END'\n{said}END\n")
                program.chmod(0o755)
                if said != words:
                    adapter_of(job).prepare(job, CLIP)
                    continue
                sentence = "^playbin's AV1 decoder is not installed; install it with `apt install gstreamer1.0-plugins-bad`$"
                with self.assertRaisesRegex(NotInstalled, sentence):
                    adapter_of(job).prepare(job, CLIP)

    @unittest.skipUnless(INSTALLED["vlc"], "vlc is not installed")
    def test_file_that_vlc_cannot_read_is_reported_in_one_sentence(self):
        # VLC ends with status 0 all the same.
        empty = self.folder / "empty.mp4"
        empty.touch()

        def check(job):
            with self.playing(job, clip=empty) as player:
                with self.assertRaisesRegex(Exception, r"^vlc did not play to the end \(.*input error.*\); try it by hand$"):
                    player.wait(1.0, self.stage.require_alive)

        self.each(check, ("vlc_framedrop",))

    def test_killed_player_is_reported_in_one_sentence(self):
        job = jobs()["dlex_slack"]
        with self.playing(job) as player:
            player.process.kill()
            with self.assertRaisesRegex(Exception, "dlex-play was ended by signal 9"):
                player.wait(1.0, self.stage.require_alive)

    def test_hanging_player_is_ended_and_reported(self):
        from dlex_bench.rig.players import playing

        job = jobs()["dlex_slack"]
        with mock.patch.object(playing, "LIMIT_EXTRA_S", 0.0), self.playing(job) as player:
            player.process.send_signal(signal.SIGSTOP)
            with self.assertRaisesRegex(Exception, "dlex-play did not end within 1 s, for a clip of 0 s"):
                player.wait(0.49, self.stage.require_alive)
        self.assertEqual(player.process.returncode, -signal.SIGKILL)

    def test_dead_device_is_named_before_the_player(self):
        job = jobs()["dlex_slack"]
        with self.playing(job) as player:
            self.stage.display.process.kill()
            self.stage.display.process.wait()
            with self.assertRaisesRegex(Exception, "^Xvfb was ended by signal 9"):
                player.wait(1.0, self.stage.require_alive)

    def test_error_for_a_missing_player_names_its_package(self):
        from dlex_bench.errors import NotInstalled

        packages = {"mplayer": "mplayer", "mpv": "mpv", "ffplay": "ffmpeg",
                    "vlc": "vlc-bin vlc-plugin-base vlc-plugin-video-output", "playbin": "gstreamer1.0-plugins-base-apps"}
        with mock.patch.dict(os.environ, PATH="/nonexistent"):
            for workload, job in jobs().items():
                if job.player in packages:
                    program = PROGRAMS[job.player]
                    sentence = f"^{program} is not installed; install it with `apt install {packages[job.player]}`$"
                    for call in (lambda job=job: adapter_of(job).argv(job, CLIP, self.folder),
                                 lambda job=job: adapter_of(job).prepare(job, CLIP)):
                        with self.subTest(workload), self.assertRaisesRegex(NotInstalled, sentence):
                            call()

    def test_unknown_player_is_refused_in_one_sentence(self):
        from dlex_bench.rig.players.playing import adapter_for

        with self.assertRaisesRegex(Exception, "'xine' is not a known player"):
            adapter_for("xine", DLEX_PLAY)


class Policies(unittest.TestCase):
    def test_players_of_several_threads_are_not_put_under_a_reservation(self):
        for job in jobs().values():
            reason = adapter_of(job).applicable(job.but(sched="deadline:8/40"))
            self.assertEqual(reason is not None, job.player in ("mpv", "ffplay", "vlc", "playbin"), job.id)
            if reason:
                self.assertIn("quota", reason)
            for sched in ("other", "fifo:5", "rr:5", "quota:15/40"):
                self.assertIsNone(adapter_of(job).applicable(job.but(sched=sched)))

    def test_on_a_screen_with_opengl_players_choose_their_output_by_themselves(self):
        for workload, variable in (("dlex_none", "SDL_RENDER_DRIVER"), ("ffplay_none", "SDL_RENDER_DRIVER")):
            for gl in (False, True):
                job = jobs()[workload].but(gl=gl)
                self.assertEqual(variable in adapter_of(job).environment(job), not gl, workload)
        for workload, changes in (("vlc_none", {"gl": True}), ("mpv_vo", {"player_params": {"output": "default"}})):
            if INSTALLED[jobs()[workload].player]:
                outputs = [[word for word in adapter_of(job).argv(job, CLIP, Path("/out")) if word.startswith(("--vo=", "--vout="))]
                           for job in (jobs()[workload], jobs()[workload].but(**changes))]
                self.assertEqual([len(it) for it in outputs], [1, 0], workload)

    def test_own_player_gets_policy_and_cpu_as_options_but_a_quota_from_outside(self):
        job = jobs()["dlex_none"].but(cpu=1)
        for sched, expected in (
            ("deadline:8.1/40", ["--sched=deadline:8.1/40", "--cpu=1"]),
            ("other", ["--sched=other", "--cpu=1"]),
            ("quota:8/40", ["--cpu=1"]),
        ):
            argv = adapter_of(job).argv(job.but(sched=sched), CLIP, Path("/out"))
            self.assertEqual([option for option in argv if option.startswith(("--sched", "--cpu"))], expected)

    def test_job_observed_only_from_inside_uses_null_devices(self):
        job = jobs()["dlex_none"]
        for observe, sinks in (("inside", {"--vo=null", "--ao=null"}), ("both", {"--vo=sdl", "--ao=pulse"})):
            argv = adapter_of(job).argv(job.but(observe=observe), CLIP, Path("/out"))
            self.assertLessEqual(sinks, set(argv))

    def test_options_of_the_agenda_come_last(self):
        for job in jobs().values():
            if INSTALLED[job.player]:
                extended = job.but(player_params={**job.player_params.to_json(), "options": ("--one", "two")})
                self.assertEqual(adapter_of(job).argv(extended, CLIP, Path("/out"))[-3:-1], ["--one", "two"])


class StatusLines(Folder):
    """Tests on status lines that the players of Debian 12 printed."""

    def view(self, workload, text):
        job = jobs()[workload]
        (self.folder / "player.log").write_text(text)
        return adapter_of(job).own_view(job, self.folder)

    def check(self, workload, text, mean_ms, sd_ms, dropped):
        view = self.view(workload, text)
        self.assertEqual(view.lines, 2)
        self.assertAlmostEqual(view.skew_ms_mean, mean_ms)
        self.assertAlmostEqual(view.skew_ms_sd, sd_ms)
        self.assertEqual(view.dropped, dropped)

    MPLAYER = (
        "Starting playback...\n"
        "A:   7.8 V:   7.8 A-V: -0.020 ct:  0.218   0/  0 ??% ??% ??,?% 0 0              \r"
        "A:  17.8 V:  17.9 A-V:  0.100 ct:  0.214 420/420 13%  3%  0.2% 16 0              \r\n\nExiting...\n"
    )

    def test_status_line_of_mplayer_is_parsed(self):
        self.check("mplayer_framedrop", self.MPLAYER, 40, 60, 16)

    def test_drops_that_mplayer_counts_without_framedrop_are_ignored(self):
        self.check("mplayer_none", self.MPLAYER, 40, 60, 0)

    def test_status_line_of_mpv_is_parsed(self):
        text = "dlex  0 0\n\x1b[Kdlex -0.020000 1 0\n\r\n\x1b[Kdlex 0.100000 9 2\n\r\nExiting... (End of file)\n"
        self.check("mpv_both", text, 40, 60, 11)

    def test_status_line_of_ffplay_is_parsed(self):
        text = (
            "    nan A-V:    nan fd=   0 aq=    0KB vq=    0KB sq=    0B f=0/0   \r"
            "   7.85 A-V: -0.020 fd=   0 aq=    0KB vq=    0KB sq=    0B f=0/0   \r"
            "   7.93 A-V:  0.100 fd=   3 aq=    0KB vq=    0KB sq=    0B f=0/0   \r\n"
        )
        self.check("ffplay_framedrop", text, 40, 60, 3)

    def test_pictures_that_vlc_reports_as_dropped_are_counted(self):
        view = self.view("vlc_framedrop", (
            "[000055c8748fa180] dummy interface: using the dummy interface module...\n"
            "[000055c8748fa190] pulse audio output warning: starting late (-13739 us)\n"
            "[00007fc19c061d40] main video output warning: picture is too late to be displayed (missing 27 ms)\n"
            "[00007fc19c061d40] avcodec decoder warning: More than 11 late frames, dropping frame\n"
            "[00007fc19c061d40] avcodec decoder warning: More than 11 late frames, dropping frame\n"
        ))
        self.assertEqual((view.dropped, view.skew_ms_mean, view.skew_ms_sd), (3, None, None))

    def test_log_without_a_status_line_gives_no_view(self):
        self.assertIsNone(self.view("mplayer_framedrop", "mplayer: no such file\n"))


if __name__ == "__main__":
    with_packages("pydantic, rich, yaml")
    DLEX_PLAY = Path(sys.argv[1])
    for program in ("Xvfb", "pulseaudio", "pactl"):
        if not shutil.which(program):
            print(f"skipped: {program} is not installed")
            sys.exit(SKIPPED)
    made = subprocess.run([sys.argv[2], "stamped_small"], stdout=subprocess.PIPE, text=True)
    if made.returncode:
        print("skipped: the clip cannot be made here")
        sys.exit(SKIPPED)
    CLIP = Path(made.stdout.strip().splitlines()[-1])
    for name in [name for name, there in INSTALLED.items() if not there]:
        print(f"left out: {name} is not installed")
    unittest.main(argv=sys.argv[:1])
