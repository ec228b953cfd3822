# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the line that counts the goals that were met, and which settings stand in front. The results here are invented.

Not covered: a real comparison.
"""

import io
import unittest

from outside import with_packages

with_packages("numpy, scipy, pydantic, yaml, rich")

from rich.console import Console

from dlex_bench.analysis import front, goals, held, outcome, results_frame, statistics
from dlex_bench.job.result import PLAYING_THREADS
from dlex_bench.report import standings
from made_up import changed, point, repeated, result, settings_of

MISSES = "no rt-app miss under deadline that the player causes"


class Standings(unittest.TestCase):
    def test_last_line_counts_measured_goals(self):
        words = (outcome.MET, outcome.MISSED, outcome.UNMEASURED)
        outcomes = [outcome.Outcome("n", "s", word, "") for word in words]
        self.assertEqual(standings.goals_line(outcomes), "1 of 2 goals hold, 1 not measured")

    def test_ratio_that_is_noise_is_marked(self):
        clear = statistics.compare([10, 11, 12, 10, 11], [20, 22, 24, 20, 22])
        self.assertEqual(standings.ratio_cell(clear).split("\n")[0], "0.5")
        noise = statistics.compare([20, 25, 30, 18, 19], [20, 22, 24, 20, 22])
        self.assertEqual(standings.ratio_cell(noise)[0], "~")

    def test_reference_of_zero_is_compared_by_the_difference(self):
        self.assertEqual(standings.ratio_cell(statistics.compare([250_000] * 4, [0] * 4)), "+250k")

    def test_numbers_have_no_powers_of_ten_and_infinity_has_no_unit(self):
        self.assertEqual(standings._ratio_text(1234.5), "1,234")
        self.assertEqual(standings._ratio_text(999.7), "999.7")
        self.assertEqual(standings._difference_text(float("inf")), "+inf")
        self.assertEqual(standings._difference_text(float("-inf")), "-inf")

    def test_ratio_without_an_upper_bound_ends_with_inf(self):
        unbounded = statistics.compare([12, 13, 12, 14, 12], [0, 1, 0, 2, 1])
        self.assertRegex(standings.ratio_cell(unbounded), r"\.\.inf$")
    def printed_goals(self, *groups):
        console = Console(file=io.StringIO(), width=200)
        standings.show_goals(console, results_frame.rows([one for group in groups for one in group]))
        return console.file.getvalue()

    def test_each_machine_has_its_own_goals_and_its_own_control(self):
        groups = []
        for machine, missed in (("m1", 30), ("m2", 0)):
            options = {"machine": machine, "missed": missed}
            groups += [repeated("dlex_slack", [point()] * 5, **options), repeated("mpv_vo", [point()] * 5, **options),
                       repeated("dlex_none", [{}] * 5, section="control", **options)]
        printed = self.printed_goals(*groups)
        for machine in ("m1", "m2"):
            self.assertIn(f"met: cbs on {machine}, {MISSES}", printed)
        guilty = [changed(one, rtapp=one.rtapp and {"rt-app-1": {"periods": 1000, "missed": 90}}) for one in groups[3]]
        printed = self.printed_goals(*groups[:3], guilty, *groups[4:])
        self.assertIn(f"\nmissed: cbs on m2, {MISSES}", printed)
        self.assertIn(f"met: cbs on m1, {MISSES}", printed)

    def test_without_goals_no_line_counts_them(self):
        self.assertEqual(self.printed_goals(repeated("mpv_vo", [point()] * 5)), "")

    def test_no_figure_is_cut_off_in_80_columns(self):
        figures = {"shown": 1, "torn": 1, "skew_ms_mean": 1643.2, "skew_ms_sd": 1224.5, "rmse_q16_sum": 1_507_285,
                   "dropped": 208, "cpu_ms_per_frame": 12.05, "cpu_ms_per_frame_outside": 0.51, "longest_freeze_ms": 2345.0}
        runs = [{key: type(value)(value * (1 + number / 20)) for key, value in figures.items()} for number in range(5)]
        settings = settings_of(*(repeated(name, runs, missed=200) for name in ("dlex_slack", "mplayer_hardframedrop")))
        spreads = {name: standings._spread(found) for (_section, name), found in settings.items()}
        for width in (80, 90, 100, 120, 130, 145):
            console = Console(file=io.StringIO(), width=width)
            console.print(standings._medians(console, spreads, 5, standings.COLUMNS))
            self.assertNotIn("…", console.file.getvalue())
        self.assertIn("..", console.file.getvalue())

    def test_table_compares_every_policy_with_every_peer(self):
        groups = [repeated("dlex_slack", [point(sd=50, dropped=20)] * 2), repeated("dlex_none", [point()] * 2),
                  repeated("mpv_vo", [point()] * 2), repeated("mpv_no", [point(1, 1, 1, 1)] * 2)]
        found = front.goal("cbs", results_frame.of_section(settings_of(*groups), "cbs"))
        table = standings.worse_table("cbs", found)
        self.assertEqual([list(column.cells) for column in table.columns],
                         [["mpv_vo", "mpv_no"], ["s.d., drops", "all four"], ["-", "all four"]])

    def test_ordinary_scheduling_is_named_with_the_cpu_only(self):
        run = results_frame.row(result("dlex_slack", sched="other", constrains=held.MAIN_THREAD))
        self.assertEqual(held.held(run), "other, the player's main thread on the measured CPU")

    def test_players_with_all_threads_on_the_measured_cpu_are_named(self):
        runs = [result("mpv_vo", sched="other", constrains=held.EVERY_THREAD),
                result("dlex_slack", sched="other", constrains=held.MAIN_THREAD)]
        sentence = held.fairness(results_frame.rows(runs))
        self.assertIn("all threads of mpv share the measured CPU, but only the main thread of dlex-play", sentence)
        self.assertIsNone(held.fairness(results_frame.rows(runs[:1])))
        runs.append(result("mplayer_framedrop", sched="other", constrains=PLAYING_THREADS))
        sentence = held.fairness(results_frame.rows(runs))
        self.assertIn("only the main thread of dlex-play and those threads of mplayer that decode or present", sentence)

    def test_players_that_are_held_by_what_their_threads_do_are_held_alike(self):
        runs = [result(name, sched="fifo:5", constrains=PLAYING_THREADS) for name in ("mpv_vo", "mplayer_none", "dlex_slack")]
        self.assertIsNone(held.fairness(results_frame.rows(runs)))
        self.assertEqual(held.held(results_frame.row(runs[0])), "fifo:5 for the player's threads that decode or present")

    def test_cpu_time_outside_the_policy_is_reported(self):
        ours = result("dlex_slack", constrains=held.MAIN_THREAD, cpu_ms_per_frame=7.0, cpu_ms_per_frame_outside=0.5)
        peer = result("mplayer_framedrop", constrains=held.MAIN_THREAD, cpu_ms_per_frame=8.0, cpu_ms_per_frame_outside=0.125)
        ours = changed(ours, threads=self.threads("decodes and presents", "demuxes and decodes sound", "sound"))
        peer = changed(peer, threads=self.threads("demuxes, decodes and presents", "sound"))
        sentence = held.fairness(results_frame.rows([ours, peer]))
        self.assertIn("dlex-play 0.50 of 7.00 ms (demuxes and decodes sound, sound); mplayer 0.12 of 8.00 ms (sound).", sentence)
        self.assertIsNone(held.fairness(results_frame.rows([ours])))
        roles = [["present"], ["decode"], []]
        ahead = changed(ours, threads=[{**thread, "roles": it} for thread, it in
                                       zip(self.threads("presents", "decodes", "sound"), roles, strict=True)])
        sentence = held.fairness(results_frame.rows([ahead, peer]))
        self.assertIn("dlex-play 0.50 of 7.00 ms (sound); mplayer", sentence)
        quotas = [changed(it, figures=it.figures.to_json() | {"cpu_ms_per_frame_outside": 0.0}) for it in (ours, peer)]
        self.assertIsNone(held.fairness(results_frame.rows(quotas)))

    @staticmethod
    def threads(*works):
        return [{"tid": tid, "name": "it", "work": work, "cpu_s": 0.1} for tid, work in enumerate(works)]

    def test_section_names_what_it_constrained_and_what_is_left_out(self):
        runs = repeated("dlex_slack", [point()] * 2, constrains="the player's main thread")
        runs.append(result("mpv_vo", 1, status="skipped"))
        found = results_frame.rows(runs)
        self.assertEqual(standings._held_by(found), ": deadline:8/40 for the player's main thread")
        self.assertEqual(standings._left_out(found), ["skipped: it broke (mpv_vo)"])

    def test_players_that_were_constrained_differently_are_named(self):
        runs = [result("dlex_slack", constrains="the main thread"), result("mpv_vo", constrains="all threads")]
        self.assertEqual(standings._held_by(results_frame.rows(runs)),
                         "; deadline:8/40 for the main thread: dlex-play; deadline:8/40 for all threads: mpv")

    def test_ratio_table_has_a_row_for_each_played_reference(self):
        groups = [repeated(name, [point()] * 5) for name in ("dlex_slack", "mplayer_framedrop")]
        table = standings.ratio_table("cbs", goals.ratios(settings_of(*groups), "cbs"))
        self.assertEqual(list(table.columns[0].cells), ["dlex_slack\n/ mplayer_framedrop"])


if __name__ == "__main__":
    unittest.main()
