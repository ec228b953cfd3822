# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the search for the budget with simulated plays, and to which machine and clip the budget belongs.

Not covered: real plays (test_bench_job_stage.py plays the baseline once).
"""

import hashlib
import random
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from outside import with_packages

with_packages("pydantic, rich, yaml")

from dlex_bench.agenda.job import Job
from dlex_bench.batch import runner
from dlex_bench.errors import LabError
from dlex_bench.job import budget
from dlex_bench.job.bisection import (
    AIM,
    FIRST,
    LEAST,
    MOST,
    MOST_TRIES,
    PLAYS,
    TOLERANCE,
    Try,
    at_the_limit,
    found,
    good,
    next_share,
)
from dlex_bench.job.budget import Calibration
from dlex_bench.job.calibrate import calibrate, refuse_other_content
from dlex_bench.job.context import Context
from dlex_bench.job.result import JobResult


def search(dropped, tries=None):
    tries = [] if tries is None else tries
    while (share := next_share(tries)) is not None:
        tries.append(Try(share, dropped(share)))
    return tries


def steep(at):
    """Returns a clip's drops by share: the aimed number at a share of `at`; a tenth more or less changes it by a third."""
    return lambda share: min(1.0, AIM * (at / share) ** 4)


def job_of(name, sched):
    return Job(id=name, repetition=1, section="s", workload=name, player="dlex-play", player_params={}, sched=sched, load={},
               clip={"recipe": name}, observe="both")


class Search(unittest.TestCase):
    def test_budget_is_found_wherever_it_lies(self):
        for at in (0.04, 0.1, 0.25, 0.3, 0.39):
            tries = search(steep(at))
            self.assertTrue(good(tries, found(tries)), at)
            self.assertLess(abs(found(tries) / at - 1), 0.05, at)
            self.assertLess(len(tries), MOST_TRIES)

    def test_budget_that_is_found_was_played_several_times(self):
        tries = search(steep(0.2))
        self.assertEqual(sum(known.share == found(tries) for known in tries), PLAYS)

    def test_search_continues_where_it_was_interrupted(self):
        whole = search(steep(0.13))
        self.assertEqual(search(steep(0.13), whole[:3]), whole)

    def test_search_ends_despite_noise(self):
        for seed in range(50):
            chance = random.Random(seed)
            tries = search(lambda share, chance=chance: steep(0.2)(share) * chance.uniform(0.3, 3))
            self.assertLessEqual(len(tries), MOST_TRIES)
            self.assertTrue(LEAST <= found(tries) <= MOST)

    def test_single_lucky_play_is_not_enough(self):
        plays = iter([AIM, 3 * AIM, 3 * AIM])
        tries = [Try(FIRST, next(plays)) for _ in range(3)]
        self.assertGreater(next_share(tries), FIRST)

    def test_tolerance_is_one_percent_of_the_pictures(self):
        tries = [Try(0.2, AIM + 0.9 * TOLERANCE)]
        self.assertTrue(good(tries, 0.2))
        self.assertFalse(good([Try(0.2, AIM + 1.1 * TOLERANCE)], 0.2))

    def test_clip_that_is_too_heavy_gets_the_largest_budget(self):
        tries = search(lambda share: 0.5)
        self.assertEqual(found(tries), MOST)
        self.assertEqual(sum(known.share == MOST for known in tries), PLAYS)
        self.assertTrue(at_the_limit(tries, MOST))
        self.assertFalse(at_the_limit([Try(MOST, AIM)], MOST))
        self.assertFalse(at_the_limit([Try(0.3, 0.5)], 0.3))

    def test_clip_that_is_too_light_is_an_error(self):
        with self.assertRaisesRegex(LabError, "harder to decode"):
            search(lambda share: 0.0)


