# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the evaluation of results: intervals, ratios, dominance.

The results here are invented, because the tested functions are pure. Not covered: reading a result directory
(test_bench_batch), the paper's findings (test_bench_findings).
"""

import unittest
from pathlib import Path
from unittest import mock

from outside import with_packages

with_packages("numpy, scipy, pydantic, yaml, rich")

import numpy as np

from dlex_bench import paper
from dlex_bench.agenda import jobs, reader
from dlex_bench.analysis import front, goals, results_frame, series, statistics
from dlex_bench.analysis.claims import all_at_most, goal_at_least, goal_at_most, with_interval
from dlex_bench.errors import LabError
from made_up import point, repeated, result, settings_of

AGENDAS = Path(__file__).resolve().parents[2] / "bench/agendas"


class Rows(unittest.TestCase):
    def test_figures_of_rt_app_are_found_by_their_path(self):
        row = results_frame.row(result("dlex_none", missed=3, slack_us=-7))
        self.assertEqual((row.value("rtapp-1.missed"), row.value("rtapp-2.slack_us.min")), (3, -7))

    def test_missing_figures_are_none(self):
        row = results_frame.row(result("dlex_none", dropped=None))
        self.assertEqual([row.value(key) for key in ("dropped", "nonsense", "rtapp-1.missed")], [None] * 3)

    def test_failed_runs_are_not_part_of_a_setting(self):
        settings = settings_of([result("a_b", 1), result("a_b", 2, status="failed")])
        self.assertEqual([run.repetition for run in settings["cbs", "a_b"]], [1])

    def test_runs_are_paired_by_repetition(self):
        a = results_frame.rows([result("a", number, dropped=number) for number in (1, 2, 4)])
        b = results_frame.rows([result("b", number, dropped=10 * number) for number in (4, 3, 2)])
        self.assertEqual(results_frame.paired_values(a, b, "dropped"), ([2, 4], [20, 40]))


class Statistics(unittest.TestCase):
    def test_three_runs_have_no_interval(self):
        found = statistics.median_interval([1, 2, 3])
        self.assertEqual((found.value, found.known, found.spans(100)), (2, False, True))

    def test_interval_of_five_runs_contains_the_median(self):
        found = statistics.median_interval([9, 10, 11, 10.5, 9.5])
        self.assertLessEqual(found.low, 9.5)
        self.assertGreaterEqual(found.high, 10.5)

    def test_interval_of_equal_runs_has_no_width(self):
        found = statistics.median_interval([4] * 5)
        self.assertEqual((found.low, found.high), (4, 4))

    def test_interval_narrows_with_the_number_of_runs(self):
        few, many = (statistics.median_interval([1, 2, 3, 4, 5] * times) for times in (1, 20))
        self.assertLess(many.high - many.low, (few.high - few.low) / 2)

    def test_same_runs_give_the_same_interval(self):
        self.assertEqual(statistics.median_interval([3, 1, 4, 1, 5]), statistics.median_interval([3, 1, 4, 1, 5]))

    def test_clear_difference_is_reported_with_its_ratio(self):
        found = statistics.compare([10, 11, 12, 10, 11], [20, 22, 24, 20, 22], paired=True)
        self.assertEqual((found.ratio.value, found.verdict), (0.5, "less"))
        self.assertLess(found.ratio.high, 0.7)

    def test_difference_smaller_than_the_spread_is_noise(self):
        self.assertEqual(statistics.compare([10, 30, 20, 25, 15], [12, 28, 22, 24, 13]).verdict, "noise")

    def test_pairing_removes_what_affects_both_sides(self):
        slow_machine = [0, 100, 200, 300, 400, 500]
        a, b = ([value + offset for value in slow_machine] for offset in (50, 60))
        paired, alone = (statistics.compare(a, b, paired=it).difference for it in (True, False))
        self.assertLess(paired.high - paired.low, alone.high - alone.low)
        self.assertTrue(statistics.compare(a, b).noise)

    def test_comparison_with_zero_has_a_difference_but_no_ratio(self):
        found = statistics.compare([5, 6, 7, 5, 6], [0] * 5)
        self.assertIsNone(found.ratio)
        self.assertEqual(found.verdict, "more")

    def test_negative_figures_have_no_ratio(self):
        self.assertIsNone(statistics.compare([-5, 6, 7, 5], [1, 2, 3, 4]).ratio)

    def test_few_runs_decide_nothing(self):
        self.assertEqual(statistics.compare([1, 1], [9, 9]).verdict, "too few runs")

    def test_interval_of_few_runs_is_expanded_as_student_would(self):
        self.assertAlmostEqual(statistics._expanded(5), 0.99809, places=5)

    def test_twenty_runs_use_another_interval_than_nineteen(self):
        sample = [2.0**number for number in range(20)]
        with mock.patch.object(statistics, "ENOUGH_FOR_BCA", 21):
            expanded = statistics.median_interval(sample)
        self.assertNotEqual(statistics.median_interval(sample), expanded)
        with mock.patch.object(statistics, "ENOUGH_FOR_BCA", 19):
            self.assertNotEqual(statistics.median_interval(sample[:19]), statistics.median_interval(sample))

    def test_median_that_no_single_run_moves_still_has_an_interval(self):
        found = statistics.median_interval([1.0] * 19 + [2.0])
        self.assertEqual((found.low, found.high), (1, 1))

    def test_side_with_fewer_runs_decides_whether_there_are_enough(self):
        self.assertEqual(statistics.compare([1, 2, 3, 4, 5, 6], [7, 8, 9]).verdict, "too few runs")

    def test_comparison_without_runs_raises_value_error(self):
        for pair in (([], [1]), ([1], [])):
            with self.assertRaises(ValueError):
                statistics.compare(*pair)

    def test_spread_without_runs_is_none_and_of_one_run_has_deviation_zero(self):
        self.assertIsNone(statistics.spread([]))
        self.assertEqual(statistics.spread([3]).sd, 0)
        self.assertAlmostEqual(statistics.spread([1, 3]).sd, 2**0.5)

    def test_hundred_runs_use_the_corrected_interval(self):
        skewed = [2.0**number for number in range(10)] * 10
        found = statistics.compare(skewed, [0] * 100, middle=np.mean).difference
        self.assertGreater(found.high - found.value, found.value - found.low)


class Front(unittest.TestCase):
    def margins(self, ours=None, peer=None, frames=812):
        """Returns the margins between settings whose runs have these median errors of a repeated picture."""
        groups = [results_frame.rows(result(name, number, frames=frames, rmse_q16_median=it, **point())
                                     for number, it in enumerate(some or [0.0] * 5, 1))
                  for name, some in (("dlex_slack", ours), ("mpv_vo", peer))]
        return front.margins_between(*groups)

    def test_point_better_in_one_figure_and_not_worse_in_the_others_dominates(self):
        none = dict.fromkeys(front.AXES, 0.0)
        self.assertTrue(front.dominates(point(dropped=9), point(), none))
        self.assertFalse(front.dominates(point(), point(), none))
        self.assertFalse(front.dominates(point(dropped=9, rmse=101), point(), none))

    def test_margins_are_a_millisecond_half_a_percent_of_the_pictures_and_as_many_repeats(self):
        found = self.margins(ours=[900] * 5, peer=[100, 300, 200, 0, 0])
        expected = {"skew_ms_sd": 1, "skew_ms_abs_mean": 1, "dropped": 4.06, "rmse_q16_sum": 812, "longest_freeze_ms": 500}
        self.assertEqual(set(found), set(expected))
        for axis, margin in expected.items():
            self.assertAlmostEqual(found[axis], margin)
        self.assertAlmostEqual(self.margins(frames=250)["dropped"], 1.25)

    def test_peer_that_repeated_nothing_leaves_the_margin_of_our_repeats(self):
        self.assertAlmostEqual(self.margins(ours=[500] * 5)["rmse_q16_sum"], 4.06 * 500)
        self.assertEqual(self.margins()["rmse_q16_sum"], 0)

    def test_difference_within_the_margin_is_no_worse(self):
        margins = self.margins(peer=[100] * 5)
        for within, beyond in (({"sd": 11}, {"sd": 11.1}), ({"mean": 11}, {"mean": 11.1}), ({"dropped": 14}, {"dropped": 15}),
                               ({"rmse": 506}, {"rmse": 507})):
            self.assertTrue(front.no_worse(point(**within), point(), margins), within)
            self.assertFalse(front.no_worse(point(**beyond), point(), margins), beyond)
            self.assertFalse(front.dominates(point(), point(**within), margins), within)
            self.assertTrue(front.dominates(point(), point(**beyond), margins), beyond)

    def test_resamples_have_the_margins_of_each_pair(self):
        # mpv repeats pictures that change a lot, mplayer does not: the same RMSE is within one margin and beyond the other.
        def found(ours, repeat):
            return self.goal(*({**it, "frames": 812, "rmse_q16_median": median} for it, median in
                               ((ours, 500), (point(), 10), (point(rmse=100), repeat))))

        near = point(sd=10.9, mean=10.9, rmse=130, dropped=14)
        self.assertEqual((found(near, 10).winner, found(near, 10).holds_in), ("dlex_slack", 1.0))
        far = {**near, "rmse_q16_sum": 141}
        told = found(far, 500)
        self.assertEqual((told.winner, told.holds_in), (None, 0.0))
        self.assertEqual(told.worse_in["dlex_slack"], {"mplayer_framedrop": ["rmse_q16_sum"]})

    def goal(self, ours, peer, other=None):
        groups = [repeated("dlex_slack", [ours] * 5), repeated("mplayer_framedrop", [peer] * 5)]
        if other:
            groups.append(repeated("mpv_vo", [other] * 5))
        settings = settings_of(*groups)
        return front.goal("cbs", results_frame.of_section(settings, "cbs"))

    def test_policy_that_is_not_worse_than_any_peer_wins(self):
        found = self.goal(point(), point(sd=20))
        self.assertEqual((found.winner, found.holds_in), ("dlex_slack", 1.0))
        self.assertEqual(found.dominated_peers, ["mplayer_framedrop"])

    def test_one_peer_that_is_better_in_one_figure_prevents_a_winner(self):
        found = self.goal(point(), point(sd=20), point(sd=90, dropped=0, rmse=0))
        self.assertIsNone(found.winner)
        self.assertEqual(found.worse_in["dlex_slack"], {"mpv_vo": ["rmse_q16_sum", "dropped"]})
        self.assertEqual((found.undominated, found.holds_in), (["dlex_slack"], 0.0))

    def test_uncertainty_shows_in_the_share_of_resamples(self):
        ours = repeated("dlex_slack", [point(dropped=it) for it in (8, 9, 10, 11, 12)])
        peer = repeated("mplayer_framedrop", [point(dropped=it) for it in (11, 8, 12, 9, 10)])
        found = front.goal("cbs", results_frame.of_section(settings_of(ours, peer), "cbs"))
        self.assertGreater(found.holds_in, 0.3)
        self.assertLess(found.holds_in, 0.9)

    def test_share_of_resamples_is_that_of_the_winner(self):
        # The policy with the better medians is not always the one that wins more often: the figures of a run are correlated.
        reached = {"dlex_slack": [True, True, False, False, False], "dlex_paper": [False, False, True, True, True]}
        groups = [repeated(name, [point(dropped=n)] * 5) for name, n in (("dlex_slack", 1), ("dlex_paper", 3), ("mpv_vo", 2))]
        with mock.patch.object(front, "_reached", lambda *_: reached):
            found = front.goal("cbs", results_frame.of_section(settings_of(*groups), "cbs"))
        self.assertEqual((found.winner, found.best, found.holds_in), ("dlex_slack", "dlex_slack", 0.4))
        self.assertEqual(found.some_holds_in, 1.0)

    def test_few_runs_have_no_share(self):
        groups = [repeated("dlex_slack", [point()] * 5), repeated("mpv_vo", [point(sd=20)] * 3)]
        found = front.goal("cbs", results_frame.of_section(settings_of(*groups), "cbs"))
        self.assertEqual((found.winner, found.holds_in), ("dlex_slack", None))

    def test_drift_common_to_all_settings_adds_no_uncertainty(self):
        drift = (0.7, 0.85, 1.0, 1.15, 1.3)
        ours = repeated("dlex_slack", [point(*(round(1900 * it) for _axis in front.AXES)) for it in drift])
        peer = repeated("mplayer_framedrop", [point(*(round(2000 * it) for _axis in front.AXES)) for it in drift])
        found = front.goal("cbs", results_frame.of_section(settings_of(ours, peer), "cbs"))
        self.assertEqual((found.winner, found.holds_in), ("dlex_slack", 1.0))

    def test_share_uses_only_repetitions_common_to_all_settings(self):
        ours = [result("dlex_slack", number, **point(sd=5000 if number == 1 else 5)) for number in (1, 2, 3, 4, 5)]
        peer = [result("mpv_vo", number, **point()) for number in (2, 3, 4, 5, 6)]
        found = front.goal("cbs", results_frame.of_section(settings_of(ours, peer), "cbs"))
        self.assertEqual(found.holds_in, 1.0)
        found = front.goal("cbs", results_frame.of_section(settings_of(ours, peer[1:]), "cbs"))
        self.assertIsNone(found.holds_in)

    def test_setting_without_all_four_figures_is_named(self):
        groups = [repeated(name, [point()] * 2) for name in ("dlex_slack", "mpv_vo")]
        groups.append([result("ffplay_default", 1, dropped=3)])
        found = front.goal("cbs", results_frame.of_section(settings_of(*groups), "cbs"))
        self.assertEqual(found.unmeasured, ["ffplay_default"])

    def test_section_without_anything_to_compare_has_no_goal(self):
        settings = settings_of(repeated("mpv_vo", [point()]))
        self.assertIsNone(front.goal("cbs", results_frame.of_section(settings, "cbs")))


class GoalWords(unittest.TestCase):
    def test_goal_is_judged_by_the_whole_interval_and_met_at_its_bound(self):
        for low, high, most, least in ((1, 2, "met", "not certain"), (2, 3, "not certain", "met"), (1, 3, *["not certain"] * 2),
                                       (2.1, 3, "missed", "met"), (1, 1.9, "met", "missed")):
            found = statistics.Interval(2, low, high, 5)
            self.assertEqual((goal_at_most(found, 2), goal_at_least(found, 2)), (most, least), found)

    def test_goal_without_interval_is_not_certain_and_without_value_not_measured(self):
        for judge in (goal_at_most, goal_at_least):
            self.assertEqual(judge(statistics.Interval(2, None, None, 3), 2), "not certain")
            self.assertEqual(judge(None, 2), "not measured")

    def test_goal_of_every_run_is_missed_if_no_run_meets_it(self):
        for values, word in (((1, 2), "met"), ((1, 3), "not certain"), ((2.1, 3), "missed"), ((), "not measured")):
            self.assertEqual(all_at_most(values, 2), word)

    def test_value_is_worded_with_its_interval(self):
        self.assertEqual(with_interval(statistics.Interval(2, 1, 3, 5), "{:+.1f}"), "+2.0 (+1.0 to +3.0)")
        self.assertEqual(with_interval(statistics.Interval(2, None, None, 3)), "2.00 (too few runs for an interval)")
        self.assertEqual(with_interval(None), "not measured")


class Agendas(unittest.TestCase):
    """The agendas contain the sections and workloads that the analysis expects."""

    def settings(self, name):
        agenda = reader.read_agenda(AGENDAS / f"{name}.yaml")
        return {(job.section, job.workload): job for job in jobs.expand(agenda)}

    def test_paper_agenda_has_every_cell_of_the_papers_table(self):
        found = self.settings("paper")
        for section in paper.PLAYED_AS:
            for workload in paper.STANDS_FOR.values():
                self.assertIn((section, workload), found)
        self.assertEqual(found["rr", "dlex_paper"].sched, "rr:5")

    def test_peers_agenda_has_the_references_in_every_section_with_a_goal(self):
        found = self.settings("peers")
        for section in ("cbs", "quota", "other"):
            for workload in goals.REFERENCES:
                self.assertIn((section, workload), found)
        self.assertEqual({job.load.kind for (section, _), job in found.items() if section == "alone"}, {"none"})
        self.assertEqual([key for key in found if key[0] == results_frame.CONTROL], [(results_frame.CONTROL, "dlex_none")])

    def test_degrade_agenda_compares_each_section_with_the_default(self):
        try:
            found = self.settings("degrade")
        except LabError as cause:
            self.skipTest(f"its clips cannot be made: {cause}")
        for section in {section for section, _workload in found}:
            options = {workload: list(job.player_params.options) for (of, workload), job in found.items() if of == section}
            self.assertEqual(options, {"dlex_default": [], "dlex_degrade": ["--degrade=auto"]})
            self.assertIn("dlex_default", goals.ALL_REFERENCES)

    def test_peers_agenda_puts_no_player_with_several_decoding_threads_under_a_reservation(self):
        for (section, _workload), job in self.settings("peers").items():
            if section == "cbs":
                self.assertNotEqual(job.player_params.threads, "auto")

    def test_peers_agenda_has_every_player_with_and_without_a_queue_where_these_are_compared(self):
        found = self.settings("peers")
        ours = ["dlex_none_auto", "dlex_heuristic_auto", "dlex_slack_auto", "dlex_slack_queue100"]
        mpv = ["mpv_vo_queue50", "mpv_decoder_queue50", "mpv_vo_queue100"]
        for section in ("quota", "other"):
            for workload in (*ours, *mpv):
                self.assertIn((section, workload), found)
        self.assertEqual([found["quota", name].player_params.queue for name in ours], ["auto", "auto", "auto", "100"])
        for name, most in zip(mpv, (50, 50, 100), strict=True):
            self.assertIn(f"--vd-queue-max-samples={most}", found["quota", name].player_params.options)
        # One reservation cannot hold mpv in any case; its variants need not be skipped one by one.
        self.assertEqual({name for section, name in found if section == "cbs"} & set(mpv), set())
        self.assertLessEqual({("alone", name) for name in ("mpv_vo", "mpv_vo_queue50", "dlex_none_auto", "dlex_slack_auto")},
                             set(found))

    def test_agenda_uses_a_made_clip_when_the_film_is_missing(self):
        for here, recipe in ((True, "trailer_1080p_stamped"), (False, "hard_1080p_stamped")):
            with mock.patch.object(jobs, "film_is_here", return_value=here):
                self.assertEqual(self.settings("paper")["cbs", "dlex_none"].clip.recipe, recipe)


class Series(unittest.TestCase):
    def test_panels_have_one_line_per_section_and_only_known_figures(self):
        runs = [{"dropped": 1, "skew_ms_mean": 2.0}] * 3
        groups = [repeated("dlex_slack", runs, section=name) for name in ("cbs", "fifo")]
        panels = {panel.letter: panel for panel in series.panels(settings_of(*groups), "dlex_slack")}
        self.assertEqual(list(panels), ["a", "c", "d"])
        self.assertEqual([line.section for line in panels["a"].lines], ["cbs", "fifo"])
        self.assertEqual((panels["d"].lines[0].x, panels["d"].lines[0].y), ([1, 1, 1], [2, 2, 2]))


if __name__ == "__main__":
    unittest.main()
