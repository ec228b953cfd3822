# SPDX-License-Identifier: LGPL-2.1-or-later
"""What results mean: intervals, ratios, dominance, the paper's tables and findings. Results here are made up, as these
are tests of pure functions; not covered: reading a result directory (test_bench_batch)."""

import unittest
from pathlib import Path
from unittest import mock

from outside import with_packages

with_packages("numpy, scipy, pydantic, yaml, rich")
AGENDAS = Path(__file__).resolve().parents[2] / "bench/agendas"

from dlex_bench.agenda import jobs, reader  # noqa: E402
from dlex_bench.analysis import front, goals, results_frame, seed, seed_findings, series, statistics  # noqa: E402
from dlex_bench.peers import standings  # noqa: E402


def result(workload, repetition=1, section="cbs", status="done", load="rtapp", sched="deadline:8/40", **figures):
    missed = figures.pop("missed", None)
    slack_us = figures.pop("slack_us", 100)
    task = {"periods": 1000, "missed": missed, "slack_us": {"min": slack_us, "mean": slack_us}}
    job = {
        "id": f"{section}-{workload}-r{repetition}", "repetition": repetition, "section": section, "workload": workload,
        "player": "dlex-play" if workload.startswith("dlex") else workload.split("_")[0], "sched": sched,
        "load": {"kind": load, "sched": "same"}, "clip": {},
    }
    return {
        "job": job, "status": status, "reason": None if status == "done" else "it broke", "machine": "m",
        "view": "outside", "policy": {"applied": sched}, "figures": figures, "inside": None,
        "rtapp": None if missed is None else {"rt-app-1": task, "rt-app-2": task},
    }


def point(sd=10.0, mean=10.0, rmse=100.0, dropped=10.0):
    return {"skew_ms_sd": sd, "skew_ms_abs_mean": mean, "rmse_q16_sum": rmse, "dropped": dropped}


def repeated(workload, points, **options):
    return [result(workload, number, **options, **it) for number, it in enumerate(points, 1)]


def settings_of(*groups):
    return results_frame.by_setting(results_frame.rows([one for group in groups for one in group]))


class Rows(unittest.TestCase):
    def test_figures_of_rt_app_are_found_by_their_path(self):
        row = results_frame.row(result("dlex_none", missed=3, slack_us=-7))
        self.assertEqual((row.value("rtapp-1.missed"), row.value("rtapp-2.slack_us.min")), (3, -7))

    def test_absent_figures_are_none(self):
        row = results_frame.row(result("dlex_none", dropped=None))
        self.assertEqual([row.value(key) for key in ("dropped", "nonsense", "rtapp-1.missed")], [None] * 3)

    def test_failed_runs_have_no_part_in_a_setting(self):
        settings = settings_of([result("a_b", 1), result("a_b", 2, status="failed")])
        self.assertEqual([run.repetition for run in settings["cbs", "a_b"]], [1])

    def test_pairs_are_those_of_one_repetition(self):
        a = results_frame.rows([result("a", number, dropped=number) for number in (1, 2, 4)])
        b = results_frame.rows([result("b", number, dropped=10 * number) for number in (4, 3, 2)])
        self.assertEqual(results_frame.paired_values(a, b, "dropped"), ([2, 4], [20, 40]))


