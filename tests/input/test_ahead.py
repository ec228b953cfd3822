# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests decoding ahead (--queue) against the serial loop.

Not covered: what is won by it, which the laboratory measures; seeks and sound, whose own tests also run with a queue.
"""
import random
import shutil
import signal
import subprocess
import time
from itertools import pairwise
from pathlib import Path

from playing import NULL, UNTIMED, Case, KeysCase, clip, main, play, start
from starting import await_reading

CLIPS = ("cavlc", "progressive_cabac", "video_only")
PLAYS = 5
COMPARED = ("index", "pts_ns", "type", "droppable", "size_bytes", "verdict")


class SameAsSerial(Case):
    def played(self, queue: str, file: str):
        run = play(*UNTIMED, "--drop=none", "--framemd5=-", f"--queue={queue}", f"--record={self.dir}/{queue}", file)
        self.expect(run, 0)
        record, rows = self.record(queue)
        return run.stdout, [tuple(row[name] for name in COMPARED) for row in rows], record

    def test_pictures_and_rows_are_those_of_the_serial_loop(self):
        for name in CLIPS:
            file = clip(name)
            pictures, rows, _ = self.played("0", file)
            self.assertGreater(len(rows), 10)
            for queue in ("1", "50", "300ms", "1MiB", "auto"):
                with self.subTest(clip=name, queue=queue):
                    self.assertEqual(self.played(queue, file)[:2], (pictures, rows))
            for folder in self.dir.iterdir():
                for path in folder.iterdir():
                    path.unlink()
                folder.rmdir()


class Threads(Case):
    def test_record_names_the_threads_by_role_and_says_how_full_the_queue_was(self):
        self.expect(play(*NULL, "--drop=none", "--queue=8", "--threads=1", f"--record={self.dir}/record",
                         clip("progressive_cabac")), 0)
        run, _ = self.record()
        roles = [thread["roles"] for thread in run["scheduling"]["threads"]]
        self.assertEqual(sorted(role for role in roles if role in ("decode", "present")), ["decode", "present"])
        self.assertEqual(run["queue"]["asked"], "8")
        self.assertGreater(run["queue"]["pictures_mean"], 1)
        self.assertLessEqual(run["queue"]["pictures_max"], 8 + 1)  # one packet may release two pictures
        self.assertGreater(run["queue"]["bytes_max"], 0)

    def test_queue_is_filled_although_the_sound_is_heard_in_real_time(self):
        # The sink takes a second of sound, which is 25 pictures. The whole film is long enough for a slow machine.
        options = ("--drop=none", "--queue=60", "--threads=1", f"--record={self.dir}/record")
        self.expect(play(*NULL, *options, clip("progressive_cabac")), 0)
        run, _ = self.record()
        self.assertEqual(run["queue"]["pictures_max"], 60)
        self.assertEqual(run["totals"]["shown"], 200)

    def test_first_picture_is_shown_before_the_others_are_decoded(self):
        # The clock waits for six. On a busy machine the screen's turn may come late, but not each time.
        options = ("--drop=none", "--queue=50", "--length=1", f"--record={self.dir}/record")
        for _ in range(PLAYS):
            self.expect(play(*NULL, *options, clip("hard_1080p")), 0)
            _, rows = self.record()
            if int(rows[0]["shown_ns"]) < int(rows[5]["decode_end_ns"]):
                return
            shutil.rmtree(self.dir / "record")
        self.fail("the first picture waited for the sixth")

    def test_memory_stays_in_the_limit_to_the_last_picture(self):
        options = ("--drop=none", "--queue=3MiB", "--threads=1", "--length=1.5", f"--record={self.dir}/record")
        self.expect(play(*NULL, *options, clip("progressive_cabac")), 0)
        queue = self.record()[0]["queue"]
        self.assertGreater(queue["bytes_max"], 2 << 20)
        self.assertLessEqual(queue["bytes_max"], 3 << 20)

    def test_serial_loop_has_one_thread_for_both_and_no_queue(self):
        self.expect(play(*NULL, "--queue=0", "--length=0.5", f"--record={self.dir}/record", clip("progressive_cabac")), 0)
        run, _ = self.record()
        self.assertEqual(run["scheduling"]["threads"][0]["roles"], "decode, present")
        self.assertEqual(run["queue"], {"asked": "0"})

    def test_one_decode_thread_serves_several_files(self):
        file = clip("progressive_cabac")
        self.expect(play(*NULL, "--queue=8", "--length=0.5", f"--record={self.dir}/record", file, file, file), 0)
        for number in ("1", "2", "3"):
            run, rows = self.record(f"record/{number}")
            self.assertEqual(run["totals"]["shown"], len([row for row in rows if row["verdict"] != "none"]))


class Ends(Case):
    def test_signal_in_the_middle_ends_the_player_with_its_record(self):
        process = start(*NULL, "--queue=50", f"--record={self.dir}/record", clip("progressive_cabac"))
        await_reading(process)
        time.sleep(1)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 4)
        self.assertEqual(self.record()[0]["ended"], "signal")

    def test_amount_that_makes_no_sense_is_refused(self):
        for amount in ("", "-1", "1.5", "5x", "0s", "many"):
            with self.subTest(amount):
                self.expect(play(f"--queue={amount}", "x"), 1, "--queue=")


class Interruptions(Case):
    """The program is stopped for a while with a full queue."""

    def skews_after(self, stop_s: float, *arguments) -> list[float]:
        """Returns A-V in ms of the pictures that were shown after the stop."""
        shutil.rmtree(self.dir / "record", ignore_errors=True)
        process = start(*NULL, "--queue=50", f"--record={self.dir}/record", *arguments)
        await_reading(process)
        time.sleep(1.5)
        process.send_signal(signal.SIGSTOP)
        time.sleep(stop_s)
        resumed_ns = time.monotonic_ns()
        process.send_signal(signal.SIGCONT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        return [int(row["skew_ns"]) / 1e6 for row in self.record()[1] if row["shown_ns"] and int(row["shown_ns"]) > resumed_ns]

    def test_queue_that_became_late_is_not_shown_picture_by_picture(self):
        for drop in ("deadline", "heuristic"):
            with self.subTest(drop):
                # On a busy machine pictures may be late once more, but not each time.
                late = []
                while len(late) < PLAYS and (not late or late[-1] >= 12):
                    shown = self.skews_after(0.9, f"--drop={drop}", clip("progressive_cabac"))
                    late.append(sum(skew > 40 for skew in shown[:25]))
                self.assertLess(late[-1], 12, late)

    def test_stop_counts_as_frozen_although_the_sound_and_the_clock_stood_too(self):
        for queue in ("50", "0"):
            with self.subTest(queue):
                self.skews_after(3, "--drop=none", f"--queue={queue}", clip("stamped_small"))
                run, rows = self.record()
                times = [int(row["shown_ns"]) for row in rows if row["verdict"] == "shown"]
                stood_s = max(later - earlier for earlier, later in pairwise(times)) / 1e9
                self.assertGreater(stood_s, 2.5)
                self.assertAlmostEqual(run["totals"]["longest_freeze_s"], stood_s, delta=0.01)

    def test_clock_moves_after_a_long_stop_without_sound(self):
        shown = self.skews_after(2.5, "--drop=none", clip("video_only"))
        self.assertLess(max(shown), 1000)


class Oracle(KeysCase):
    """Whatever the user presses and whatever is aborted: a picture that is shown is the one of an undisturbed decode."""

    KEY_STEP_S = 0.15
    KEYS = (b"\x1b[D", b"\x1b[C", b"\x1b[A", b"\x1b[B", b" ")

    @staticmethod
    def sums(path: Path) -> set:
        return {tuple(line.split(",")) for line in path.read_text().splitlines() if not line.startswith("#")}

    def long_clip(self) -> Path:
        """Makes a clip that the keys' seeks of 10 and 60 s reach. Its GOPs are open."""
        path = self.dir / "long.mp4"
        argv = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=320x180:r=25:d=150", "-c:v", "libx264",
                "-preset", "veryfast", "-x264-params", "bframes=3:b-pyramid=none:open-gop=1:keyint=60", path]
        if not shutil.which("ffmpeg") or subprocess.run(argv, check=False).returncode:
            self.skipTest("ffmpeg cannot make the clip")
        return path

    def test_pictures_are_exact_over_random_seeks_pauses_and_aborts(self):
        file = self.long_clip()
        self.expect(play(*UNTIMED, "--drop=none", "--queue=0", f"--framemd5={self.dir}/ideal", file), 0)
        ideal = self.sums(self.dir / "ideal")
        # A deadline of 0.5 ms after the decode began aborts many pictures; that of `slack` none.
        aborting = ("--deadline-rule=paper", "--deadline-base=0.0005")
        for seed, (queue, rule) in enumerate((("auto", aborting), ("3", aborting), ("auto", ("--deadline-rule=slack",)))):
            with self.subTest(queue=queue, rule=rule):
                keys = random.Random(seed).choices(self.KEYS, k=25)
                keys += [b" "] * (keys.count(b" ") % 2) + [b"q"]  # not paused at the end
                shown = self.dir / f"shown{seed}"
                self.assertEqual(self.press(keys, f"--queue={queue}", *rule, f"--framemd5={shown}", file), 0, self.output)
                self.assertGreater(len(self.sums(shown)), 5)
                self.assertLessEqual(self.sums(shown), ideal)


class Vlc(Case):
    def test_short_queue_is_refused_in_one_sentence(self):
        for queue in ("0", "199ms", "4"):
            with self.subTest(queue):
                run = play(*NULL, "--drop=vlc", f"--queue={queue}", clip("progressive_cabac"))
                self.expect(run, 1, "--drop=vlc needs a queue of at least 200 ms")

    def test_droppable_pictures_are_refused_when_the_queue_runs_low(self):
        process = start(*NULL, "--drop=vlc", "--queue=250ms", f"--record={self.dir}/record", clip("progressive_cabac"))
        await_reading(process)
        time.sleep(1.5)
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.7)
        process.send_signal(signal.SIGCONT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        run, rows = self.record()
        refused = [row for row in rows if row["verdict"] == "skipped"]
        self.assertGreater(len(refused), 0)
        self.assertEqual({row["droppable"] for row in refused}, {"1"})
        self.assertEqual(run["options"]["drop"], "vlc")


if __name__ == "__main__":
    main()
