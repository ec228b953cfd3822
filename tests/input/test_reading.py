# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests reading: streams of very different length, how files end, and devices that fail in the middle.

Run as: python3 test_reading.py DLEX_PLAY MEDIA_MAKE FAILING_READ. Not covered: a device that answers
slowly (test_kinds.py); how many pictures wait, and how long for sound that ended (test_packet_queue.c, test_read_ahead.c).
"""
import os
import shutil
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from playing import NULL, UNTIMED, Case, clip, main, play

FAILING_READ = sys.argv[3]
# FFmpeg's own queues hold so many packets, if their limit is not raised.
QUEUE_OF_FFMPEG = 131_072


class ReadingCase(Case):
    def make(self, name: str, *arguments: object) -> Path:
        """Makes a file with the ffmpeg program."""
        if not shutil.which("ffmpeg"):
            self.skipTest("the ffmpeg program is not installed")
        path = self.dir / name
        command = ["ffmpeg", "-v", "error", "-y", *map(str, arguments), str(path)]
        made = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if made.returncode:
            self.skipTest(f"ffmpeg cannot make {name}: {made.stderr.strip().splitlines()[-1:]}")
        return path

    def plays_all(self, path: Path, *options: object) -> list[dict[str, str]]:
        """Plays the file to its end without a word, and returns its rows."""
        record = f"record-{len(list(self.dir.glob('record-*')))}"
        run = play(*options, f"--record={self.dir / record}", path)
        self.expect(run, 0)
        self.assertEqual(run.stderr, "")
        facts, rows = self.record(record)
        self.assertEqual(facts["ended"], "end")
        return rows


class Lengths(ReadingCase):
    def test_still_with_much_more_sound_ends(self):
        count = QUEUE_OF_FFMPEG + 90_000  # the sound card takes 48,000 at once, and more while the file is read
        path = self.make("both.mkv", "-f", "lavfi", "-i", "testsrc2=s=64x48:r=1:d=1", "-f", "lavfi", "-i",
                         f"sine=r=48000:d={count / 48000}:samples_per_frame=1", "-c:v", "libx264", "-c:a", "pcm_s16le")
        rows = self.plays_all(path, *NULL)
        self.assertEqual([row["verdict"] for row in rows], ["shown"])


class Ends(ReadingCase):
    def gxf(self) -> Path:
        return self.make("film.gxf", "-f", "lavfi", "-i", "testsrc2=s=720x576:r=25:d=2", "-f", "lavfi", "-i", "sine=r=48000:d=2",
                         "-c:v", "mpeg2video", "-c:a", "pcm_s16le")

    def test_gxf_ends_like_any_other_film(self):
        """Its demuxer reports the end as an error, if that was not seen when the file was opened."""
        path = self.gxf()
        for options in (UNTIMED, NULL):
            self.assertEqual(len(self.plays_all(path, *options)), 50)

    def test_films_that_are_cut_off_end_there(self):
        film = self.make("film.mp4", "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=2", "-c:v", "mpeg4", "-movflags", "+faststart")
        for path in (self.gxf(), film):
            data = path.read_bytes()
            path.write_bytes(data[: len(data) * 3 // 4])
            self.assertGreater(len(self.plays_all(path, *UNTIMED)), 3)

    def test_pictures_are_shown_although_the_sound_of_their_time_is_cut_off(self):
        path = self.make("film.mp4", "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=2", "-f", "lavfi", "-i", "sine=d=2",
                         "-c:v", "mpeg4", "-g", 50, "-c:a", "aac", "-movflags", "frag_keyframe+empty_moov")
        data = path.read_bytes()  # one fragment: first all pictures, then all sound
        path.write_bytes(data[: data.rindex(b"mfra") - 12_000])
        self.assertEqual(len(self.plays_all(path, *UNTIMED)), 50)


@unittest.skipIf("DLEX_SANITIZED" in os.environ, "the sanitizers' libraries must be loaded before any other")
class Failures(ReadingCase):
    def expect_loss(self, path: Path, *arguments: object, at: int, code: int = 3) -> None:
        failing = {"LD_PRELOAD": FAILING_READ, "FAILING_FILE": str(path), "FAILING_AT": str(at)}
        run = play(*arguments, extra=failing)
        self.expect(run, code, f"{path.name}: reading stopped before the end of the file: Input/output error")
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)

    def test_device_that_fails_is_reported_once(self):
        path = Path(clip("mpegts_h264"))
        plays = enumerate((UNTIMED, (*UNTIMED, "--queue=0"), NULL))

        def lose(number: int, options: tuple[str, ...]) -> None:
            record = f"record-{number}"
            self.expect_loss(path, *options, f"--record={self.dir / record}", path, at=path.stat().st_size // 5)
            facts, rows = self.record(record)
            self.assertEqual(facts["ended"], "reading lost")
            self.assertGreater(sum(row["verdict"] == "shown" for row in rows), 5)

        with ThreadPoolExecutor() as pool:
            list(pool.map(lambda play: lose(*play), plays))

    def test_other_films_are_played_all_the_same(self):
        path = Path(clip("mpegts_h264"))
        record = self.dir / "record"
        self.expect_loss(path, *UNTIMED, f"--record={record}", path, clip("cavlc"), at=path.stat().st_size // 2)
        self.assertEqual(self.record("record/2")[0]["ended"], "end")


if __name__ == "__main__":
    main()
