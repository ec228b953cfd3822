# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the comparison of decoders with codec threads: invented pairs, and two real decoders of the patched FFmpeg.

    test_bench_throughput.py TIMED_SEGMENTS MEDIA_MAKE

Not covered: an unpatched FFmpeg, which takes minutes to build, and so the whole command.
"""

import io
import json
import subprocess
import sys
import unittest
from contextlib import nullcontext, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

from outside import Folder, with_packages

with_packages("numpy, scipy, rich")

from dlex_bench.errors import EXIT_SETUP, LabError
from dlex_bench.throughput import experiment
from dlex_bench.throughput.cli import throughput_parser
from dlex_bench.throughput.experiment import FilmSpeed, ThroughputOptions, measure_throughput, throughput_table
from dlex_bench.throughput.findings import is_certain, speed_of, throughput_findings
from dlex_bench.throughput.turns import Pair, Turn, decoder, one_pass
from written_results import WritesResults

PROGRAM, MAKE = (Path(it) for it in sys.argv[1:3])


def pairs(*speeds, later_ms=0.0):
    return [Pair(number, Turn(100 / speed, 150, 10 + later_ms, 50), Turn(100, 150, 10, 50)) for number, speed in enumerate(speeds)]


def passes(*speeds, later_ms=0.0):
    """Returns a pass for each speed. Its pairs differ by a fifth, but its median is this speed."""
    return [pairs(0.8 * speed, speed, 1.2 * speed, later_ms=later_ms) for speed in speeds]


class Findings(unittest.TestCase):
    def words(self, *speeds, **options):
        return [it.word for it in throughput_findings("film", passes(*speeds, **options))]

    def test_both_goals_are_judged_by_the_whole_interval(self):
        self.assertEqual(self.words(*[0.99, 1.0, 1.01] * 4), ["met", "met"])
        self.assertEqual(self.words(*[0.95, 0.96, 0.94] * 4, later_ms=3), ["missed", "missed"])
        self.assertEqual(self.words(0.9, 1.1, 0.95, 1.02, 0.99, 0.97), ["not certain", "met"])

    def test_few_passes_are_not_certain_however_many_pairs_they_have(self):
        for some in (passes(1.0, 1.0), [pairs(*[0.998, 1.0, 1.002] * 20)] * 3):
            self.assertEqual([it.word for it in throughput_findings("film", some)], ["not certain", "not certain"])
            self.assertFalse(is_certain(some))

    def test_pairs_of_a_pass_are_one_observation(self):
        found = speed_of([pairs(*[speed] * 50) for speed in (0.9, 1.0, 1.1, 0.95, 1.05)])
        self.assertEqual((found.value, found.n), (1.0, 5))
        self.assertLess(found.low, 0.95)
        self.assertGreater(found.high, 1.05)

    def test_narrow_interval_is_enough(self):
        self.assertTrue(is_certain(passes(*[0.998, 1.0, 1.002] * 6)))
        self.assertFalse(is_certain(passes(*[0.9, 1.0, 1.1] * 6)))

    def test_table_has_both_speeds_and_that_of_mpv(self):
        table = throughput_table([
            FilmSpeed("a", "a film", [pairs(*[0.5] * 6)] * 5, [30.0, 25.0, 27.3]),
            FilmSpeed("b", "another", [pairs(*[1.0] * 6)] * 5, []),
        ])
        cells = [list(column.cells) for column in table.columns]
        self.assertEqual([it[0] for it in cells[:4]], ["a film", "250.0", "500.0", "0.500 (0.500 to 0.500)"])
        self.assertEqual(cells[6], ["27.3", "-"])


class Options(unittest.TestCase):
    def test_number_of_threads_is_one_or_more(self):
        self.assertEqual(throughput_parser().parse_args(["--threads=1"]).threads, 1)
        for text in ("0", "-1", "two", "²", "1025"):
            said = io.StringIO()
            with self.assertRaises(SystemExit) as caught, redirect_stderr(said):
                throughput_parser().parse_args([f"--threads={text}"])
            self.assertEqual(caught.exception.code, EXIT_SETUP)
            self.assertIn(f"{text!r} is not a number of threads; give 1 to 1024", said.getvalue())


class Results(WritesResults, Folder):
    """The whole command, with a film that is not decoded and pairs that are invented."""

    MEASURES = ("one_pass",)

    def measure(self, out, **replaced):
        stand_ins = {
            "require_program": mock.Mock(), "only_measurement": mock.Mock(return_value=nullcontext()), "make_clip": mock.Mock(),
            "_films": mock.Mock(return_value=[("a", "a film")]), "one_pass": mock.Mock(return_value=pairs(0.99, 1.0, 1.01)),
        }
        with mock.patch.multiple(experiment, **{**stand_ins, **replaced}), redirect_stdout(io.StringIO()):
            return measure_throughput(ThroughputOptions(self.folder, out, quick=True))

    def test_five_passes_of_a_quick_film_are_judged_and_written_with_the_commit(self):
        chapter = self.measure(self.folder / "out")
        self.assertEqual([it.word for it in chapter.findings], ["met", "met"])
        written = json.loads((self.folder / "out/throughput.json").read_text())
        self.assertIn("commit", written)
        self.assertEqual([len(one) for one in written["films"][0]["passes"]], [3] * 5)


class Layouts(unittest.TestCase):
    def test_each_layout_meets_each_of_the_other_program_with_both_orders(self):
        programs = [[Path(f"{name}{layout}") for layout in range(4)] for name in ("patched", "pristine")]
        with mock.patch.object(experiment, "one_pass", return_value=[]) as decoded:
            for number in range(32):
                experiment._pass(programs, Path("film"), 2, number)
        seen = {(both, first) for both, _film, _threads, first in (call.args for call in decoded.call_args_list)}
        self.assertEqual(len(seen), 32)
        self.assertEqual({both for both, _first in seen}, {(ours, other) for ours in programs[0] for other in programs[1]})


class Turns(unittest.TestCase):
    """Two decoders of the same build take turns."""

    @classmethod
    def setUpClass(cls):
        made = subprocess.run([MAKE, "bpyramid"], capture_output=True, text=True, check=True)
        cls.film = Path(made.stdout.strip())

    def test_rounds_of_short_turns_with_and_without_threads(self):
        for threads in (1, 2):
            found = list(one_pass((PROGRAM, PROGRAM), self.film, threads, threads == 1))
            segments = found[-1].segment + 1
            self.assertGreater(segments, 1)
            self.assertEqual([pair.segment for pair in found], 3 * list(range(segments)))
            for pair in found:
                self.assertEqual(pair.patched.pictures, 20)
                self.assertGreater(pair.patched.wall_ms, 0)
                self.assertLessEqual(pair.patched.first_ms, pair.patched.wall_ms)

    def test_all_pictures_are_decoded_in_whole_segments(self):
        for ask in ("{}", "{} 0", "{} 100000"):
            with decoder(PROGRAM, self.film, 2) as one:
                lines = "".join(ask.format(it) + "\n" for it in range(one.segments))
                said, _ = one.process.communicate(lines)
            self.assertEqual(one.packets, 200)
            self.assertEqual(sum(int(line.split()[3]) for line in said.splitlines()), 200)

    def test_decoder_that_ends_is_named(self):
        with self.assertRaisesRegex(LabError, "true ended"):
            list(one_pass((PROGRAM, Path("/bin/true")), self.film, 1, True))

    def test_segment_that_does_not_exist_ends_the_decoder(self):
        with decoder(PROGRAM, self.film, 1) as one, self.assertRaisesRegex(LabError, "cannot be decoded"):
            one.decode(one.segments)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