class Statistics(unittest.TestCase):
    def test_three_runs_have_no_interval(self):
        found = statistics.median_interval([1, 2, 3])
        self.assertEqual((found.value, found.known, found.spans(100)), (2, False, True))

    def test_five_runs_have_one_that_holds_the_median(self):
        found = statistics.median_interval([9, 10, 11, 10.5, 9.5])
        self.assertLessEqual(found.low, 9.5)
        self.assertGreaterEqual(found.high, 10.5)

    def test_equal_runs_have_an_interval_without_width(self):
        found = statistics.median_interval([4] * 5)
        self.assertEqual((found.low, found.high), (4, 4))

    def test_interval_narrows_with_the_number_of_runs(self):
        few, many = (statistics.mean_interval([1, 2, 3, 4, 5] * times) for times in (1, 20))
        self.assertLess(many.high - many.low, (few.high - few.low) / 2)

    def test_same_runs_give_the_same_interval(self):
        self.assertEqual(statistics.mean_interval([3, 1, 4, 1, 5]), statistics.mean_interval([3, 1, 4, 1, 5]))

    def test_clear_difference_is_told_with_its_ratio(self):
        found = statistics.compare([10, 11, 12, 10, 11], [20, 22, 24, 20, 22], paired=True)
        self.assertEqual((found.ratio.value, found.verdict), (0.5, "less"))
        self.assertLess(found.ratio.high, 0.7)

    def test_difference_smaller_than_the_spread_is_noise(self):
        self.assertEqual(statistics.compare([10, 30, 20, 25, 15], [12, 28, 22, 24, 13]).verdict, "noise")

    def test_pairing_removes_what_both_suffer(self):
        slow_machine = [0, 100, 200, 300, 400, 500]
        a, b = ([value + offset for value in slow_machine] for offset in (50, 60))
        paired, alone = (statistics.compare(a, b, paired=it).difference for it in (True, False))
        self.assertLess(paired.high - paired.low, alone.high - alone.low)
        self.assertTrue(statistics.compare(a, b).noise)

    def test_no_ratio_to_nothing_but_a_difference(self):
        found = statistics.compare([5, 6, 7, 5, 6], [0] * 5)
        self.assertIsNone(found.ratio)
        self.assertEqual(found.verdict, "more")

    def test_figures_with_a_sign_have_no_ratio(self):
        self.assertIsNone(statistics.compare([-5, 6, 7, 5], [1, 2, 3, 4]).ratio)

    def test_few_runs_decide_nothing(self):
        self.assertEqual(statistics.compare([1, 1], [9, 9]).verdict, "too few runs")

    def test_interval_of_few_runs_is_expanded_as_student_would(self):
        self.assertAlmostEqual(statistics._expanded(5), 0.99809, places=5)

    def test_twenty_runs_use_another_interval_than_nineteen(self):
        sample = [2.0**number for number in range(20)]
        with mock.patch.object(statistics, "ENOUGH_FOR_BCA", 21):
            expanded = statistics.mean_interval(sample)
        self.assertNotEqual(statistics.mean_interval(sample), expanded)
        with mock.patch.object(statistics, "ENOUGH_FOR_BCA", 19):
            self.assertNotEqual(statistics.mean_interval(sample[:19]), statistics.mean_interval(sample))

    def test_median_that_no_single_run_moves_has_an_interval_all_the_same(self):
        found = statistics.median_interval([1.0] * 19 + [2.0])
        self.assertEqual((found.low, found.high), (1, 1))

    def test_smaller_side_says_whether_there_are_runs_enough(self):
        self.assertEqual(statistics.compare([1, 2, 3, 4, 5, 6], [7, 8, 9]).verdict, "too few runs")

    def test_nothing_to_compare_is_a_mistake(self):
        for pair in (([], [1]), ([1], [])):
            with self.assertRaises(ValueError):
                statistics.compare(*pair)

    def test_spread_of_nothing_is_none_and_of_one_run_without_deviation(self):
        self.assertIsNone(statistics.spread([]))
        self.assertEqual(statistics.spread([3]).sd, 0)
        self.assertAlmostEqual(statistics.spread([1, 3]).sd, 2**0.5)

    def test_hundred_runs_use_the_corrected_interval(self):
        skewed = [2.0**number for number in range(10)] * 10
        found = statistics.mean_interval(skewed)
        self.assertGreater(found.high - found.value, found.value - found.low)


