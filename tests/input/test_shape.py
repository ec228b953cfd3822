# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the shape of pictures on a real screen: orientation, aspect, hidden edges, and films of several sizes in one window.

tests/support/with-xvfb runs this file. The ffmpeg program, which turns pictures by itself, gives the pixels that are right.
Not covered: drawing by a graphics card, and resizing (tests/sinks/window_shape_test.c).
"""
import mmap
import os
import shutil
import signal
import struct
import subprocess
import tempfile
import time
from pathlib import Path

from playing import PLAY, Case, environment, main

SCREEN = (800, 600)
TIME_LIMIT_S = 30
MEAN_DIFFERENCE = 5  # different converters of chroma, and different scalers

# The upper left part of each display matrix. All others of its numbers are as in most files.
ONE, LAST = 1 << 16, 1 << 30
TURNS = {
    "0": (ONE, 0, 0, ONE), "90": (0, ONE, -ONE, 0), "180": (-ONE, 0, 0, -ONE), "270": (0, -ONE, ONE, 0),
    "mirrored": (-ONE, 0, 0, ONE), "upside down": (ONE, 0, 0, -ONE), "transposed": (0, ONE, ONE, 0),
    "transposed the other way": (0, -ONE, -ONE, 0),
}
# Not one of the eight: these are shown in the nearest way.
ODD_TURNS = {
    "30 degrees": (56756, 32768, -32768, 56756), "huge": (0x7FFFFFFF, -0x80000000, 0x7FFFFFFE, 0x7FFFFFFF), "zero": (0, 0, 0, 0),
}
EXACT = ("-c:v", "libx264", "-qp", "8", "-bf", "0", "-pix_fmt", "yuv444p")
USUAL = ("-c:v", "libx264", "-qp", "8", "-bf", "0", "-pix_fmt", "yuv420p")
TO_RGB = "scale=flags=accurate_rnd+bilinear+full_chroma_int,format=bgr0"
# Makes the Matroska muxer write an element of 19 bytes, which a test can replace.
COLOURS = ("-color_primaries", "bt709", "-color_trc", "bt709", "-colorspace", "bt709", "-color_range", "tv")


class Screen:
    """The pixels of the X server, from the file in which it keeps them (XWD)."""

    def __init__(self):
        with open(os.environ["DLEX_TEST_SCREEN"], "rb") as file:
            self.map = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        header = struct.unpack(">25I", self.map[:100])
        self.pitch, self.begin = header[12], header[0] + 12 * header[19]

    def part(self, left: int, top: int, width: int, height: int) -> bytes:
        """Returns pixels as blue, green, red, nothing."""
        lines = (self.begin + (top + y) * self.pitch + 4 * left for y in range(height))
        return b"".join(self.map[line : line + 4 * width] for line in lines)


def difference(a: bytes, b: bytes) -> float:
    """Returns the mean difference of two pictures with four bytes per pixel, of which the last has no meaning."""
    both = [abs(x - y) for channel in range(3) for x, y in zip(a[channel::4], b[channel::4], strict=True)]
    return sum(both) / len(both)


class Shape(Case):
    @classmethod
    def setUpClass(cls):
        cls.screen = Screen()
        cls.folder = tempfile.TemporaryDirectory(prefix="dlex-test-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.films = {}
        cls.display = {**environment(), "DISPLAY": os.environ["DISPLAY"], "SDL_RENDER_DRIVER": "software"}

    def ffmpeg(self, *arguments) -> bytes:
        if not shutil.which("ffmpeg"):
            self.skipTest("the ffmpeg program is not installed")
        command = ["ffmpeg", "-v", "error", "-y", *map(str, arguments)]
        made = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if made.returncode:
            self.skipTest(f"ffmpeg fails: {made.stderr.decode().strip().splitlines()[-1:]}")
        return made.stdout

    def still(self, name: str, *encoder, size="160x90", seconds=20) -> Path:
        """Makes a film that shows the same picture all the time, one per second. Tests with the same arguments share it."""
        key = (name, encoder, size, seconds)
        if key not in self.films:
            path = Path(self.folder.name) / f"{len(self.films)}-{name}"
            self.ffmpeg("-f", "lavfi", "-i", f"testsrc2=s={size}:r=1", "-vf", f"loop={seconds}:1", "-frames:v", seconds,
                        *(encoder or USUAL), path)
            self.films[key] = path
        return self.films[key]

    def copied(self, film: Path, name: str, *options) -> Path:
        path = self.dir / name
        self.ffmpeg("-i", film, "-c", "copy", *options, path)
        return path

    def right(self, path: Path, *filters: str) -> bytes:
        """Returns the first picture, as the ffmpeg program turns it."""
        chain = ",".join((*filters, "scale=flags=accurate_rnd+bilinear"))
        return self.ffmpeg("-i", path, "-frames:v", "1", "-vf", chain, "-f", "rawvideo", "-pix_fmt", "bgr0", "-")

    def scaled(self, path: Path, width: int, height: int, *filters: str) -> bytes:
        return self.right(path, *filters, f"scale={width}:{height}:flags=bilinear")

    def play(self, *paths):
        player = subprocess.Popen([PLAY, "--ao=null", "--vo=sdl", "--quiet", *map(str, paths)], stdin=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True, env=self.display)
        self.addCleanup(player.kill)
        return player

    def stop(self, player):
        player.send_signal(signal.SIGTERM)
        _, err = player.communicate(timeout=60)
        self.assertEqual((player.returncode, err), (4, ""))

    def shows(self, path: Path, size: tuple, pixels: bytes, limit=MEAN_DIFFERENCE):
        player = self.play(path)
        self.await_picture(player, size, pixels, limit)
        self.stop(player)

    def await_picture(self, player, size: tuple, pixels: bytes, limit=MEAN_DIFFERENCE):
        """Waits until the screen has this picture in its middle, with this size, and black round it."""
        width, height = size
        left, top = (SCREEN[0] - width) // 2, (SCREEN[1] - height) // 2
        right, bottom = left + width, top + height
        frame = ((left - 1, top, 1, height), (right, top, 1, height), (left, top - 1, width, 1), (left, bottom, width, 1))
        end = time.monotonic() + TIME_LIMIT_S
        least = 255
        while least > limit:
            if player.poll() is not None or time.monotonic() > end:
                player.kill()
                self.fail(f"the screen never shows the picture with {size}; the least difference is {least:.1f}")
            time.sleep(0.01)
            if not any(any(self.screen.part(*edge)) for edge in frame):
                least = min(least, difference(self.screen.part(left, top, width, height), pixels))

    def turned(self, film: Path, matrix: tuple) -> Path:
        """Copies an MP4 file with another display matrix."""
        file = bytearray(film.read_bytes())
        a, b, c, d = matrix
        place = file.index(b"tkhd") + 44
        file[place : place + 36] = struct.pack(">9i", a, b, 0, c, d, 0, 0, 0, LAST)
        copy = self.dir / "turned.mp4"
        copy.write_bytes(file)
        return copy

    def cropped(self, film: Path, top=0, bottom=0, left=0, right=0) -> Path:
        """Copies a Matroska file that was made with COLOURS: they are replaced by edges that must not be shown."""
        file = film.read_bytes()
        begin = file.index(b"\x55\xb0\x90")
        edges = bytes([0x54, 0xAA, 0x81, bottom, 0x54, 0xBB, 0x81, top, 0x54, 0xCC, 0x81, left, 0x54, 0xDD, 0x81, right])
        copy = self.dir / "cropped.mkv"
        copy.write_bytes(file[:begin] + edges + b"\xec\x81\0" + file[begin + 19 :])
        return copy

    @staticmethod
    def with_box(file: bytes, path: list, box: bytes) -> bytes:
        """Adds a box at the end of the box at this path of an MP4 file. Nothing behind it may have a fixed place."""
        if not path:
            return file + box
        name, skipped = path[0]
        begin = file.index(name) - 4
        size = int.from_bytes(file[begin : begin + 4], "big")
        head = 8 + skipped
        inner = Shape.with_box(file[begin + head : begin + size], path[1:], box)
        return file[:begin] + struct.pack(">I", head + len(inner)) + file[begin + 4 : begin + head] + inner + file[begin + size :]

    def test_every_display_matrix(self):
        film = self.still("film.mp4", *EXACT)
        for name, matrix in TURNS.items():
            with self.subTest(name):
                path = self.turned(film, matrix)
                self.shows(path, (90, 160) if matrix[1] else (160, 90), self.right(path), 0)

    def test_odd_display_matrices_are_shown_in_the_nearest_way(self):
        film = self.still("film.mp4", *EXACT)
        whole = self.right(film)
        for name, matrix in ODD_TURNS.items():
            with self.subTest(name):
                self.shows(self.turned(film, matrix), (160, 90), whole, 0)

    def test_orientation_in_the_pictures_and_in_other_containers(self):
        film = self.still("film.mp4", *EXACT)
        right = self.right(self.turned(film, TURNS["90"]))
        message = self.copied(film, "sei.ts", "-bsf:v", "h264_metadata=display_orientation=insert:rotate=270")
        self.shows(message, (90, 160), right, 0)

    def test_turned_with_samples_that_are_not_square(self):
        film = self.turned(self.still("film.mp4", "-aspect", "4:1", *USUAL), TURNS["90"])
        self.shows(film, (90, 360), self.scaled(film, 90, 360))

    def test_aspect_of_the_container(self):
        for name, encoder in (("h264.mp4", USUAL), ("h264.mkv", USUAL), ("vp9.mkv", ("-c:v", "libvpx-vp9")),
                              ("says-none.mkv", ("-vf", "loop=20:1,setsar=0", *USUAL))):
            with self.subTest(name):
                film = self.copied(self.still(f"square-{name}", *encoder), name, "-aspect", "4:3")
                self.shows(film, (160, 120), self.scaled(film, 160, 120))

    def test_aspect_of_the_stream(self):
        film = self.still("mpeg2.ts", "-c:v", "mpeg2video", "-q:v", "2", "-aspect", "4:3", "-r", "25")
        self.shows(film, (160, 120), self.scaled(film, 160, 120))

    def test_useless_aspects_count_as_none(self):
        film = self.copied(self.still("square.mp4", *EXACT), "film.mp4", "-aspect", "4:3")
        place = film.read_bytes().index(b"pasp") + 4
        right = self.right(film)
        for across, down in ((1, 1000000), (-1, 1)):
            with self.subTest(f"{across}/{down}"):
                file = bytearray(film.read_bytes())
                file[place : place + 8] = struct.pack(">ii", across, down)
                path = self.dir / "useless.mp4"
                path.write_bytes(file)
                self.shows(path, (160, 90), right, 0)

    def test_cropping_in_matroska(self):
        film = self.still("film.mkv", *COLOURS, *USUAL)
        for edges in ({"top": 20, "bottom": 20, "left": 40, "right": 40}, {"right": 2}, {"top": 89}, {"bottom": 40, "left": 159}):
            top, bottom, left, right = (edges.get(name, 0) for name in ("top", "bottom", "left", "right"))
            width, height = 160 - left - right, 90 - top - bottom
            with self.subTest(**edges):
                pixels = self.right(film, f"format=bgr0,crop={width}:{height}:{left}:{top}")
                self.shows(self.cropped(film, **edges), (width, height), pixels)

    def test_cropping_within_a_sample_of_chroma(self):
        for name, encoder in (("444.mkv", EXACT), ("420.mkv", USUAL)):
            with self.subTest(name):
                film = self.still(name, *COLOURS, *encoder)
                pixels = self.right(film, f"{TO_RGB},crop=89:46:31:23")
                self.shows(self.cropped(film, 23, 21, 31, 40), (89, 46), pixels, 1)

    def test_cropping_with_an_aspect(self):
        """The container's size is that of what is left. Only if it fits the whole picture, as mkvmerge writes it, that is meant."""
        for shown, own, stated in (((200, 50), "1/1", "4:1"), ((180, 50), "9/4", "4:1"), ((80, 50), "1/1", "16:9")):
            with self.subTest(own=own, stated=stated):
                film = self.still("film.mkv", *COLOURS, *USUAL, "-aspect", stated, "-bsf:v",
                                  f"h264_metadata=sample_aspect_ratio={own}")
                pixels = self.scaled(film, *shown, "crop=80:50:40:20")
                self.shows(self.cropped(film, 20, 20, 40, 40), shown, pixels)

    def test_clean_aperture_with_a_matrix(self):
        """As a phone writes it; the decoder's own cropping comes first, and the container may not know of it."""
        coded = self.still("film.mp4", *USUAL)
        film = self.turned(self.copied(coded, "codec.mp4", "-bsf:v", "h264_metadata=crop_left=6:crop_right=4"), TURNS["90"])
        file = bytearray(film.read_bytes())
        place = file.index(b"avc1", file.index(b"stsd")) + 28
        aperture = struct.pack(">II8i", 40, int.from_bytes(b"clap", "big"), 80, 1, 50, 1, 0, 1, 0, 1)
        path = self.dir / "aperture.mp4"
        pixels = self.right(coded, f"{TO_RGB},crop=150:90:6:0,crop=80:50:35:20,transpose=clock")
        for stated_width in (150, 160):
            with self.subTest(stated_width=stated_width):
                file[place : place + 2] = struct.pack(">H", stated_width)
                path.write_bytes(self.with_box(file, [
                    (b"moov", 0), (b"trak", 0), (b"mdia", 0), (b"minf", 0), (b"stbl", 0), (b"stsd", 8), (b"avc1", 78)], aperture))
                self.shows(path, (50, 80), pixels)

    def test_second_film_of_another_shape(self):
        """The window follows the films: larger, smaller, turned, of another pixel format, with an edge that is not shown."""
        large = self.still("4.mkv", *COLOURS, *USUAL, size="640x360")
        films = [self.still("1.mp4", *EXACT, seconds=2),
                 self.turned(self.still("2.mp4", *USUAL, size="320x176", seconds=2), TURNS["90"]),
                 self.still("3.mkv", "-c:v", "libx264", "-pix_fmt", "yuv422p10", "-bf", "0", size="96x64", seconds=2),
                 self.cropped(large, top=60)]
        player = self.play(*films)
        self.await_picture(player, (160, 90), self.right(films[0]))
        self.await_picture(player, (176, 320), self.right(films[1]))
        self.await_picture(player, (96, 64), self.right(films[2]))
        self.await_picture(player, (640, 300), self.right(large, "crop=640:300:0:60"))
        self.stop(player)

    def test_size_and_aspect_change_in_the_middle_of_a_film(self):
        parts = []
        for offset, size, aspect, shown in ((0, "160x90", "16:9", (160, 90)), (2, "160x90", "4:3", (160, 120)),
                                            (4, "320x176", "16:9", (320, 180))):
            part = self.still(f"{offset}.ts", "-c:v", "mpeg2video", "-q:v", "2", "-r", "25", "-aspect", aspect,
                              "-output_ts_offset", offset, size=size, seconds=2)
            parts.append((part, shown))
        film = self.dir / "film.ts"
        film.write_bytes(b"".join(path.read_bytes() for path, _ in parts))
        player = self.play(film)
        for path, shown in parts:
            self.await_picture(player, shown, self.scaled(path, *shown))
        self.stop(player)


if __name__ == "__main__":
    main()
