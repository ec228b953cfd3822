# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the real rt-app, and the figures that are computed from its logs.

Not covered: how near to 3 and 20 ms its jobs come, which depends on the machine and is reported with every result;
SCHED_DEADLINE, which needs a root domain (test_bench_job_stage.py).
"""

import os
import shutil
import signal
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from outside import with_packages

with_packages("pydantic")

from dlex_bench.errors import EXIT_SETUP, LabError
from dlex_bench.paper import TASKS
from dlex_bench.rig.load.rtapp import (
    TOLD_NS_PER_LOOP,
    TaskPolicy,
    find_rtapp,
    measure_ns_per_loop,
    rtapp,
    rtapp_config,
)
from dlex_bench.rig.load.rtapp_log import Activation, Sample, jobs_done, read_activations, task_stats, work_us

CPU = max(os.sched_getaffinity(0))
LOG = (
    "# Policy : SCHED_OTHER priority : 0\n"
    "#idx     perf      run   period           start             end          rel_st      slack c_duration   c_period     wu_lat\n"
    "   0    30000      545     8023            1000            1545             796       7375       3000       8000         10\n"
    "   0    30000     9001     9800            8962           16962            8836      -1801       3000       8000         10\n"
)


class Folder(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)


class Logs(Folder):
    def log(self, text):
        path = self.folder / "log-rt-app-1-0.log"
        path.write_text(text)
        return path

    def test_missed_deadlines_are_those_with_negative_slack(self):
        told = task_stats(read_activations(self.log(LOG)))
        self.assertEqual((told.periods, told.missed, told.missed_fraction), (2, 1, 0.5))
        self.assertEqual((told.slack_us.min, told.slack_us.mean), (-1801, 2787))

    def test_percentiles_lie_between_the_ends(self):
        jobs = [Activation(0, 0, slack, 8000) for slack in range(101)]
        told = task_stats(jobs).slack_us
        self.assertEqual((told.p5, told.p25, told.median), (5, 25, 50))

    def test_job_released_in_the_window_counts_although_it_ended_after_it(self):
        late = Activation(start_us=9_000, end_us=30_000, slack_us=-14_000, period_us=8_000)
        self.assertEqual(late.release_us, 8_000)
        self.assertEqual(task_stats([late], (7_000, 9_000)).missed, 1)
        self.assertEqual(task_stats([late], (9_000, 40_000)).to_json(), {"periods": 0, "work_ms": None})

    def test_incomplete_last_line_is_left_out(self):
        self.assertEqual(len(read_activations(self.log(LOG + "   0    300"))), 2)

    def test_file_that_is_not_a_log_is_reported(self):
        with self.assertRaisesRegex(LabError, "not a log of rt-app"):
            read_activations(self.log("a b c d e f g h i j k l\n" * 2))
        with self.assertRaisesRegex(LabError, "wrote no log"):
            read_activations(self.folder / "absent")

    def test_work_is_the_cpu_time_between_moments_of_sleep(self):
        jobs = [Activation(start, start + 4_000, 4_000, 8_000) for start in range(0, 80_000, 8_000)]
        samples = [Sample(2_000, 9e9), Sample(6_000, 3_000), Sample(10_000, 1e9), Sample(70_000, 27_000)]
        self.assertEqual(work_us(jobs, samples), 3_000)

    def test_job_without_sleep_is_assumed_to_progress_evenly(self):
        jobs = [Activation(start, start + 8_000, 0, 8_000) for start in range(0, 80_000, 8_000)]
        self.assertEqual(jobs_done(jobs, 20_000), 2.5)
        self.assertEqual(work_us(jobs, [Sample(4_000, 1_000), Sample(20_000, 7_000)]), 3_000)

    def test_jobs_are_counted_at_every_moment(self):
        jobs = [Activation(start, start + 4_000, 4_000, 8_000) for start in range(8_000, 80_000, 8_000)]
        counted = {at_us: jobs_done(jobs, at_us) for at_us in (0, 8_000, 9_000, 12_000, 14_000, 18_000, 76_000, 90_000)}
        self.assertEqual(counted, {0: 0, 8_000: 0, 9_000: 0.25, 12_000: 1, 14_000: 1, 18_000: 1.5, 76_000: 9, 90_000: 9})

    def test_samples_do_not_scan_all_jobs_each_time(self):
        class Counted(list):
            looked_at = 0

            def __getitem__(self, place):
                self.looked_at += 1
                return super().__getitem__(place)

            def __iter__(self):
                for job in super().__iter__():
                    self.looked_at += 1
                    yield job

        jobs = Counted(Activation(start, start + 4_000, 4_000, 8_000) for start in range(0, 1_000_000, 8_000))
        work_us(jobs, [Sample(at_us, at_us / 8) for at_us in range(5_000, 1_000_000, 8_000)])
        self.assertLess(jobs.looked_at, len(jobs) ** 1.5)

    def test_unobserved_work_is_unknown(self):
        self.assertIsNone(work_us([], []))
        self.assertIsNone(work_us([Activation(0, 1, 1, 2)], [Sample(0, 0)]))


class Config(unittest.TestCase):
    def tasks(self, *policy):
        return rtapp_config(3, 25.0, Path("/tmp"), TaskPolicy(*policy))["tasks"]

    def test_rt_app_ends_by_itself_after_the_requested_time(self):
        self.assertEqual(rtapp_config(3, 25.0, Path("/tmp"), limit_s=899.5)["global"]["duration"], 900)

    def test_deadline_tasks_have_the_papers_budgets(self):
        first, second = (self.tasks("deadline")[task.name] for task in TASKS)
        self.assertEqual((first["dl-runtime"], first["dl-period"], first["dl-deadline"]), (3_150, 8_000, 8_000))
        self.assertEqual((second["dl-runtime"], second["dl-period"], second["dl-deadline"]), (21_000, 200_000, 200_000))

    def test_fixed_priority_tasks_have_their_priority(self):
        for kind in ("fifo", "rr"):
            task = self.tasks(kind, 5)["rt-app-1"]
            self.assertEqual((task["policy"], task["priority"]), (f"SCHED_{kind.upper()}", 5))

    def test_slower_loops_mean_fewer_loops(self):
        self.assertEqual(self.tasks()["rt-app-1"]["run"], 3_000 * TOLD_NS_PER_LOOP / 25)


class RunningRtApp(Folder):
    def test_tasks_run_and_report_their_figures_in_a_window(self):
        begun = time.monotonic()
        with rtapp(CPU, 25.0, self.folder) as running:
            limit = begun + 60
            while time.monotonic() < limit and not self.two_samples_apart(running):
                running.sample()
                time.sleep(0.05)
        told = running.task_stats((begun * 1e6, time.monotonic() * 1e6))
        self.assertEqual(set(told), {"rt-app-1", "rt-app-2"})
        self.assertGreater(told["rt-app-1"].periods, 0)
        self.assertGreater(told["rt-app-1"].work_ms, 0)
        self.assertEqual(running.task_stats((0, 1))["rt-app-1"].periods, 0)

    def two_samples_apart(self, running):
        samples = running.samples.get("rt-app-1", [])
        return len(samples) > 1 and samples[-1].cpu_us - samples[0].cpu_us > 100_000

    def test_dead_rt_app_is_reported_with_its_status(self):
        with self.assertRaisesRegex(LabError, "rt-app ended by itself with status -9"):
            with rtapp(CPU, 25.0, self.folder) as running:
                running.process.send_signal(signal.SIGKILL)
                running.process.wait()
                running.check()

    def test_loop_time_is_measured(self):
        measured = measure_ns_per_loop(CPU, self.folder, 1.0)
        self.assertGreater(measured, 0.5)
        self.assertLess(measured, 1000)

    def test_missing_rt_app_is_reported_in_one_sentence(self):
        with mock.patch.dict(os.environ, PATH="/nowhere"), self.assertRaises(LabError) as caught:
            find_rtapp()
        self.assertEqual(caught.exception.code, EXIT_SETUP)
        self.assertIn("apt install rt-app", str(caught.exception))


if __name__ == "__main__":
    if not shutil.which("rt-app"):
        RunningRtApp = None  # the other tests do not need rt-app
    unittest.main()
