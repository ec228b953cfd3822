# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests media/make as a command, with the cheapest clips, and decodes the stamps of a stamped clip with the ffmpeg program.

Not covered: the other recipes. media/make itself checks each clip that it makes, and other tests make the other clips.

Run as: python3 test_media.py MEDIA_MAKE
"""

import array
import hashlib
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

MAKE = Path(sys.argv[1])
CHEAP = "mpeg4_small"
EXIT_SKIPPED = 77

sys.dont_write_bytecode = True
sys.path.insert(0, str(MAKE.resolve().parent))
from clip_facts import deviations, expected_of, facts_of
from h264_facts import h264_facts


def sha256(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def files_in(folder):
    """Returns the names of the entries, without the mark by which `clean --cache` recognises the folder."""
    return sorted(entry.name for entry in folder.iterdir() if entry.name != ".made-by-dlex")


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = Path(tempfile.mkdtemp(prefix="dlex-media-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def environment(self, cache="cache", **changes):
        kept = {key: value for key, value in os.environ.items() if key != "DLEX_MEDIA"}
        return kept | {"DLEX_CACHE": str(self.dir / cache)} | changes

    def start(self, *arguments, cache="cache", **changes):
        return subprocess.Popen(
            [MAKE, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment(cache, **changes),
        )

    def make(self, *arguments, **changes):
        process = self.start(*arguments, **changes)
        out, err = process.communicate()
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def clip(self, name=CHEAP, **changes):
        made = self.make(name, **changes)
        if made.returncode == 3:
            self.skipTest(made.stderr.strip())
        self.assertEqual(made.returncode, 0, made.stderr)
        return Path(made.stdout.strip())

    def expect_refusal(self, made, code, *words):
        self.assertEqual((made.returncode, made.stdout), (code, ""), made.stderr)
        self.assertEqual(len(made.stderr.splitlines()), 1, made.stderr)
        for word in words:
            self.assertIn(word, made.stderr)


class Making(Case):
    def test_clip_is_the_same_wherever_it_is_made(self):
        self.assertEqual(sha256(self.clip()), sha256(self.clip(cache="elsewhere")))

    def test_check_makes_nothing_and_reports_the_missing_trailer(self):
        self.expect_refusal(self.make("--check", "trailer_1080p_stamped"), 3, "the trailer is not here")
        self.expect_refusal(self.make("--check", "trailer_1080p"), 3, "the trailer is not here")
        checked = self.make("--check", CHEAP)
        self.assertEqual((checked.returncode, checked.stdout, checked.stderr), (0, "", ""))
        self.assertFalse((self.dir / "cache").exists())

    def test_existing_clip_is_not_made_again(self):
        path = self.clip()
        before = path.stat()
        again = self.make(CHEAP)
        self.assertEqual((again.stdout.strip(), again.stderr), (str(path), ""))
        self.assertEqual(path.stat().st_mtime_ns, before.st_mtime_ns)

    def test_damaged_clip_is_made_again(self):
        path = self.clip()
        good = sha256(path)
        path.write_bytes(path.read_bytes()[:1000])
        self.assertEqual(sha256(self.clip()), good)

    def test_only_clip_checksum_and_lock_are_left(self):
        path = self.clip()
        self.assertEqual(
            files_in(path.parent),
            sorted([path.name, path.with_suffix(".sha256").name, f"{CHEAP}.lock"]),
        )

    def test_interruption_leaves_no_half_made_clip(self):
        self.clip()
        process = self.start("progressive_cabac", cache="fresh")
        self.assertIn("making", process.stderr.readline())
        process.terminate()
        process.communicate()
        self.assertEqual(process.returncode, 130)
        left = files_in(self.dir / "fresh" / "clips")
        self.assertEqual(left, ["progressive_cabac.lock"])

    def test_two_processes_at_once_make_one_clip(self):
        self.clip()  # skips the test if the ffmpeg program is missing
        both = [self.start(CHEAP, cache="fresh") for _ in range(2)]
        answers = [process.communicate() for process in both]
        self.assertEqual([process.returncode for process in both], [0, 0], answers)
        self.assertEqual(answers[0][0], answers[1][0])
        self.assertEqual(sum("made and checked" in err for _, err in answers), 1, answers)


class Refusing(Case):
    def test_unknown_clip_and_bad_options_are_refused(self):
        self.expect_refusal(self.make("no_such_clip"), 1, "no_such_clip", "--list")
        self.expect_refusal(self.make("--nonsense"), 1, "--nonsense")
        self.expect_refusal(self.make(), 1, "no clip is given")

    def test_missing_film_is_reported_with_its_page_and_checksum(self):
        self.clip()
        self.expect_refusal(
            self.make("trailer_1080p"), 3, "peach.blender.org", "e6bda0563cc2c44b", "DLEX_MEDIA"
        )

    def test_different_film_with_the_same_name_is_refused(self):
        self.clip()
        (self.dir / "bbb_trailer_720p.mp4").write_text("not the film")
        self.expect_refusal(
            self.make("trailer_1080p", DLEX_MEDIA=str(self.dir)), 2, "is not the expected trailer"
        )

    def test_unwritable_cache_is_refused(self):
        self.clip()
        (self.dir / "file").write_text("")
        self.expect_refusal(self.make(CHEAP, cache="file"), 2, "DLEX_CACHE")

    def test_encoder_that_ffmpeg_lacks_is_reported(self):
        self.clip()
        program = self.dir / "ffmpeg"
        program.write_text(f'#!/bin/bash\nexec {shutil.which("ffmpeg")} "${{@/#mpeg4/nosuchencoder}}"\n')
        program.chmod(0o755)
        made = self.make(CHEAP, cache="fresh", PATH=f"{self.dir}:{os.environ['PATH']}")
        self.assertEqual((made.returncode, made.stdout), (3, ""), made.stderr)
        sentence = r"media/make: ffmpeg version \S+ has no encoder nosuchencoder; use an ffmpeg that has it, such as Debian's"
        self.assertRegex(made.stderr.splitlines()[-1], f"^{sentence}$")

    def test_missing_ffmpeg_program_is_reported(self):
        self.expect_refusal(
            self.make(CHEAP, PATH=str(self.dir)), 3, "install Debian's package ffmpeg"
        )


class Listing(Case):
    def test_every_clip_is_listed_with_a_sentence(self):
        lines = self.make("--list").stdout.splitlines()
        names = {line.split()[0] for line in lines}
        self.assertLessEqual(
            {"hard_1080p", "trailer_1080p", "progressive_cabac", "mbaff", "truncated"}, names
        )
        self.assertTrue(all(len(line.split()) > 3 for line in lines), lines)


class Stamped(unittest.TestCase):
    """Tests on a stamped clip in the user's own cache, because it takes a while to make."""

    FRAMES, SECONDS, RATE_HZ = 200, 8, 48000

    @classmethod
    def setUpClass(cls):
        made = subprocess.run([MAKE, "stamped_small"], capture_output=True, text=True)
        if made.returncode == 3:
            raise unittest.SkipTest(made.stderr.strip())
        assert made.returncode == 0, made.stderr
        cls.clip = made.stdout.strip()

    def decoded(self, *options):
        command = ["ffmpeg", "-v", "error", "-i", self.clip, *options, "-"]
        return subprocess.run(command, capture_output=True, check=True).stdout

    def numbers(self, y):
        """Yields the number of each picture, read from its line of pixels `y`."""
        width = 32 * 16
        lines = self.decoded("-map", "0:v", "-vf", f"format=gray,crop={width}:1:0:{y}", "-f", "rawvideo")
        for start in range(0, len(lines), width):
            blocks = [lines[start + 32 * block + 16] > 128 for block in range(16)]
            self.assertEqual((blocks[:2], blocks[-2:]), ([True, False], [False, True]))
            number = int("".join(str(int(bit)) for bit in blocks[2:-2]), 2)
            for shift in (8, 4, 2, 1):
                number ^= number >> shift
            yield number

    def test_pictures_are_numbered_on_top_and_at_the_bottom(self):
        for y in (1, 16, 30, 360 - 31, 360 - 16, 360 - 2):
            self.assertEqual(list(self.numbers(y)), list(range(self.FRAMES)), f"line {y}")

    def test_tones_begin_at_their_time(self):
        # With async, a wrong time stamp becomes silence or a gap, so the tones would be at the wrong place.
        options = ["-map", "0:a", "-af", "aresample=async=1:first_pts=0", "-ac", "1", "-f", "s16le"]
        samples = array.array("h", self.decoded(*options))
        for quarter in range(4 * self.SECONDS):
            begin = self.RATE_HZ * quarter // 4
            part = samples[begin : begin + self.RATE_HZ // 4]
            loud = [place for place, sample in enumerate(part) if abs(sample) > 6000]
            self.assertAlmostEqual(loud[0] / self.RATE_HZ, 0.1, delta=0.001)
            self.assertAlmostEqual(loud[-1] / self.RATE_HZ, 0.14, delta=0.001)
            tone = part[loud[0] : loud[-1]]
            crossings = sum(before < 0 <= after for before, after in itertools.pairwise(tone))
            self.assertAlmostEqual(crossings, 0.04 * (1000 + 50 * quarter), delta=1)


class Starts(Case):
    def test_stamped_clip_begins_at_0_like_the_one_without_stamps(self):
        # Matroska has no times before 0: where AAC's priming is, the pictures begin 21 ms later. MP4 has edit lists.
        sources = "-f lavfi -i testsrc=size=64x64:rate=25 -f lavfi -i sine -t 0.4 -c:v mpeg2video -c:a aac".split()
        for suffix, wrong in (("mkv", 1), ("mp4", 0)):
            path = self.dir / f"clip.{suffix}"
            subprocess.run(["ffmpeg", "-nostdin", "-v", "error", *sources, path], check=True)
            expect = expected_of({"output": "-vf {stamps}", "expect": {"video": "mpeg2video"}})
            self.assertEqual(len(list(deviations(expect, facts_of(path, expect)))), wrong, suffix)
            self.assertEqual(expected_of({"output": "-c copy", "expect": {}}), {})


class Counting(unittest.TestCase):
    def test_slices_of_a_stream_are_counted(self):
        # The stream has one parameter set (CABAC), a reference I picture of two slices, and a droppable B picture.
        parameters = bytes([0x68, 0b11100000])
        first, second = bytes([0x65, 0b10001000]), bytes([0x65, 0b01000010])
        droppable = bytes([0x01, 0b10101000])
        stream = b"".join(
            b"\x00\x00\x01" + unit + bytes(4) for unit in (parameters, first, second, droppable)
        )
        self.assertEqual(
            h264_facts(stream),
            {"droppable": 1, "slices": 2, "cabac": True, "pictures": {"I": 1, "P": 0, "B": 1}},
        )


def main():
    """Runs the tests like unittest.main. A run that could not make a clip is reported to Meson as skipped."""
    result = unittest.main(argv=sys.argv[:1], verbosity=2, exit=False).result
    if not result.wasSuccessful():
        return 1
    if not result.skipped:
        return 0
    print(result.skipped[0][1])
    return EXIT_SKIPPED


if __name__ == "__main__":
    sys.exit(main())
