# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the command dlex-qoe on records that the tests write, and on one record of the real player.

The real ImageMagick and the real ffmpeg program provide the expected values. Not covered: what a
record of the player should contain (tests/input).

Run as: python3 test_qoe.py DLEX_QOE PICTURE_PAIRS DLEX_PLAY MEDIA_MAKE [CLASS ...]
"""

import csv
import hashlib
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

QOE, PAIRS, PLAY, MAKE = sys.argv[1:5]
EXIT_SKIPPED = 77
SANITIZER_EXIT = 99
FRAME_NS = 40_000_000
WIDTH, HEIGHT = 640, 360
BLACK = -1  # no picture of the clip
HEADER = (
    "index,pts_ns,type,droppable,size_bytes,decode_start_ns,decode_end_ns,decode_cpu_ns,"
    "deadline_ns,fired_ns,"
    "verdict,shown_ns,skew_ns"
)
SUMMARY_KEYS = (
    "frames shown dropped aborted skipped late unseen dropped_fraction rmse_q16_sum "
    "rmse_q16_mean rmse_q16_median "
    "rmse_q16_p90 skew_ms_mean skew_ms_sd skew_ms_p99 longest_drop_run longest_freeze_ms"
).split()


def clip(name):
    made = subprocess.run([MAKE, name], capture_output=True, text=True, check=False)
    if made.returncode:
        raise unittest.SkipTest(f"no clip {name}: {made.stderr.strip()}")
    return Path(made.stdout.strip())


def environment():
    clean = dict(os.environ)
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
        clean[name] = f"{clean.get(name, '')}:exitcode={SANITIZER_EXIT}:halt_on_error=1".lstrip(":")
    return clean


def qoe(*arguments):
    return subprocess.run(
        [QOE, *map(str, arguments)], capture_output=True, text=True, env=environment(), check=False
    )


def rows_of(playback):
    """Yields the rows of `playback`: pairs of picture number and verdict, in the order of playing."""
    for index, (number, verdict) in enumerate(playback):
        shown = f"{index * FRAME_NS},{1_000_000 * (index % 5)}" if verdict == "shown" else ","
        yield f"{index},{number * FRAME_NS},B,1,1000,0,1000,900,,,{verdict},{shown}"


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.dir = Path(tempfile.mkdtemp(prefix="dlex-qoe-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def record(self, media, playback, name="record", **changes):
        folder = self.dir / name
        folder.mkdir(parents=True)
        facts = {
            "path": str(media),
            "sha256": hashlib.sha256(media.read_bytes()).hexdigest(),
            "video": {"stream_index": 0},
        } | changes
        (folder / "run.json").write_text(
            json.dumps({"options": {"drop": "deadline"}, "media": facts})
        )
        (folder / "frames.csv").write_text("\n".join([HEADER, *rows_of(playback)]) + "\n")
        return folder

    def drops(self, folder, *options):
        run = qoe(folder, "--csv=-", *options)
        self.assertEqual(run.returncode, 0, run.stderr)
        return list(csv.DictReader(run.stdout.splitlines()))

    def summary(self, folder):
        run = qoe(folder, "--json=-")
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)["summary"]

    def expect_refusal(self, run, code, *words):
        self.assertEqual(run.returncode, code, run.stderr)
        for word in words:
            self.assertIn(word, run.stderr)
        self.assertEqual(run.stdout, "")
        self.assertIn("dlex-qoe: ", run.stderr)
        self.assertLessEqual(len(run.stderr.splitlines()), 2, run.stderr)


def decoded(media, numbers):
    """Returns these pictures in RGB24 as Debian's ffmpeg decodes them, {number: bytes}."""
    wanted = sorted(set(numbers))
    choice = "+".join(f"eq(n\\,{number})" for number in wanted)
    scale = "scale=in_color_matrix=bt601:flags=bilinear+accurate_rnd+bitexact"
    chain = f"select={choice},{scale},format=rgb24"
    raw = subprocess.run(
        [
            "ffmpeg",
            "-v",
            "error",
            "-i",
            media,
            "-vf",
            chain,
            "-fps_mode",
            "passthrough",
            "-f",
            "rawvideo",
            "-",
        ],
        capture_output=True,
        check=True,
    ).stdout
    size = 3 * WIDTH * HEIGHT
    return {number: raw[i * size : (i + 1) * size] for i, number in enumerate(wanted)}


def rmse_q16(a, b):
    return 257 * math.sqrt(sum((x - y) * (x - y) for x, y in zip(a, b, strict=True)) / len(a))


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


