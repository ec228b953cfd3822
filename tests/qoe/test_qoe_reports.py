# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what dlex-qoe writes: summaries, traces for the simulator, and refusals.

Not covered: the figures themselves (test_qoe.py).
"""

import csv
import json
import shutil
import subprocess
import sys

from qoe_cases import FRAME_NS, HEADER, HEIGHT, PLAY, QOE, SUMMARY_KEYS, WIDTH, Case, clip, environment, main, qoe, write_totals


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
            [summary[key] for key in SUMMARY_KEYS if key.startswith("rmse")], [0] * 6
        )

    def test_a_tiny_skew_has_no_sign(self):
        folder = self.record(clip("progressive_cabac"), [(0, "shown")])
        rows = folder / "frames.csv"
        rows.write_text(rows.read_text().replace("shown,0,0,", "shown,0,-40000,"))
        self.assertIn("  mean 0.0 ms, s.d. 0.0 ms, p99 0.0 ms\n", qoe(folder).stdout)

    def test_run_without_pictures_has_no_skew(self):
        summary = self.summary(self.record(clip("progressive_cabac"), []))
        self.assertEqual(
            (summary["frames"], summary["dropped_fraction"], summary["skew_ms_mean"]), (0, 0, None)
        )

    def test_parts_of_the_time_in_all_grades_of_lip_synchronisation_add_up(self):
        folder = self.record(clip("progressive_cabac"), [(number, "shown") for number in range(20)])
        header, *rows = (folder / "frames.csv").read_text().splitlines()
        late_ns = [number * 10_000_000 for number in range(len(rows))]
        rows = [[*row.split(",")[:-3], str(number * FRAME_NS + late), str(late), "0"]
                for number, (row, late) in enumerate(zip(rows, late_ns, strict=True))]
        (folder / "frames.csv").write_text("\n".join([header, *map(",".join, rows)]) + "\n")
        summary = self.summary(folder)
        for family in (("accepted", "irritating", "distracting"), ("itu_undetected", "itu_acceptable", "itu_unacceptable")):
            parts = [summary[f"lip_sync_{grade}"] for grade in family]
            self.assertTrue(all(parts), parts)
            self.assertAlmostEqual(sum(parts), 1)

    def test_lines_of_the_report_fit_80_columns(self):
        folder = self.record(clip("progressive_cabac"), [(0, "late"), *((number, "shown") for number in range(1, 5)), (5, "late")])
        lines = qoe(folder).stdout.splitlines()[1:]  # the first one names the film
        self.assertIn("Lip synchronisation, parts of the time:", lines)
        self.assertEqual([line for line in lines if len(line) > 80], [])
        many = [(0, verdict) for verdict in ("aborted", "skipped", "late") for _ in range(120)]
        long = qoe(self.record(clip("progressive_cabac"), [*many, (1, "shown")], "long", window="0/8")).stdout
        self.assertEqual([line for line in long.splitlines()[1:] if len(line) > 80], [])
        self.assertIn("120 aborted, 120 skipped, 120 late;\n" + 27 * " " + "at most 360 in a row\n", long)
        self.assertIn("lost pictures violate it;\n        in aligned windows, as those of DWCS, 360\n", long)

    def test_violations_of_the_window_are_counted(self):
        def counted(folder, *options):
            summary = self.summary(folder, *options)
            return summary["window"], summary["violations_sliding"], summary["violations_aligned"]

        playback = tuple(enumerate("shown shown shown aborted none late shown unseen shown".split()))
        asked = self.record(clip("progressive_cabac"), playback, window="1/4")
        free = self.record(clip("progressive_cabac"), playback, "free")
        self.assertEqual(counted(asked), ("1/4", 2, 1))
        self.assertEqual(counted(asked, "--window=1/2"), ("1/2", 1, 0))
        self.assertEqual(counted(free), (None, None, None))
        self.assertEqual(counted(free, "--window=0/8"), ("0/8", 3, 3))
        self.assertIn("window  1/4: 2 lost pictures violate it; in aligned windows, as those of DWCS, 1\n", qoe(asked).stdout)
        self.assertNotIn("window", qoe(free).stdout)

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
        write_totals(folder)
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
        self.expect_refusal(qoe("--json=f", "--csv=f", "a"), 1, "--json=f is the same file as --csv, and cannot hold both")
        for window in ("0/0", "5/3", "-1/2", "1/101", "some"):
            self.expect_refusal(qoe(f"--window={window}", "a"), 1, f"--window={window} is no window")

    def test_two_names_of_one_output_are_refused_and_nothing_is_written(self):
        folder = self.record(clip("progressive_cabac"), [(0, "shown")])
        (self.dir / "old").write_text("old")
        (self.dir / "link").symlink_to("old")
        (self.dir / "folder").symlink_to(".")
        (self.dir / "to-new").symlink_to("new")
        for one, other in (
            ("new", "new"), ("new", "./new"), ("new", "folder/new"), ("new", "record/../new"),
            ("old", "./old"), ("old", "link"), ("folder/link", "old"), ("to-new", "new"), ("new", "folder/to-new"),
        ):
            with self.subTest(one=one, other=other):
                run = qoe(folder, f"--json={self.dir}/{one}", f"--csv={self.dir}/{other}")
                self.expect_refusal(run, 1, "is the same file as --csv")
                self.assertEqual((self.dir / "old").read_text(), "old")
                self.assertFalse((self.dir / "new").exists())
        self.expect_refusal(qoe(folder, "--json=-", "--csv=/dev/stdout"), 1, "--json=- is the same file as --csv")
        run = qoe(folder, f"--json={self.dir}/new", f"--csv={folder}/new")
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_output_that_would_overwrite_an_input_is_refused(self):
        film = self.dir / "film.mkv"
        shutil.copyfile(clip("progressive_cabac"), film)
        folder = self.record(film, [(0, "shown")])
        (self.dir / "symbolic").symlink_to("film.mkv")
        (self.dir / "hard").hardlink_to(film)
        before = {path: path.read_bytes() for path in (film, folder / "run.json", folder / "frames.csv")}
        for option in ("--json", "--csv", "--trace"):
            for name in ("film.mkv", "symbolic", "hard", "./record/run.json", "record/frames.csv", "record/../film.mkv"):
                with self.subTest(option, name=name):
                    run = qoe(folder, f"{option}={self.dir}/{name}")
                    self.expect_refusal(run, 1, f"{option}={self.dir}/{name} is the same file as ", "would be overwritten")
        for option in ("--media", "--unstamped"):
            shutil.copyfile(film, self.dir / "other.mkv")
            run = qoe(folder, f"{option}={self.dir}/other.mkv", f"--csv={self.dir}/other.mkv")
            self.expect_refusal(run, 1, "other.mkv, which is read and would be overwritten")
        self.assertEqual({path: path.read_bytes() for path in before}, before)

    def test_report_into_a_file_that_is_an_output_as_well_is_refused(self):
        folder = self.record(clip("progressive_cabac"), [(0, "shown")])
        with (self.dir / "both").open("w") as both:
            run = subprocess.run([QOE, folder, f"--csv={self.dir}/both"], stdout=both, stderr=subprocess.PIPE, text=True,
                                 env=environment(), timeout=60)
        self.assertEqual(run.returncode, 1)
        self.assertIn("is the same file as standard output, and cannot hold both", run.stderr)

    def test_null_device_may_be_each_output(self):
        folder = self.record(clip("progressive_cabac"), [(0, "shown")])
        run = qoe(folder, "--json=/dev/null", "--csv=/dev/null")
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_impossible_window_in_a_record_is_refused(self):
        folder = self.record(clip("progressive_cabac"), [(0, "shown")], window="5/3")
        self.expect_refusal(qoe(folder), 2, "impossible window (5/3)")

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

    def expect_damage(self, folder, *words):
        """Expects that neither a report nor a trace is made of this record."""
        for option in ("--csv=-", "--trace=-"):
            self.expect_refusal(qoe(folder, option), 2, *words)

    def test_rows_that_do_not_give_the_totals_are_refused(self):
        good = self.record(clip("progressive_cabac"), [(0, "shown"), (1, "shown"), (2, "unseen"), (3, "late"), (4, "none")])
        rows = (good / "frames.csv").read_text().splitlines(keepends=True)
        for name, left, words in (
            ("header only", 1, "pictures that were shown is 2 in run.json, but 0 in frames.csv"),
            ("cut between two lines", 2, "pictures that were shown is 2 in run.json, but 1 in frames.csv"),
            ("dropped ones missing", 4, "pictures that were late is 1 in run.json, but 0 in frames.csv"),
        ):
            with self.subTest(name):
                (good / "frames.csv").write_text("".join(rows[:left]))
                self.expect_damage(good, "was changed or cut", words)
        (good / "frames.csv").write_text("".join(rows))
        facts = json.loads((good / "run.json").read_text())
        for totals, words in (
            (None, "does not have the totals"),
            ({"shown": 2}, "does not have the totals"),
            ({"shown": 2.0, "dropped": 2}, '"shown" in the totals'),
            ({"shown": 2, "dropped": 1}, "pictures that were dropped is 1 in run.json, but 2 in frames.csv"),
        ):
            with self.subTest(totals=totals):
                (good / "run.json").write_text(json.dumps(facts | {"totals": totals}))
                self.expect_damage(good, words)
        (good / "run.json").write_text(json.dumps(facts | {"totals": {"shown": 2, "dropped": 2}}))
        self.assertEqual(self.summary(good)["frames"], 4)

    def test_format_of_another_version_is_refused(self):
        folder = self.record(clip("progressive_cabac"), [(0, "shown")])
        facts = json.loads((folder / "run.json").read_text())
        for version, words in ((2, "has format 2"), (0, "has format 0"), ("1", "state its format"), (None, "state its format")):
            with self.subTest(version=version):
                (folder / "run.json").write_text(json.dumps(facts | {"format": version}))
                self.expect_damage(folder, "run.json", words)

    def test_impossible_values_are_refused(self):
        folder = self.record(clip("progressive_cabac"), [(0, "shown"), (1, "shown"), (2, "shown")])
        rows = (folder / "frames.csv").read_text().splitlines()
        names = HEADER.split(",")
        for name, value, words in (
            ("degraded", 3, "degraded is not"), ("degraded", -1, "degraded is not"), ("droppable", 2, "droppable is not"),
            ("index", -1, "the index"), ("index", 0, "the index"), ("index", 7, "the index"),
            ("shown_ns", "", "no shown_ns"), ("shown_ns", -5, "below 0"), ("shown_ns", 2**63 - 1, "longer than a century"),
            ("skew_ns", -(2**63) + 1, "longer than a century"), ("size_bytes", -1, "size_bytes"),
            ("decode_cpu_ns", -1, "below 0"), ("decode_start_ns", 1001, "ends before it starts"), ("verdict", "", "whole row"),
        ):
            with self.subTest(name=name, value=value):
                fields = rows[2].split(",")
                fields[names.index(name)] = str(value)
                (folder / "frames.csv").write_text("\n".join([*rows[:2], ",".join(fields), *rows[3:]]) + "\n")
                self.expect_damage(folder, "frames.csv is damaged in line 3: ", words)
        facts = (folder / "run.json").read_text()
        for stream in ("-1", str(2**32)):
            (folder / "run.json").write_text(facts.replace('"stream_index": 0', f'"stream_index": {stream}'))
            self.expect_damage(folder, "stream index")

    def test_run_from_a_pipe_is_refused_with_what_to_do(self):
        media = clip("mpegts_h264").read_bytes()
        folder = self.dir / "piped"
        subprocess.run([PLAY, "--untimed", "--vo=null", "--quiet", f"--record={folder}", "/dev/stdin"], input=media, check=True,
                       env=environment())
        run = qoe(folder)
        self.expect_refusal(run, 2, "/dev/stdin", "a pipe", "play the film from a file")
        self.assertNotIn("record the run again", run.stderr)
        facts = json.loads((folder / "run.json").read_text())
        del facts["media"]["sha256"]
        (folder / "run.json").write_text(json.dumps(facts))
        self.expect_refusal(qoe(folder), 2, "does not contain the media's path and SHA-256")

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


if __name__ == "__main__":
    sys.exit(main())
