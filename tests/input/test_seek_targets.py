# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that playing begins exactly at a time: on a picture, just before it, and just after it, near key pictures.

The first picture must be the first one that is not over at that time, and all pictures from there on must be those that a play
from the beginning shows, bit by bit. A few of all containers and structures are played; DLEX_SEEKS=all plays the others as well,
which takes an hour. Not covered: other seeks by keys, inputs that cannot seek (test_seeking.py).
"""
import json
import os
import re
import shutil
import subprocess
import unittest
from bisect import bisect_left
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise, product, takewhile
from pathlib import Path
from typing import NamedTuple

from playing import UNTIMED, Case, KeysCase, main, play

ALL = os.environ.get("DLEX_SEEKS") == "all"
AT_ONCE = 4  # plays; most of each is spent starting threads
OFFSETS_S = (0, -0.001, 0.001)
ROUNDING_NS = 2000  # of the container's start, and of a difference of two printed time stamps
NEAR = 5  # pictures of a key picture
LEFT = b"\x1b[D"
SEI_NAME = b"x264 - core "


def x264(parameters: str) -> tuple:
    return "-c:v", "libx264", "-x264-params", f"scenecut=0:{parameters}"


STRUCTURES = {
    "open": x264("open-gop=1:bframes=8:b-adapt=0:b-pyramid=normal:keyint=40:min-keyint=40"),
    "closed": x264("bframes=3:b-pyramid=normal:keyint=40:min-keyint=40"),
    "long": x264("bframes=3:keyint=75:min-keyint=75"),
    "refresh": x264("intra-refresh=1:keyint=30:min-keyint=30"),
    "fields": x264("interlaced=1:open-gop=1:bframes=3:keyint=40:min-keyint=40"),
    "hevc": ("-c:v", "libx265", "-x265-params",
             "log-level=error:open-gop=1:bframes=6:b-adapt=0:b-pyramid=1:scenecut=0:keyint=40:min-keyint=40"),
    "mpeg2": ("-c:v", "mpeg2video", "-bf", "2", "-g", "60"),
    "mpeg4": ("-c:v", "mpeg4", "-bf", "2", "-g", "30"),
    "vp9": ("-c:v", "libvpx-vp9", "-g", "40", "-deadline", "realtime", "-cpu-used", "8", "-lag-in-frames", "16"),
}
H264 = ("open", "closed", "long", "refresh", "fields")
MPEG = ("mpeg2", "mpeg4")
CONTAINERS = {
    "mp4": ((), (*H264, "hevc", *MPEG, "vp9")),
    "fragments.mp4": (("-movflags", "frag_keyframe+empty_moov"), (*H264, "hevc", *MPEG)),
    "no-edit-list.mp4": (("-use_editlist", "0"), (*H264, "hevc", *MPEG)),
    "mov": ((), (*H264, "hevc", *MPEG)),
    "mkv": ((), (*H264, "hevc", *MPEG, "vp9")),
    "webm": ((), ("vp9",)),
    "ts": ((), (*H264, "hevc", *MPEG)),
    "vob": (("-f", "vob"), ("mpeg2",)),
    "avi": ((), ("mpeg4",)),
    "flv": ((), H264),
    "index.flv": (("-flvflags", "add_keyframe_index"), H264),
    "nut": ((), (*H264, "hevc", *MPEG, "vp9")),
    "asf": ((), ("mpeg4",)),
}
SAMPLE = (
    ("open", "mp4", 25), ("open", "fragments.mp4", 25), ("open", "no-edit-list.mp4", 25), ("hevc", "mp4", 25),
    ("closed", "ts", "30000/1001"), ("mpeg2", "vob", "30000/1001"), ("mpeg4", "avi", 25), ("refresh", "mkv", 25),
)
if "DLEX_SANITIZED" not in os.environ:  # that FFmpeg does not read them
    SAMPLE = (*SAMPLE, ("open", "flv", 25), ("closed", "nut", "24000/1001"))
RATES = (25, "30000/1001", 24)


class Picture(NamedTuple):
    pts_ns: int
    checksum: str


@dataclass(frozen=True)
class Film:
    path: Path
    options: tuple
    start_ns: int
    pictures: list
    keys: list  # their numbers

    def from_time(self, time_s: float) -> list:
        """Returns the pictures that are not over at this time after the start. All pictures are of ordinary length."""
        from_ns = self.start_ns + round(time_s * 1e9) - ROUNDING_NS
        return self.pictures[bisect_left([picture.pts_ns for picture in self.pictures], from_ns):]

    def targets(self) -> list:
        """Returns times after the start, near key pictures, and near the first and the last picture."""
        places = [place for key in (*self.keys, len(self.pictures) - 1) for place in range(key - NEAR, key + NEAR)]
        inside = sorted({place for place in places if 0 < place < len(self.pictures)})
        if not ALL:
            inside = [place for key in self.keys[1:2] for place in (2, key - 3, key - 1, key, key + 1, self.keys[-1] - 3)]
        every = [(self.pictures[place].pts_ns - self.start_ns) / 1e9 + offset_s for place, offset_s in product(inside, OFFSETS_S)]
        return every if ALL else every[::2]


def ffmpeg(*arguments) -> str:
    if not shutil.which("ffmpeg"):
        raise unittest.SkipTest("the ffmpeg program is not installed")
    run = subprocess.run([*map(str, arguments)], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if run.returncode:
        raise AssertionError(f"{arguments}: {run.stderr}")
    return run.stdout


def make(path: Path, rate, *encoding):
    ffmpeg("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", f"testsrc2=s=128x96:r={rate}:d=5", "-pix_fmt", "yuv420p",
           "-threads", "1", *encoding, path)


def pictures_of(framemd5: str) -> list:
    """Returns what --framemd5 says of each picture that was shown."""
    numerator, denominator = map(int, re.search(r"#tb 0: (\d+)/(\d+)", framemd5).groups())
    lines = [line.split(",") for line in framemd5.splitlines() if line and not line.startswith("#")]
    return [Picture(round(int(fields[2]) * 10**9 * numerator / denominator), fields[-1].strip()) for fields in lines]


def shown(path: Path, *options) -> list:
    run = play(*UNTIMED, "--drop=none", *options, "--framemd5=-", path)
    return pictures_of(run.stdout) if not run.returncode else [(run.returncode, run.stderr)]


def keys_of(path: Path, pictures: list) -> list:
    """Returns which pictures a decoder can begin with, or just before, as the container says."""
    packets = ffmpeg("ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "packet=pts_time,dts_time,flags", "-of",
                     "csv=p=0", path)
    keys = [next(field for field in line.split(",") if field != "N/A") for line in packets.split() if "K" in line.split(",")[2]]
    times = [picture.pts_ns for picture in pictures]
    return sorted({min(bisect_left(times, round(float(key) * 1e9) - ROUNDING_NS), len(times) - 1) for key in keys})


class Targets(Case):
    def film(self, structure: str, container: str, rate, options=()) -> Film:
        path = self.dir / f"{structure}-{str(rate).replace('/', '-')}.{container}"
        make(path, rate, *STRUCTURES[structure], *CONTAINERS[container][0])
        pictures = shown(path, *options, f"--record={path}.run")
        start_s = json.loads((Path(f"{path}.run") / "run.json").read_text())["media"]["start_s"]
        return Film(path, options, round(start_s * 1e9), pictures, keys_of(path, pictures))

    def check(self, film: Film, time_s: float) -> str:
        """Returns what is wrong when playing begins there, or nothing."""
        expected = film.from_time(round(time_s, 6))
        run = shown(film.path, *film.options, f"--start={time_s:.6f}")
        if run == expected or (not expected and run[0][0] == 2):
            return ""
        equal = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(run, expected, strict=False))))
        return f"{film.path.name} from {time_s:.6f} s: {run[equal:equal + 1]} is picture {equal}, not {expected[equal:equal + 1]}"

    def begins_exactly(self, films: list):
        with ThreadPoolExecutor(AT_ONCE) as plays:
            made = list(plays.map(lambda film: self.film(*film), films))
            faults = plays.map(lambda target: self.check(*target), [(film, time_s) for film in made for time_s in film.targets()])
            self.assertEqual([fault for fault in faults if fault], [])

    def test_playing_begins_exactly_near_key_pictures(self):
        self.begins_exactly([(*film, ("--queue=0",) if place % 2 else ()) for place, film in enumerate(SAMPLE)])

    @unittest.skipUnless(ALL, "DLEX_SEEKS=all plays every container")
    def test_playing_begins_exactly_in_every_container(self):
        ways = product(CONTAINERS.items(), RATES, ((), ("--queue=0",), ("--threads=4",)))
        for (container, (_, structures)), rate, options in ways:
            with self.subTest(container, rate=rate, options=options):
                self.begins_exactly([(structure, container, rate, options) for structure in structures])

    def test_a_length_shorter_than_a_picture_shows_the_picture_before_an_open_key_picture(self):
        film = self.film("open", "mp4", 25)
        before = film.pictures[film.keys[1] - 1]
        time_s = (before.pts_ns - film.start_ns) / 1e9
        self.assertEqual(shown(film.path, f"--start={time_s:.6f}", "--length=0.01"), [before])

    def test_the_only_key_picture_of_a_transport_stream_is_found_minutes_before(self):
        path = self.dir / "film.ts"
        ffmpeg("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=64x48:r=1:d=500", "-pix_fmt", "yuv420p", "-threads", "1",
               *x264("keyint=infinite:bframes=2"), path)
        pictures = shown(path)
        self.assertEqual(shown(path, "--start=450"), pictures[450:])

    def test_pictures_before_the_place_to_which_no_other_refers_do_not_go_to_the_decoder(self):
        path = self.dir / "film.mp4"
        make(path, 25, *STRUCTURES["long"])
        self.expect(play(*UNTIMED, "--start=2.8", f"--record={self.dir}/record", path), 0)
        _, rows = self.record()
        before = [row for row in rows if row["verdict"] == "none"]
        self.assertEqual(len(before), 70)
        for row in before:
            self.assertEqual(row["decode_start_ns"] == "", row["droppable"] == "1", row)

    def test_pictures_of_h264_in_mxf_are_shown_in_order_although_each_pts_is_a_dts(self):
        path = self.dir / "film.mxf"
        make(path, 25, *STRUCTURES["closed"])
        self.assertEqual([picture.pts_ns for picture in shown(path)], [place * 40_000_000 for place in range(125)])
        self.assertEqual(shown(path, "--start=2.96"), shown(path)[74:])

    def test_pictures_of_an_old_x264_are_the_same_when_decoding_begins_in_the_middle(self):
        for container, threads in product(("ts", "mkv", "mp4"), (1, 2)):
            with self.subTest(container, threads=threads):
                path = self.dir / f"old.{container}"
                make(path, 25, *x264("keyint=25:min-keyint=25:qp=0:cabac=0:8x8dct=1"), "-pix_fmt", "yuv444p")
                new = shown(path)
                data = path.read_bytes()
                place = data.index(SEI_NAME) + len(SEI_NAME)
                path.write_bytes(data[:place] + b"150" + data[place + 3:])  # the last build that made mistakes in 4:4:4
                old = shown(path)
                self.assertNotEqual(new[105:], old[105:])
                self.assertEqual(shown(path, "--start=4.2", f"--threads={threads}"), old[105:])


class Beginning(KeysCase):
    def test_seek_back_to_the_beginning_shows_the_first_group(self):
        # The first key picture is decoded before the time at which the container says that the film begins.
        for structure, container in (("long", "ts"), ("mpeg2", "vob")):
            with self.subTest(container):
                path = self.dir / f"film.{container}"
                make(path, 25, *STRUCTURES[structure], *CONTAINERS[container][0])
                self.assertEqual(self.press([LEFT, b"q"], "--drop=none", f"--record={self.dir}/{container}", path), 0)
                times = [int(row["pts_ns"]) for row in self.record(container)[1] if row["verdict"] == "shown"]
                back = next((place for place, (a, b) in enumerate(pairwise(times)) if b < a), None)
                self.assertIsNotNone(back, times)
                self.assertEqual(times[back + 1:back + 11], times[:10])


if __name__ == "__main__":
    main()
