# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests seeks, time stamps that jump, and how playing begins and ends there.

Not covered: seeks with a sound server (tests/sinks); the first picture in each kind of file (test_seek_targets.py).
"""
import contextlib
import os
import shutil
import subprocess
import threading
import unittest
from itertools import pairwise, product
from pathlib import Path

from playing import NULL, UNTIMED, Case, KeysCase, clip, main, play

FIRST_PICTURES_KEPT = 8  # as the manual of dlex-play says
PLAYS = 5
LEFT, RIGHT = b"\x1b[D", b"\x1b[C"


def ffmpeg(*arguments):
    if not shutil.which("ffmpeg"):
        raise unittest.SkipTest("the ffmpeg program is not installed")
    subprocess.run(["ffmpeg", "-v", "error", "-y", *map(str, arguments)], check=True, stdin=subprocess.DEVNULL)


def slides(path: Path, count: int, seconds: int) -> Path:
    """Makes a film of `count` pictures that stay for `seconds` each. All of them are key frames."""
    ffmpeg("-f", "lavfi", "-i", f"testsrc=s=64x48:r=1/{seconds}", "-frames:v", count, "-c:v", "mpeg4", "-g", "1",
           "-video_track_timescale", "1000", path)
    return path


def seconds_shown(run: dict, rows: list) -> list:
    """Returns the presentation times of the shown pictures, relative to the file's start, in the order of the record."""
    return [int(row["pts_ns"]) / 1e9 - run["media"]["start_s"] for row in rows if row["verdict"] == "shown"]


class Jumps(Case):
    """Tests on time stamps that jump in the middle of a stream, as in joined recordings."""

    def part(self, offset_s: int) -> bytes:
        path = self.dir / f"{offset_s}.ts"
        ffmpeg("-i", clip("video_only"), "-frames:v", "25", "-c", "copy", "-output_ts_offset", offset_s, path)
        return path.read_bytes()

    def part_with_sound(self, offset_s: int, pictures_s: float, sound_s: float) -> bytes:
        path = self.dir / f"{offset_s}-sound.ts"
        ffmpeg("-t", pictures_s, "-i", clip("progressive_cabac"), "-t", sound_s, "-i", clip("progressive_cabac"),
               "-map", "0:v", "-map", "1:a", "-c", "copy", "-output_ts_offset", offset_s, path)
        return path.read_bytes()

    def played(self, *offsets_s, options=()) -> tuple:
        path = self.dir / "joined.ts"
        path.write_bytes(b"".join(self.part(offset_s) for offset_s in offsets_s))
        self.expect(play(*NULL, *options, f"--record={self.dir}/record", path), 0)
        return self.record()

    def all_shown(self, *offsets_s):
        _, rows = self.played(*offsets_s, options=("--drop=none",))
        self.assertEqual({row["verdict"] for row in rows}, {"shown"})
        self.assertEqual(len(rows), 25 * len(offsets_s))
        times = [int(row["shown_ns"]) for row in rows]
        self.assertEqual(times, sorted(times))  # the rows are in presentation order, not in the order of time stamps
        for row in rows:
            self.assertLess(abs(int(row["skew_ns"])), 60_000_000_000)  # the skew refers to the new time base

    def test_all_pictures_are_shown_after_a_jump_forward_by_an_hour(self):
        self.all_shown(0, 3600)

    def test_all_pictures_are_shown_after_a_jump_backward_by_an_hour(self):
        self.all_shown(3600, 0)

    def test_sound_that_ends_at_the_jump_no_longer_drives_the_clock(self):
        for first, second in ((0, 3600), (3600, 0)):
            with self.subTest(second):
                path = self.dir / f"{second}-joined.ts"
                path.write_bytes(self.part_with_sound(first, 1, 1.5) + self.part(second))
                self.expect(play(*NULL, "--drop=none", f"--record={self.dir}/{second}", path), 0)
                run, rows = self.record(str(second))
                self.assertEqual(run["clock"], "audio")
                self.assertGreaterEqual(len(rows), 50)
                self.assertLess(abs(int(rows[-1]["skew_ns"])), 60_000_000_000)

    def test_sound_may_jump_before_or_behind_the_pictures(self):
        for (first, second), sound_s in product(((0, 3600), (3600, 0)), (1, 1.5, 2)):
            with self.subTest(second, sound=sound_s):
                path = self.dir / f"{second}-{sound_s}.ts"
                path.write_bytes(self.part_with_sound(first, 1.5, sound_s) + self.part_with_sound(second, 2, 2))
                self.expect(play(*NULL, "--drop=none", f"--record={self.dir}/{second}-{sound_s}", path), 0)
                _, rows = self.record(f"{second}-{sound_s}")
                self.assertGreater(len(rows), 80)
                self.assertEqual({row["verdict"] for row in rows}, {"shown"})
                for row in rows:
                    self.assertLess(abs(int(row["skew_ns"])), 10_000_000_000)

    def test_policy_does_not_see_the_old_time_base(self):
        # On a busy machine some pictures may be late, but not each time.
        for _ in range(PLAYS):
            _, rows = self.played(3600, 0, options=("--drop=deadline",))
            self.assertEqual(len(rows), 50)
            verdicts = [row["verdict"] for row in rows[25:]]
            if "late" not in verdicts and verdicts.count("shown") > 20:
                return
            shutil.rmtree(self.dir / "record")
        self.fail(verdicts)

    def test_pictures_decoded_ahead_are_not_judged_by_the_clock_before_a_jump_back(self):
        later = self.dir / "later.ts"
        ffmpeg("-i", clip("h264_cavlc"), "-c", "copy", "-output_ts_offset", 30, later)
        path = self.dir / "back.ts"
        path.write_bytes(later.read_bytes() + Path(clip("h264_cavlc")).read_bytes())
        ways = [("default", ()), ("slack", ("--deadline-rule=slack",)), ("one", ("--threads=1",))]
        if os.environ.get("DLEX_QUEUE") != "0":
            ways.append(("vlc", ("--drop=vlc",)))  # it refuses to play without a queue
        for name, options in ways:
            with self.subTest(name):
                lost = []  # on a busy machine some pictures may be late, but not each time
                while len(lost) < PLAYS and (not lost or lost[-1] > 2):
                    shutil.rmtree(self.dir / "record", ignore_errors=True)
                    self.expect(play(*NULL, *options, f"--record={self.dir}/record", path), 0)
                    lost.append(self.record()[0]["totals"]["dropped"])
                self.assertLessEqual(lost[-1], 2, lost)

    def test_film_played_twice_in_one_file_is_shown_twice_in_order(self):
        path = self.dir / "twice.ts"
        path.write_bytes(Path(clip("h264_cavlc")).read_bytes() * 2)
        for queue in ("auto", "0"):
            with self.subTest(queue):
                self.expect(play(*NULL, "--drop=none", f"--queue={queue}", f"--record={self.dir}/{queue}", path), 0)
                _, rows = self.record(queue)
                self.assertEqual([row["verdict"] for row in rows], ["shown"] * 120)
                times = [int(row["shown_ns"]) for row in rows]
                self.assertEqual(times, sorted(times))
                self.assertGreater(times[-1] - times[0], 4_500_000_000)

    def test_pictures_go_on_at_once_where_they_and_the_sound_jump_forward(self):
        path = self.dir / "ahead.ts"
        path.write_bytes(self.part_with_sound(0, 1, 1) + self.part_with_sound(13, 1, 1))
        self.expect(play(*NULL, "--drop=none", f"--record={self.dir}/record", path), 0)
        _, rows = self.record()
        self.assertGreaterEqual(len(rows), 50)
        due = [int(row["shown_ns"]) - int(row["skew_ns"]) for row in rows]
        self.assertLess(max(later - earlier for earlier, later in pairwise(due)), 1_000_000_000)
        self.assertLess(due[-1] - due[0], 3_000_000_000)

    def test_long_pictures_do_not_count_as_a_jump(self):
        path = slides(self.dir / "slides.mkv", 3, 15)
        self.expect(play(*NULL, "--length=1", f"--record={self.dir}/record", path), 0)
        self.assertEqual(seconds_shown(*self.record()), [0])


