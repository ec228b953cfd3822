# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the command `seek`: what counts as the picture of a seek, and a short comparison with the real player.

Not covered: how long a seek takes, which is measured and not tested; the other players.
"""

import json
import shutil
import subprocess
import sys
import unittest

from outside import Folder, with_packages

with_packages("numpy, pydantic, rich")

from dlex_bench.record import Frame
from dlex_bench.seeking.play import NEVER_NS, QUITS, shown_after
from dlex_bench.seeking.window import Sight, read_sights, seen_after

MAKE = sys.argv[1]
S_NS, MS_NS = 10**9, 10**6


def frame(shown_ns, pts_ns):
    return Frame(pts_ns, "P", False, 0, "shown" if shown_ns else "late", shown_ns, 0)


def film(begin_ns, pts_ns, count):
    """Returns pictures that are shown every 40 ms."""
    return [frame(begin_ns + 40 * MS_NS * number, pts_ns + 40 * MS_NS * number) for number in range(count)]


class PictureOfSeek(unittest.TestCase):
    FRAMES = [*film(1 * S_NS, 0, 25), frame(None, 5 * S_NS), *film(2 * S_NS + 30 * MS_NS, 11 * S_NS, 25)]

    def test_first_picture_elsewhere_counts(self):
        self.assertEqual(shown_after(2 * S_NS, NEVER_NS, self.FRAMES), 30)

    def test_pictures_that_continue_are_no_seek(self):
        self.assertIsNone(shown_after(1 * S_NS, 2 * S_NS, self.FRAMES))

    def test_stop_is_no_seek(self):
        self.assertIsNone(shown_after(1 * S_NS, NEVER_NS, [*film(1 * S_NS, 0, 25), *film(4 * S_NS, 1 * S_NS, 25)]))

    def test_earlier_seek_does_not_count(self):
        self.assertIsNone(shown_after(2 * S_NS + 50 * MS_NS, NEVER_NS, self.FRAMES))

    def test_order_of_pictures_in_the_file_does_not_matter(self):
        self.assertEqual(shown_after(2 * S_NS, NEVER_NS, self.FRAMES[::-1]), 30)


class SightOfSeek(unittest.TestCase):
    PARTS = ((S_NS, 0), (2 * S_NS + 30 * MS_NS, 275))
    SIGHTS = [Sight(begin_ns + 40 * MS_NS * number, first + number) for begin_ns, first in PARTS for number in range(25)]

    def test_first_picture_elsewhere_counts(self):
        self.assertEqual(seen_after(2 * S_NS, NEVER_NS, self.SIGHTS, 40 * MS_NS), 30)

    def test_pictures_that_continue_are_no_seek(self):
        self.assertIsNone(seen_after(S_NS, 2 * S_NS, self.SIGHTS, 40 * MS_NS))

    def test_picture_after_the_next_key_does_not_count(self):
        self.assertIsNone(seen_after(2 * S_NS, 2 * S_NS + 20 * MS_NS, self.SIGHTS, 40 * MS_NS))


class Sights(Folder):
    def test_only_whole_pictures_count(self):
        (self.folder / "screen.csv").write_text("time_ns,top,bottom,last_ns\n1,,,2\n3,7,6,4\n5,7,7,6\n")
        self.assertEqual(read_sights(self.folder / "screen.csv"), [Sight(5, 7)])


class Command(Folder):
    def seek(self, *options):
        command = [sys.executable, "-m", "dlex_bench", "seek", "--wait", f"--out={self.folder}/seek.json", *options]
        return subprocess.run(command, capture_output=True, text=True, timeout=900)

    def test_compares_queues(self):
        run = self.seek("--rounds=1", "--seeks=2", "--queues=0,auto", "--clip=hard_1080p")
        self.assertEqual(run.returncode, 0, run.stderr)
        found = json.loads((self.folder / "seek.json").read_text())
        self.assertEqual([one["queue"] for one in found["settings"]], ["0", "auto"])
        for one in found["settings"]:
            self.assertEqual((len(one["seeks_ms"]) + one["missing"], len(one["quits_ms"])), (2, QUITS))
            self.assertGreater(min(one["quits_ms"]), 0)
            self.assertIn(one["queue"], run.stdout)
        self.assertIn("stolen by the host", run.stdout)

    @unittest.skipUnless(shutil.which("Xvfb") and shutil.which("pulseaudio"), "Xvfb or pulseaudio is not installed")
    def test_compares_players_in_windows(self):
        run = self.seek("--players=dlex-play", "--rounds=1", "--seeks=1", "--playing=1", "--clip=hard_1080p_stamped")
        self.assertEqual(run.returncode, 0, run.stderr)
        (one,) = json.loads((self.folder / "seek.json").read_text())["settings"]
        (play,) = one["plays"]
        self.assertEqual(one["player"], "dlex-play")
        self.assertGreater(play["first_ms"], 0)
        self.assertEqual(len(play["seeks_ms"]) + play["missing"], 1)
        self.assertGreater(play["peak_mib"], 10)

    def test_faults_are_one_sentence(self):
        short = subprocess.run([MAKE, "cavlc"], capture_output=True, text=True, check=True).stdout.strip()
        for options, words in (
            (["--between=0"], "--between must be 0.1 to 60.0 s"),
            (["--rounds=0"], "argument --rounds: '0' is not a number of plays; give 1 to 10000"),
            ([f"--clip={short}"], "choose a clip of 13.4 s or more"),
            (["--queues="], "at least one"),
            (["--seeks=0"], "--seeks=0 is for --players"),
            (["--players=dlex-play,vic"], "vic is not a player that can be compared"),
            (["--players=dlex-play", f"--clip={short}"], "choose a clip of 15.2 s or more"),
            (["--queues=0,many", "--clip=hard_1080p", "--rounds=1", "--seeks=1"], "--queue"),
        ):
            with self.subTest(options):
                run = self.seek(*options)
                self.assertIn(run.returncode, (1, 2), run.stderr)
                self.assertIn(words, run.stderr)
                self.assertEqual(len(run.stderr.strip().splitlines()), 1, run.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
