# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests decoding with several codec threads (--threads) against one thread, and the list of codecs (--codecs).

Not covered: each decoder by itself (tests/gate/test_decoder_threads.c); where the threads run under a policy
(tests/player/test_placement.py); what is won by them, which is measured.
"""
import contextlib
import os
import random
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from playing import NULL, PLAY, UNTIMED, Case, KeysCase, clip, main, play

# A clip of each codec that has droppable pictures, and one of a codec without.
CLIPS = ("progressive_cabac", "mbaff", "bpyramid", "mpegts_h264", "hevc_small", "mpeg2_ibbp", "mpeg4_small", "vp8_layers",
         "vp9_layers", "av1_svt", "mjpeg_small")
KINDS = {"progressive_cabac": "frame", "mpeg2_ibbp": "slice", "av1_svt": "own", "mjpeg_small": "none"}
COMPARED = ("index", "pts_ns", "type", "droppable", "size_bytes", "verdict")
THREADS = (2, 3, 4)
# A deadline of 0.5 ms after the decode began aborts many pictures.
ABORTING = ("--deadline-rule=paper", "--deadline-base=0.0005")
PLAYS = 5


def sums(text: str) -> list[tuple[str, ...]]:
    """Returns the lines of a framemd5 file without its head."""
    return [tuple(field.strip() for field in line.split(",")) for line in text.splitlines() if not line.startswith("#")]


class Pictures(Case):
    def played(self, name: str, threads, *options):
        """Returns checksums, compared columns of the rows, and run.json of an untimed play."""
        record = f"{name}-{threads}-{len(options)}"
        run = play(*UNTIMED, "--framemd5=-", f"--threads={threads}", f"--record={self.dir / record}", *options, clip(name))
        self.expect(run, 0)
        found, rows = self.record(record)
        return sums(run.stdout), rows, found

    def test_pictures_and_rows_are_those_of_one_thread(self):
        for name in CLIPS:
            with self.subTest(name):
                pictures, rows, _ = self.played(name, 1, "--drop=none")
                self.assertGreater(len(rows), 10)
                for threads in THREADS:
                    found, found_rows, _ = self.played(name, threads, "--drop=none")
                    self.assertEqual(found, pictures)
                    self.assertEqual([[row[it] for it in COMPARED] for row in found_rows],
                                     [[row[it] for it in COMPARED] for row in rows])

    def test_aborts_change_no_other_picture_and_every_packet_has_its_row(self):
        for name in CLIPS[:-1]:
            with self.subTest(name):
                pictures, rows, _ = self.played(name, 1, "--drop=none")
                for threads in THREADS:
                    shown, found, run = self.played(name, threads, *ABORTING)
                    self.assertLessEqual(set(shown), set(pictures))
                    self.assertEqual([row["pts_ns"] for row in found], [row["pts_ns"] for row in rows])
                    self.assertEqual([row["size_bytes"] for row in found], [row["size_bytes"] for row in rows])
                    self.assertEqual(len(shown), run["totals"]["shown"])
                    self.assertEqual({row["droppable"] for row in found if row["verdict"] == "aborted"} - {"1"}, set())
                    self.assertEqual({row["verdict"] for row in found} - {"shown", "aborted"}, set())

    def test_threads_refuse_nothing_where_there_is_time(self):
        # More threads than the queue has pictures, and so many that the first picture comes late.
        for options in (("--threads=8", "--queue=8"), ("--threads=16",)):
            with self.subTest(options):
                # A busy machine may take that time away, but not each time.
                refused = []
                while len(refused) < PLAYS and (not refused or refused[-1] > 3):
                    record = self.dir / "-".join((*options, str(len(refused))))
                    self.expect(play(*NULL, *options, "--length=4", f"--record={record}", clip("bpyramid")), 0)
                    run, rows = self.record(record)
                    self.assertEqual({row["droppable"] for row in rows}, {"0", "1"})
                    refused.append(run["totals"]["skipped"])
                self.assertLessEqual(refused[-1], 3, refused)

    def test_pictures_are_aborted_in_codec_threads(self):
        _, rows, run = self.played("progressive_cabac", 3, "--deadline-rule=paper", "--deadline-base=0")
        self.assertEqual(run["decoding"]["kind"], "frame")
        self.assertGreater(run["totals"]["aborted"], 50)
        for row in rows:
            self.assertEqual(bool(row["fired_ns"]), row["verdict"] == "aborted")
            if row["fired_ns"]:
                self.assertGreaterEqual(int(row["fired_ns"]), int(row["deadline_ns"]))
                self.assertLessEqual(int(row["fired_ns"]), int(row["decode_end_ns"]))


class Record(Case):
    def record_of(self, *options, name="progressive_cabac") -> tuple:
        self.expect(play(*UNTIMED, "--drop=none", "--length=2", f"--record={self.dir}/record", *options, clip(name)), 0)
        found = self.record()
        shutil.rmtree(self.dir / "record")
        return found

    def test_threads_are_recorded_with_their_role(self):
        for name, kind in KINDS.items():
            with self.subTest(name):
                run, _ = self.record_of("--threads=3", name=name)
                self.assertEqual(run["options"]["threads"], "3")
                self.assertEqual(run["decoding"], {"threads_max": 3, "threads": 1 if kind == "none" else 3, "kind": kind})
                roles = [thread["roles"] for thread in run["scheduling"]["threads"]]
                # Beside the thread "decoder". With slice threads, that one takes a share.
                workers = {"frame": 3, "slice": 2, "own": 3, "none": 0}[kind]
                self.assertEqual(roles.count("decode"), 1 + workers, run["scheduling"])
                self.assertEqual(roles.count("present"), 1)

    def test_auto_follows_the_cpus_and_the_queue(self):
        cpus = os.sched_getaffinity(0)
        some_ahead, all_ahead = max(5, len(cpus) + 1), min(16, 2 * len(cpus) + 3)
        on_one_cpu = f"--cpu={min(cpus)}"
        for options, expected in ((("--queue=0",), 1), ((on_one_cpu,), 1), (("--queue=20",), some_ahead), ((), all_ahead)):
            with self.subTest(options):
                if not options and self.has_quota():
                    continue
                run, _ = self.record_of(*options)
                self.assertEqual(run["options"]["threads"], "auto")
                self.assertEqual(run["decoding"]["threads_max"], expected)

    @staticmethod
    def has_quota() -> bool:
        """Returns whether a control group may limit the CPU time here: then auto may be less."""
        for folder, _, names in os.walk("/sys/fs/cgroup"):
            for name in {"cpu.max", "cpu.cfs_quota_us"} & set(names):
                with contextlib.suppress(OSError):  # other tests delete their groups meanwhile
                    if not Path(folder, name).read_text().startswith(("max", "-1")):
                        return True
        return False

    def test_auto_follows_the_affinity(self):
        one = {min(os.sched_getaffinity(0))}
        self.expect(play(*UNTIMED, "--length=1", f"--record={self.dir}/record", clip("progressive_cabac"),
                         preexec_fn=lambda: os.sched_setaffinity(0, one)), 0)
        self.assertEqual(self.record()[0]["decoding"]["threads_max"], 1)

    def test_auto_starts_no_more_threads_than_a_control_group_allows(self):
        group = self.group_of_threads(8)
        self.expect(play(*NULL, "--length=0.5", f"--record={self.dir}/record", clip("progressive_cabac"),
                         preexec_fn=lambda: (group / "cgroup.procs").write_text("0")), 0)
        run, rows = self.record()
        self.assertEqual(run["decoding"]["threads_max"], 1)
        self.assertIn("shown", {row["verdict"] for row in rows})

    def group_of_threads(self, most: int) -> Path:
        """Makes a control group that allows so many threads. Skips the test where that is not possible."""
        divided = Path("/sys/fs/cgroup/pids")
        try:
            group = Path(tempfile.mkdtemp(prefix="dlex-test-pids-", dir=divided if divided.is_dir() else divided.parent))
        except OSError as cause:
            self.skipTest(f"no control group can be made here: {cause}")
        self.addCleanup(group.rmdir)
        try:
            (group / "pids.max").write_text(str(most))
        except OSError as cause:
            self.skipTest(f"control groups do not limit threads here: {cause}")
        return group

    def test_cpu_time_of_pictures_is_that_of_their_threads(self):
        run, rows = self.record_of("--threads=3")
        costs = [int(row["decode_cpu_ns"]) for row in rows]
        self.assertGreater(min(costs), 0)
        self.assertLessEqual(sum(costs), run["held_cpu_ns"])
        self.assertGreater(sum(costs), run["held_cpu_ns"] / 10)  # the start of the program and presenting are in it too

    def test_cpu_time_that_nobody_can_measure_is_empty(self):
        run, rows = self.record_of("--threads=3", name="av1_svt")
        self.assertEqual({row["decode_cpu_ns"] for row in rows}, {""})
        self.assertGreater(run["held_cpu_ns"], 0)

    def test_codec_threads_stay_counted_over_several_files(self):
        path = clip("progressive_cabac")
        self.expect(play(*UNTIMED, "--drop=none", "--threads=3", f"--record={self.dir}/record", path, path), 0)
        first, second = (self.record(f"record/{number}") for number in (1, 2))
        of_second_ns = sum(int(row["decode_cpu_ns"]) for row in second[1])
        self.assertGreaterEqual(second[0]["held_cpu_ns"] - first[0]["held_cpu_ns"], of_second_ns)
        self.assertEqual(len(second[0]["scheduling"]["threads"]), len(first[0]["scheduling"]["threads"]))

    def test_queue_counts_the_pictures_in_codec_threads(self):
        for threads, expected in ((1, 20), (4, 17)):
            self.expect(play(*NULL, "--drop=none", "--queue=20", f"--threads={threads}", "--length=3",
                             f"--record={self.dir / str(threads)}", clip("progressive_cabac")), 0)
            most = self.record(str(threads))[0]["queue"]["pictures_max"]
            self.assertIn(most - expected, (0, 1))  # one packet may release two pictures


class Seeks(KeysCase):
    KEY_STEP_S = 0.15
    KEYS = (b"\x1b[D", b"\x1b[C", b"\x1b[A", b"\x1b[B", b" ")

    def long_clip(self, suffix: str, *encoder: str) -> Path:
        """Makes a clip that the keys' seeks of 10 and 60 s reach."""
        path = self.dir / f"long.{suffix}"
        argv = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=320x180:r=25:d=90", *encoder, path]
        if not shutil.which("ffmpeg") or subprocess.run(argv, check=False).returncode:
            self.skipTest("ffmpeg cannot make the clip")
        return path

    def expect_exact(self, file: Path, threads: int):
        """Presses keys at random while many pictures are aborted. What is shown is the same as in an undisturbed decode."""
        ideal = play(*UNTIMED, "--drop=none", "--threads=1", "--framemd5=-", file)
        self.expect(ideal, 0)
        keys = random.Random(threads).choices(self.KEYS, k=20)
        keys += [b" "] * (keys.count(b" ") % 2) + [b"q"]  # not paused at the end
        shown = self.dir / f"shown-{file.suffix}-{threads}"
        code = self.press(keys, f"--threads={threads}", *ABORTING, f"--framemd5={shown}", file)
        self.assertEqual(code, 0, self.output)
        found = sums(shown.read_text())
        self.assertGreater(len(found), 5)
        self.assertLessEqual(set(found), set(sums(ideal.stdout)))

    def test_pictures_are_exact_over_seeks_of_h264(self):
        file = self.long_clip("mp4", "-c:v", "libx264", "-preset", "veryfast", "-x264-params",
                              "bframes=3:b-pyramid=none:open-gop=1:keyint=60")
        for threads in THREADS:
            with self.subTest(threads):
                self.expect_exact(file, threads)

    def test_pictures_are_exact_over_seeks_of_mpeg4_and_mpeg2(self):
        self.expect_exact(self.long_clip("avi", "-c:v", "mpeg4", "-q:v", "5", "-bf", "2", "-g", "50"), 3)
        self.expect_exact(self.long_clip("mkv", "-c:v", "mpeg2video", "-q:v", "5", "-bf", "2", "-g", "15"), 3)