class Starts(Case):
    def test_playing_starts_exactly_between_key_frames_of_a_transport_stream(self):
        path = self.dir / "long.ts"
        ffmpeg("-f", "lavfi", "-i", "testsrc=s=64x48:r=25:d=16", "-c:v", "libx264", "-preset", "ultrafast", "-g", "250",
               "-sc_threshold", "0", path)
        for start in (4, 9, 12):
            with self.subTest(start):
                run = play(*UNTIMED, f"--start={start}", "--length=1", f"--record={self.dir}/{start}", path)
                self.expect(run, 0)
                self.assertEqual(run.stderr, "")
                shown = seconds_shown(*self.record(str(start)))
                self.assertAlmostEqual(shown[0], start, delta=0.001)
                self.assertEqual(len(shown), 25)

    def test_a_picture_that_began_before_is_shown_at_once_and_length_ends_it(self):
        path = slides(self.dir / "slides.mp4", 3, 600)
        self.expect(play(*NULL, "--start=700", "--length=0.5", f"--record={self.dir}/record", path), 0)
        run, rows = self.record()
        self.assertEqual(seconds_shown(run, rows), [600])
        self.assertLess(int(next(row for row in rows if row["verdict"] == "shown")["skew_ns"]), 60_000_000_000)

    def test_start_after_the_end_is_an_error(self):
        for name in ("progressive_cabac", "audio_only"):
            with self.subTest(name):
                self.expect(play(*NULL, "--start=500", clip(name)), 2, "nothing to play from 500")

    def test_a_clip_cut_off_before_its_data_is_unplayable(self):
        for name in ("progressive_cabac", "video_only"):
            with self.subTest(name):
                path = self.dir / f"{name}.mp4"
                ffmpeg("-i", clip(name), "-c", "copy", "-movflags", "+faststart", path)
                whole = path.read_bytes()
                path.write_bytes(whole[:whole.index(b"mdat") + 4])
                run = play(*NULL, f"--record={self.dir}/record", path)
                self.expect(run, 2, path.name, "nothing that can be played")
                self.assertFalse((self.dir / "record" / "run.json").exists())

    def test_pictures_without_a_decoder_are_not_called_missing(self):
        data = Path(clip("progressive_cabac")).read_bytes()
        path = self.dir / "strange.mp4"
        path.write_bytes(data.replace(b"avc1", b"zzz1"))
        run = play(*UNTIMED, path)
        self.expect(run, 2, "no decoder", "only its sound can be played")
        self.assertNotIn("has no pictures", run.stderr)


