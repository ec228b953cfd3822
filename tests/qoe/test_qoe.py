# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what dlex-qoe computes, on records that the tests write, and on one record of the real player.

The real ImageMagick and the real ffmpeg program provide the expected values. Not covered: what a record of the player should
contain (tests/input).
"""

import csv
import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from qoe_cases import BLACK, FRAME_NS, HEIGHT, PAIRS, PLAY, WIDTH, Case, clip, decoded, environment, main, qoe, rmse_q16
from starting import await_reading

ENDED_BY_SIGNAL = 4


class Comparing(Case):
    def expect_pairs(self, media, playback, pairs):
        """Checks that dlex-qoe compares `pairs`: (dropped picture, picture on the screen or BLACK)."""
        pictures = decoded(media, {number for pair in pairs for number in pair} - {BLACK})
        pictures[BLACK] = bytes(3 * WIDTH * HEIGHT)
        found = self.drops(self.record(media, playback))
        self.assertEqual(
            [int(drop["pts_ns"]) // FRAME_NS for drop in found], [dropped for dropped, _ in pairs]
        )
        for drop, (dropped, on_screen) in zip(found, pairs, strict=True):
            wanted = rmse_q16(pictures[dropped], pictures[on_screen])
            self.assertGreater(wanted, 0)
            self.assertAlmostEqual(float(drop["rmse_q16"]) / wanted, 1, 6, drop)
            self.assertAlmostEqual(float(drop["rmse_8bit"]) * 257 / wanted, 1, 4, drop)

    def test_a_dropped_picture_is_compared_with_the_last_one_shown(self):
        self.expect_pairs(
            clip("progressive_cabac"),
            [(0, "shown"), (1, "aborted"), (2, "shown"), (3, "skipped"), (4, "late"), (5, "shown")],
            [(1, 0), (3, 2), (4, 2)],
        )

    def test_before_the_first_picture_the_window_is_black(self):
        self.expect_pairs(
            clip("progressive_cabac"),
            [(60, "late"), (61, "aborted"), (62, "shown"), (63, "late"), (64, "unseen")],
            [(60, BLACK), (61, BLACK), (63, 62), (64, 62)],
        )

    def test_run_that_shows_nothing_is_compared_with_black(self):
        self.expect_pairs(
            clip("progressive_cabac"), [(60, "unseen"), (61, "unseen")], [(60, BLACK), (61, BLACK)]
        )

    def test_pictures_before_the_played_part_do_not_count(self):
        self.expect_pairs(
            clip("progressive_cabac"),
            [(58, "none"), (59, "none"), (60, "late"), (61, "shown"), (62, "none")],
            [(60, BLACK)],
        )

    def test_pictures_that_never_came_out_change_nothing(self):
        self.expect_pairs(
            clip("progressive_cabac"),
            [(7, "none"), (8, "shown"), (9, "none"), (10, "aborted"), (11, "none")],
            [(10, 8)],
        )

    def test_seeks_back_and_forth_are_followed(self):
        self.expect_pairs(
            clip("bpyramid"),
            [
                (30, "shown"),
                (31, "aborted"),
                (150, "aborted"),
                (151, "shown"),
                (152, "aborted"),
                (10, "none"),
                (12, "aborted"),
                (13, "shown"),
                (14, "aborted"),
            ],
            [(31, 30), (150, 30), (152, 151), (12, 151), (14, 13)],
        )

    def test_drops_are_compared_for_every_entropy_coder_slice_count_and_pyramid(self):
        for name in ("cavlc", "multislice", "non_pyramid"):
            with self.subTest(name):
                shutil.rmtree(self.dir / "record", ignore_errors=True)
                self.expect_pairs(clip(name), [(60, "shown"), (61, "aborted")], [(61, 60)])

    def test_time_stamps_that_do_not_begin_at_zero_are_handled(self):
        media = clip("mpegts_h264")
        probe = subprocess.run(
            [
                "ffprobe",
                "-v",
                "error",
                "-select_streams",
                "v",
                "-show_entries",
                "packet=pts",
                "-of",
                "csv=p=0",
                media,
            ],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        ticks = sorted(int(line.split(",")[0]) for line in probe.split())
        self.assertGreater(ticks[0], 0)
        folder = self.record(media, [(0, "shown"), (1, "aborted"), (150, "aborted")])
        lines = (folder / "frames.csv").read_text().splitlines()
        for row, number in ((1, 20), (2, 21), (3, 150)):
            fields = lines[row].split(",")
            fields[1] = str(round(ticks[number] * 1_000_000_000 / 90_000))
            lines[row] = ",".join(fields)
        (folder / "frames.csv").write_text("\n".join(lines) + "\n")
        found = [float(drop["rmse_q16"]) for drop in self.drops(folder)]
        pictures = decoded(clip("progressive_cabac"), [20, 21, 150])
        self.assertAlmostEqual(found[0] / rmse_q16(pictures[21], pictures[20]), 1, 6)
        self.assertAlmostEqual(found[1] / rmse_q16(pictures[150], pictures[20]), 1, 6)


class Standing(Case):
    def test_time_on_the_screen_is_that_of_the_record_or_of_an_old_one_without_it_a_guess(self):
        folder = self.record(clip("progressive_cabac"), [(number, "shown") for number in range(4)])
        self.assertLess(self.summary(folder)["longest_freeze_ms"], 50)
        header, *rows = (folder / "frames.csv").read_text().splitlines()
        stood_ms = (40, 3000, 40, 0)  # the sound's device stood, so the clock did not run
        columns = [f"{row},{ms}000000" for row, ms in zip(rows, stood_ms, strict=True)]
        (folder / "frames.csv").write_text("\n".join([f"{header},stood_ns", *columns]) + "\n")
        self.assertEqual(self.summary(folder)["longest_freeze_ms"], 3000)
        for fault, line in (("a time is below 0", f"{rows[0]},-1"), ("it is not a whole row", rows[0])):
            (folder / "frames.csv").write_text("\n".join([f"{header},stood_ns", line, *columns[1:]]) + "\n")
            self.expect_refusal(qoe(folder), 2, "frames.csv is damaged in line 2: ", fault)


class Imagemagick(Case):
    def test_twenty_pairs_have_the_rmse_that_imagemagick_computes(self):
        if not shutil.which("compare"):
            self.skipTest("ImageMagick's compare is not installed; install Debian's package imagemagick")
        media = clip("progressive_cabac")
        numbers = [
            (i * 37 % 199, (i * 53 + 11) % 199 if i % 2 else i * 37 % 199 + 1) for i in range(20)
        ]
        stamps = [str(number * FRAME_NS) for pair in numbers for number in pair]
        ours = subprocess.run(
            [PAIRS, media, self.dir, *stamps],
            capture_output=True,
            text=True,
            check=True,
            env=environment(),
        ).stdout.split()
        self.assertEqual(len(ours), 20)
        for i, value in enumerate(ours):
            # `compare` exits with 1 if the pictures differ, and prints "Q16 (normalised)".
            judge = subprocess.run(
                [
                    "compare",
                    "-precision",
                    "12",
                    "-metric",
                    "RMSE",
                    self.dir / f"{i}-a.ppm",
                    self.dir / f"{i}-b.ppm",
                    "null:",
                ],
                capture_output=True,
                text=True,
                check=False,
            )
            theirs = float(judge.stderr.split()[0])
            self.assertGreater(theirs, 0)
            self.assertAlmostEqual(float(value) / theirs, 1, 9, numbers[i])


class Playing(Case):
    def test_report_of_a_real_run_equals_the_players_own_counts(self):
        options = (
            "--untimed",
            "--vo=null",
            "--quiet",
            "--deadline-rule=paper",
            "--deadline-base=300us",
        )
        folder = self.dir / "run"
        subprocess.run(
            [PLAY, clip("progressive_cabac"), *options, f"--record={folder}"],
            check=True,
            env=environment(),
        )
        totals = json.loads((folder / "run.json").read_text())["totals"]
        self.assertGreater(totals["aborted"], 0)
        summary = self.summary(folder)
        self.assertAlmostEqual(summary["longest_freeze_ms"], 1e3 * totals.pop("longest_freeze_s"), places=3)
        self.assertEqual({key: summary[key] for key in totals}, totals)
        self.assertEqual(summary["frames"], 200)
        self.assertGreater(summary["rmse_q16_median"], 0)

    def test_record_of_an_interrupted_run_is_accepted(self):
        for name, options in (("ahead", ()), ("in time", ("--drop=none", "--threads=1", "--queue=0"))):
            with self.subTest(name):
                folder = self.dir / name
                sinks = ("--ao=null", "--vo=null", "--quiet", f"--record={folder}")
                process = subprocess.Popen([PLAY, *sinks, *options, clip("progressive_cabac")], env=environment())
                await_reading(process)
                time.sleep(1)
                process.send_signal(signal.SIGTERM)
                self.assertEqual(process.wait(timeout=60), ENDED_BY_SIGNAL)
                run = json.loads((folder / "run.json").read_text())
                self.assertEqual(run["ended"], "signal")
                self.assertEqual(self.summary(folder)["frames"], run["totals"]["shown"] + run["totals"]["dropped"])
                self.assertLess(run["totals"]["shown"], 200)
        traced = qoe(self.dir / "in time", "--trace=-")
        self.assertEqual(traced.returncode, 0, traced.stderr)

    def test_record_of_a_cut_film_is_compared(self):
        """Before the cut are pictures that are decoded and never shown."""
        if not shutil.which("ffmpeg"):
            self.skipTest("the ffmpeg program is not installed")
        film = self.dir / "cut.mp4"
        command = ["ffmpeg", "-v", "error", "-ss", "1.9", "-i", clip("stamped_small"), "-t", "1.5", "-c", "copy", film]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
        for options in ((), ("--deadline-rule=paper", "--deadline-base=10us")):
            folder = self.dir / f"run-{len(options)}"
            subprocess.run([PLAY, "--ao=null", "--vo=null", "--quiet", *options, f"--record={folder}", film], check=True,
                           env=environment())
            with (folder / "frames.csv").open() as file:
                rows = list(csv.DictReader(file))
            self.assertTrue(any(int(row["pts_ns"]) < 0 for row in rows), "the film was not cut between key pictures")
            summary = self.summary(folder)
            self.assertGreaterEqual(summary["dropped"], 1 if options else 0)
            self.assertEqual(summary["frames"], sum(int(row["pts_ns"]) >= 0 for row in rows))


if __name__ == "__main__":
    sys.exit(main())
