# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what dlex_bench computes from figures: the model, medians, sentences, records. Not covered: plots (test_bench_demo)."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

from outside import with_packages

with_packages("pydantic")

from dlex_bench.demo import calibration
from dlex_bench.demo.calibration import SHARE_MAX, LoadCalibration, ShareTry, enough, share_to_try
from dlex_bench.demo.findings import rms_skew_ms, sentences
from dlex_bench.demo.model import corrected_share, end_lateness_s, share_for
from dlex_bench.demo.runs import DROP_POLICIES, HEURISTIC, NONE, PAPER, SLACK, Run, ranges, typical
from dlex_bench.demo.runs import figures as figures_of
from dlex_bench.errors import LabError, TimedOut
from dlex_bench.job import figures as figures_of_job
from dlex_bench.order import interleaved
from dlex_bench.qoe import QoeSummary
from dlex_bench.record import end_skew_ms, frame_duration_s, read_frames

HEADER = (
    "index,pts_ns,type,droppable,size_bytes,decode_start_ns,decode_end_ns,decode_cpu_ns,deadline_ns,fired_ns,"
    "verdict,shown_ns,skew_ns\n"
)


class Model(unittest.TestCase):
    def test_light_clip_is_never_late(self):
        self.assertEqual(end_lateness_s([0.004] * 100, 0.040, 0.5), 0)

    def test_uniform_overload_of_15_percent_ends_15_percent_late(self):
        late_s = end_lateness_s([0.046] * 1000, 0.040, 1.0)
        self.assertAlmostEqual(late_s / 40, 0.15, places=2)

    def test_unused_time_of_cheap_pictures_is_lost(self):
        busy_last = end_lateness_s([0.010] * 50 + [0.060] * 50, 0.040, 1.0)
        mixed = end_lateness_s([0.010, 0.060] * 50, 0.040, 1.0)
        self.assertGreater(busy_last, 0.9)
        self.assertLess(mixed, 0.1)

    def test_share_for_inverts_the_model(self):
        costs_s = [0.003, 0.009, 0.004, 0.005] * 75
        share = share_for(costs_s, 0.040, 1.8)
        self.assertAlmostEqual(end_lateness_s(costs_s, 0.040, share), 1.8, places=6)

    def test_correction_compensates_for_decoding_that_costs_more_beside_load(self):
        alone_s = [0.003, 0.009, 0.004, 0.005] * 75
        beside_s = [1.3 * cost_s for cost_s in alone_s]
        first = share_for(alone_s, 0.040, 1.8)
        seen_s = end_lateness_s(beside_s, 0.040, first)
        second = corrected_share(alone_s, 0.040, [(first, seen_s)], 1.8)
        self.assertAlmostEqual(end_lateness_s(beside_s, 0.040, second), 1.8, places=3)

    def test_contradicting_tries_are_averaged(self):
        alone_s = [0.003, 0.009, 0.004, 0.005] * 75
        share = share_for(alone_s, 0.040, 1.8)
        seen = [(factor * share, 1.8) for factor in (1.1, 1.3)]
        self.assertAlmostEqual(corrected_share(alone_s, 0.040, seen, 1.8), (1.1 * 1.3) ** 0.5 * share)