class Front(unittest.TestCase):
    def test_better_in_one_and_no_worse_in_the_rest_dominates(self):
        self.assertTrue(front.dominates(point(dropped=9), point()))
        self.assertFalse(front.dominates(point(), point()))
        self.assertFalse(front.dominates(point(dropped=9, rmse=101), point()))

    def test_skew_finer_than_the_observer_sees_is_no_difference(self):
        self.assertTrue(front.no_worse(point(sd=10.4), point()))
        self.assertFalse(front.no_worse(point(sd=10.6), point()))

    def test_front_leaves_out_what_is_dominated(self):
        points = {"a": point(dropped=1, sd=50), "b": point(dropped=50, sd=1), "c": point(dropped=60, sd=2)}
        self.assertEqual(front.front(points), ["a", "b"])

    def goal(self, ours, peer, other=None):
        groups = [repeated("dlex_slack", [ours] * 5), repeated("mplayer_framedrop", [peer] * 5)]
        if other:
            groups.append(repeated("mpv_vo", [other] * 5))
        settings = settings_of(*groups)
        return front.goal("cbs", results_frame.of_section(settings, "cbs"))

    def test_policy_that_is_no_worse_than_every_peer_wins(self):
        found = self.goal(point(), point(sd=20))
        self.assertEqual((found.winner, found.holds_in), ("dlex_slack", 1.0))
        self.assertEqual(found.dominated_peers, ["mplayer_framedrop"])

    def test_one_peer_that_is_better_in_one_figure_denies_it(self):
        found = self.goal(point(), point(sd=20), point(sd=90, dropped=0, rmse=0))
        self.assertIsNone(found.winner)
        self.assertEqual(found.worse_in["dlex_slack"], {"mpv_vo": ["rmse_q16_sum", "dropped"]})
        self.assertEqual((found.undominated, found.holds_in), (["dlex_slack"], 0.0))

    def test_doubt_shows_in_the_share_of_resamples(self):
        ours = repeated("dlex_slack", [point(dropped=it) for it in (8, 9, 10, 11, 12)])
        peer = repeated("mplayer_framedrop", [point(dropped=it) for it in (8, 9, 10, 11, 12)])
        found = front.goal("cbs", results_frame.of_section(settings_of(ours, peer), "cbs"))
        self.assertGreater(found.holds_in, 0.3)
        self.assertLess(found.holds_in, 0.9)

    def test_share_is_that_of_the_winner(self):
        # Who has the better medians is not always who wins more often, as the figures of one run belong together.
        shares = {"dlex_slack": 0.4, "dlex_paper": 0.6}
        groups = [repeated(name, [point(dropped=n)] * 5) for name, n in (("dlex_slack", 1), ("dlex_paper", 3), ("mpv_vo", 2))]
        with mock.patch.object(front, "_shares", lambda *_: shares):
            found = front.goal("cbs", results_frame.of_section(settings_of(*groups), "cbs"))
        self.assertEqual((found.winner, found.best, found.holds_in), ("dlex_slack", "dlex_slack", 0.4))

    def test_few_runs_have_no_share(self):
        groups = [repeated("dlex_slack", [point()] * 5), repeated("mpv_vo", [point(sd=20)] * 3)]
        found = front.goal("cbs", results_frame.of_section(settings_of(*groups), "cbs"))
        self.assertEqual((found.winner, found.holds_in), ("dlex_slack", None))

    def test_setting_without_all_four_figures_is_named(self):
        groups = [repeated(name, [point()] * 2) for name in ("dlex_slack", "mpv_vo")]
        groups.append([result("ffplay_default", 1, dropped=3)])
        found = front.goal("cbs", results_frame.of_section(settings_of(*groups), "cbs"))
        self.assertEqual(found.unmeasured, ["ffplay_default"])

    def test_nothing_to_compare_is_no_goal(self):
        settings = settings_of(repeated("mpv_vo", [point()]))
        self.assertIsNone(front.goal("cbs", results_frame.of_section(settings, "cbs")))


