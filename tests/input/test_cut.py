# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests cut films: packets that are decoded because others refer to them, and whose pictures are not to be shown.

Not covered: how late pictures are (the benchmarks); cuts in other formats than MP4 and MPEG-TS, which have no edit lists.
"""
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from playing import NULL, UNTIMED, Case, main, play

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from edit_list import EMPTY, write_edited

RATE = 25
# In a track with B pictures that are not references, the first picture is so much later than its decode time.
FIRST_S = 1 / RATE


class Cut(Case):
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

    def film(self, *codec: object, name="whole.mp4") -> Path:
        """Makes a film of 4 s whose pictures all differ."""
        return self.make(name, "-f", "lavfi", "-i", f"testsrc2=s=96x64:r={RATE}:d=4", *codec)

    def edited(self, film: Path, *edits: tuple[float, float]) -> Path:
        path = self.dir / f"edited-{film.name}"
        write_edited(film, path, [(EMPTY if start_s == EMPTY else start_s + FIRST_S, length_s) for start_s, length_s in edits])
        return path

    def pictures(self, path: Path, *options: object) -> list[str]:
        """Returns the checksums of all pictures, as they are shown without time limits."""
        run = play(*UNTIMED, "--framemd5=-", *options, path)
        self.expect(run, 0)
        return [line.split(",")[-1].strip() for line in run.stdout.splitlines() if not line.startswith("#")]

    def plays_in_time(self, path: Path, count: int, *options: object) -> list[dict[str, str]]:
        """Plays in real time. On any machine most of the pictures are shown, and no others count."""
        record = self.dir / f"record-{'-'.join(map(str, options))}"
        self.expect(play(*NULL, *options, f"--record={record}", path), 0)
        found, rows = self.record(record.name)
        totals = found["totals"]
        self.assertEqual(totals["shown"] + totals["dropped"], count)
        self.assertGreater(totals["shown"], count / 2)
        return rows

    def test_start_of_a_cut_film_is_shown(self):
        film = self.film("-f", "lavfi", "-i", "sine=d=4", "-c:v", "libx264", "-preset", "veryfast", "-g", 50, "-c:a", "aac")
        path = self.make("cut.mp4", "-ss", 1.8, "-i", film, "-t", 1, "-c", "copy")
        shown = self.pictures(path)
        self.assertEqual(shown[:20], self.pictures(film)[45:65])  # the end is cut in decode order, between pictures
        with ThreadPoolExecutor() as pool:
            options = ("--threads=2", "--threads=1", "--queue=0")
            for rows in pool.map(lambda option: self.plays_in_time(path, len(shown), option), options):
                self.assertEqual({row["verdict"] for row in rows if int(row["pts_ns"]) < 0}, {"none"})

    def test_edits_in_any_order_are_shown(self):
        film = self.film("-c:v", "libx264", "-preset", "veryfast", "-g", 25, "-bf", 2, "-x264-params", "scenecut=0:b-pyramid=0")
        whole = self.pictures(film)
        for edits in (((0.6, 0.6), (2.4, 0.6)), ((2.4, 0.6), (0.6, 0.6)), ((0.6, 0.6), (0.6, 0.6)), ((EMPTY, 0.4), (2.4, 0.6))):
            with self.subTest(edits):
                path = self.edited(film, *edits)
                right = [whole[round(start_s * RATE) + i] for start_s, length_s in edits if start_s != EMPTY
                         for i in range(round(length_s * RATE))]
                self.assertEqual(self.pictures(path), right)
        last = self.edited(film, (0.6, 0.6), (2.4, 0.6))
        self.assertEqual(self.pictures(last, "--threads=1", "--queue=0"), whole[15:30] + whole[60:75])
        self.plays_in_time(last, 30)

    def test_seek_gives_all_pictures_of_later_edits(self):
        """A cut key picture has a time before its edit, where pictures of other edits are shown."""
        film = self.film("-c:v", "libx264", "-preset", "veryfast", "-g", 25, "-bf", 2, "-x264-params", "scenecut=0:b-pyramid=0")
        places = ((((2.4, 1.2), (0.6, 1.2), (0.4, 0.6)), (11, 25)), (((0.6, 0.6), (2.4, 0.6), (1.2, 0.6)), (11,)))
        for edits, numbers in places:
            path = self.edited(film, *edits)
            right = self.pictures(path)
            for number in numbers:
                with self.subTest(edits=edits, number=number):
                    shown = self.pictures(path, f"--start={number / RATE}")
                    self.assertEqual(shown, right[-len(shown) :])
                    # At the border of two edits, FFmpeg gives two pictures of the first one the times of two of the second one.
                    self.assertIn(len(shown), range(len(right) - number, len(right) - number + 3))

    def test_other_codecs_show_their_cuts(self):
        codecs = (("mpeg4", "-bf", 2), ("mpeg2video", "-bf", 2), ("libvpx-vp9", "-cpu-used", 8))
        for number, codec in enumerate(codecs):
            with self.subTest(codec):
                film = self.film("-c:v", *codec, "-g", 100, name=f"{number}.mp4")
                path = self.dir / f"edited-{number}.mp4"
                first_s = 0 if codec[0] == "libvpx-vp9" else FIRST_S
                write_edited(film, path, [(1 + first_s, 0.4), (3 + first_s, 0.4)])
                whole = self.pictures(film)
                self.assertEqual(self.pictures(path), whole[25:35] + whole[75:85])

    def test_recording_that_begins_between_key_pictures_shows_all_from_there_on(self):
        film = self.film("-f", "lavfi", "-i", "sine=d=4", "-c:v", "libx264", "-preset", "veryfast", "-g", 50, "-bf", 2,
                         "-x264-params", "scenecut=0", "-c:a", "aac", name="whole.ts")
        data = film.read_bytes()
        packets = len(data) // 188
        path = self.dir / "recording.ts"
        path.write_bytes(data[packets // 6 * 188 :])
        shown = self.pictures(path)
        self.assertEqual(shown, self.pictures(film)[50:])
        self.plays_in_time(path, len(shown))


if __name__ == "__main__":
    main()
