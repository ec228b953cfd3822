# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests playing whole clips: every picture as the ffmpeg program decodes it, records, seeks, signals.

Not covered: how exactly times are kept (the benchmarks); windows and sound servers (tests/sinks).
"""
import os
import re
import shutil
import signal
import subprocess
import time
import unittest
from itertools import pairwise

from playing import NULL, PLAY, UNTIMED, Case, KeysCase, clip, environment, main, play, start
from starting import await_reading

HEADER = ("index,pts_ns,type,droppable,size_bytes,decode_start_ns,decode_end_ns,decode_cpu_ns,"
          "deadline_ns,fired_ns,verdict,shown_ns,skew_ns,degraded,stood_ns")


def checksums(text: str) -> list:
    """Returns (PTS, MD5) of each line of a framemd5 file."""
    rows = [[field.strip() for field in line.split(",")] for line in text.splitlines() if not line.startswith("#")]
    return [(row[2], row[5]) for row in rows]


def ffmpeg_checksums(path: str) -> list:
    if not shutil.which("ffmpeg"):
        raise unittest.SkipTest("the ffmpeg program is not installed")
    run = subprocess.run(["ffmpeg", "-v", "error", "-copyts", "-noautorotate", "-i", path, "-map", "0:v:0",
                          "-fps_mode", "passthrough", "-enc_time_base", "-1", "-f", "framemd5", "-"],
                         capture_output=True, text=True, check=True)
    return checksums(run.stdout)


def count(rows: list, verdict: str) -> int:
    return sum(row["verdict"] == verdict for row in rows)


class Pictures(Case):
    def test_shown_pictures_equal_those_of_the_ffmpeg_program(self):
        for name in ("progressive_cabac", "cavlc", "mbaff", "multislice", "bpyramid", "non_pyramid", "mpegts_h264"):
            with self.subTest(name):
                path = clip(name)
                out = self.dir / f"{name}.md5"
                self.expect(play(*UNTIMED, "--drop=none", f"--framemd5={out}", path), 0)
                self.assertEqual(checksums(out.read_text()), ffmpeg_checksums(path))

    def test_pictures_shown_beside_aborted_ones_are_intact(self):
        for name in ("progressive_cabac", "mbaff", "bpyramid"):
            with self.subTest(name):
                path = clip(name)
                out = self.dir / f"{name}.md5"
                self.expect(play(*UNTIMED, "--deadline-rule=paper", "--deadline-base=50us", f"--framemd5={out}",
                                 f"--record={self.dir}/{name}", path), 0)
                run, rows = self.record(name)
                self.assertGreater(run["totals"]["aborted"], 0)
                ideal = ffmpeg_checksums(path)
                shown = checksums(out.read_text())
                self.assertEqual(len(shown), run["totals"]["shown"])
                self.assertLessEqual(set(shown), set(ideal))
                self.assertEqual(len(rows), len(ideal))

    def test_only_droppable_pictures_are_aborted(self):
        self.expect(play(*UNTIMED, "--deadline-rule=paper", "--deadline-base=0", "--threads=1", f"--record={self.dir}/record",
                         clip("bpyramid")), 0)
        _, rows = self.record()
        self.assertEqual({row["droppable"] for row in rows if row["verdict"] == "aborted"}, {"1"})
        self.assertEqual({row["verdict"] for row in rows if row["droppable"] == "0"}, {"shown"})
        self.assertTrue(all(row["fired_ns"] for row in rows))  # even for reference pictures, which are decoded to the end

    def test_a_codec_without_a_gate_says_so_and_plays(self):
        run = play("--vo=null", "--untimed", clip("mjpeg_small"))
        self.expect(run, 0, "cannot be aborted in the middle")

    def test_a_codec_that_is_refused_in_advance_is_not_said_to_be_always_decoded(self):
        run = play("--vo=null", "--untimed", clip("av1_svt"))
        self.expect(run, 0)
        self.assertNotIn("cannot be aborted", run.stderr)

    def test_other_codecs_have_droppable_pictures_that_are_aborted(self):
        for name in ("hevc_small", "mpeg4_small"):
            with self.subTest(name):
                self.expect(play(*UNTIMED, "--deadline-rule=paper", "--deadline-base=0", f"--record={self.dir / name}",
                                 clip(name)), 0)
                _, rows = self.record(name)
                self.assertEqual({row["droppable"] for row in rows if row["verdict"] == "aborted"}, {"1"})
                self.assertEqual({row["verdict"] for row in rows if row["droppable"] == "0"}, {"shown"})


class Records(Case):
    def test_every_picture_has_a_row_in_presentation_order(self):
        path = clip("bpyramid")
        self.expect(play(*UNTIMED, f"--record={self.dir}/record", path), 0)
        text = (self.dir / "record" / "frames.csv").read_text()
        self.assertEqual(text.splitlines()[0], HEADER)
        run, rows = self.record()
        self.assertEqual(len(rows), len(ffmpeg_checksums(path)))
        self.assertEqual([int(row["index"]) for row in rows], list(range(len(rows))))
        times = [int(row["pts_ns"]) for row in rows]
        self.assertEqual(times, sorted(times))
        self.assertEqual(run["totals"]["shown"], count(rows, "shown"))
        self.assertEqual(len(run["media"]["sha256"]), 64)

    def test_start_and_length_select_a_segment_of_the_clip(self):
        self.expect(play(*UNTIMED, "--start=1", "--length=2", f"--record={self.dir}/record", clip("progressive_cabac")), 0)
        run, rows = self.record()
        played = [int(row["pts_ns"]) / 1e9 - run["media"]["start_s"] for row in rows if row["verdict"] == "shown"]
        self.assertAlmostEqual(played[0], 1, delta=0.001)
        self.assertAlmostEqual(played[-1], 3 - 0.04, delta=0.001)
        self.assertEqual(len(played), 50)

    def test_each_of_several_files_has_its_own_directory(self):
        path = clip("progressive_cabac")
        self.expect(play(*UNTIMED, "--length=0.4", f"--record={self.dir}/record", path, path), 0)
        for number in ("1", "2"):
            self.assertEqual(len(self.record(f"record/{number}")[1]) > 0, True)

    def test_a_signal_ends_playing_with_a_whole_record(self):
        process = start(*NULL, f"--record={self.dir}/record", clip("progressive_cabac"))
        await_reading(process)
        time.sleep(1)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=60), 4)
        process.communicate()
        run, rows = self.record()
        self.assertEqual(run["ended"], "signal")
        self.assertEqual(count(rows, "shown"), run["totals"]["shown"])
        self.assertEqual(sorted(p.name for p in (self.dir / "record").iterdir()), ["frames.csv", "run.json"])

    def test_timed_playing_shows_pictures_in_order_and_not_early(self):
        self.expect(play(*NULL, "--drop=none", "--length=1", f"--record={self.dir}/record", clip("progressive_cabac")), 0)
        _, rows = self.record()
        shown = [row for row in rows if row["verdict"] == "shown"]
        self.assertEqual(len(shown), 25)
        for row in shown:
            # An ideal screen takes no time. If the machine stops while it does, the next pictures may be earlier by a step.
            self.assertGreaterEqual(int(row["skew_ns"]), -200_000)
        times = [int(row["shown_ns"]) for row in shown]
        self.assertEqual(times, sorted(times))


class Lag(Case):
    """Tests in which the program is stopped for a while, as on a busy machine, while the sound continues.

    Nothing is decoded ahead.
    """

    def stopped_for_a_while(self, *arguments) -> tuple:
        process = start(*NULL, "--queue=0", f"--record={self.dir}/record", *arguments, clip("progressive_cabac"))
        await_reading(process)
        time.sleep(1)
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.7)
        process.send_signal(signal.SIGCONT)
        process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0)
        return self.record()

    def test_drop_none_drops_nothing(self):
        run, rows = self.stopped_for_a_while("--drop=none")
        self.assertEqual(run["totals"]["dropped"], 0)
        self.assertGreater(max(int(row["skew_ns"]) for row in rows), 400_000_000)

    def test_the_heuristic_refuses_pictures_in_advance(self):
        run, rows = self.stopped_for_a_while("--drop=heuristic")
        self.assertGreater(run["totals"]["skipped"], 0)
        for row in rows:
            if row["verdict"] == "skipped":
                self.assertEqual((row["type"], row["droppable"], row["deadline_ns"]), ("B", "1", ""))

    def test_deadlines_abort_pictures(self):
        run, rows = self.stopped_for_a_while("--drop=deadline", "--deadline-rule=slack")  # plan would refuse them before
        self.assertGreater(run["totals"]["aborted"], 0)
        self.assertEqual(run["totals"]["skipped"], 0)
        for row in rows:
            if row["verdict"] == "aborted":
                self.assertGreaterEqual(int(row["fired_ns"]), int(row["deadline_ns"]))
                self.assertLessEqual(int(row["fired_ns"]), int(row["decode_end_ns"]))
        # The player has caught up. A busy machine may delay some of the last pictures.
        self.assertLess(min(int(row["skew_ns"]) for row in rows[-25:] if row["skew_ns"]), 100_000_000)


class OtherClips(Case):
    def test_sound_alone_plays(self):
        self.expect(play(*NULL, "--length=0.5", f"--record={self.dir}/record", clip("audio_only")), 0)
        run, rows = self.record()
        self.assertEqual((run["clock"], rows), ("audio", []))

    def test_pictures_alone_play_by_the_monotonic_clock(self):
        self.expect(play(*NULL, "--length=0.5", f"--record={self.dir}/record", clip("video_only")), 0)
        run, rows = self.record()
        self.assertEqual(run["clock"], "monotonic")
        self.assertGreater(count(rows, "shown"), 0)

    def test_hevc_plays(self):
        path = clip("hevc_small")
        self.expect(play(*UNTIMED, "--drop=none", f"--framemd5={self.dir}/md5", path), 0)
        self.assertEqual(checksums((self.dir / "md5").read_text()), ffmpeg_checksums(path))


class Keys(KeysCase):
    def test_q_quits(self):
        self.assertEqual(self.press([b"q"], f"--record={self.dir}/record", clip("progressive_cabac")), 0)
        self.assertEqual(self.record()[0]["ended"], "quit")

    def test_q_quits_although_the_record_is_lost(self):
        first = self.dir / "record" / "1"

        def lose_the_folder():
            first.rmdir()
            first.touch()

        path = clip("progressive_cabac")
        self.assertEqual(self.press([lose_the_folder, b"q"], f"--record={self.dir}/record", path, path), 1)
        self.assertIn("the record could not be written", self.output)
        self.assertEqual(list((self.dir / "record" / "2").iterdir()), [])  # the second file was not played

    def test_row_numbers_continue_after_a_seek(self):
        code = self.press([b"\x1b[D", b"q"], f"--record={self.dir}/record", clip("progressive_cabac"))
        self.assertEqual(code, 0)
        _, rows = self.record()
        self.assertEqual([int(row["index"]) for row in rows], list(range(len(rows))))
        times = [int(row["pts_ns"]) for row in rows if row["verdict"] == "shown"]
        self.assertLess(min(b - a for a, b in pairwise(times)), 0)  # the seek went back

    def test_a_pause_holds_the_picture(self):
        self.press([b" ", b" ", b"q"], f"--record={self.dir}/record", clip("progressive_cabac"))
        run, rows = self.record()
        times = [int(row["shown_ns"]) for row in rows if row["verdict"] == "shown"]
        longest_s = max(b - a for a, b in pairwise(times)) / 1e9
        self.assertGreater(longest_s, 0.3)
        self.assertLess(run["totals"]["longest_freeze_s"], longest_s - 0.3)
        skews = [int(row["skew_ns"]) for row in rows if row["verdict"] == "shown"]
        self.assertLess(sorted(skews)[len(skews) // 2], 300_000_000)  # the clock was paused too


class StatusLine(KeysCase):
    """Tests the status line on terminals of several widths, while pictures are dropped."""

    DROPPING = ("--deadline-rule=paper", "--deadline-base=0", "--queue=0")

    def lines(self, begin: int, end: int) -> list:
        """Returns the status lines of a part of the output, without the first and the last, which may not be whole."""
        found = re.split(r"\r(?:\x1b\[K)?", self.output[begin:end])[1:-1]
        self.assertGreater(len(found), 3)
        return found

    def test_the_line_fits_the_terminal_and_follows_its_size(self):
        marks = []
        widths = (80, 40, 20, 120)
        steps = [lambda columns=columns: marks.append(self.resize(columns)) for columns in widths[1:]]
        code = self.press([*steps, lambda: self.resize(80), b"q"], *self.DROPPING, clip("progressive_cabac"), columns=widths[0])
        self.assertEqual(code, 0)
        marks = [0, *marks, len(self.output)]
        for columns, begin, end in zip(widths, marks, marks[1:], strict=False):
            with self.subTest(columns=columns):
                lines = self.lines(begin, end)[1:]  # the first may be that of the width before
                self.assertNotIn("\n", "".join(lines))
                self.assertLess(max(map(len, lines)), columns)
                self.assertRegex(lines[-1], r"Dropped: [1-9]" if columns > 20 else r"^AV: \d\d:\d\d:\d\d$")
        self.assertRegex(self.output, r"Dropped: [1-9]\d* aborted / \d+ late / \d+ skipped")


class Display(Case):
    def test_a_display_that_goes_away_leaves_a_whole_record(self):
        if not shutil.which("Xvfb"):
            self.skipTest("Xvfb is not installed")
        end, other = os.pipe()
        server = subprocess.Popen(["Xvfb", "-noreset", "-displayfd", str(other), "-screen", "0", "800x600x24", "-nolisten", "tcp"],
                                  pass_fds=[other], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(other)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        with os.fdopen(end) as line:
            display = ":" + line.readline().strip()
        if display == ":":
            self.skipTest("a private X server does not start here")
        process = subprocess.Popen([PLAY, "--ao=null", "--vo=sdl", "--quiet", f"--record={self.dir}/record",
                                    clip("progressive_cabac")], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                   env={**environment(), "DISPLAY": display, "SDL_RENDER_DRIVER": "software"})
        await_reading(process)
        time.sleep(1.5)
        server.kill()
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, err)
        self.assertIn("the display was lost", err)
        run, rows = self.record()
        self.assertEqual(run["ended"], "display lost")
        self.assertGreater(count(rows, "shown"), 0)


if __name__ == "__main__":
    main()
