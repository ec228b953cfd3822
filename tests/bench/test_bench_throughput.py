# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the comparison of decoders with codec threads: invented pairs, and two real decoders of the patched FFmpeg.

    test_bench_throughput.py TIMED_SEGMENTS MEDIA_MAKE

Not covered: an unpatched FFmpeg, which takes minutes to build, and so the whole command.
"""

import subprocess
import sys
import unittest
from pathlib import Path

from outside import with_packages

with_packages("numpy, scipy, rich")

from dlex_bench.errors import LabError
from dlex_bench.throughput.experiment import FilmSpeed, throughput_table
from dlex_bench.throughput.findings import is_certain, throughput_findings
from dlex_bench.throughput.turns import Pair, Turn, decoder, one_pass

PROGRAM, MAKE = (Path(it) for it in sys.argv[1:3])


def pairs(*speeds, later_ms=0.0):
    return [Pair(number, Turn(100 / speed, 150, 10 + later_ms, 50), Turn(100, 150, 10, 50)) for number, speed in enumerate(speeds)]


class Findings(unittest.TestCase):
    def words(self, *speeds, **options):
        return [it.word for it in throughput_findings("film", pairs(*speeds, **options))]

    def test_both_goals_are_judged_by_the_whole_interval(self):
        self.assertEqual(self.words(*[0.99, 1.0, 1.01] * 4), ["met", "met"])
        self.assertEqual(self.words(*[0.95, 0.96, 0.94] * 4, later_ms=3), ["missed", "missed"])
        self.assertEqual(self.words(0.9, 1.1, 0.95, 1.02, 0.99, 0.97), ["not certain", "met"])

    def test_few_pairs_are_not_certain(self):
        self.assertEqual(self.words(1.0, 1.0), ["not certain", "not certain"])
        self.assertFalse(is_certain(pairs(1.0, 1.0)))

    def test_narrow_interval_is_enough(self):
        self.assertTrue(is_certain(pairs(*[0.998, 1.0, 1.002] * 6)))
        self.assertFalse(is_certain(pairs(*[0.9, 1.0, 1.1] * 6)))

    def test_table_has_both_speeds_and_that_of_mpv(self):
        table = throughput_table([
            FilmSpeed("a", "a film", pairs(*[0.5] * 6), [10.0, 12.0, 11.0]),
            FilmSpeed("b", "another", pairs(*[1.0] * 6), []),
        ])
        cells = [list(column.cells) for column in table.columns]
        self.assertEqual([it[0] for it in cells[:3]], ["a film", "250.0", "500.0"])
        self.assertEqual(cells[6], [f"{300 / 11:.1f}", "-"])


class Turns(unittest.TestCase):
    """Two decoders of the same build take turns."""

    @classmethod
    def setUpClass(cls):
        made = subprocess.run([MAKE, "bpyramid"], capture_output=True, text=True, check=True)
        cls.film = Path(made.stdout.strip())

    def test_all_pictures_are_decoded_in_segments_with_and_without_threads(self):
        for threads in (1, 2):
            found = list(one_pass((PROGRAM, PROGRAM), self.film, threads, True))
            self.assertEqual([pair.segment for pair in found], list(range(len(found))))
            self.assertGreater(len(found), 1)
            self.assertEqual(sum(pair.patched.pictures for pair in found), 200)
            for pair in found:
                self.assertGreater(pair.patched.wall_ms, 0)
                self.assertLessEqual(pair.patched.first_ms, pair.patched.wall_ms)

    def test_decoder_that_ends_is_named(self):
        with self.assertRaisesRegex(LabError, "true ended"):
            list(one_pass((PROGRAM, Path("/bin/true")), self.film, 1, True))

    def test_segment_that_does_not_exist_ends_the_decoder(self):
        with decoder(PROGRAM, self.film, 1) as one, self.assertRaisesRegex(LabError, "cannot be decoded"):
            one.decode(one.segments)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