class Seed(unittest.TestCase):
    def test_reductions_are_those_that_the_paper_gives(self):
        self.assertAlmostEqual(1 - seed.reduction(seed.RMSE_Q16_SUM, "other"), 0.6206, places=4)
        self.assertAlmostEqual(1 - seed.reduction(seed.RMSE_Q16_SUM, "cbs"), 0.8456, places=3)
        self.assertAlmostEqual(seed.reduction(seed.DROPPED, "cbs"), 0.141, places=3)

    def test_every_table_has_every_cell(self):
        for _title, table in seed.TABLES.values():
            self.assertEqual(set(table), {(e, p) for e in seed.EXPERIMENTS for p in seed.PLAYERS})

    def test_what_drops_is_late_in_our_sign(self):
        for experiment in seed.EXPERIMENTS:
            if seed.DROPPED[experiment, "mplayer"].mean > 40:
                self.assertGreater(seed.SKEW_MS[experiment, "mplayer"].mean, 80)


class Findings(unittest.TestCase):
    def found(self, name, base, ours=(), section="cbs", **options):
        groups = [repeated("mplayer_framedrop", base, section=section, **options)]
        if ours:
            groups.append(repeated("dlex_paper", ours, section=section, **options))
        told = seed_findings.findings(settings_of(*groups))
        return next(it for it in told if it.id == name and it.section == section)

    def test_late_baseline_holds(self):
        base = [{"skew_ms_mean": value} for value in (80, 85, 90, 84, 86)]
        self.assertEqual(self.found("late", base).verdict.word, "holds")

    def test_early_enough_baseline_does_not_and_its_demand_explains(self):
        base = [{"skew_ms_mean": value, "cpu_ms_per_frame": 8.0} for value in (1, 2, 3, 2, 1)]
        told = self.found("late", base, section="other", sched="other")
        self.assertEqual(told.verdict.word, "does not hold")
        self.assertIn("20% of one CPU; with rt-app's 47.5% that is 68%", told.mechanism)

    def test_reserved_player_is_told_its_budget(self):
        base = [{"skew_ms_mean": value, "cpu_ms_per_frame": 7.9} for value in (1, 2, 3, 2, 1)]
        self.assertIn("20.0% were reserved for it: it had no time to spare", self.found("late", base).mechanism)

    def test_runs_on_both_sides_of_the_bound_tell_nothing(self):
        base = [{"skew_ms_mean": value} for value in (10, 80, 20, 70, 41)]
        self.assertEqual(self.found("late", base).verdict.word, "cannot be told")

    def test_what_was_not_played_cannot_be_told(self):
        self.assertEqual(self.found("late", [{"dropped": 3}]).verdict.word, "cannot be told")

    def verdict(self, name, section, workload="mplayer_framedrop", **figures):
        told = seed_findings.findings(settings_of(repeated(workload, [figures] * 5, section=section)))
        return next(it.verdict.word for it in told if it.id == name and it.section == section)

    def test_slack_below_0_is_a_miss(self):
        for name, section in (("rtapp_suffers", "other"), ("rtapp_starves", "fifo"), ("rtapp_starves", "rr")):
            self.assertEqual(self.verdict(name, section, missed=1, slack_us=-5), "holds")
            self.assertEqual(self.verdict(name, section, missed=0, slack_us=5), "does not hold")

    def test_each_task_and_player_has_its_own_isolation(self):
        for name, workload in (("slow_task", "mplayer_framedrop"), ("isolated_dlex", "dlex_paper")):
            self.assertEqual(self.verdict(name, "cbs", workload, missed=0), "holds")
            self.assertEqual(self.verdict(name, "cbs", workload, missed=1), "does not hold")

    def test_words_of_the_paper_have_their_bounds(self):
        for name, section, workload, holds, fails in (
            ("drops", "other", "mplayer_framedrop", 0.05, 0.01),
            ("few_drops", "fifo", "mplayer_framedrop", 0.005, 0.02),
            ("few_drops_dlex", "rr", "dlex_paper", 0.004, 0.01),
        ):
            self.assertEqual(self.verdict(name, section, workload, drops_fraction=holds), "holds")
            self.assertEqual(self.verdict(name, section, workload, drops_fraction=fails), "does not hold")

    def test_drops_of_a_policy_where_the_baseline_has_none_refute_fewer(self):
        told = self.found("fewer_drops", [{"dropped": 0}] * 5, [{"dropped": it} for it in (5, 6, 7, 5, 6)])
        self.assertEqual(told.verdict.word, "does not hold")
        equal = self.found("fewer_drops", [{"dropped": 0}] * 5, [{"dropped": 0}] * 5)
        self.assertEqual(equal.verdict.word, "cannot be told")

    def test_demand_above_the_cpu_and_below_the_reservation_are_told_apart(self):
        base = [{"skew_ms_mean": 1.0, "cpu_ms_per_frame": 25.0}] * 5
        self.assertIn("110%: more than one CPU has", self.found("late", base, section="other", sched="other").mechanism)
        spare = [{"skew_ms_mean": 1.0, "cpu_ms_per_frame": 6.0}] * 5
        self.assertIn("not short of time on average", self.found("late", spare).mechanism)

    def test_short_task_waits_for_a_picture_under_equal_priorities(self):
        for spent, said in ((4, "4.0 ms, and has 5 ms to spare."), (8, "8.0 ms with 5 to spare, and this in one of 5")):
            base = [{"missed": 1, "slack_us": 9, "cpu_ms_per_frame": spent}] * 5
            told = self.found("rtapp_starves", base, section="fifo", sched="fifo:5")
            self.assertIn(said, told.mechanism)

    def test_what_was_aborted_for_nothing_is_told(self):
        base = [{"dropped": it} for it in (10, 11, 12, 10, 11)]
        ours = repeated("dlex_paper", [{"dropped": 30}] * 5)
        for one in ours:
            one["inside"] = {"aborted": 20, "skipped": 8, "late": 2, "aborted_cpu_s": 0.25}
        told = seed_findings.findings(settings_of(repeated("mplayer_framedrop", base), ours))
        found = next(it for it in told if it.id == "fewer_drops" and it.section == "cbs")
        self.assertIn("aborted 20 pictures, skipped 8 and came too late with 2", found.mechanism)
        self.assertIn("cost 250 ms of CPU", found.mechanism)

    def test_one_miss_refutes_isolation(self):
        kept = self.found("isolated", [{"dropped": 1}] * 5, missed=0)
        self.assertEqual(kept.verdict.word, "holds")
        base = [result("mplayer_framedrop", number, missed=int(number == 3), dropped=1) for number in range(1, 6)]
        told = seed_findings.findings(settings_of(base))
        broken = next(it for it in told if it.id == "isolated")
        self.assertEqual(broken.verdict.word, "does not hold")
        self.assertIn("4 of 5 runs", broken.verdict.evidence)

    def test_fewer_drops_but_not_as_few(self):
        base = [{"dropped": value} for value in (44, 45, 46, 45, 44)]
        ours = [{"dropped": value} for value in (22, 22, 23, 22, 23)]
        self.assertEqual(self.found("fewer_drops", base, ours).verdict.word, "holds")
        self.assertEqual(self.found("fewer_drops_as_much", base, ours).verdict.word, "does not hold")

    def test_what_today_s_policy_reaches_stands_beside_the_paper_s(self):
        groups = [repeated(name, [{"dropped": dropped}] * 5) for name, dropped in
                  (("mplayer_framedrop", 40), ("dlex_paper", 50), ("dlex_slack", 10))]
        found = next(it for it in seed_findings.findings(settings_of(*groups)) if it.id == "fewer_drops"
                     and it.section == "cbs")
        self.assertEqual(found.verdict.word, "does not hold")
        self.assertIn("dlex_slack / mplayer_framedrop: 0.25", found.verdict.evidence)

    def test_difference_within_the_noise_is_not_told_as_fewer(self):
        base = [{"dropped": value} for value in (40, 50, 45, 60, 30)]
        ours = [{"dropped": value} for value in (41, 49, 44, 61, 31)]
        self.assertEqual(self.found("fewer_drops", base, ours).verdict.word, "cannot be told")


