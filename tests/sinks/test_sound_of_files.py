# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what is heard of files whose sound has many channels, changes in the middle, or is one of several tracks.

Not covered: how the sound server mixes and plays it; time (test_observer.py).

Run as: python3 test_sound_of_files.py SOUND_OF_FILE
"""
import math
import shutil
import subprocess
import sys
import tempfile
import unittest
import wave
from array import array
from pathlib import Path

TOOL = sys.argv[1]
SKIPPED = 77
VIDEO = ("-f", "lavfi", "-i", "color=size=64x64:rate=25:duration=0.5")


def ffmpeg(*arguments):
    subprocess.run(["ffmpeg", "-v", "error", "-nostdin", *map(str, arguments)], check=True)


def tones(*channels: str, layout: str, seconds=0.5, rate=48000) -> tuple[str, ...]:
    """Returns an input of ffmpeg with an expression for each channel."""
    return ("-f", "lavfi", "-i", f"aevalsrc={'|'.join(channels)}:c={layout}:s={rate}:d={seconds}")


def sine(hz: int, level: float) -> str:
    return f"{level}*sin({hz}*2*PI*t)"


class Sound:
    def __init__(self, path: Path):
        run = subprocess.run([TOOL, path], capture_output=True, check=False)
        if run.returncode:
            raise AssertionError(run.stderr.decode())
        self.rate, channels = map(int, run.stderr.decode().splitlines()[0].split())
        samples = array("f", run.stdout)
        self.channels = [samples[i::channels] for i in range(channels)]

    def seconds(self) -> float:
        return len(self.channels[0]) / self.rate

    def peak(self) -> float:
        return max(abs(x) for channel in self.channels for x in channel)

    def levels(self, hz: float, at_s: float, length_s=0.2) -> list[float]:
        """Returns the level of a sine of this frequency in each channel."""
        first, count = round(at_s * self.rate), round(length_s * self.rate)
        turn = 2 * math.pi * hz / self.rate
        found = []
        for channel in self.channels:
            part = channel[first:first + count]
            re = sum(x * math.cos(turn * i) for i, x in enumerate(part))
            im = sum(x * math.sin(turn * i) for i, x in enumerate(part))
            found.append(2 * math.hypot(re, im) / count)
        return found


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = Path(tempfile.mkdtemp(prefix="dlex-test-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def sound_of(self, name: str, *arguments) -> Sound:
        ffmpeg(*arguments, self.dir / name)
        return Sound(self.dir / name)

    def joined(self, first: tuple, second: tuple) -> Sound:
        """Returns the sound of two transport streams of a second, one after the other."""
        for name, arguments, start in (("1.ts", first, 0), ("2.ts", second, 1)):
            ffmpeg("-y", *arguments, "-output_ts_offset", start, self.dir / name)
        (self.dir / "both.ts").write_bytes((self.dir / "1.ts").read_bytes() + (self.dir / "2.ts").read_bytes())
        sound = Sound(self.dir / "both.ts")
        self.assertGreater(sound.seconds(), 1.8)
        return sound

    def assert_levels(self, found: list[float], left: float, right: float):
        for side, expected in zip(found, (left, right), strict=True):
            self.assertAlmostEqual(side, expected, delta=0.02)


class Mixing(Case):
    def test_loud_surround_is_not_clipped(self):
        whole = 1 + 2 * math.sqrt(0.5)
        for layout, channels, expected in (("5.1", 6, 0.9), ("7.1", 8, 0.9), ("5.0", 5, 0.9), ("quad", 4, 0.9)):
            with self.subTest(layout):
                sound = self.sound_of(f"{layout}.wav", *tones(*[sine(440, 0.9)] * channels, layout=layout),
                                      "-c:a", "pcm_f32le")
                self.assertLessEqual(sound.peak(), 0.901)
                self.assert_levels(sound.levels(440, 0.1), expected, expected)
        loud = self.sound_of("loud.mkv", *tones(*[sine(440, 0.8)] * 3, "0", *[sine(440, 0.5)] * 2, layout="5.1(side)"),
                             "-c:a", "ac3", "-b:a", "448k")
        level = (0.8 + math.sqrt(0.5) * (0.8 + 0.5)) / whole
        self.assert_levels(loud.levels(440, 0.2), level, level)

    def test_mono_and_stereo_keep_their_level(self):
        self.assert_levels(self.sound_of("1.wav", *tones(sine(440, 0.5), layout="mono")).levels(440, 0.1), 0.5, 0.5)
        stereo = self.sound_of("2.wav", *tones(sine(440, 0.5), sine(1000, 0.25), layout="stereo"))
        self.assert_levels(stereo.levels(440, 0.1), 0.5, 0)
        self.assert_levels(stereo.levels(1000, 0.1), 0, 0.25)

    def test_channels_without_names_and_ambisonic_ones_are_heard(self):
        with wave.open(str(self.dir / "18.wav"), "wb") as file:
            file.setparams((18, 2, 48000, 24000, "NONE", "not compressed"))
            pairs = ((math.sin(440 * turn), math.sin(1000 * turn)) for turn in (2 * math.pi * i / 48000 for i in range(24000)))
            file.writeframes(array("h", (round(16384 * x) for pair in pairs for x in pair * 9)).tobytes())
        unnamed = Sound(self.dir / "18.wav")
        self.assert_levels(unnamed.levels(440, 0.1), 0.5, 0)
        self.assert_levels(unnamed.levels(1000, 0.1), 0, 0.5)
        left = self.sound_of("left.mkv", *tones(sine(440, 0.5), sine(440, 0.5), "0", "0", layout="ambisonic 1"),
                             "-c:a", "libopus", "-mapping_family", 2, "-b:a", "256k")
        self.assert_levels(left.levels(440, 0.2), 0.5, 0)


class Changing(Case):
    def test_mono_that_becomes_stereo_is_stereo_from_then_on(self):
        sound = self.joined((*tones(sine(700, 0.5), layout="mono", seconds=1), "-c:a", "ac3"),
                            (*tones(sine(440, 0.5), sine(1000, 0.5), layout="stereo", seconds=1), "-c:a", "ac3"))
        self.assert_levels(sound.levels(700, 0.4), 0.5, 0.5)
        self.assert_levels(sound.levels(440, 1.5), 0.5, 0)
        self.assert_levels(sound.levels(1000, 1.5), 0, 0.5)

    def test_high_frequencies_are_heard_when_the_rate_rises(self):
        mp2 = ("-c:a", "mp2", "-b:a", "128k")
        sound = self.joined((*tones(sine(700, 0.5), layout="mono", seconds=1, rate=24000), *mp2),
                            (*tones(sine(13000, 0.5), layout="mono", seconds=1), *mp2))
        self.assert_levels(sound.levels(700, 0.4), 0.5, 0.5)
        self.assertGreater(min(sound.levels(13000, 1.5)), 0.2)  # the encoder takes some of it

    def test_aac_has_no_holes_when_its_rate_changes(self):
        low, high = ((*tones(sine(hz, 0.5), layout="mono", seconds=1, rate=rate), "-c:a", "aac")
                     for hz, rate in ((700, 24000), (440, 48000)))
        rising = self.joined(low, high)
        self.assert_levels(rising.levels(440, 1.5), 0.5, 0.5)
        self.assertLess(rising.seconds(), 2.2)
        self.assert_levels(self.joined(high, low).levels(700, 1.5), 0.5, 0.5)

    def test_stereo_that_becomes_surround_is_mixed_down(self):
        latm = ("-c:a", "aac", "-b:a", "256k", "-mpegts_flags", "latm")
        sound = self.joined((*tones(sine(440, 0.5), sine(1000, 0.5), layout="stereo", seconds=1), *latm),
                            (*tones(*[sine(440, 0.9)] * 6, layout="5.1", seconds=1), *latm))
        self.assert_levels(sound.levels(440, 0.4), 0.5, 0)
        self.assert_levels(sound.levels(440, 1.5), 0.9, 0.9)


class Tracks(Case):
    QUIET, LOUD = tones(sine(440, 0.5), layout="mono"), tones(sine(1000, 0.5), layout="mono")

    def assert_heard(self, sound: Sound, hz: int):
        other = {440: 1000, 1000: 440}[hz]
        self.assert_levels(sound.levels(hz, 0.2), 0.5, 0.5)
        self.assert_levels(sound.levels(other, 0.2), 0, 0)

    def test_first_of_two_default_tracks_is_heard(self):
        tracks = ("-map", "0", "-map", "1", "-map", "2", "-c:v", "mpeg4", "-c:a", "aac", "-b:a:0", "64k", "-b:a:1", "192k")
        both = self.sound_of("both.mp4", *VIDEO, *self.QUIET, *self.LOUD, *tracks, "-disposition:a", "default")
        self.assert_heard(both, 440)
        second = self.sound_of("second.mkv", *VIDEO, *self.QUIET, *self.LOUD, *tracks, "-disposition:a:0", 0,
                               "-disposition:a:1", "default")
        self.assert_heard(second, 1000)

    def test_sound_is_that_of_the_programs_video(self):
        programs = ("-map", "0:v", "-map", "2:a", "-map", "1:a", "-c:v", "mpeg2video", "-c:a", "mp2", "-b:a:0", "192k",
                    "-b:a:1", "64k", "-program", "program_num=1:st=0:st=2", "-program", "program_num=2:st=1")
        self.assert_heard(self.sound_of("programs.ts", *VIDEO, *self.QUIET, *self.LOUD, *programs), 440)


if __name__ == "__main__":
    if not shutil.which("ffmpeg"):
        print("skipped: the ffmpeg program is not installed")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1], verbosity=2)