class Reporting(Case):
    PLAYBACK = tuple(enumerate("late shown aborted aborted shown none skipped".split()))

    def test_summary_has_the_keys_and_agrees_with_the_rows(self):
        folder = self.record(clip("progressive_cabac"), self.PLAYBACK)
        summary = self.summary(folder)
        self.assertEqual(list(summary), SUMMARY_KEYS)
        counts = {
            key: summary[key]
            for key in (
                "frames",
                "shown",
                "dropped",
                "aborted",
                "skipped",
                "late",
                "longest_drop_run",
            )
        }
        self.assertEqual(
            counts,
            {
                "frames": 6,
                "shown": 2,
                "dropped": 4,
                "aborted": 2,
                "skipped": 1,
                "late": 1,
                "longest_drop_run": 2,
            },
        )
        drops = self.drops(folder)
        self.assertEqual((drops[0]["verdict"], drops[0]["shown_index"]), ("late", ""))
        values = sorted(float(drop["rmse_q16"]) for drop in drops)
        self.assertAlmostEqual(summary["rmse_q16_sum"], sum(values), 3)
        self.assertAlmostEqual(summary["rmse_q16_median"], (values[1] + values[2]) / 2, 3)
        self.assertAlmostEqual(summary["skew_ms_mean"], (1 + 4) / 2)

    def test_without_drops_the_error_is_zero_and_nothing_is_decoded(self):
        summary = self.summary(
            self.record(clip("progressive_cabac"), [(i, "shown") for i in range(20)])
        )
        self.assertEqual(
            [summary[key] for key in SUMMARY_KEYS if key.startswith("rmse")], [0, 0, 0, 0]
        )

    def test_run_without_pictures_has_no_skew(self):
        summary = self.summary(self.record(clip("progressive_cabac"), []))
        self.assertEqual(
            (summary["frames"], summary["dropped_fraction"], summary["skew_ms_mean"]), (0, 0, None)
        )

    def test_files_are_written_beside_the_table(self):
        folder = self.record(clip("progressive_cabac"), self.PLAYBACK)
        run = qoe(folder, f"--json={self.dir}/q.json", f"--csv={self.dir}/q.csv")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertIn("2 aborted, 1 skipped, 1 late; at most 2 in a row", run.stdout)
        self.assertIn("1 dropped before anything was on the screen", run.stdout)
        compared = json.loads((self.dir / "q.json").read_text())["compared"]
        self.assertEqual((compared["drops"], compared["before_first"]), (4, 1))
        self.assertEqual(len((self.dir / "q.csv").read_text().splitlines()), 5)
        self.assertEqual(
            sorted(path.name for path in self.dir.iterdir()), ["q.csv", "q.json", "record"]
        )

    def test_moved_media_is_named(self):
        media = clip("progressive_cabac")
        folder = self.record(media, self.PLAYBACK, path=str(self.dir / "gone.mp4"))
        self.expect_refusal(qoe(folder), 2, "gone.mp4", "--media=FILE")
        self.assertEqual(len(self.drops(folder, f"--media={media}")), 4)


class Unstamped(Case):
    PLAYBACK = tuple(enumerate("unseen shown unseen shown aborted late".split()))
    FACTS = {"duration_s": 8.0, "video": {"stream_index": 0, "width": WIDTH, "height": HEIGHT}}

    def test_pictures_of_the_unstamped_film_are_compared(self):
        film, stamped = clip("progressive_cabac"), clip("stamped_small")
        played = self.record(stamped, self.PLAYBACK, **self.FACTS)
        plain = self.drops(self.record(film, self.PLAYBACK, "plain"))
        self.assertEqual(self.drops(played, f"--unstamped={film}"), plain)
        self.assertNotEqual(self.drops(played), plain)

    def test_different_film_is_refused_if_size_or_length_differ(self):
        played = self.record(clip("stamped_small"), self.PLAYBACK, **self.FACTS)
        self.expect_refusal(qoe(played, f"--unstamped={clip('mpeg4_small')}"), 2, "size or length")
        self.expect_refusal(qoe(played, f"--unstamped={self.dir}/none"), 2, "none")
        self.expect_refusal(qoe(played, "--unstamped=a", "--media=b"), 1, "--unstamped", "leave out")


