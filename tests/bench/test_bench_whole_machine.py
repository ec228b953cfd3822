# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what the laboratory says of a play on a machine on which nothing is placed. The looks are invented.

Not covered: real plays (test_bench_job_stage).
"""

import os
import unittest

from outside import with_packages

with_packages("numpy, scipy, pydantic, yaml, rich")

import made_up
from dlex_bench.analysis.held import held
from dlex_bench.analysis.results_frame import row
from dlex_bench.batch.one import result_line
from dlex_bench.batch.runner import measured_cpus
from dlex_bench.errors import LabError
from dlex_bench.job.whole_machine import Account, Spent, time_of_waiting, whole_machine
from dlex_bench.machine.policy import Policy
from dlex_bench.machine.steal import StealLook, Ticks
from dlex_bench.record import ObserverFacts
from dlex_bench.report.export import job_row
from dlex_bench.report.metrics import TABLE
from dlex_bench.report.sections import section_facts
from dlex_bench.rig.players.threads import Look, SeenThread


def thread(*looks, wait_is_known=True):
    """Returns a thread. A look is (s, time on a CPU in s, time of waiting in s, slices)."""
    seen = SeenThread(7)
    for time_s, run_s, wait_s, slices in looks:
        counts = (wait_s, slices) if wait_is_known else (None, None)
        seen.add(Look(int(time_s * 1e9), "decoder", run_s, frozenset({0}), Policy("other"), *counts))
    return seen


def waited(begin_s, end_s, *threads, frames=100):
    return time_of_waiting(threads, (begin_s * 1e9, end_s * 1e9), frames)


class Waiting(unittest.TestCase):
    def test_time_between_first_and_last_picture_counts_and_passes_evenly_between_two_looks(self):
        found = waited(5, 15, thread((0, 0, 0, 0), (10, 2, 4, 100), (20, 3, 6, 300)))
        self.assertEqual((found.run_s, found.wait_s, found.slices, found.wait_ms_per_frame), (1.5, 3, 150, 30))

    def test_threads_are_added(self):
        one, other = thread((0, 0, 0, 0), (10, 1, 2, 10)), thread((0, 0, 0, 0), (10, 3, 4, 50))
        found = waited(0, 10, one, other)
        self.assertEqual((found.run_s, found.wait_s, found.slices), (4, 6, 60))

    def test_thread_that_starts_late_has_not_waited_before_and_one_that_ends_early_waits_no_longer(self):
        self.assertEqual(waited(0, 20, thread((8, 0.5, 1, 5), (10, 1, 2, 10))).wait_s, 2)
        self.assertEqual(waited(12, 20, thread((8, 0.5, 1, 5), (10, 1, 2, 10))).wait_s, 0)

    def test_kernel_without_such_counts_gives_no_figure(self):
        self.assertIsNone(waited(0, 10, thread((0, 0, 0, 0), (10, 1, 2, 10), wait_is_known=False)))
        self.assertIsNone(waited(0, 10))


class Cpus(unittest.TestCase):
    def test_all_cpus_are_measured_whatever_cpu_the_agenda_names(self):
        job = made_up.result("mpv_vo", **made_up.point()).job.but(cpu=4000)
        self.assertEqual(measured_cpus(job.but(sched="free")), frozenset(os.sched_getaffinity(0)))
        with self.assertRaisesRegex(LabError, "CPU 4000 is not one of the allowed CPUs"):
            measured_cpus(job)


class Costs(unittest.TestCase):
    def test_programs_around_the_player_are_counted_from_its_start_to_its_end(self):
        account = Account(None)
        account.before, account.after = Spent(100.0, 1.0, 0.5, 7.0), Spent(110.0, 3.0, 0.6, 7.5)
        facts = ObserverFacts(sched="other", cpu_fraction=0.03)
        found = account.servers(200, facts)
        self.assertAlmostEqual(found.screen_ms_per_frame, 10)
        self.assertAlmostEqual(found.sound_ms_per_frame, 0.5)
        self.assertAlmostEqual(found.laboratory, 0.05)
        self.assertEqual((found.observer, found.observer_policy), (0.03, "other"))

    def test_job_without_a_stage_has_no_servers(self):
        account = Account(None)
        account.open()
        account.close()
        found = account.servers(200, None)
        self.assertEqual((found.screen_ms_per_frame, found.observer, found.observer_policy), (None, None, None))


class Reported(unittest.TestCase):
    def setUp(self):
        looks = [StealLook(0, Ticks(0, 0, 0), Ticks()), StealLook(int(10e9), Ticks(20, 2000, 500), Ticks())]
        account = Account(None)
        account.before, account.after = Spent(0.0, 0.0, 0.0, 0.0), Spent(10.0, 1.0, 0.5, 0.1)
        met = whole_machine(looks, [thread((0, 0, 0, 0), (10, 1, 2, 10))], (0, 10e9), 100, account.servers(100, None))
        one = made_up.result("mpv_vo", load="none", sched="free", constrains="nothing", **made_up.point())
        self.row = row(made_up.changed(one, whole_machine=met.to_json(), policy={"applied": "other", "constrains": "nothing"}))

    def test_tables_have_the_figures(self):
        found = {it.key: it.text(value) for it in TABLE if (value := self.row.value(it.key)) is not None}
        wanted = {"idle": "25.0", "steal": "1.0", "waiting.wait_ms_per_frame": "20.00", "servers.screen_ms_per_frame": "10.00",
                  "servers.sound_ms_per_frame": "5.00"}
        self.assertEqual({key.removeprefix("whole_machine."): text for key, text in found.items() if "whole" in key}, wanted)

    def test_table_for_programs_has_them_under_their_names_in_the_result(self):
        found = {key: value for key, value in job_row(self.row).items() if key.startswith("whole_machine.")}
        self.assertEqual((found["whole_machine.idle"], found["whole_machine.waiting.slices"]), (0.25, 10))

    def test_result_of_an_older_version_has_none_of_them(self):
        old = row(made_up.result("mpv_vo", **made_up.point()))
        self.assertEqual([it.key for it in TABLE if "whole" in it.key and old.value(it.key) is not None], [])

    def test_unprotected_observer_is_reported(self):
        self.assertNotIn("observer", dict(section_facts([self.row])))
        met = self.row.result.whole_machine.to_json()
        met["servers"]["observer_policy"] = "other"
        other = made_up.changed(self.row.result, whole_machine=met)
        facts = dict(section_facts([self.row, row(other)]))
        self.assertEqual(facts["observer"], "without a real-time priority in 1 of 2 runs; it may have looked too late")
        self.assertIn("the observer had no priority", result_line(other))
        self.assertNotIn("priority", result_line(self.row.result))

    def test_section_says_that_nothing_was_placed(self):
        text = "nothing is placed: all programs on all CPUs, the player's threads under other"
        self.assertEqual((held(self.row), dict(section_facts([self.row]))["scheduling"]), (text, text))


if __name__ == "__main__":
    unittest.main()