class Beside(unittest.TestCase):
    """A try counts only if rt-app's work beside it had the stated length."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.context = Context(Path(folder.name), Path(folder.name), machine="m")
        self.say = mock.Mock()

    def calibrate(self, *held, stop_after=None):
        """Calibrates with simulated plays. `held` says for the first plays whether rt-app's work was held; later it was."""
        told = iter(held)

        def play(job, _folder, _context):
            if stop_after is not None and int(job.id.rsplit("-", 1)[1]) > stop_after:
                raise KeyboardInterrupt
            known = next(told, True)
            good_load = known is not False
            figures = {"frames": 100, "dropped": 5, "drops_fraction": AIM if good_load else 0.5,
                       "skew_ms_mean": 1.0, "skew_ms_sd": 1.0}
            works = {"rt-app-1": {"periods": 9, "work_ms": 3.0 if good_load else 3.3}, "rt-app-2": {"periods": 9, "work_ms": 20.0}}
            known = {"version": 1, "job": job.to_json(), "load": {"work_held": known}}
            return JobResult.model_validate({**known, "status": "done", "figures": figures, "rtapp": works})

        job = job_of("film", "deadline:calibrated/40")
        with mock.patch("dlex_bench.job.calibrate.execute", side_effect=play):
            calibrate(job, self.context, self.say)
        found = budget.read_calibration(self.context.batch, "m")
        return found.to_json() if found else None

    def test_try_with_a_wrong_load_does_not_count_and_is_repeated(self):
        content = self.calibrate(True, False)
        self.assertEqual([known["share"] for known in content["tries"]], [FIRST] * (PLAYS + 1))
        self.assertEqual([known["counts"] for known in content["tries"]], [True, False, True, True])
        self.assertEqual([known["work_held"] for known in content["tries"]], [True, False, True, True])
        self.assertEqual((content["budget_ms"], content["spread"]["plays"]), (FIRST * 40, PLAYS))
        self.assertEqual(content["spread"]["work_held"], True)
        self.assertAlmostEqual(content["spread"]["drops_fraction_mean"], AIM)
        said = " ".join(call.args[0] for call in self.say.call_args_list)
        self.assertIn("3.3 and 20 ms", said)
        self.assertIn("does not count", said)

    def test_hosts_that_share_a_folder_use_separate_folders_for_tries(self):
        for machine in "ab":
            self.context = replace(self.context, machine=machine)
            self.calibrate()
        tries = {path.relative_to(self.context.batch / "calibration").parts for path in self.context.batch.rglob("try-*")}
        self.assertEqual({machine for machine, _name in tries}, {"a", "b"})

    def test_try_with_a_wrong_load_is_repeated_only_once(self):
        content = self.calibrate(*[False] * 100)
        counts = [known["counts"] for known in content["tries"]]
        self.assertEqual(counts, [False, True] * (len(counts) // 2))
        self.assertEqual(content["spread"]["work_held"], False)
        self.assertIn("rt-app", self.say.call_args.args[0])

    def test_unknown_work_is_not_reported_as_held(self):
        content = self.calibrate(*[None] * 100)
        self.assertEqual(content["spread"]["work_held"], None)
        self.assertNotIn("did not take", " ".join(call.args[0] for call in self.say.call_args_list))

    def test_repetition_is_remembered_after_an_interruption(self):
        with self.assertRaises(KeyboardInterrupt):
            self.calibrate(False, stop_after=1)
        content = self.calibrate(False)
        self.assertEqual([known["counts"] for known in content["tries"][:2]], [False, True])

    def test_calibration_with_another_film_of_the_same_name_is_refused(self):
        with tempfile.NamedTemporaryFile() as film:
            pattern = job_of("a", "deadline:calibrated/40").but(clip={"file": film.name})
            known = Calibration(machine="m", clip=pattern.clip, sha256="another", budget_ms=8.0)
            with self.assertRaisesRegex(LabError, "has another content than when .* was calibrated"):
                refuse_other_content(known, pattern, self.context)
            same = known.model_copy(update={"sha256": hashlib.sha256(b"").hexdigest()})
            refuse_other_content(same, pattern, self.context)

    def test_tries_of_an_earlier_version_count(self):
        with self.assertRaises(KeyboardInterrupt):
            self.calibrate(stop_after=1)
        content = budget.read_calibration(self.context.batch, "m").to_json()
        for key in ("counts", "work_held"):
            content["tries"][0].pop(key, None)
        budget.write_calibration(self.context.batch, "m", Calibration.model_validate(content))
        self.assertEqual(len(self.calibrate()["tries"]), PLAYS)


class Whose(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.batch = Path(self.folder.name)

    def write(self, machine, budget_ms):
        budget.write_calibration(self.batch, machine, Calibration(machine=machine, budget_ms=budget_ms, period_ms=40))

    def test_each_machine_of_a_folder_has_its_own_budget(self):
        self.write("a", 10.0)
        self.assertFalse(budget.calibrated_budget_is_known(self.batch, "b"))
        with self.assertRaisesRegex(LabError, "calibration-b.json has none"):
            budget.calibrated_budget_ms(self.batch, "b", 40)
        self.write("b", 7.0)
        self.assertEqual([budget.calibrated_budget_ms(self.batch, it, 40) for it in "ab"], [10.0, 7.0])
        budget.forget_calibration(self.batch, "b")
        self.assertEqual([budget.calibrated_budget_is_known(self.batch, it) for it in "ab"], [True, False])

    def test_hosts_that_begin_at_once_write_different_files(self):
        places = []
        for machine in "ab":  # each host has not yet seen the file of the other
            place = self.batch / machine
            place.mkdir()
            budget.write_calibration(place, machine, Calibration(machine=machine, budget_ms=10.0, period_ms=40))
            places.append({path.name for path in place.iterdir()})
        self.assertFalse(places[0] & places[1])

    def test_calibration_uses_the_clip_of_the_plans_first_calibrated_job(self):
        film, other, light = (
            job_of(name, sched)
            for name, sched in (("film", "deadline:calibrated/40"), ("other", "other"), ("light", "deadline:calibrated/40"))
        )
        plan = SimpleNamespace(jobs=[film, other, light])
        context, say = Context(self.batch, self.batch, machine="a"), mock.Mock()
        with mock.patch.object(runner, "calibrate") as calibrate:
            runner._calibrate_for([other], plan, context, say)
            calibrate.assert_not_called()
            runner._calibrate_for([other, light], plan, context, say)
            calibrate.assert_called_once_with(film, context, say)
            self.write("a", 10.0)
            runner._calibrate_for([light], plan, context, say)
            calibrate.assert_called_once()


if __name__ == "__main__":
    unittest.main()
