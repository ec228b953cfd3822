# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the paper's tables, and which of its findings hold for results.

The results here are invented, because the tested functions are pure. Not covered: how intervals are computed
(test_bench_analysis).
"""

import unittest
from pathlib import Path

from outside import with_packages

with_packages("numpy, scipy, pydantic, yaml, rich")


from dlex_bench import paper
from dlex_bench.analysis import seed_findings
from made_up import changed, repeated, result, settings_of

AGENDAS = Path(__file__).resolve().parents[2] / "bench/agendas"


class Seed(unittest.TestCase):
    def test_reductions_equal_those_in_the_paper(self):
        self.assertAlmostEqual(1 - paper.reduction(paper.RMSE_Q16_SUM, "other"), 0.6206, places=4)
        self.assertAlmostEqual(1 - paper.reduction(paper.RMSE_Q16_SUM, "cbs"), 0.8456, places=3)
        self.assertAlmostEqual(paper.reduction(paper.DROPPED, "cbs"), 0.141, places=3)

    def test_every_table_has_every_cell(self):
        for _title, table in paper.TABLES.values():
            self.assertEqual(set(table), {(e, p) for e in paper.EXPERIMENTS for p in paper.PLAYERS})
        self.assertEqual(set(paper.PLAYED_AS.values()), set(paper.EXPERIMENTS))

    def test_player_that_drops_is_late_with_our_sign_of_skew(self):
        for experiment in paper.EXPERIMENTS:
            if paper.DROPPED[experiment, "mplayer"].mean > 40:
                self.assertGreater(paper.SKEW_MS[experiment, "mplayer"].mean, 80)


class Findings(unittest.TestCase):
    def found(self, name, base, ours=(), section="cbs", **options):
        groups = [repeated("mplayer_framedrop", base, section=section, **options)]
        if ours:
            groups.append(repeated("dlex_paper", ours, section=section, **options))
        told = seed_findings.findings(settings_of(*groups))
        return next(it for it in told if it.id == name and it.section == section)

    def test_finding_late_holds_for_a_late_baseline(self):
        base = [{"skew_ms_mean": value} for value in (80, 85, 90, 84, 86)]
        self.assertEqual(self.found("late", base).verdict.word, "holds")

    def test_finding_late_fails_for_an_early_baseline_and_its_cpu_demand_explains_it(self):
        base = [{"skew_ms_mean": value, "cpu_ms_per_frame": 8.0} for value in (1, 2, 3, 2, 1)]
        told = self.found("late", base, section="other", sched="other")
        self.assertEqual(told.verdict.word, "does not hold")
        self.assertIn("20% of one CPU; with rt-app's 47.5% that is 68%", told.mechanism)

    def test_mechanism_of_a_reserved_player_names_its_budget(self):
        base = [{"skew_ms_mean": value, "cpu_ms_per_frame": 7.9} for value in (1, 2, 3, 2, 1)]
        self.assertIn("20.0% were reserved for the player: it had no time to spare", self.found("late", base).mechanism)
        divided = self.found("late", base, sched="deadline:2/40 + deadline:6/40")
        self.assertIn("20.0% were reserved for the player: it had no time to spare", divided.mechanism)

    def test_runs_on_both_sides_of_the_bound_leave_the_finding_undecided(self):
        base = [{"skew_ms_mean": value} for value in (10, 80, 20, 70, 41)]
        self.assertEqual(self.found("late", base).verdict.word, "undecided")

    def test_finding_without_runs_is_undecided(self):
        self.assertEqual(self.found("late", [{"dropped": 3}]).verdict.word, "undecided")

    def verdict(self, name, section, workload="mplayer_framedrop", **figures):
        told = seed_findings.findings(settings_of(repeated(workload, [figures] * 5, section=section)))
        return next(it.verdict.word for it in told if it.id == name and it.section == section)

    def test_slack_below_0_is_a_miss(self):
        for name, section in (("rtapp_suffers", "other"), ("rtapp_starves", "fifo"), ("rtapp_starves", "rr")):
            self.assertEqual(self.verdict(name, section, missed=1, slack_us=-5), "holds")
            self.assertEqual(self.verdict(name, section, missed=0, slack_us=5), "does not hold")

    def test_large_figures_are_written_without_powers_of_ten(self):
        told = seed_findings.findings(settings_of(repeated("mplayer_framedrop", [{}] * 5, section="other", missed=1,
                                                           slack_us=-258600)))
        evidence = next(it.verdict.evidence for it in told if it.id == "rtapp_suffers")
        self.assertIn("us: -258,600 to -258,600", evidence)

    def test_isolation_is_judged_per_task_and_player(self):
        for name, workload in (("slow_task", "mplayer_framedrop"), ("isolated_dlex", "dlex_paper")):
            self.assertEqual(self.verdict(name, "cbs", workload, missed=0), "holds")
            self.assertEqual(self.verdict(name, "cbs", workload, missed=1), "does not hold")

    def test_each_word_of_the_paper_has_a_bound(self):
        for name, section, workload, holds, fails in (
            ("drops", "other", "mplayer_framedrop", 0.05, 0.01),
            ("few_drops", "fifo", "mplayer_framedrop", 0.005, 0.02),
            ("few_drops_dlex", "rr", "dlex_paper", 0.004, 0.01),
        ):
            self.assertEqual(self.verdict(name, section, workload, drops_fraction=holds), "holds")
            self.assertEqual(self.verdict(name, section, workload, drops_fraction=fails), "does not hold")

    def test_drops_of_a_policy_refute_fewer_drops_when_the_baseline_has_none(self):
        told = self.found("fewer_drops", [{"dropped": 0}] * 5, [{"dropped": it} for it in (5, 6, 7, 5, 6)])
        self.assertEqual(told.verdict.word, "does not hold")
        equal = self.found("fewer_drops", [{"dropped": 0}] * 5, [{"dropped": 0}] * 5)
        self.assertEqual(equal.verdict.word, "undecided")

    def test_mechanism_distinguishes_demand_above_the_cpu_from_demand_below_the_reservation(self):
        base = [{"skew_ms_mean": 1.0, "cpu_ms_per_frame": 25.0}] * 5
        self.assertIn("110%: more than one CPU has", self.found("late", base, section="other", sched="other").mechanism)
        spare = [{"skew_ms_mean": 1.0, "cpu_ms_per_frame": 6.0}] * 5
        self.assertIn("it had enough time on average", self.found("late", spare).mechanism)

    def test_short_task_waits_for_player_and_long_task_of_the_same_priority(self):
        for spent, said in ((4, "1.2 ms on average"), (8, "1.8 ms on average")):
            base = [{"missed": 1, "slack_us": 9, "cpu_ms_per_frame": spent, "skew_ms_mean": 90.0}] * 5
            told = self.found("rtapp_starves", base, section="fifo", sched="fifo:5").mechanism
            self.assertIn(said, told)
            self.assertIn(f"5 ms to spare, and waits until the tasks of its priority sleep: the player after {spent}.0 ms of "
                          "every 40, the long task after 20 of every 200", told)
            self.assertIn("while the player sleeps after each picture; a late one does not (it was late by 90 ms", told)

    def test_misses_under_a_reservation_are_explained_by_the_tasks_own_work(self):
        base = [{"missed": 100 + number, "cpu_ms_per_frame": 2.0, "work_ms": 2.9 + number / 50} for number in range(5)]
        for name, workload in (("isolated", "mplayer_framedrop"), ("isolated_dlex", "dlex_paper")):
            for section in ("cbs", "cbs15"):
                runs = repeated(workload, base, section=section)
                told = next(it for it in seed_findings.findings(settings_of(runs)) if it.id == name
                            and it.section == section).mechanism
                self.assertIn("2.90 to 2.98 ms each (means of the runs), of a budget of 3.15: a longer job is late", told)
                self.assertNotIn("picture", told)
        enough = self.found("slow_task", [{"missed": 1, "work_ms": 18.0}] * 5).mechanism
        self.assertEqual(enough, "The task's jobs took 18.00 ms each (means of the runs), of a budget of 21: the budget is large "
                                 "enough.")

    def test_misses_under_a_reservation_are_compared_with_those_of_the_control(self):
        for there, word in ((101, "cannot distinguish the two"), (1, "the player causes the rest"), (300, "fewer")):
            base = repeated("mplayer_framedrop", [{"missed": 100 + number} for number in range(5)])
            control = repeated("dlex_none", [{"missed": there + number} for number in range(5)], section="control")
            told = seed_findings.findings(settings_of(base, control))
            found = next(it for it in told if it.id == "isolated" and it.section == "cbs").mechanism
            self.assertIn(f"10.2% of its periods in 5 runs, and {(there + 2) / 1000:.1%} in 5 runs of the control", found)
            self.assertIn(word, found)

    def test_runs_whose_load_was_not_held_are_left_out_of_isolation(self):
        runs = repeated("mplayer_framedrop", [{}] * 5, missed=0)
        spoilt = [result("mplayer_framedrop", 6, missed=500, work_held=False)]
        told = next(it for it in seed_findings.findings(settings_of(runs, spoilt)) if it.id == "isolated").verdict
        self.assertEqual(told.word, "holds")
        self.assertIn("in 5 of 5 runs", told.evidence)
        self.assertIn("left out 1 of 6 runs", told.evidence)
        alone = next(it for it in seed_findings.findings(settings_of(spoilt)) if it.id == "isolated").verdict
        self.assertEqual(alone.word, "undecided")

    def test_lag_of_the_papers_rule_is_explained_by_its_gain(self):
        base = [{"skew_ms_abs_mean": 20.0, "skew_ms_mean": 20.0, "skew_ms_sd": 20.0}] * 5
        ours = [{"skew_ms_abs_mean": it, "skew_ms_mean": it, "skew_ms_sd": it, "cpu_ms_per_frame": 9.0}
                for it in (170.0, 176.0, 180.0, 175.0, 190.0)]
        for name in ("closer", "steadier"):
            told = self.found(name, base, ours).mechanism
            self.assertIn("37.0 ms from the start of its decode; the mean A-V of 176 ms takes 1.8 ms off them: a picture "
                          "that is decoded in that time is shown, no matter how late it is", told)
            self.assertNotIn("CPU", told)

    def test_error_sums_are_split_into_number_and_size(self):
        base = [{"dropped": 10, "rmse_q16_sum": 50e3 + number} for number in range(5)]
        ours = [{"dropped": 40, "rmse_q16_sum": 160e3 + number} for number in range(5)]
        told = self.found("smaller_rmse", base, ours).mechanism
        self.assertIn("40 of dlex_paper, each by 4,000; 10 of mplayer_framedrop, each by 5,000", told)

    def test_duration_of_a_picture_comes_from_the_film(self):
        base = [{"skew_ms_mean": 1.0, "cpu_ms_per_frame": 5.0, "frame_ms": 20.0}] * 5
        self.assertIn("25% of one CPU", self.found("late", base, section="other", sched="other").mechanism)
        for one in base:
            one["frame_ms"] = None
        older = self.found("late", base, section="other", sched="other").mechanism
        self.assertEqual(older, "On the measured CPU the player used 5.0 ms per picture.")

    def test_cpu_time_on_other_cpus_does_not_count_against_the_reservation(self):
        base = [{"skew_ms_mean": 1.0, "cpu_ms_per_frame": 15.0, "cpu_ms_per_frame_held": 10.0, "frame_ms": 40.0}] * 5
        self.assertIn("used 10.0 ms per picture, 25% of one CPU", self.found("late", base).mechanism)

    def test_papers_own_budget_is_judged_by_the_same_row(self):
        base = [{"dropped": it, "drops_fraction": it / 812} for it in (44, 45, 46, 45, 44)]
        ours = [{"dropped": it} for it in (5, 6, 7, 6, 6)]
        self.assertEqual(self.found("fewer_drops", base, ours, section="cbs15").verdict.word, "holds")
        self.assertIn("0.141", self.found("fewer_drops_as_much", base, ours, section="cbs15").said)
        self.assertEqual(self.found("drops", base, ours, section="cbs15").verdict.word, "holds")

    def test_mechanism_reports_cpu_time_of_aborted_pictures(self):
        base = [{"dropped": it} for it in (10, 11, 12, 10, 11)]
        inside = {"aborted": 20, "skipped": 8, "late": 2, "aborted_cpu_s": 0.25}
        ours = [changed(one, inside=inside) for one in repeated("dlex_paper", [{"dropped": 30}] * 5)]
        told = seed_findings.findings(settings_of(repeated("mplayer_framedrop", base), ours))
        found = next(it for it in told if it.id == "fewer_drops" and it.section == "cbs")
        self.assertIn("aborted 20 pictures, skipped 8, and 2 were too late", found.mechanism)
        self.assertIn("cost 250 ms of CPU", found.mechanism)

    def test_one_miss_refutes_isolation(self):
        kept = self.found("isolated", [{"dropped": 1}] * 5, missed=0)
        self.assertEqual(kept.verdict.word, "holds")
        base = [result("mplayer_framedrop", number, missed=int(number == 3), dropped=1) for number in range(1, 6)]
        told = seed_findings.findings(settings_of(base))
        broken = next(it for it in told if it.id == "isolated")
        self.assertEqual(broken.verdict.word, "does not hold")
        self.assertIn("4 of 5 runs", broken.verdict.evidence)

    def test_fewer_drops_can_hold_without_as_few_as_in_the_paper(self):
        base = [{"dropped": value} for value in (44, 45, 46, 45, 44)]
        ours = [{"dropped": value} for value in (22, 22, 23, 22, 23)]
        self.assertEqual(self.found("fewer_drops", base, ours).verdict.word, "holds")
        self.assertEqual(self.found("fewer_drops_as_much", base, ours).verdict.word, "does not hold")

    def test_evidence_also_names_todays_policy(self):
        groups = [repeated(name, [{"dropped": dropped}] * 5) for name, dropped in
                  (("mplayer_framedrop", 40), ("dlex_paper", 50), ("dlex_slack", 10))]
        found = next(it for it in seed_findings.findings(settings_of(*groups)) if it.id == "fewer_drops"
                     and it.section == "cbs")
        self.assertEqual(found.verdict.word, "does not hold")
        self.assertIn("dlex_slack / mplayer_framedrop: 0.25", found.verdict.evidence)

    def test_difference_within_the_noise_does_not_count_as_fewer(self):
        base = [{"dropped": value} for value in (40, 50, 45, 60, 30)]
        ours = [{"dropped": value} for value in (41, 49, 44, 61, 31)]
        self.assertEqual(self.found("fewer_drops", base, ours).verdict.word, "undecided")


if __name__ == "__main__":
    unittest.main()