MISSES = "no rt-app miss under deadline that the player causes"


class Goals(unittest.TestCase):
    def outcomes(self, *groups):
        settings = settings_of(*groups)
        return {it.name: it for it in goals.outcomes(settings, results_frame.sections(
            [run for runs in settings.values() for run in runs]))}

    def test_misses_beside_our_player_miss_the_goal(self):
        ours = repeated("dlex_slack", [point()] * 5, missed=0)
        self.assertEqual(self.outcomes(ours)[MISSES].word, "met")
        guilty = repeated("dlex_slack", [point()] * 5, missed=1)
        self.assertEqual(self.outcomes(guilty)[MISSES].word, "not measured")
        control = repeated("dlex_none", [{}] * 5, missed=0, section="control")
        self.assertEqual(self.outcomes(guilty, control)[MISSES].word, "missed")

    def test_misses_that_are_there_without_a_player_as_well_are_not_its_fault(self):
        ours = [result("dlex_slack", number, missed=missed, **point())
                for number, missed in enumerate((3, 2, 4, 3, 3), 1)]
        control = [result("dlex_none", number, missed=missed, section="control")
                   for number, missed in enumerate((3, 3, 2, 4, 3), 1)]
        self.assertEqual(self.outcomes(ours, control)[MISSES].word, "met")
        heavy = [result("dlex_slack", number, missed=30 + number, **point()) for number in range(1, 6)]
        self.assertEqual(self.outcomes(heavy, control)[MISSES].word, "missed")

    def test_tasks_without_reservations_have_no_such_goal(self):
        ours = repeated("dlex_slack", [point()] * 5, missed=1, sched="other")
        self.assertNotIn(MISSES, self.outcomes(ours))

    def test_cpu_is_set_against_the_cheapest_peer_without_drops(self):
        groups = [
            repeated(name, [{"cpu_ms_per_frame": ms, "drops_fraction": fraction}] * 5, load="none", section="alone")
            for name, ms, fraction in (("dlex_none", 8, 0), ("mpv_no", 10, 0), ("ffplay_no", 12, 0), ("mpv_vo", 2, 0.5))
        ]
        found = self.outcomes(*groups)["CPU a picture at most that of the cheapest peer"]
        self.assertEqual(found.word, "met")
        self.assertIn("(mpv_no): 0.800", found.sentence)

    def front(self, *groups):
        return self.outcomes(*groups)["no worse than every peer in all four figures"]

    def test_missed_front_names_the_nearest_and_where_it_is_worse(self):
        peers = [repeated(f"mpv_{number}", [point(dropped=number)] * 5) for number in range(5)]
        found = self.front(repeated("dlex_slack", [point(sd=5)] * 5), *peers)
        self.assertEqual(found.word, "missed")
        self.assertIn("the nearest is dlex_slack (in 0% of the resamples): worse in dropped than mpv_0;",
                      found.sentence)
        self.assertIn("and 2 more. Our policies dominate 0 of 5 peer settings; dominated by no peer: dlex_slack",
                      found.sentence)

    def test_three_peers_are_all_named(self):
        peers = [repeated(f"mpv_{number}", [point(dropped=number)] * 5) for number in range(3)]
        self.assertNotIn("more", self.front(repeated("dlex_slack", [point(sd=50)] * 5), *peers).sentence)

    def test_met_front_says_when_it_is_no_merit_of_a_policy(self):
        peer = repeated("mpv_vo", [point(sd=50)] * 5)
        self.assertIn("efficiency", self.front(repeated("dlex_none", [point()] * 5), peer).sentence)
        found = self.front(repeated("dlex_slack", [point()] * 5), peer)
        self.assertEqual((found.word, found.sentence),
                         ("met", "dlex_slack is, in 100% of the resamples; our policies dominate 1 of 1 peer settings"))

    def test_front_of_few_runs_or_few_resamples_is_not_certain(self):
        few = self.front(repeated("dlex_slack", [point()] * 2), repeated("mpv_vo", [point(sd=50)] * 2))
        self.assertEqual(few.word, "not certain")
        mixed = [point(sd=10), point(sd=10), point(sd=10), point(sd=90), point(sd=90)]
        found = self.front(repeated("dlex_slack", mixed), repeated("mpv_vo", [point(sd=50)] * 5))
        self.assertEqual(found.word, "not certain")

    def test_front_is_not_met_while_a_peer_is_unknown(self):
        known = [repeated("dlex_slack", [point()] * 5), repeated("mpv_vo", [point(sd=50)] * 5)]
        silent = repeated("ffplay_no", [{"dropped": 3}] * 5)
        found = self.front(*known, silent)
        self.assertEqual(found.word, "not measured")
        self.assertIn("nothing can be said of ffplay_no", found.sentence)
        lost = results_frame.rows([result("mpv_no", status="failed")])
        found = goals.outcomes(settings_of(*known), ["cbs"], lost)[0]
        self.assertEqual((found.word, "of mpv_no" in found.sentence), ("not measured", True))

    def test_few_runs_do_not_acquit_of_misses(self):
        heavy = repeated("dlex_slack", [point()] * 2, missed=300)
        control = repeated("dlex_none", [{}] * 2, missed=1, section="control")
        found = self.outcomes(heavy, control)[MISSES]
        self.assertEqual((found.word, "too few runs" in found.sentence), ("not measured", True))

    def test_shares_of_missed_periods_are_told(self):
        found = self.outcomes(repeated("dlex_slack", [point()] * 2, missed=1),
                              repeated("mpv_vo", [point()] * 3, missed=0))[MISSES]
        self.assertEqual(found.sentence, "0.100% of the periods in 2 runs; beside other players none in 3 runs; "
                                         "without a control they may be rt-app's own")

    def test_ratios_are_paired_with_every_reference(self):
        groups = [repeated(name, [point(dropped=it) for it in (n, n + 1, n, n + 2, n)])
                  for name, n in (("dlex_slack", 10), ("dlex_none", 20), ("mplayer_framedrop", 40))]
        found = {(it.workload, it.against): it.found.ratio.value for it in goals.ratios(settings_of(*groups), "cbs")
                 if it.figure == "dropped"}
        self.assertEqual(found["dlex_slack", "mplayer_framedrop"], 0.25)
        self.assertEqual(set(found), {("dlex_slack", "mplayer_framedrop"), ("dlex_slack", "dlex_none"),
                                      ("dlex_none", "mplayer_framedrop")})


