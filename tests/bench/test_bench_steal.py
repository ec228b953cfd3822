# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what is read from /proc/stat about stolen CPU time, the repetition of such jobs, and what reports say about them.

The texts and the results are invented. Not covered: a host that really takes CPU time.
"""

import json
import unittest
from pathlib import Path
from unittest import mock

from outside import Folder, with_packages

with_packages("numpy, scipy, pydantic, yaml, rich")

import made_up
from dlex_bench.analysis.results_frame import rows
from dlex_bench.batch import one
from dlex_bench.batch.one import result_line, run_one
from dlex_bench.batch.results import Store, read_result
from dlex_bench.errors import Interrupted
from dlex_bench.job.context import Context
from dlex_bench.job.result import DONE, FAILED, not_done
from dlex_bench.machine import steal
from dlex_bench.machine.steal import StealLook, Ticks, idle_between, look_at_steal, steal_between, ticks_of
from dlex_bench.report.export import json_content
from dlex_bench.report.facts import batch_facts
from dlex_bench.report.gather import Batch
from dlex_bench.report.meaning import meaning_of
from dlex_bench.report.sections import section_summaries
from dlex_bench.report.stolen import stolen_runs

STAT = """cpu  700 60 300 2000 40 5 15 180 33 7
cpu0 300 20 100 1000 20 5 5 50 0 0
cpu1 400 40 200 1000 20 0 10 130 33 7
intr 67308398 0 0
ctxt 1
"""


def look(second, measured, others=(0, 0)):
    return StealLook(int(second * 1e9), Ticks(*measured), Ticks(*others))


class Stat(unittest.TestCase):
    def test_ticks_of_every_cpu_are_read_and_guest_time_is_not_counted_twice(self):
        self.assertEqual(ticks_of(STAT), {0: Ticks(50, 1500, 1020), 1: Ticks(130, 1800, 1020)})

    def test_measured_cpu_is_apart_from_the_others(self):
        three = STAT + "cpu2 10 0 0 80 0 0 0 10 0 0\n"
        with mock.patch.object(steal, "STAT", mock.Mock(read_text=lambda: three)):
            found = look_at_steal({1}, {0, 1, 2})
        self.assertEqual((found.measured, found.others), (Ticks(130, 1800, 1020), Ticks(60, 1600, 1100)))

    def test_this_machine_has_such_a_file(self):
        self.assertGreater(look_at_steal({0}, ()).measured.whole, 0)

    def test_only_the_time_between_first_and_last_picture_counts(self):
        looks = [look(0, (0, 0), (0, 0)), look(10, (500, 1000), (0, 1000)), look(20, (510, 2000), (100, 2000)),
                 look(30, (900, 3000), (100, 3000))]
        found = steal_between(looks, 10e9, 20e9)
        self.assertEqual((found.measured, found.others), (0.01, 0.1))

    def test_time_between_two_looks_passes_evenly(self):
        looks = [look(0, (0, 0)), look(10, (500, 1000)), look(20, (500, 2000))]
        self.assertAlmostEqual(steal_between(looks, 5e9, 15e9).measured, 0.25)
        self.assertAlmostEqual(steal_between(looks, 2e9, 4e9).measured, 0.5)

    def test_time_outside_of_the_looks_is_not_guessed(self):
        looks = [look(10, (0, 0)), look(20, (100, 1000))]
        self.assertAlmostEqual(steal_between(looks, 0, 100e9).measured, 0.1)
        self.assertIsNone(steal_between(looks, 30e9, 40e9).measured)
        self.assertIsNone(steal_between(looks, 10e9, 20e9).others)
        self.assertIsNone(steal_between([], 0, 1))

    def test_idle_time_is_that_between_first_and_last_picture(self):
        looks = [look(0, (0, 0, 0)), look(10, (0, 1000, 900)), look(20, (0, 2000, 1000)), look(30, (0, 3000, 2000))]
        self.assertAlmostEqual(idle_between(looks, 10e9, 20e9), 0.1)
        self.assertAlmostEqual(idle_between(looks, 5e9, 15e9), 0.5)
        self.assertEqual(idle_between([look(0, (0, 0, 30)), look(10, (0, 1000, 20))], 0, 10e9), 0)  # waiting for a disk went back
        self.assertIsNone(idle_between([], 0, 1))
        self.assertIsNone(idle_between(looks, 10e9, 10.49e9))

    def test_nothing_is_said_about_less_than_half_a_second(self):
        looks = [look(10, (0, 0)), look(20, (100, 1000))]
        self.assertIsNone(steal_between(looks, 10e9, 10.49e9).measured)
        self.assertAlmostEqual(steal_between(looks, 10e9, 10.51e9).measured, 0.1)


def stolen(number, part, workload="mpv_vo", **figures):
    """Returns a made-up result of a run from which `part` of the measured CPU was stolen."""
    one = made_up.result(workload, number, **{**made_up.point(), "drops_fraction": 0.1, "frames": 100, **figures})
    return made_up.changed(one, steal={"measured": part, "others": 0.0})


class Repeats(Folder):
    """Jobs whose plays are invented: each play has its part of stolen CPU time, or fails (None)."""

    def run_job(self, *plays, end=None):
        store = Store(self.folder)
        job = made_up.result("mpv_vo").job
        found = iter(plays)

        def attempt(job, folder, _context):
            self.assertEqual(list(folder.iterdir()), [])
            part = next(found, end)
            if isinstance(part, BaseException):
                raise part
            (folder / "record").write_text(str(part))
            return not_done(job, FAILED, "it broke") if part is None else stolen(1, part)

        with mock.patch.object(one, "_attempt", attempt), mock.patch.object(one, "require_room"):
            result = run_one(store, job, Context(self.folder, self.folder))
        self.assertEqual([path.name for path in self.folder.iterdir()], [job.id])
        self.assertEqual(list(found), [])
        kept = read_result(self.folder / job.id)
        self.assertEqual(kept.to_json(), result.to_json())
        return result.status, result.stolen, result.plays, (self.folder / job.id / "record").read_text()

    def test_job_from_which_little_was_stolen_is_played_once(self):
        self.assertEqual(self.run_job(0.05), (DONE, 0.05, 1, "0.05"))
        self.assertEqual(self.run_job(None), (FAILED, 0.0, 1, "None"))

    def test_job_is_repeated_until_little_is_stolen(self):
        self.assertEqual(self.run_job(0.3, 0.02), (DONE, 0.02, 2, "0.02"))

    def test_best_of_three_plays_is_kept_with_its_records(self):
        self.assertEqual(self.run_job(0.3, 0.2, 0.1), (DONE, 0.1, 3, "0.1"))
        self.assertEqual(self.run_job(0.3, 0.1, 0.2), (DONE, 0.1, 3, "0.1"))
        self.assertEqual(self.run_job(0.1, 0.3, 0.2), (DONE, 0.1, 3, "0.1"))

    def test_repetition_that_fails_does_not_replace_a_play(self):
        self.assertEqual(self.run_job(0.3, None, 0.1), (DONE, 0.1, 3, "0.1"))
        self.assertEqual(self.run_job(0.3, None, None), (DONE, 0.3, 3, "0.3"))

    def test_interrupted_repetition_leaves_nothing_of_the_job(self):
        with self.assertRaises(Interrupted):
            self.run_job(0.3, end=Interrupted(2))
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_records_that_a_killed_run_put_aside_are_removed(self):
        job = made_up.result("mpv_vo").job
        (self.folder / f".{job.id}/own").mkdir(parents=True)
        self.assertEqual(self.run_job(0.3, 0.02), (DONE, 0.02, 2, "0.02"))


class Told(unittest.TestCase):
    def batch(self, *parts, **figures):
        found = [stolen(number, part, skew_ms_sd=10.0 * number, **figures) for number, part in enumerate(parts, 1)]
        return Batch(Path("/nowhere"), rows(found))

    def test_line_of_a_job_reports_much_steal_and_repetitions(self):
        much = stolen(1, 0.071)
        self.assertIn("the host took 7.1% of the CPU", result_line(much))
        self.assertNotIn("played", result_line(much))
        self.assertTrue(result_line(much.model_copy(update={"plays": 3})).endswith("the host took 7.1% of the CPU, played 3 times"))
        self.assertTrue(result_line(stolen(1, 0.01).model_copy(update={"plays": 2})).endswith(", played 2 times"))
        self.assertNotIn("host", result_line(stolen(1, 0.05)))

    def test_facts_report_what_the_host_left(self):
        facts = dict(batch_facts(self.batch(0.0, 0.02, 0.3)))
        self.assertEqual(facts["CPU supply"], "the host left 98.0% of the measured CPU's time (median of 3 runs; least 70.0%)")
        self.assertTrue(facts["much stolen"].startswith("from 1 of 3 runs the host took more than 5% of the measured CPU's time"))
        self.assertNotIn("much stolen", dict(batch_facts(self.batch(0.0, 0.05))))
        older = Batch(Path("/nowhere"), rows([made_up.result("mpv_vo")]))
        self.assertNotIn("CPU supply", dict(batch_facts(older)))

    def test_medians_are_given_with_and_without_stolen_runs(self):
        batch = self.batch(0.0, 0.0, 0.0, 0.3, 0.4)
        (found,) = stolen_runs(batch.rows)
        self.assertEqual(found.medians()["skew_ms_sd"], (30, 20))
        self.assertEqual(found.sentence(),
                         "mpv_vo: from 2 of 5 runs (r4 r5) the host took more than 5%; medians with and without them: dropped 10.0 "
                         "and 10.0 %, A-V s.d. 30.0 and 20.0 ms, |A-V mean| 10.0 and 10.0 ms, RMSE sum 0.10 and 0.10 k.")
        self.assertEqual(stolen_runs(self.batch(0.0, 0.01).rows), [])
        (all_stolen,) = stolen_runs(self.batch(0.1, 0.2).rows)
        self.assertTrue(all_stolen.sentence().endswith("(r1 r2) the host took more than 5%; there are no other runs."))

    def test_table_for_programs_has_steal_and_medians_without_it(self):
        batch = self.batch(0.0, 0.0, 0.3)
        content = json_content(batch, section_summaries(batch), meaning_of(batch))
        self.assertEqual([job["steal.measured"] for job in content["jobs"]], [0.0, 0.0, 0.3])
        (found,) = content["stolen"]
        self.assertEqual((found["section"], found["workload"], found["runs"]), ("cbs", "mpv_vo", ["cbs-mpv_vo-r3"]))
        self.assertEqual(found["figures"]["skew_ms_sd"], {"median": 20, "without": 15})
        json.dumps(content)


if __name__ == "__main__":
    unittest.main()
