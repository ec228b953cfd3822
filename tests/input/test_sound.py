# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests sound that changes, pauses or ends in the middle, a sound server that dies, and reads that stall.

Not covered: what is heard, because the ideal device keeps no samples (tests/sinks follows them to a server).
"""
import os
import shutil
import signal
import subprocess
import threading
import time
import unittest
from itertools import pairwise
from pathlib import Path

from playing import NULL, PLAY, Case, KeysCase, clip, environment, main, play, start
from starting import await_catching, await_reading

SUPPORT = Path(__file__).resolve().parent.parent / "support"
PICTURES = ("-f", "lavfi", "-i", "testsrc2=size=64x64:rate=25")
SOUND = ("-f", "lavfi", "-i", "sine=sample_rate=48000")
CODECS = ("-c:v", "mpeg2video", "-g", "12", "-bf", "2", "-c:a", "mp2")


def ffmpeg(*arguments):
    if not shutil.which("ffmpeg"):
        raise unittest.SkipTest("the ffmpeg program is not installed")
    subprocess.run(["ffmpeg", "-v", "error", "-nostdin", *map(str, arguments)], check=True)


def span_s(rows: list, column: str) -> float:
    """Returns the time from the first to the last shown picture, in the given column."""
    times = [int(row[column]) for row in rows if row["verdict"] == "shown"]
    return (times[-1] - times[0]) / 1e9


class Sound(Case):
    def make(self, name: str, *options) -> Path:
        path = self.dir / name
        ffmpeg(*PICTURES, *SOUND, *CODECS, *options, path)
        return path

    def played(self, path) -> list:
        self.expect(play(*NULL, "--drop=none", f"--record={self.dir}/record", path), 0)
        return self.record()[1]

    def expect_no_leap(self, rows: list):
        """Checks that the clock did not leap: then some pictures would be early. A busy machine only makes them late."""
        self.assertGreater(span_s(rows, "shown_ns"), span_s(rows, "pts_ns") - 0.3)

    def test_channels_and_rate_change_in_the_middle(self):
        first = self.make("first.ts", "-t", 1.5, "-ac", 2)
        second = self.make("second.ts", "-t", 1.5, "-ac", 1, "-ar", 24000, "-output_ts_offset", 1.5)
        third = self.make("third.ts", "-t", 1, "-ac", 2, "-ar", 44100, "-output_ts_offset", 3)
        whole = self.dir / "whole.ts"
        whole.write_bytes(first.read_bytes() + second.read_bytes() + third.read_bytes())
        rows = self.played(whole)
        self.assertGreater(span_s(rows, "pts_ns"), 3.8)
        self.expect_no_leap(rows)

    def test_clock_runs_on_through_a_gap_in_the_sound(self):
        path = self.make("hole.ts", "-t", 4, "-bsf:a", "noise=amount=0:drop='between(pts*tb,2.2,4.2)'")
        rows = self.played(path)
        self.assertGreater(span_s(rows, "pts_ns"), 3.8)
        self.expect_no_leap(rows)

    def test_player_waits_for_sound_that_begins_late(self):
        path = self.dir / "late.mkv"
        ffmpeg(*PICTURES, "-itsoffset", 12, *SOUND, "-t", 14, *CODECS, path)
        process = start(*NULL, f"--record={self.dir}/record", path)
        await_reading(process)
        time.sleep(2)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        rows = self.record()[1]
        self.assertLess(span_s(rows, "pts_ns"), 8)
        self.expect_no_leap(rows)

    def test_pictures_continue_after_sound_that_ends_early(self):
        """After the end of the sound, more pictures follow than the queue holds (512 MB). They come through a pipe."""
        available = [line for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemAvailable")]
        if int(available[0].split()[1]) < 1500000:
            self.skipTest("less than 1.5 GB of memory is free")
        pipe = self.dir / "pipe"
        os.mkfifo(pipe)
        writer = threading.Thread(target=ffmpeg, args=(
            "-f", "lavfi", "-i", "color=size=1920x1080:rate=100:duration=2.6", "-f", "lavfi", "-i", "sine=duration=0.3",
            "-c:v", "rawvideo", "-pix_fmt", "yuv420p", "-c:a", "pcm_s16le", "-f", "matroska", "-y", pipe))
        writer.start()
        rows = self.played(pipe)
        writer.join()
        self.assertGreater(len(rows) * 1920 * 1080 * 3 / 2, 600 << 20)
        self.assertEqual({row["verdict"] for row in rows}, {"shown"})
        self.expect_no_leap(rows)

    def test_dead_sound_server_ends_a_file_with_sound_only(self):
        # The sound card is open when the player has the thread that reads the file.
        code = ('"$@" & while kill -0 $! && ! grep -qsx feeder /proc/$!/task/*/comm; do sleep 0.1; done; sleep 2; '
                'kill -9 $DLEX_TEST_PULSE_PID; wait $!')
        run = subprocess.run([SUPPORT / "with-pulse", "bash", "-c", code, "-", PLAY, "--quiet", "--ao=pulse",
                              f"--record={self.dir}/record", self.sound_alone()], env=environment(),
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
        if run.returncode == 77:
            self.skipTest(run.stdout.strip())
        self.expect(run, 1, "the sound was lost", "playing ends here")
        self.assertEqual(self.record()[0]["ended"], "sound lost")

    def sound_alone(self) -> Path:
        path = self.dir / "sound.ts"
        ffmpeg(*SOUND, "-t", 20, "-c:a", "mp2", path)
        return path


class Reading(Case):
    """Tests on reading from a pipe whose writer stalls."""

    def start_on_pipe(self, *arguments) -> tuple:
        pipe = self.dir / "pipe"
        os.mkfifo(pipe)
        return start(*NULL, *arguments, pipe), pipe

    def open_writer(self, pipe) -> int:
        writer = os.open(pipe, os.O_WRONLY)
        self.addCleanup(os.close, writer)
        return writer

    def end_by_signal(self, process) -> str:
        process.send_signal(signal.SIGTERM)
        try:
            _, err = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            self.fail("dlex-play hangs in a read")
        self.assertEqual(process.returncode, 4, err)
        return err

    def test_a_signal_ends_waiting_for_a_writer_and_leaves_no_record(self):
        process, _ = self.start_on_pipe(f"--record={self.dir}/record")
        await_catching(process)
        time.sleep(0.7)
        self.assertIn("reading was interrupted", self.end_by_signal(process))
        self.assertEqual(list((self.dir / "record").iterdir()), [])

    def test_a_signal_ends_waiting_for_the_streams(self):
        process, pipe = self.start_on_pipe()
        os.write(self.open_writer(pipe), Path(clip("mpegts_h264")).read_bytes()[:4000])
        time.sleep(0.7)
        self.assertIn("reading was interrupted", self.end_by_signal(process))

    def test_a_signal_ends_playing_that_waits_for_the_writer(self):
        film = self.dir / "film.ts"
        ffmpeg(*PICTURES, *SOUND, "-t", 12, *CODECS, film)
        process, pipe = self.start_on_pipe(f"--record={self.dir}/record")
        data = film.read_bytes()
        writer = self.open_writer(pipe)
        os.write(writer, data[:len(data) * 3 // 4])
        time.sleep(1.5)
        self.assertEqual(self.end_by_signal(process), "")
        run, rows = self.record()
        self.assertEqual(run["ended"], "signal")
        self.assertGreater(sum(row["verdict"] == "shown" for row in rows), 0)

    def test_names_that_look_like_urls_are_files(self):
        path = clip("audio_only")
        for name in ("Alien:Film.ts", "concat:a|b", "data:,x", "http:x"):
            with self.subTest(name):
                shutil.copy(path, self.dir / name)
                run = subprocess.run([os.path.abspath(PLAY), *NULL, "--length=0.1", name], cwd=self.dir, text=True,
                                     env=environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
                                     check=False)
                self.expect(run, 0)


class Keys(KeysCase):
    def test_seek_works_in_the_silence_before_late_sound(self):
        path = self.dir / "late.mkv"
        ffmpeg(*PICTURES, "-itsoffset", 13, *SOUND, "-t", 14, *CODECS, path)
        # Pictures that were dropped would be a step too.
        self.assertEqual(self.press([b"\x1b[C", b"q"], "--drop=none", f"--record={self.dir}/record", path), 0)
        times = [int(row["pts_ns"]) / 1e9 for row in self.record()[1] if row["verdict"] == "shown"]
        steps = [b - a for a, b in pairwise(times)]
        self.assertGreater(max(steps), 8)
        self.assertEqual(len([step for step in steps if step > 0.3]), 1)

    def test_q_ends_playing_that_waits_for_a_writer(self):
        film = self.dir / "film.ts"
        ffmpeg(*PICTURES, *SOUND, "-t", 8, *CODECS, film)
        pipe = self.dir / "pipe"
        os.mkfifo(pipe)
        data = film.read_bytes()
        writer = os.open(pipe, os.O_RDWR)  # with O_RDWR it does not wait for a reader; we never read, so the player gets all
        self.addCleanup(os.close, writer)
        threading.Thread(target=os.write, args=(writer, data[:len(data) * 3 // 4]), daemon=True).start()
        self.assertEqual(self.press([b"n", b"q"], f"--record={self.dir}/record", pipe), 0)
        self.assertEqual(self.record()[0]["ended"], "quit")


if __name__ == "__main__":
    main()
