# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that dlex-qoe compares the colours that a film has: the commands of its manual compute the same errors.

Not covered: each pixel format and matrix (test_rgb_converter.c).
"""

import json
import random
import re
import shlex
import shutil
import subprocess
import sys
from array import array
from pathlib import Path

from qoe_cases import Case, main, qoe

MANUAL = Path(__file__).resolve().parents[2] / "docs/man/dlex-qoe.1"


def commands_of_the_page(media, described):
    """Returns the commands of the manual that make the pictures of `media`, for what the report says of the conversion."""
    _, block = MANUAL.read_text().split("make the same pictures", 1)
    command = block[block.index("\nffmpeg") : block.index("\n.fi")].replace("\\-", "-").replace("\\e\n", "\\\n")
    kind, matrix, what_range = re.fullmatch(r"RGB(24|48) \S+, (.*), (limited|full) range", described).groups()
    names = {"no matrix": "bt601", "bt470bg": "bt470", "bt2020nc": "bt2020"}
    changes = {
        "film.mp4": shlex.quote(str(media)),
        "=bt709": f"={names.get(matrix, matrix)}",
        "in_range=limited": f"in_range={what_range}",
        "format=rgb24": {"24": "format=rgb24", "48": "format=rgb48be"}[kind],
    }
    for old, new in changes.items():
        if command.count(old) != 1:
            raise AssertionError(f"the manual's command does not have {old} once: {command}")
        command = command.replace(old, new)
    return command


class Colours(Case):
    FILMS = (
        ("yuv420p", "bt709", "tv"),
        ("yuv444p", "smpte170m", "pc"),
        ("yuv420p10le", "bt2020nc", "tv"),
        ("yuv422p12le", "bt470bg", "pc"),
        ("gray", "", "tv"),
        ("ya8", "", "tv"),
        ("gray10le", "", ""),
        ("gray16le", "", "tv"),
        ("gbrp10le", "", ""),
    )

    def made(self, pixels, matrix, what_range):
        """Makes a film of two pictures of noise, whose tags are the given ones."""
        film, raw = self.dir / f"{pixels}-{what_range}.mkv", self.dir / "raw"
        per_pixel = {"yuv420": 1.5, "yuv422": 2, "yuv444": 3, "gbr": 3, "ya8": 2}.get(pixels.split("p")[0], 1)
        depth = int((re.search(r"(1\d)le", pixels) or [0, 8])[1])
        samples = random.Random(pixels).choices(range(1 << depth), k=int(2 * 64 * 48 * per_pixel))
        raw.write_bytes(array("H" if depth > 8 else "B", samples).tobytes())
        tags = [*(["-colorspace", matrix] if matrix else []), *(["-color_range", what_range] if what_range else [])]
        source = ["-f", "rawvideo", "-pix_fmt", pixels, "-video_size", "64x48", "-framerate", "25", "-i", raw]
        subprocess.run(["ffmpeg", "-v", "error", *source, "-c:v", "ffv1", *tags, film], check=True)
        return film

    def test_commands_of_the_manual_compute_the_same_errors(self):
        if not shutil.which("compare"):
            self.skipTest("ImageMagick's compare is not installed; install Debian's package imagemagick")
        for film in self.FILMS:
            with self.subTest(film):
                media = self.made(*film)
                folder = self.record(media, [(0, "shown"), (1, "aborted")], name=f"{media.stem}.run")
                report = json.loads(qoe(folder, "--json=-").stdout)
                described, ours = report["compared"]["as"], report["summary"]["rmse_q16_sum"]
                command = commands_of_the_page(media, described)
                if film == ("gray", "", "tv"):
                    command = command.replace("scale=", "format=gray16,scale=", 1)
                run = subprocess.run(["bash", "-c", command], cwd=self.dir, capture_output=True, text=True, check=False)
                theirs = float(run.stderr.splitlines()[-1].split()[0])
                self.assertGreater(theirs, 1000)
                self.assertAlmostEqual(ours / theirs, 1, 4, (described, command))
                for picture in self.dir.glob("*.png"):
                    picture.unlink()

    def test_film_whose_matrix_is_not_known_is_compared_as_the_player_shows_it(self):
        media = {name: self.dir / f"{name}.mkv" for name in ("ictcp", "bt2020nc")}
        source = ["-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=0.2", "-pix_fmt", "yuv420p10le"]
        sums = {}
        for name, film in media.items():
            subprocess.run(["ffmpeg", "-v", "error", *source, "-c:v", "ffv1", "-colorspace", name, film], check=True)
            report = json.loads(qoe(self.record(film, [(0, "shown"), (1, "late")], name=name), "--json=-").stdout)
            sums[report["compared"]["as"]] = report["summary"]["rmse_q16_sum"]
        named = ["RGB48 64x48, bt2020nc for ictcp, limited range", "RGB48 64x48, bt2020nc, limited range"]
        self.assertEqual(list(sums), named)
        self.assertEqual(sums[named[0]], sums[named[1]])


if __name__ == "__main__":
    sys.exit(main())