class Options(Case):
    def test_numbers_that_make_no_sense_are_refused(self):
        for threads in ("", "0", "-1", "1.5", "17", "many"):
            with self.subTest(threads):
                self.expect(play(f"--threads={threads}", "x"), 1, f"--threads={threads}", "from 1 to 16")

    def test_several_threads_are_refused_where_one_must_do(self):
        for options in (("--queue=0", "--threads=2"), ("--threads=2", "--queue=0")):
            with self.subTest(options):
                self.expect(play(*options, "x"), 1, "--threads=2 does not go with --queue=0", "one thread decodes and presents")
        for options in (("--sched=deadline:10/40", "--threads=2"), ("--threads=2", "--sched=deadline:10/40")):
            with self.subTest(options):
                self.expect(play(*options, "x"), 1, "--threads=2 does not go with --sched=deadline", "reservation")

    def test_one_thread_and_auto_are_allowed_there(self):
        for threads in ("1", "auto"):
            self.expect(play(*UNTIMED, "--queue=0", f"--threads={threads}", "--length=0.2", clip("progressive_cabac")), 0)

    def test_last_option_counts(self):
        self.expect(play(*UNTIMED, "--queue=0", "--threads=2", "--queue=8", "--length=0.2", clip("progressive_cabac")), 0)