class Keys(KeysCase):
    def pipe(self, data: bytes) -> Path:
        path = self.dir / "pipe"
        os.mkfifo(path)

        def write():
            with contextlib.suppress(BrokenPipeError):
                path.write_bytes(data)

        writer = threading.Thread(target=write, daemon=True)
        writer.start()
        self.addCleanup(writer.join, 10)
        return path

    def test_pipe_continues_playing_after_a_requested_seek(self):
        path = self.pipe(Path(clip("mpegts_h264")).read_bytes())
        self.assertEqual(self.press([RIGHT, LEFT, b"q"], f"--record={self.dir}/record", path), 0)
        self.assertIn("cannot seek in this file", self.output)
        times = seconds_shown(*self.record())
        self.assertEqual(times, sorted(times))
        self.assertGreater(times[-1], 1)

    def test_start_position_in_a_pipe_is_reached_by_reading(self):
        path = self.pipe(Path(clip("mpegts_h264")).read_bytes())
        self.expect(play(*UNTIMED, "--start=3", f"--record={self.dir}/record", path), 0)
        self.assertAlmostEqual(seconds_shown(*self.record())[0], 3, delta=0.05)

    def test_stream_without_time_stamps_continues_playing_after_a_requested_seek(self):
        path = self.dir / "bare.h264"
        ffmpeg("-i", clip("video_only"), "-t", "2", "-c", "copy", path)
        self.assertEqual(self.press([RIGHT], f"--record={self.dir}/record", path), 0)
        self.assertIn("cannot seek in this file", self.output)
        run, rows = self.record()
        self.assertEqual(run["totals"]["shown"] + run["totals"]["dropped"], len(rows))
        self.expect(play(*UNTIMED, "--start=1", f"--record={self.dir}/part", path), 0)
        times = seconds_shown(*self.record("part"))
        self.assertAlmostEqual(times[0], 1, delta=0.001)
        self.assertAlmostEqual(len(times), len(rows) - 25, delta=1)

    def test_seek_during_a_pause_shows_one_picture_and_stays_paused(self):
        path = slides(self.dir / "slides.mp4", 60, 1)
        self.press([b" ", RIGHT, b"q"], f"--record={self.dir}/record", path)
        times = seconds_shown(*self.record())
        self.assertEqual(times[0], 0)
        self.assertGreaterEqual(times[-1], 10)
        self.assertEqual(len([t for t in times if t >= 10]), 1)

    def test_fast_arrow_keys_add_up(self):
        path = slides(self.dir / "slides.mp4", 60, 1)
        self.press([RIGHT + RIGHT + RIGHT, b"q"], f"--record={self.dir}/record", path)
        self.assertGreaterEqual(seconds_shown(*self.record())[-1], 30)

    def test_the_first_pictures_after_a_seek_have_no_deadline(self):
        self.press([b"", b"\x1b[D", b"", b"q"], "--deadline-rule=slack", f"--record={self.dir}/record", clip("progressive_cabac"))
        rows = self.record()[1]
        seeks = [b for a, b in pairwise(rows) if int(b["pts_ns"]) < int(a["pts_ns"])]
        self.assertEqual(len(seeks), 1)
        for begin in (0, int(seeks[0]["index"])):
            near = (row for row in rows[begin:] if int(row["index"]) < begin + 20)
            decoded = sorted(near, key=lambda row: int(row["decode_start_ns"]))
            self.assertEqual({row["deadline_ns"] for row in decoded[:FIRST_PICTURES_KEPT]}, {""})
            self.assertNotIn("", {row["deadline_ns"] for row in decoded[FIRST_PICTURES_KEPT:FIRST_PICTURES_KEPT + 4]})

    def test_q_quits_while_nothing_is_presented_yet(self):
        path = self.dir / "long.ts"
        ffmpeg("-stream_loop", "3", "-i", clip("hard_1080p"), "-an", "-c", "copy", path)
        start_s = 55
        pipe = self.pipe(path.read_bytes())
        self.assertEqual(self.press([b"q"], f"--start={start_s}", f"--record={self.dir}/record", pipe), 0)
        run, rows = self.record()
        self.assertEqual(run["ended"], "quit")
        self.assertLess(int(rows[-1]["pts_ns"]) / 1e9, start_s - 5)  # the player had not yet reached the start


if __name__ == "__main__":
    main()
