# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what dlex_bench computes from figures: loads, medians, sentences, records. Not covered: plots (test_bench_demo)."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

from outside import with_packages

with_packages("pydantic")

from dlex_bench.demo.findings import LoadFigures, sentences
from dlex_bench.demo.runs import DROP_POLICIES, HEURISTIC, NONE, PAPER, Demand, Load, Run, loads_of, ranges
from dlex_bench.demo.runs import figures as figures_of
from dlex_bench.errors import LabError
from dlex_bench.job import figures as figures_of_job
from dlex_bench.job.result import Figures
from dlex_bench.order import interleaved
from dlex_bench.qoe import QoeSummary
from dlex_bench.record import end_skew_ms, frame_duration_s, read_frames
from dlex_bench.report.metrics import TABLE
from dlex_bench.rig.load.throttle import Supply

HEADER = (
    "index,pts_ns,type,droppable,size_bytes,decode_start_ns,decode_end_ns,decode_cpu_ns,deadline_ns,fired_ns,"
    "verdict,shown_ns,skew_ns\n"
)


def load_of(ratio, rate=0.3, pictures=100):
    return Load(Demand(rate, pictures, 0.04), rate / ratio)


class Loads(unittest.TestCase):
    def test_loads_are_what_is_needed_divided_by_what_may_be_used(self):
        found = loads_of(Demand(0.3, 100, 0.04), (0.75, 1.5))
        self.assertEqual([round(load.share, 6) for load in found], [0.4, 0.2])
        self.assertEqual([load.name for load in found], ["75%", "150%"])

    def test_shares_that_hardly_differ_are_one_load(self):
        self.assertEqual(len(loads_of(Demand(0.947, 100, 0.04), (0.7, 1.0, 1.4))), 2)

    def test_loads_that_the_cpu_cannot_give_become_one(self):
        found = loads_of(Demand(0.8, 100, 0.04), (0.5, 0.7, 1.0, 2.0))
        self.assertEqual([round(load.share, 6) for load in found], [0.95, 0.8, 0.4])


def run_with(policy=NONE, load=None, rate=0.1, frames=(), **summary):
    run = Run(policy, load or load_of(1.0), Path(), list(frames), Supply(rate * 5, 5.0, True))
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

    def test_pictures_that_were_not_reached_are_lost_too(self):
        frames = [mock.Mock(pts_ns=0, verdict="late")] * 70
        found = figures_of(run_with(load=load_of(2.0), frames=frames, shown=60, skew_ms_mean=3.0, skew_ms_sd=4.0))
        self.assertEqual((found["unreached"], found["skew_ms_rms"]), (30, 5.0))
        self.assertAlmostEqual(found["lost_fraction"], 0.4)

    def test_what_a_run_got_is_measured_by_what_it_wanted_and_could_have(self):
        self.assertAlmostEqual(run_with(load=load_of(2.0), rate=0.12).got, 0.8)  # of a share of 0.15
        self.assertAlmostEqual(run_with(load=load_of(0.5), rate=0.27).got, 0.9)  # of a demand of 0.3

    def test_every_round_has_every_policy_and_begins_with_a_different_one(self):
        order = interleaved(DROP_POLICIES, 3)
        for number in (1, 2, 3):
            self.assertEqual({policy for turn, policy in order if turn == number}, set(DROP_POLICIES))
        self.assertEqual([order[first][1] for first in (0, 4, 8)], [NONE, HEURISTIC, PAPER])


def figures(rms, lost, got=1.0, freeze_ms=200.0):
    return {"skew_ms_rms": rms, "lost_fraction": lost, "got": got, "longest_freeze_ms": freeze_ms}


class Sentences(unittest.TestCase):
    def said(self, ours, heuristic=None):
        medians = {"dlex-play": ours, "heuristic": heuristic or figures(85, 0.2)}
        return sentences([LoadFigures("140%", 1.4, medians)], "dlex-play", ["heuristic"])

    def test_each_load_has_its_sentence_with_the_figures(self):
        self.assertEqual(self.said(figures(22, 0.1)), [
            "Load 140%: dlex-play loses 10.0% of the pictures, at longest 0.2 s without a new one, and is 22 ms from the sound. "
            "Compared with heuristic (20.0% lost, 85 ms) it is closer to the sound and loses less: better on both counts."
        ])

    def test_nothing_lost_is_said_plainly(self):
        self.assertIn("dlex-play loses no picture, and is 2 ms", self.said(figures(2, 0.0))[0])

    def test_closer_for_more_losses_is_called_a_trade(self):
        self.assertIn("a trade-off", self.said(figures(22, 0.3))[0])

    def test_further_and_more_losses_is_called_worse(self):
        self.assertIn("worse on both counts", self.said(figures(223, 0.3))[0])

    def test_small_differences_are_reported_as_no_difference(self):
        self.assertIn("makes no difference", self.said(figures(86, 0.205))[0])

    def test_other_work_on_the_machine_comes_first(self):
        found = self.said(figures(22, 0.1, got=0.7))
        self.assertIn("it got 70% to 100% of what it was meant to have", found[0])
        self.assertEqual(len(found), 2)


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

    def test_figures_of_a_job_include_the_duration_of_a_picture(self):
        row = "{},{},P,0,9,1,2,3,,,shown,7,1500000".format
        summary = QoeSummary(**dict.fromkeys(QoeSummary.model_fields, 0.0))
        for rows, frame_ms in ((2, 20.0), (1, None)):
            folder = self.record(*(row(number, number * 20_000_000) for number in range(rows)))
            (folder / "run.json").write_text("{}")
            self.assertEqual(figures_of_job.figures_of(folder, summary, None, "own").frame_ms, frame_ms)

    def test_figures_of_a_job_have_every_grade_of_lip_synchronisation(self):
        grades = {"accepted": 0.5, "irritating": 0.3, "distracting": 0.2, "itu_undetected": 0.4, "itu_acceptable": 0.35,
                  "itu_unacceptable": 0.25}
        summary = QoeSummary.model_validate(dict.fromkeys(QoeSummary.model_fields, 0.0) |
                                            {f"lip_sync_{name}": part for name, part in grades.items()})
        folder = self.record("0,0,P,0,9,1,2,3,,,shown,7,1500000")
        (folder / "run.json").write_text("{}")
        found = figures_of_job.figures_of(folder, summary, None, "own").to_json()
        self.assertEqual({name: found[f"lip_sync_{name}"] for name in grades}, grades)

    def test_results_of_older_versions_lack_some_grades(self):
        self.assertIsNone(Figures.model_validate({"lip_sync_accepted": 1.0}).lip_sync_irritating)

    def test_report_has_a_column_for_every_grade_of_lip_synchronisation(self):
        shown = [metric.key for metric in TABLE if metric.key.startswith("lip_sync_")]
        for model in (Figures, QoeSummary):
            self.assertEqual(shown, [name for name in model.model_fields if name.startswith("lip_sync_")])

    def test_record_without_a_shown_picture_is_refused(self):
        with self.assertRaisesRegex(LabError, "no picture was shown"):
            read_frames(self.record("0,0,I,0,9,1,2,3,,,none,,"))

    def test_torn_record_is_refused(self):
        with self.assertRaisesRegex(LabError, "cannot be read"):
            read_frames(self.record("0,forty,I,0,9,1,2,3,,,shown,,"))


if __name__ == "__main__":
    unittest.main()
