# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the goals of plays on all CPUs, with invented results.

Not covered: a real comparison; the resamples themselves (test_bench_goals).
"""

import unittest
from pathlib import Path

from outside import with_packages

with_packages("numpy, scipy, pydantic, yaml, rich")

from dlex_bench.analysis import goals
from dlex_bench.analysis.results_frame import rows
from dlex_bench.report.gather import Batch
from dlex_bench.report.meaning import meaning_of
from made_up import changed, point, repeated, result, settings_of

FIVE = "no worse than every peer in all five figures"
STARVING = "at most a third of the best peer's drops and a fifth of its RMSE"
CELLS = "no worse than every peer by medians in 80% of the cells, and by twice the margins in none"
CPU = "CPU a picture at most 0.97 of the cheapest peer's"
NEAREST = "A-V nearest to 0, and steadiest, of all players"
OTHERS = "other programs keep at least as much as beside mpv and VLC"


def cell(name, section="stress8-trailer", load="stress", runs=5, freeze=100.0, fraction=0.0, others=None, **figures):
    points = [{**point(**figures), "longest_freeze_ms": freeze, "frames": 812, "drops_fraction": fraction}] * runs
    made = repeated(name, points, section=section, load=load, sched="free")
    return [changed(one, load={"others": others}) for one in made] if others is not None else made


def outcomes(*groups):
    settings = settings_of(*groups)
    return {(it.section, it.name): it for it in goals.outcomes(settings, list(dict.fromkeys(it for it, _ in settings)))}


class NamedCells(unittest.TestCase):
    def word(self, name, *groups, section="stress8-trailer"):
        found = outcomes(*groups).get((section, name))
        return found and found.word

    def test_longest_freeze_counts_like_the_other_four_figures(self):
        for freeze, word in ((600.0, "met"), (601.0, "missed")):
            self.assertEqual(self.word(FIVE, cell("dlex", freeze=freeze), cell("mpv", freeze=100.0)), word)
        self.assertEqual(self.word(FIVE, cell("dlex", dropped=14), cell("mpv", dropped=10)), "met")
        self.assertEqual(self.word(FIVE, cell("dlex", dropped=15), cell("mpv", dropped=10)), "missed")
        self.assertEqual(self.word(FIVE, cell("dlex", runs=2), cell("mpv", runs=2)), "not certain")

    def test_only_named_cells_have_a_goal_of_their_own(self):
        for section, there in (("build-sixty", True), ("stress4-trailer", False), ("stress8-hevc", False)):
            found = self.word(FIVE, cell("dlex", section), cell("mpv", section), section=section)
            self.assertEqual(found is not None, there, section)

    def test_where_the_best_peer_starves_a_third_of_its_drops_and_a_fifth_of_its_rmse_are_the_most(self):
        def word(dropped, rmse, fraction=0.05):
            peers = cell("mpv", dropped=30, rmse=1000, fraction=fraction), cell("vlc", dropped=300, rmse=1, fraction=0.5)
            return self.word(STARVING, cell("dlex", dropped=dropped, rmse=rmse), *peers)

        self.assertEqual(word(10, 200), "met")
        self.assertEqual(word(11, 200), "missed")
        self.assertEqual(word(10, 201), "missed")
        self.assertIsNone(word(10, 200, fraction=0.049))

    def test_starving_peer_with_few_runs_is_not_certain(self):
        peer = cell("mpv", dropped=30, rmse=1000, fraction=0.1, runs=2)
        self.assertEqual(self.word(STARVING, cell("dlex", dropped=1, rmse=1, runs=2), peer), "not certain")


    def test_goal_is_not_met_while_a_peer_is_missing_on_the_machine(self):
        runs = [*cell("dlex"), *cell("mpv")]
        missing = result("playbin", section="stress8-trailer", status="skipped", sched="free")
        for more, word in (([], "met"), ([missing], "not measured")):
            batch = Batch(Path(), rows([*runs, *more]))
            found = {it.name: it for it in meaning_of(batch).outcomes}[FIVE]
            self.assertEqual(found.word, word)
        self.assertIn("there are no figures of playbin", found.sentence)


class OtherPrograms(unittest.TestCase):
    def word(self, ours, mpv, vlc):
        groups = [cell(name, others=it) for name, it in (("dlex", ours), ("mpv", mpv), ("vlc", vlc)) if it is not None]
        return outcomes(*groups, cell("mplayer", others=0.9))["stress8-trailer", OTHERS].word

    def test_they_may_lose_as_much_as_beside_each_of_mpv_and_vlc(self):
        self.assertEqual(self.word(0.70, 0.70, 0.60), "met")
        self.assertEqual(self.word(0.69, 0.70, 0.60), "met")  # within 2 %
        self.assertEqual(self.word(0.68, 0.70, 0.60), "missed")
        self.assertEqual(self.word(0.70, None, None), "not measured")

    def test_load_without_a_pace_has_no_goal(self):
        self.assertNotIn(OTHERS, [name for _section, name in outcomes(cell("dlex"), cell("mpv"))])


class IdleMachine(unittest.TestCase):
    def found(self, ours_ms, ours_sd=1.0, ours_mean=1.0, fraction=0.0):
        def idle(name, ms, **figures):
            made = cell(name, "none-trailer", "none", **figures)
            return [changed(it, figures={**it.to_json()["figures"], "cpu_ms_per_frame": ms}) for it in made]

        peers = idle("mpv", 10.0, sd=2.0, mean=1.5), idle("ffplay", 5.0, sd=1.5, mean=9.0, fraction=0.5)
        found = outcomes(idle("dlex", ours_ms, sd=ours_sd, mean=ours_mean, fraction=fraction), *peers)
        return {name: it.word for (section, name), it in found.items() if section == "none-trailer"}

    def test_cpu_time_is_compared_with_the_cheapest_peer_that_shows_all(self):
        self.assertEqual(self.found(9.7)[CPU], "met")
        self.assertEqual(self.found(9.8)[CPU], "missed")
        self.assertEqual(self.found(1.0, fraction=0.5)[CPU], "not measured")

    def test_mean_and_spread_of_av_are_the_least_of_all(self):
        self.assertEqual(self.found(9.7)[NEAREST], "met")
        self.assertEqual(self.found(9.7, ours_sd=1.6)[NEAREST], "missed")
        self.assertEqual(self.found(9.7, ours_mean=1.6)[NEAREST], "missed")


class AllCells(unittest.TestCase):
    def found(self, *drops, runs=2):
        groups = [it for number, dropped in enumerate(drops) for section in [f"l{number}-trailer"]
                  for it in (cell("dlex", section, dropped=dropped, runs=runs), cell("mpv", section, dropped=10, runs=runs))]
        return outcomes(*groups)["all cells", CELLS]

    def test_four_of_five_cells_meet_the_goal(self):
        self.assertEqual(self.found(10, 10, 14, 10, 15).word, "met")
        found = self.found(10, 10, 15, 10, 15)
        self.assertEqual((found.word, found.sentence), ("missed", "3 of 5 cells; worse in l2-trailer, l4-trailer"))

    def test_one_cell_far_behind_misses_it(self):
        self.assertEqual(self.found(10, 10, 10, 10, 18).word, "met")
        found = self.found(10, 10, 10, 10, 19)
        self.assertEqual(found.word, "missed")
        self.assertIn("by more than twice the margins in l4-trailer dropped than mpv", found.sentence)

    def test_cell_without_figures_leaves_it_uncertain(self):
        known = cell("dlex", "l0-trailer"), cell("mpv", "l0-trailer")
        silent = [repeated(name, [{}] * 2, section="l1-trailer", load="stress", sched="free") for name in ("dlex", "mpv")]
        found = outcomes(*known, *silent)["all cells", CELLS]
        self.assertEqual((found.word, found.sentence), ("not certain", "1 of 1 cells; no figures of l1-trailer"))
        self.assertEqual(outcomes(*silent)["all cells", CELLS].word, "not measured")

    def test_other_policies_have_none_of_these_goals(self):
        section = "stress8-trailer"
        pinned = [repeated(name, [point()] * 5, section=section, load="stress", sched="other") for name in ("dlex", "mpv")]
        self.assertEqual(outcomes(*pinned), {})


if __name__ == "__main__":
    unittest.main()
