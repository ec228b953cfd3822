# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plays films whose time stamps are damaged or odd, in many containers, and looks when their pictures were due.

The environment variable DLEX_STAMPS=all makes all damages in all containers. Not covered: thousands of damages of the stamps alone
(tests/player/test_time_stamps.c).
"""
import os
import shutil
import subprocess
import unittest
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise, product
from pathlib import Path

from playing import NULL, UNTIMED, Case, main, play

ALL = os.environ.get("DLEX_STAMPS") == "all"
AT_ONCE = 8
FILM_S, RATE = 4, 25
H264 = ("-c:v", "libx264", "-preset", "ultrafast", "-bf", "2", "-b_strategy", "0", "-g", "25", "-c:a", "aac")
MPEG2 = ("-c:v", "mpeg2video", "-bf", "2", "-g", "12", "-c:a", "mp2")
CONTAINERS = {
    "ts": H264, "mkv": H264, "mp4": H264, "fragmented.mp4": (*H264, "-movflags", "frag_keyframe+empty_moov"), "mov": H264,
    "flv": H264, "nut": H264, "avi": (*H264[:-1], "libmp3lame"), "mpg": MPEG2, "vob": MPEG2,
    "webm": ("-c:v", "libvpx", "-deadline", "realtime", "-g", "25", "-c:a", "libopus"),
    "ogg": ("-c:v", "libtheora", "-g", "25", "-c:a", "libvorbis"), "asf": ("-c:v", "mpeg4", "-c:a", "libmp3lame"),
}


def added(seconds: float, condition: str) -> str:
    return f"setts=pts=PTS+if({condition},{seconds}/TB,0):dts=DTS+if({condition},{seconds}/TB,0)".replace(",", "\\,")


# What is made of the stamps of pictures and sound, of which each second has 25 and about 47.
DAMAGES = {
    "one": (added(5.825, "eq(N,50)"), None),
    "far": (added(47721.8, "eq(N,50)"), None),
    "pts": ("setts=pts=PTS+if(eq(N\\,50)\\,5.825/TB\\,0)", None),
    "zero": ("setts=pts=if(eq(N\\,50)\\,0\\,PTS):dts=if(eq(N\\,50)\\,0\\,DTS)", None),
    "jump": (added(15, "gte(N,50)"), added(15, "gte(N,95)")),
    "pictures": (added(15, "gte(N,50)"), None),
    "sound": (None, added(15, "gte(N,95)")),
    "1970": (added(1_750_000_000, "gte(N,0)"), added(1_750_000_000, "gte(N,0)")),
}
SAMPLE = (
    ("ts", "one"), ("mkv", "jump"), ("mp4", "jump"), ("flv", "far"), ("nut", "pts"), ("webm", "sound"), ("mkv", "1970"),
    ("mov", "zero"),
)


def ffmpeg(*arguments):
    if not shutil.which("ffmpeg"):
        raise unittest.SkipTest("the ffmpeg program is not installed")
    return subprocess.run(["ffmpeg", "-v", "error", "-y", *map(str, arguments)], check=False, stdin=subprocess.DEVNULL,
                          capture_output=True)


class TimeStamps(Case):
    def film(self, container: str) -> Path:
        path = self.dir / f"whole.{container}"
        if not path.exists():
            made = ffmpeg("-f", "lavfi", "-i", f"testsrc=s=176x144:r={RATE}:d={FILM_S}", "-f", "lavfi", "-i",
                          f"sine=r=48000:d={FILM_S}", "-pix_fmt", "yuv420p", "-ac", "2", *CONTAINERS[container], path)
            if made.returncode:
                raise unittest.SkipTest(f"ffmpeg cannot make {container}: {made.stderr!r}")
        return path

    def damaged(self, container: str, damage: str) -> Path:
        path = self.dir / f"{damage}.{container}"
        filters = [("-bsf:v", DAMAGES[damage][0]), ("-bsf:a", DAMAGES[damage][1])]
        options = CONTAINERS[container][-2:] if "-movflags" in CONTAINERS[container] else ()
        words = [word for name, expression in filters if expression for word in (name, expression)]
        ffmpeg("-copyts", "-i", self.film(container), "-c", "copy", *words, *options, path)
        return path

    def fault(self, path: Path) -> str:
        """Plays a film and returns what is wrong with the times at which its pictures are due, or nothing."""
        name = f"{path.name}.record"
        run = play(*NULL, "--drop=none", f"--record={self.dir / name}", path)
        if run.returncode:
            return f"{path.name}: {run.returncode} {run.stderr}"
        _, rows = self.record(name)
        due_s = [(int(row["shown_ns"]) - int(row["skew_ns"])) / 1e9 for row in rows if row["verdict"] == "shown"]
        longest_s = max(later - earlier for earlier, later in pairwise(due_s))
        if longest_s > 1 + 1 / RATE or due_s[-1] - due_s[0] > 1.2 * FILM_S + 2:
            return f"{path.name}: {len(due_s)} pictures, one stands for {longest_s:.3f} s, all last {due_s[-1] - due_s[0]:.3f} s"
        return ""

    def test_pictures_go_on_after_damaged_stamps(self):
        films = [self.damaged(*film) for film in (product(CONTAINERS, DAMAGES) if ALL else SAMPLE)]
        films += [self.flipped(bit) for bit in (range(33) if ALL else (19, 32))]
        with ThreadPoolExecutor(AT_ONCE) as plays:
            self.assertEqual([fault for fault in plays.map(self.fault, films) if fault], [])

    def flipped(self, bit: int) -> Path:
        """Flips a bit of the PTS of the fiftieth picture of a transport stream."""
        data = bytearray(self.film("ts").read_bytes())
        starts = [place for place in range(len(data) - 14) if data[place : place + 4] == b"\x00\x00\x01\xe0"]
        field = starts[50] + 9
        byte, place = (0, 1 + bit - 30) if bit >= 30 else (1, bit - 22) if bit >= 22 else (2, 1 + bit - 15) if bit >= 15 \
            else (3, bit - 7) if bit >= 7 else (4, 1 + bit)
        data[field + byte] ^= 1 << place
        path = self.dir / f"bit{bit}.ts"
        path.write_bytes(data)
        return path

    def test_absurd_rate_is_played(self):
        path = self.dir / "fast.y4m"
        path.write_bytes(b"YUV4MPEG2 W64 H48 F1999999999:1 C420\n" + (b"FRAME\n" + bytes(64 * 48 * 3 // 2)) * 60)
        self.expect(play(*NULL, path), 0)

    def test_pictures_of_avi_are_at_the_times_of_their_packets_in_order(self):
        for name, codec in (("h264", H264[:-2]), ("mpeg4", ("-c:v", "mpeg4", "-bf", "2"))):
            with self.subTest(name):
                path, copy = self.dir / f"{name}.mp4", self.dir / f"{name}.avi"
                ffmpeg("-f", "lavfi", "-i", f"testsrc=s=176x144:r={RATE}:d=2", "-pix_fmt", "yuv420p", *codec, path)
                ffmpeg("-i", path, "-c", "copy", "-bsf:v", "h264_mp4toannexb" if name == "h264" else "null", copy)
                for threads in (1, 4):
                    record = f"{name}-{threads}"
                    self.expect(play(*UNTIMED, f"--threads={threads}", f"--record={self.dir / record}", copy), 0)
                    run, rows = self.record(record)
                    times = [int(row["pts_ns"]) / 1e9 - run["media"]["start_s"] for row in rows]
                    self.assertEqual([round(time * RATE) for time in times], list(range(2 * RATE)))

    def test_pictures_of_asf_have_the_same_times_after_a_seek(self):
        path = self.dir / "h264.asf"
        ffmpeg("-f", "lavfi", "-i", f"testsrc=s=176x144:r={RATE}:d=4", "-pix_fmt", "yuv420p", *H264[:-2], path)
        times = []
        for start in ("0", "2"):
            run = play(*UNTIMED, f"--start={start}", "--framemd5=-", path)
            self.expect(run, 0)
            rows = [line.split(",") for line in run.stdout.splitlines() if line[:1].isdigit()]
            times.append({row[5].strip(): int(row[2]) for row in rows})
        self.assertGreater(len(times[1]), RATE)
        self.assertEqual({name: times[0][name] for name in times[1]}, times[1])


if __name__ == "__main__":
    main()