class Tries(unittest.TestCase):
    """Two planned tries, and the tries that follow if the machine does other work at the same time."""

    def next(self, *tries):
        return share_to_try(tries, [0.003, 0.009, 0.004, 0.005] * 75, 0.040, 12)

    def test_time_out_counts_as_a_try_that_ended_far_too_late(self):
        with mock.patch.object(calibration, "play_loaded", side_effect=TimedOut("dlex-play", 36)):
            found = calibration._try(mock.Mock(length_s=12), Path(), 0.1, 0, 20, None)
        self.assertEqual(found, ShareTry(0.1, 2.0, None, timed_out=True, nice=0))

    def test_equal_nice_value_and_then_a_larger_share_follow_a_time_out(self):
        first = ShareTry(0.10, 2.0, None, True)
        self.assertEqual(self.next(first), 0.10)
        self.assertFalse(enough([ShareTry(0.2, 0.9, 0.2), first], 0.10, 2))
        self.assertGreater(self.next(first, ShareTry(0.10, 2.0, None, True, nice=0)), 0.12)

    def test_tries_at_another_nice_value_do_not_count(self):
        crowded_out, last = ShareTry(0.10, 2.0, None, True), ShareTry(0.20, 0.0, 0.2, nice=0)
        self.assertEqual(self.next(crowded_out, last), self.next(last))

    def test_contradicting_tries_are_followed_by_bisection(self):
        self.assertAlmostEqual(self.next(ShareTry(0.10, 0.97, 0.1), ShareTry(0.40, 0.0, 0.4)), 0.2)
        self.assertAlmostEqual(self.next(ShareTry(0.10, 9, None, True), ShareTry(0.40, 0.0, 0.4), ShareTry(0.20, 0.9, 0.2)),
                               (0.2 * 0.4) ** 0.5)

    def test_unusable_tries_do_not_count_beside_a_usable_one(self):
        usable = ShareTry(0.20, 0.25, 0.2)
        self.assertEqual(self.next(ShareTry(0.40, 0.0, 0.4), usable), self.next(usable))

    def test_extra_tries_are_made_only_while_the_last_is_unusable(self):
        self.assertFalse(enough([ShareTry(0.1, 0.9, 0.1), ShareTry(0.2, 0.0, 0.2)], 0.14, 2))
        self.assertTrue(enough([ShareTry(0.1, 0.9, 0.1), ShareTry(0.2, 0.2, 0.2)], 0.2, 2))
        self.assertTrue(enough([ShareTry(SHARE_MAX, 9, None, True, nice=0)] * 2, 1.0, 2))

    def test_no_extra_try_is_made_when_time_is_up_and_one_try_has_ended(self):
        ended, not_ended = ShareTry(0.1, 0.9, 0.1), ShareTry(0.1, 2.0, None, True)
        self.assertTrue(enough([not_ended, ended], 0.2, 2, late=True))
        self.assertFalse(enough([not_ended, not_ended], 0.2, 2, late=True))
        self.assertFalse(enough([ended], 0.2, 2, late=True))

    def test_clip_that_seems_a_little_too_hard_is_tried(self):
        calibration._require_load_possible(1.5 * SHARE_MAX, 0.6)
        with self.assertRaisesRegex(LabError, "the clip needs 95% of this CPU, more than"):
            calibration._require_load_possible(2.1 * SHARE_MAX, 0.95)
        with self.assertRaisesRegex(LabError, "too little to be disturbed"):
            calibration._require_load_possible(0.005, 0.004)

    def concluded(self, *tries):
        result = LoadCalibration(ns_per_loop=20, demand_alone=0.1, frame_s=0.04, tries=list(tries))
        calibration._conclude(result, 0.25)
        return result

    def test_calibration_with_only_time_outs_names_the_cause(self):
        with self.assertRaisesRegex(LabError, r"busy with other work \(load average [0-9.]+\): even with 40 %"):
            self.concluded(ShareTry(0.4, 2.0, None, True))

    def test_usable_last_try_gives_the_share_computed_from_it(self):
        found = self.concluded(ShareTry(0.1, 0.9, 0.1), ShareTry(0.2, 0.2, 0.2))
        self.assertEqual((found.share, found.missed_by, found.missed), (0.25, None, None))

    def test_nearest_try_is_used_when_the_last_is_unusable(self):
        far, nearest, none = ShareTry(0.1, 0.9, 0.1), ShareTry(0.3, 0.02, 0.3), ShareTry(0.2, 2.0, None, True)
        for tries in ((far, nearest, none), (nearest, far)):
            found = self.concluded(*tries)
            self.assertEqual(found.share, 0.3)
            self.assertAlmostEqual(found.missed_by, -0.13)
            self.assertIn(f"nearest of {len(tries)} tries the player without drops ended 2%", found.missed)
            self.assertIn("the aim was 15%", found.missed)


def run_with(policy=NONE, **summary):
    run = Run(policy, Path(), [], 0.0)
    run.summary = summary
    return run


class Medians(unittest.TestCase):
    def setUp(self):
        self.runs = [run_with(shown=shown, skew_ms_mean=mean, rmse_q16_mean=None) for shown, mean in
                     ((10, 5.0), (30, 1.0), (20, 90.0))]

    def test_spread_has_median_minimum_and_maximum_of_each_figure(self):
        found = ranges(self.runs)
        self.assertEqual([found[measure]["shown"] for measure in ("median", "min", "max")], [20, 10, 30])

    def test_figure_that_never_applies_stays_empty(self):
        self.assertIsNone(ranges(self.runs)["median"]["rmse_q16_mean"])

    def test_typical_run_is_the_one_nearest_to_the_median_skew(self):
        self.assertIs(typical(self.runs, ranges(self.runs)["median"]), self.runs[0])

    def test_every_round_has_every_policy_and_begins_with_a_different_one(self):
        order = interleaved(DROP_POLICIES, 3)
        for number in (1, 2, 3):
            self.assertEqual({policy for turn, policy in order if turn == number}, set(DROP_POLICIES))
        self.assertEqual([order[first][1] for first in (0, 4, 8)], [NONE, HEURISTIC, PAPER])


def figures(mean, sd, dropped, end=0.0, rmse=1.0):
    return {"skew_ms_mean": mean, "skew_ms_sd": sd, "dropped_fraction": dropped, "skew_end_ms": end,
            "rmse_q16_sum": rmse, "aborted": 0, "aborted_begun": 0}