class Standings(unittest.TestCase):
    def test_last_line_counts_goals_that_were_measured(self):
        told = [goals.Outcome("n", "s", word, "") for word in (goals.MET, goals.MISSED, goals.UNMEASURED)]
        self.assertEqual(standings.goals_line(told), "1 of 2 goals hold, 1 not measured")

    def test_ratio_that_is_noise_is_marked(self):
        clear = statistics.compare([10, 11, 12, 10, 11], [20, 22, 24, 20, 22])
        self.assertEqual(standings.ratio_cell(clear).split("\n")[0], "0.5")
        noise = statistics.compare([20, 25, 30, 18, 19], [20, 22, 24, 20, 22])
        self.assertEqual(standings.ratio_cell(noise)[0], "~")

    def test_reference_without_any_is_told_by_the_difference(self):
        self.assertEqual(standings.ratio_cell(statistics.compare([250_000] * 4, [0] * 4)), "+250k")


    def test_section_says_what_it_constrained_and_what_is_left_out(self):
        runs = repeated("dlex_slack", [point()] * 2) + [result("mpv_vo", 1, status="skipped")]
        runs[0]["policy"]["constrains"] = runs[1]["policy"]["constrains"] = "the player's main thread"
        found = results_frame.rows(runs)
        self.assertEqual(standings._held_by(found), ": deadline:8/40 for the player's main thread")
        self.assertEqual(standings._left_out(found), ["skipped: it broke (mpv_vo)"])

    def test_players_that_were_constrained_otherwise_are_named(self):
        runs = [result("dlex_slack"), result("mpv_vo")]
        for run, what in zip(runs, ("the main thread", "all threads"), strict=True):
            run["policy"]["constrains"] = what
        self.assertEqual(standings._held_by(results_frame.rows(runs)),
                         "; deadline:8/40 for the main thread: dlex-play; deadline:8/40 for all threads: mpv")

    def test_ratio_table_has_a_row_for_each_reference_that_was_played(self):
        groups = [repeated(name, [point()] * 5) for name in ("dlex_slack", "mplayer_framedrop")]
        table = standings.ratio_table("cbs", goals.ratios(settings_of(*groups), "cbs"))
        self.assertEqual(list(table.columns[0].cells), ["dlex_slack / mplayer_framedrop"])