class Tracing(Case):
    """The pictures of progressive_cabac: 200, one packet each."""

    PICTURES = 200

    def none_run(self, name="none", numbers=range(PICTURES), changes=(), drop="none", media="progressive_cabac", **facts):
        """Records a run whose picture number n took n + 1 us. `changes`: pairs of texts, the first one replaced."""
        folder = self.record(clip(media), [(number, "shown") for number in numbers], name, **facts)
        rows = (folder / "frames.csv").read_text().splitlines()
        rows[1:] = [row.replace(",900,", f",{1000 * (number + 1)},", 1) for number, row in zip(numbers, rows[1:], strict=True)]
        text = "\n".join(rows) + "\n"
        for before, after in changes:
            self.assertIn(before, text)
            text = text.replace(before, after)
        (folder / "frames.csv").write_text(text)
        run = (folder / "run.json").read_text()
        (folder / "run.json").write_text(run.replace('"drop": "deadline"', f'"drop": "{drop}"'))
        return folder

    def trace(self, folder, *options):
        run = qoe(folder, "--trace=-", *options)
        self.assertEqual(run.returncode, 0, run.stderr)
        return list(csv.DictReader(run.stdout.splitlines()))

    def test_packets_are_those_of_the_file_in_its_order(self):
        probe = subprocess.run(
            ["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=pts,size,flags", "-of", "json",
             clip("progressive_cabac")],
            capture_output=True, text=True, check=True,
        ).stdout
        packets = json.loads(probe)["packets"]
        trace = self.trace(self.none_run())
        self.assertEqual([row["size_bytes"] for row in trace], [packet["size"] for packet in packets])
        self.assertEqual([row["key"] == "1" for row in trace], [packet["flags"][0] == "K" for packet in packets])
        numbers = [int(row["pts_ns"]) // FRAME_NS for row in trace]
        self.assertEqual(sorted(numbers), list(range(self.PICTURES)))
        self.assertNotEqual(numbers, sorted(numbers))
        self.assertEqual([int(row["decode_cpu_ns"]) for row in trace], [1000 * (number + 1) for number in numbers])

    def test_as_many_are_droppable_as_the_player_found(self):
        folder = self.dir / "run"
        options = ("--drop=none", "--untimed", "--vo=null", "--quiet", f"--record={folder}")
        subprocess.run([PLAY, clip("progressive_cabac"), *options], check=True, env=environment())
        with (folder / "frames.csv").open() as file:
            droppable = {row["pts_ns"]: row["droppable"] for row in csv.DictReader(file)}
        self.assertIn("1", droppable.values())
        self.assertEqual({row["pts_ns"]: row["droppable"] for row in self.trace(folder)}, droppable)

    def test_errors_are_those_of_drops_after_a_shown_picture(self):
        trace = {int(row["pts_ns"]) // FRAME_NS: row for row in self.trace(self.none_run())}
        for back in range(1, 11):
            playback = [(60 - back, "shown"), (60, "aborted")]
            [drop] = self.drops(self.record(clip("progressive_cabac"), playback, f"drop{back}"))
            self.assertEqual(trace[60][f"rmse_q16_{back}"], drop["rmse_q16"])
        self.assertEqual([trace[3][f"rmse_q16_{back}"] == "" for back in range(1, 11)], [False] * 3 + [True] * 7)

    def test_unstamped_film_gives_the_pictures_and_the_stamped_clip_the_packets(self):
        facts = {"duration_s": 8.0, "video": {"stream_index": 0, "width": WIDTH, "height": HEIGHT}}
        stamped = self.trace(self.none_run(media="stamped_small", **facts), f"--unstamped={clip('progressive_cabac')}")
        plain = self.trace(self.none_run("plain"))
        errors = {row["pts_ns"]: row["rmse_q16_1"] for row in plain}
        self.assertEqual({row["pts_ns"]: row["rmse_q16_1"] for row in stamped}, errors)
        self.assertNotEqual(sum(int(row["size_bytes"]) for row in stamped), sum(int(row["size_bytes"]) for row in plain))

    def test_first_part_of_a_clip_gives_the_packets_of_that_part(self):
        whole = self.trace(self.none_run())
        expected = [row for row in whole if int(row["pts_ns"]) < 61 * FRAME_NS]
        self.assertEqual(self.trace(self.none_run("part", range(61))), expected)
        behind = [(f"61,{61 * FRAME_NS},B,1,1000,0,1000,62000,,,shown", f"61,{61 * FRAME_NS},B,1,1000,0,1000,62000,,,none")]
        self.assertEqual(self.trace(self.none_run("behind", range(62), behind)), expected)

    def test_runs_that_say_too_little_are_refused_in_one_sentence(self):
        shown = f"17,{17 * FRAME_NS},"
        for name, words, settings in (
            ("other policy", "--drop=deadline", {"drop": "deadline"}),
            ("beginning", "no picture of its own for the packet at 0.000 s", {"numbers": range(20, 200)}),
            ("not shown", "did not show its picture number 17", {"changes": [(f"{shown}B,1,1000,0,1000,18000,,,shown",
                                                                              f"{shown}B,1,1000,0,1000,18000,,,none")]}),
            ("no cost", "decode time of picture number 17 was not measured", {"changes": [(",18000,", ",,")]}),
            ("jump", "jump back at picture number 18", {"changes": [(f"18,{18 * FRAME_NS},", f"18,{5 * FRAME_NS},")]}),
            ("foreign", "no picture of its own", {"changes": [(shown, f"17,{17 * FRAME_NS + 5},")]}),
        ):
            with self.subTest(name):
                folder = self.none_run(name, **settings)
                self.expect_refusal(qoe(folder, "--trace=-"), 2, words)

    def test_interlaced_frames_are_traced(self):
        self.assertEqual(len(self.trace(self.none_run(media="mbaff"))), self.PICTURES)

    def test_report_and_trace_exclude_each_other(self):
        self.expect_refusal(qoe(self.dir, "--trace=-", "--json=-"), 1, "--trace")
        self.expect_refusal(qoe(self.none_run(), f"--trace={self.dir}/no/such/t.csv"), 1, "t.csv")


class Refusing(Case):
    def test_bad_options_are_refused(self):
        self.expect_refusal(qoe(), 1, "no DIR given")
        self.expect_refusal(qoe("--nonsense", "x"), 1, "nonsense")
        self.expect_refusal(qoe("a", "b"), 1, "b is one argument too many")
        self.expect_refusal(qoe("--json=-", "--csv=-", "a"), 1, "standard output")

    def test_unwritable_output_is_refused(self):
        folder = self.record(clip("progressive_cabac"), [(0, "shown")])
        self.expect_refusal(
            qoe(folder, f"--json={self.dir}/no/such/q.json"), 1, "q.json", "No such file"
        )
        self.expect_refusal(qoe(folder, f"--csv={self.dir}"), 1, "Is a directory")
        run = qoe(folder, "--json=/dev/full")
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("No space left", run.stderr)

    def test_missing_record_is_refused(self):
        self.expect_refusal(qoe(self.dir / "nothing"), 2, "No such file")
        self.expect_refusal(qoe(self.dir), 2, "no run.json")
        (self.dir / "file").write_text("")
        self.expect_refusal(qoe(self.dir / "file"), 2, "is not a directory")

    def test_records_of_several_files_are_refused(self):
        for name in ("many/1", "many/2"):
            self.record(clip("progressive_cabac"), [(0, "shown")], name)
        self.expect_refusal(qoe(self.dir / "many"), 2, "records of 2 files", "many/1 to")

    def test_run_of_a_clip_without_pictures_is_refused(self):
        self.expect_refusal(
            qoe(self.record(clip("audio_only"), [], video=None)), 2, "without pictures"
        )

    def test_damaged_records_are_refused(self):
        good = self.record(clip("progressive_cabac"), [(0, "shown"), (1, "aborted")])
        rows = (good / "frames.csv").read_text()
        facts = (good / "run.json").read_text()
        last = rows.splitlines()[-1]
        for name, text, words in (
            ("torn", rows[:-20], ["line 3"]),
            ("without line end", rows[:-1], ["line 3"]),
            ("verdict", rows.replace("aborted", "abandoned"), ["line 3"]),
            ("header", rows.replace("pts_ns", "pts"), ["line 1"]),
            ("twice", f"{rows}{last}\n", ["line 4"]),
            ("no pts", rows.replace(f"1,{FRAME_NS}", "1,"), ["line 3"]),
            ("empty", "", ["is empty"]),
        ):
            with self.subTest(name):
                (good / "frames.csv").write_text(text)
                self.expect_refusal(qoe(good), 2, "frames.csv", *words)
        (good / "frames.csv").unlink()
        self.expect_refusal(qoe(good), 2, "frames.csv", "No such file")
        for text in (facts[:40], "[]", '{"media": {"path": 1}}'):
            (good / "run.json").write_text(text)
            self.expect_refusal(qoe(good), 2, "run.json")

    def test_different_media_is_refused(self):
        folder = self.record(clip("progressive_cabac"), [(0, "shown"), (1, "aborted")])
        self.expect_refusal(
            qoe(folder, f"--media={clip('cavlc')}"), 2, "is not the file that was played"
        )
        self.expect_refusal(qoe(folder, f"--media={self.dir}"), 2, str(self.dir))

    def test_picture_that_the_media_does_not_have_is_an_error(self):
        folder = self.record(clip("progressive_cabac"), [(0, "shown"), (5000, "aborted")])
        self.expect_refusal(qoe(folder), 2, "no picture at 200.000 s")

    def test_file_that_is_not_media_is_refused(self):
        text = self.dir / "text.mp4"
        text.write_text("not a film\n" * 100)
        self.expect_refusal(qoe(self.record(text, [(0, "shown")])), 2, "text.mp4")


def main():
    """Runs the tests like unittest.main. A run that skipped every test is reported to Meson as skipped."""
    result = unittest.main(argv=[sys.argv[0], *sys.argv[5:]], verbosity=2, exit=False).result
    if not result.wasSuccessful():
        return 1
    if len(result.skipped) < result.testsRun:
        return 0
    print(result.skipped[0][1])
    return EXIT_SKIPPED


if __name__ == "__main__":
    sys.exit(main())
