# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests how detections are judged, with invented ones. Not covered: real players."""

import tempfile
import unittest
from pathlib import Path

from outside import with_packages

with_packages("numpy, scipy, pydantic, rich, matplotlib")

from dlex_bench.analysis.claims import Share, all_of, is_above, is_never
from dlex_bench.analysis.statistics import Interval
from dlex_bench.detect.experiment import detect_table
from dlex_bench.detect.figure import draw_detections
from dlex_bench.detect.findings import SYSCALLS, Detection, detect_findings
from dlex_bench.detect.overhead import ALONE, STRACE, WATCHED, TimedRun, overhead_findings, overhead_table
from dlex_bench.detect.spectrum import peaks_finding, spectrum_of


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

    def words(self, found):
        return [it.word for it in detect_findings(found)]

    def test_findings_hold_or_not(self):
        named = [seen(4.0, 25.0, 25.0, standard_hz=25.0)] * 40
        good = [*[seen(0.2, None, None)] * 10, *[seen(0.4, None, 25.0)] * 40, *named]
        self.assertEqual(self.words(good), ["holds", "holds", "met"])
        self.assertIn("in 0 of 10 (0% to 28%) shorter windows", detect_findings(good)[1].sentence)
        bad = [*[seen(0.2, None, 25.0)] * 40, *[seen(0.4, None, 50.0)] * 40, *[seen(4.0, 25.0, 50.0)] * 40]
        self.assertEqual(self.words(bad), ["does not hold", "does not hold", "missed"])
        self.assertEqual(self.words([]), ["not measured"] * 3)

    def test_few_windows_tell_nothing(self):
        few = [seen(0.2, None, None), *[seen(0.4, None, 25.0)] * 5, *[seen(4.0, 25.0, 25.0, standard_hz=25.0)] * 5]
        self.assertEqual(self.words(few), ["undecided", "undecided", "not certain"])

    def test_system_calls_count_for_the_paper_where_they_were_watched(self):
        jobs = [seen(0.4, 25.0, 50.0, standard_hz=25.0)] * 40
        calls = [Detection("mplayer", 25.0, 0.4, None, None, 25.0, SYSCALLS)] * 40
        self.assertEqual(self.words(jobs)[0], "does not hold")
        self.assertEqual(self.words([*jobs, *calls])[0], "holds")
        self.assertIn("system calls", detect_findings([*jobs, *calls])[0].sentence)

    def test_table_has_a_column_for_each_player_and_detector(self):
        table = detect_table([seen(4.0, 25.0, 25.0), seen(4.0, 25.0, 25.0, player="mpv")])
        self.assertEqual((len(table.columns), table.row_count), (7, 6))


class Spectra(unittest.TestCase):
    def test_peaks_of_a_film_are_the_multiples_of_its_rate(self):
        times_s = [number / 25 + part for number in range(100) for part in (0, 0.0005)]
        self.assertEqual(spectrum_of(times_s).peaks(), [25.0 * number for number in range(1, 9)])
        self.assertAlmostEqual(max(spectrum_of(times_s).part), 1, delta=0.01)
        finding = peaks_finding(times_s)
        self.assertEqual(finding.word, "holds")
        self.assertIn("8 peaks, 0 of them others: 25, 50", finding.sentence)

    def test_other_peaks_refute_it(self):
        times_s = [number / 30 for number in range(120)]
        self.assertEqual(peaks_finding(times_s).word, "does not hold")
        self.assertEqual(peaks_finding([]).word, "not measured")

    def test_both_pictures_are_drawn(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "detect.png"
            for times_s in ([], [number / 25 for number in range(100)]):
                draw_detections([seen(0.2, None, None), seen(0.4, None, 25.0)], times_s, path)
                self.assertEqual(path.read_bytes()[:4], b"\x89PNG")


class Claims(unittest.TestCase):
    def test_shares_have_wilsons_interval(self):
        low, high = Share(48, 50).interval
        self.assertAlmostEqual(low, 0.865, delta=0.001)
        self.assertAlmostEqual(high, 0.989, delta=0.001)
        self.assertEqual(Share(0, 0).interval, (0.0, 1.0))

    def test_one_case_refutes_what_is_claimed_of_all(self):
        self.assertEqual([is_never(Share(hits, n)) for hits, n in ((0, 5), (1, 500), (0, 0))],
                         ["holds", "does not hold", "not measured"])

    def test_ratio_is_judged_by_its_interval(self):
        intervals = [Interval(1.2, 1.1, 1.3, 5), Interval(1.0, 0.9, 1.1, 5), Interval(0.8, 0.7, 0.9, 5), Interval(2, None, None, 2)]
        words = [is_above(it, 1) for it in intervals]
        self.assertEqual(words, ["holds", "undecided", "does not hold", "undecided"])
        self.assertEqual([all_of(words), all_of(words[:2]), all_of(words[:1]), all_of([])],
                         ["does not hold", "undecided", "holds", "not measured"])


class Overhead(unittest.TestCase):
    def runs(self, watched, own=0.002, traced=11):
        of_one = [(ALONE, 10, None), (WATCHED, watched, own), (STRACE, traced, None)]
        return [TimedRun(how, cpu_s + number / 1000, part) for number in range(6) for how, cpu_s, part in of_one]

    def words(self, runs):
        return [it.word for it in overhead_findings("ffmpeg", runs)]

    def test_half_a_per_cent_is_the_goal(self):
        self.assertEqual(self.words(self.runs(10.01)), ["met", "met", "holds"])
        self.assertEqual(self.words(self.runs(10.2, 0.01, 10.1)), ["missed", "missed", "does not hold"])
        self.assertEqual(self.words(self.runs(10.01)[:3]), ["not certain", "met", "undecided"])

    def test_table_has_a_row_for_each_way(self):
        self.assertEqual(overhead_table("ffmpeg", self.runs(10.01), 60).row_count, 3)


if __name__ == "__main__":
    unittest.main()