class Sentences(unittest.TestCase):
    def said(self, slack, heuristic=None):
        medians = {"none": figures(900, 500, 0, end=1800), "heuristic": heuristic or figures(60, 60, 0.2),
                   SLACK.name: slack}
        return sentences(medians, 12)

    def test_lateness_of_none_is_reported_as_a_share_of_the_played_time(self):
        self.assertIn("1.8 s late, 15% of the 12 s", self.said(figures(0, 0, 0))[0])

    def test_load_that_missed_its_aim_is_reported(self):
        medians = {"none": figures(0, 0, 0, end=300), "heuristic": figures(0, 0, 0)}
        self.assertIn("outside", sentences(medians, 12)[0])

    def test_calibration_that_missed_its_aim_comes_first(self):
        medians = {"none": figures(0, 0, 0, end=300), "heuristic": figures(0, 0, 0)}
        found = sentences(medians, 12, "It could not be set.")
        self.assertEqual(found[0], "It could not be set.")
        self.assertIn("the aim of 10 to 20 %, which the calibration did not reach.", found[1])

    def test_better_at_both_is_called_better(self):
        self.assertIn("better on both counts", self.said(figures(10, 20, 0.1))[1])

    def test_closer_for_more_drops_is_called_a_trade(self):
        self.assertIn("a trade-off, not a win", self.said(figures(10, 20, 0.3))[1])

    def test_later_and_more_drops_is_called_a_loss(self):
        self.assertIn("loses on both counts", self.said(figures(100, 200, 0.3))[1])

    def test_small_differences_are_reported_as_no_difference(self):
        self.assertIn("makes no difference", self.said(figures(61, 61, 0.205))[1])

    def test_aborted_pictures_that_had_begun_are_counted_separately(self):
        said = self.said({**figures(10, 20, 0.1), "aborted": 50, "aborted_begun": 7})
        self.assertIn("Of the 50 pictures that slack aborted, 7 had begun to decode;", said[2])
        self.assertIn("All of the 7 pictures", self.said({**figures(0, 0, 0), "aborted": 7, "aborted_begun": 7})[2])
        self.assertNotIn("begun to decode", " ".join(self.said(figures(10, 20, 0.1))))

    def test_deviation_counts_as_much_as_a_constant_lag(self):
        self.assertEqual(rms_skew_ms(figures(3, 4, 0)), 5)


class Records(unittest.TestCase):
    def record(self, *rows):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        folder = Path(holder.name)
        (folder / "frames.csv").write_text(HEADER + "".join(row + "\n" for row in rows))
        return folder

    def test_pre_roll_is_left_out_and_empty_fields_are_none(self):
        frames = read_frames(self.record(
            "0,0,I,0,9,1,2,3,,,none,,",
            "1,40000000,P,0,9,1,2,3,,,shown,7,1500000",
            "2,80000000,B,1,9,1,2,3,5,6,aborted,,",
        ))
        self.assertEqual([frame.verdict for frame in frames], ["shown", "aborted"])
        self.assertIsNone(frames[1].skew_ns)
        self.assertTrue(frames[1].droppable)
        self.assertEqual(end_skew_ms(frames), 1.5)
        self.assertEqual(frame_duration_s(frames), 0.04)

    def test_aborted_pictures_that_began_before_their_deadline_are_counted(self):
        frames = read_frames(self.record(
            "1,40000000,P,0,9,1,2,3,5,,shown,7,1500000",
            "2,80000000,B,1,9,4,6,3,5,6,aborted,,",
            "3,90000000,B,1,9,5,6,3,5,6,aborted,,",
            "4,99000000,B,1,9,,,,5,6,skipped,,",
        ))
        run = Run(SLACK, Path(), frames, 0.0)
        self.assertEqual((run.aborted_begun, figures_of(run)["aborted_begun"]), (1, 1))

    def test_figures_of_a_job_include_the_duration_of_a_picture(self):
        row = "{},{},P,0,9,1,2,3,,,shown,7,1500000".format
        summary = QoeSummary(**dict.fromkeys(QoeSummary.model_fields, 0.0))
        for rows, frame_ms in ((2, 20.0), (1, None)):
            folder = self.record(*(row(number, number * 20_000_000) for number in range(rows)))
            (folder / "run.json").write_text("{}")
            self.assertEqual(figures_of_job.figures_of(folder, summary, None, "own").frame_ms, frame_ms)

    def test_record_without_a_shown_picture_is_refused(self):
        with self.assertRaisesRegex(LabError, "no picture was shown"):
            read_frames(self.record("0,0,I,0,9,1,2,3,,,none,,"))

    def test_torn_record_is_refused(self):
        with self.assertRaisesRegex(LabError, "cannot be read"):
            read_frames(self.record("0,forty,I,0,9,1,2,3,,,shown,,"))


if __name__ == "__main__":
    unittest.main()