class Agendas(unittest.TestCase):
    """What the analysis looks for is in the agendas that it is meant for."""

    def settings(self, name):
        agenda = reader.read_agenda(AGENDAS / f"{name}.yaml")
        return {(job.section, job.workload): job for job in jobs.expand(agenda)}

    def test_paper_has_every_cell_of_its_table(self):
        found = self.settings("paper")
        for section in seed.EXPERIMENTS:
            for workload in seed.STANDS_FOR.values():
                self.assertIn((section, workload), found)
        self.assertEqual(found["rr", "dlex_paper"].sched, "rr:5")

    def test_peers_have_the_references_in_every_row_with_a_goal(self):
        found = self.settings("peers")
        for section in ("cbs", "quota", "other"):
            for workload in goals.REFERENCES:
                self.assertIn((section, workload), found)
        self.assertEqual({job.load["kind"] for (section, _), job in found.items() if section == "alone"}, {"none"})
        self.assertEqual([key for key in found if key[0] == goals.CONTROL], [(goals.CONTROL, "dlex_none")])

    def test_players_with_several_decoding_threads_are_not_put_under_a_reservation(self):
        for (section, _workload), job in self.settings("peers").items():
            if section == "cbs":
                self.assertNotEqual(job.player_params.get("threads"), "auto")

    def test_clip_of_those_who_have_no_film_is_made(self):
        for here, recipe in ((True, "trailer_1080p_stamped"), (False, "hard_1080p_stamped")):
            with mock.patch.object(jobs, "film_is_here", return_value=here):
                self.assertEqual(self.settings("paper")["cbs", "dlex_none"].clip["recipe"], recipe)


class Series(unittest.TestCase):
    def test_panels_have_a_line_for_each_section_and_only_what_is_known(self):
        runs = [{"dropped": 1, "skew_ms_mean": 2.0}] * 3
        groups = [repeated("dlex_slack", runs, section=name) for name in ("cbs", "fifo")]
        panels = {panel.letter: panel for panel in series.figure(settings_of(*groups), "dlex_slack")}
        self.assertEqual(list(panels), ["a", "c", "d"])
        self.assertEqual([line.section for line in panels["a"].lines], ["cbs", "fifo"])
        self.assertEqual((panels["d"].lines[0].x, panels["d"].lines[0].y), ([1, 1, 1], [2, 2, 2]))


if __name__ == "__main__":
    unittest.main()
