# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests how detections are judged, with invented ones. Not covered: real players."""

import unittest

from outside import with_packages

with_packages("numpy, scipy, pydantic, rich")

from dlex_bench.detect.experiment import detect_table
from dlex_bench.detect.findings import Detection, detect_findings
from dlex_bench.detect.overhead import ALONE, STRACE, WATCHED, Transcoding, overhead_findings, overhead_table


def seen(seconds, hz, paper_hz, true_hz=25.0, standard_hz=None, player="mplayer"):
    return Detection(player, true_hz, seconds, hz, standard_hz, paper_hz)


class Judged(unittest.TestCase):
    def test_answers_are_right_within_what_each_detector_can_tell(self):
        one = seen(4, 23.97, 24.0, 24000 / 1001, 24000 / 1001)
        self.assertEqual((one.is_found, one.is_named, one.is_found_by_paper), (True, True, True))
        other = seen(4, 24.1, 25.0, 24000 / 1001, 24.0)
        self.assertEqual((other.is_found, other.is_named, other.is_found_by_paper), (False, False, False))
        none = seen(4, None, None)
        self.assertEqual((none.is_found, none.is_named, none.is_found_by_paper), (False, False, False))

    def test_findings_hold_or_not(self):
        good = [seen(0.2, None, None), *[seen(0.4, None, 25.0)] * 9, seen(4.0, 25.0, 25.0, standard_hz=25.0)]
        self.assertEqual([it.word for it in detect_findings(good)], ["met", "met"])
        self.assertIn("in 0% of shorter ones", detect_findings(good)[0].sentence)
        bad = [*[seen(0.4, None, 50.0)] * 9, seen(4.0, 25.0, 25.0)]
        self.assertEqual([it.word for it in detect_findings(bad)], ["missed", "missed"])
        self.assertEqual([it.word for it in detect_findings([])], ["not measured", "not measured"])

    def test_table_has_a_column_for_each_player_and_detector(self):
        table = detect_table([seen(4.0, 25.0, 25.0), seen(4.0, 25.0, 25.0, player="mpv")])
        self.assertEqual((len(table.columns), table.row_count), (7, 6))


class Overhead(unittest.TestCase):
    def runs(self, watched, own=0.002):
        of_one = [(ALONE, 10, None), (WATCHED, watched, own), (STRACE, 11, None)]
        return [Transcoding(how, cpu_s + number / 1000, part) for number in range(6) for how, cpu_s, part in of_one]

    def test_half_a_per_cent_is_the_goal(self):
        self.assertEqual([it.word for it in overhead_findings(self.runs(10.01))], ["met", "met"])
        self.assertEqual([it.word for it in overhead_findings(self.runs(10.2, 0.01))], ["missed", "missed"])
        self.assertEqual(overhead_findings(self.runs(10.01)[:3])[0].word, "not certain")

    def test_table_has_a_row_for_each_way(self):
        self.assertEqual(overhead_table(self.runs(10.01)).row_count, 3)


if __name__ == "__main__":
    unittest.main()