class Codecs(Case):
    def listed(self) -> dict[str, list[str]]:
        run = play("--codecs")
        self.expect(run, 0)
        self.assertEqual(run.stderr, "")
        rows = [re.split(" {2,}", line) for line in run.stdout.splitlines()[1:9]]
        return {codec: [way, threads] for codec, _droppable, _share, way, threads in rows}

    def test_table_says_how_each_codec_is_given_up(self):
        expected = {
            "h264": ["jump, poll", "frame"],
            "hevc": ["jump, poll", "frame"],
            "mpeg1video": ["poll", "slice"],
            "mpeg2video": ["poll", "slice"],
            "mpeg4": ["poll", "frame"],
            "vp8": ["poll", "frame"],
            "vp9": ["poll", "frame"],
            "av1": ["in advance", "own"],
        }
        self.assertEqual(self.listed(), expected)

    def test_shares_are_those_of_the_figures(self):
        figures = (Path(__file__).resolve().parents[2] / "docs/figures.md").read_text()
        measured = dict(re.findall(r"^\| `trailer_(\w+)` \|[^|]*\| (\d+ % \| \d+ %) \|", figures, re.MULTILINE))
        clips = {"h264": "1080p", "mpeg1video": "mpeg1", "mpeg2video": "mpeg2"}
        rows = [re.split(" {2,}", line) for line in play("--codecs").stdout.splitlines()[1:9]]
        self.assertEqual({row[0]: row[2].replace(", ", " | ") for row in rows},
                         {row[0]: measured[clips.get(row[0], row[0])] for row in rows})

    def test_manual_has_the_table(self):
        manual = (Path(__file__).resolve().parents[2] / "docs/man/dlex-play.1").read_text().replace("\\-", "-")
        for line in play("--codecs").stdout.split("\n\n")[0].splitlines():
            self.assertIn(line + "\n", manual)

    def test_threads_of_the_table_are_those_of_the_record(self):
        for name, codec in (("progressive_cabac", "h264"), ("mpeg2_ibbp", "mpeg2video"), ("av1_svt", "av1")):
            self.expect(play(*UNTIMED, "--threads=2", "--length=0.2", f"--record={self.dir / name}", clip(name)), 0)
            self.assertEqual(self.record(name)[0]["decoding"]["kind"], self.listed()[codec][1])

    def test_no_file_is_needed_and_none_is_played(self):
        run = subprocess.run([PLAY, "--codecs", "/nonexistent"], capture_output=True, text=True, check=False)
        self.assertEqual((run.returncode, run.stderr), (0, ""))


if __name__ == "__main__":
    main()
