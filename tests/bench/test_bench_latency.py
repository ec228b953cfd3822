# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the latency experiment, as a command and in its parts: what it plans, refuses, keeps and continues.

No process of its load may outlive it.

    test_bench_latency.py CELL_PROGRAM

Not covered: how long anything takes, and policies that this account may not use.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import unittest
from unittest import mock

from outside import Folder, children_of, is_running, python_with_packages, wait_until

CURVES = [("other", load, kind) for kind in ("deadline", "wcet") for load in (0,)]
TINY = ("--out=out", "--policies=other", "--loads=0", "--step=0.5", "--longest=1.5", "--samples=2")
PICTURES = ["latency-deadline-cdf.png", "latency-mean.png", "latency-sd.png", "latency-wcet-cdf.png"]
# The lock of a machine of our own: a batch may measure on the real one meanwhile.
MACHINE = f"dlex-test-latency-{os.getpid()}"
BEGIN = """
import sys
from dlex_bench.machine import lock
lock.NAME = sys.argv[1]
from dlex_bench.__main__ import main
sys.exit(main(sys.argv[2:]))
"""
REFUSING = """#!/bin/sh
case "$*" in
*--probe*fifo*) echo 'dlex-bench-cell: the kernel refuses policy fifo: Operation not permitted' >&2; exit 3 ;;
esac
exec "$REAL_CELL" "$@"
"""


def descendants_of(pid):
    found = children_of(pid)
    for child in list(found):
        found.update(descendants_of(child))
    return found


class Command(Folder):
    """Runs the command in its own project root, with its own cache, so that a real experiment is not disturbed."""

    def setUp(self):
        super().setUp()
        self.cell = self.folder / "build/release/bench/latency/dlex-bench-cell"
        self.cell.parent.mkdir(parents=True)
        self.cell.symlink_to(CELL)
        self.environment = {**os.environ, "DLEX_CACHE": str(self.folder / "cache"), "TERM": "dumb", "REAL_CELL": CELL}
        self.environment["DLEX_BENCH_ROOT"] = str(self.folder)

    def start(self, *arguments, **environment):
        return subprocess.Popen(
            [sys.executable, "-c", BEGIN, MACHINE, "latency", *arguments],
            cwd=self.folder, env={**self.environment, **environment}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )

    def run_well(self, *arguments):
        process = self.start(*arguments)
        said, told = process.communicate(timeout=240)
        self.assertEqual((process.returncode, told), (0, ""), said)
        return said

    def refusal(self, *arguments, **environment):
        process = self.start(*arguments, **environment)
        _said, told = process.communicate(timeout=60)
        self.assertEqual(told.count("\n"), 1, told)
        self.assertEqual(told[:20], "dlex bench latency: ")
        return process.returncode, told


class Experiment(Command):
    def records(self):
        return {path.name: path.stat().st_ino for path in (self.folder / "out/records").iterdir()}

    def test_tiny_experiment_yields_every_result(self):
        said = self.run_well(*TINY)
        report = json.loads((self.folder / "out/latency.json").read_text())
        found = [(curve["policy"], curve["load"], curve["kind"]) for curve in report["curves"]]
        self.assertEqual(found, CURVES)
        for curve in report["curves"]:
            self.assertEqual((curve["samples"], curve["early"]), (6, 0))
            self.assertEqual(curve["by_duration"]["duration_ms"], [0.5, 1.0, 1.5])
            self.assertLessEqual(curve["noticed_us"]["p50"], curve["caught_us"]["max"])
        self.assertEqual(sorted(path.name for path in (self.folder / "out").glob("*.png")), PICTURES)
        for name in PICTURES:
            self.assertEqual((self.folder / "out" / name).read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
        self.assertIn("WCET to handler", said)

    def test_interrupted_experiment_continues(self):
        self.run_well(*TINY)
        whole = self.records()
        self.assertEqual(len(whole), 4)
        lost = "01-load0-other-wcet.csv"
        (self.folder / "out/records" / lost).unlink()
        kept = {name: inode for name, inode in whole.items() if name != lost}
        self.assertIn("3 parts are already done", self.run_well(*TINY))
        again = self.records()
        self.assertEqual(sorted(again), sorted(whole))
        self.assertEqual({name: again[name] for name in kept}, kept)

    def test_folder_of_another_experiment_is_refused(self):
        self.run_well(*TINY)
        before = self.records()
        status, told = self.refusal(*TINY, "--kinds=wcet")
        self.assertEqual(status, 1)
        self.assertIn("out holds an experiment with other options", told)
        self.assertEqual(self.records(), before)

    def test_refused_policy_is_named_with_the_command_that_allows_it(self):
        self.cell.unlink()
        self.cell.write_text(REFUSING)
        self.cell.chmod(0o755)
        said = self.run_well(*TINY, "--policies=fifo,other", "--kinds=deadline")
        self.assertIn(f"skipped: policy fifo, because the kernel refuses policy fifo: Operation not permitted; to allow "
                      f"it: sudo setcap cap_sys_nice+ep {self.cell}", said)
        report = json.loads((self.folder / "out/latency.json").read_text())
        self.assertEqual(list(report["refused"]), ["fifo"])
        self.assertEqual([curve["policy"] for curve in report["curves"]], ["other"])

    def test_refusal_in_a_container_names_no_command_that_cannot_help_there(self):
        from dlex_bench.latency import latency

        with mock.patch.object(latency, "scheduling_is_out_of_reach", return_value=True):
            self.cell.unlink()
            self.cell.write_text(REFUSING)
            self.cell.chmod(0o755)
            said = latency.refusals(self.cell, ["fifo"])["fifo"]
        self.assertIn("`--cap-add=SYS_NICE`", said)
        self.assertNotIn("sudo", said)

    def test_experiment_with_no_admitted_policy_fails_in_one_sentence(self):
        self.cell.unlink()
        self.cell.write_text(REFUSING)
        self.cell.chmod(0o755)
        self.assertEqual(self.refusal(*TINY, "--policies=fifo")[0], 2)

    def test_failed_cell_leaves_no_record(self):
        self.cell.unlink()
        self.cell.write_text('#!/bin/sh\ncase "$*" in *--probe*) exit 0;; esac\necho duration_us\nexit 0\n')
        self.cell.chmod(0o755)
        status, _told = self.refusal(*TINY)
        self.assertEqual(status, 2)
        self.assertEqual(self.records(), {})


class Refusals(Command):
    def test_bad_options_are_refused_in_one_sentence(self):
        for option in ("--nonsense", "--policies=rr", "--loads=3", "--kinds=", "--step=0.4", "--step=nan",
                       "--samples=0", "--longest=1e9"):
            with self.subTest(option):
                self.assertEqual(self.refusal(option)[0], 1)
        self.assertEqual(self.refusal("--quick", "--samples=3")[0], 1)

    def test_missing_build_is_reported(self):
        self.cell.unlink()
        status, told = self.refusal(*TINY)
        self.assertEqual(status, 1)
        self.assertIn("./dlex build", told)

    def test_missing_stress_is_reported(self):
        status, told = self.refusal("--out=out", "--loads=2", PATH="/nowhere")
        self.assertEqual(status, 1)
        self.assertIn("stress is not installed", told)

    def test_folder_with_other_records_is_refused(self):
        (self.folder / "out/records").mkdir(parents=True)
        status, told = self.refusal(*TINY)
        self.assertEqual(status, 1)
        self.assertIn("holds records of something else", told)

    def test_folder_that_cannot_be_written_is_refused(self):
        for place, reason in (("/proc/latency", "cannot be written"), ("/dev/null", "is not a directory")):
            status, told = self.refusal(f"--out={place}")
            self.assertEqual(status, 1)
            self.assertIn(f"{place} {reason}", told)

    def test_second_experiment_is_refused(self):
        from dlex_bench.machine import lock

        with mock.patch.object(lock, "NAME", MACHINE), lock.only_measurement({0}):
            status, told = self.refusal(*TINY)
        self.assertEqual(status, 1)
        self.assertIn("a machine allows one measurement at a time", told)


@unittest.skipUnless(shutil.which("stress"), "stress is not installed")
class Endings(Command):
    """Tests with a load of real tasks, whose workers are not our direct children."""

    def start_loaded(self):
        process = self.start("--out=out", "--policies=other", "--loads=2")
        self.addCleanup(process.kill)
        workers = []

        def loaded():
            workers[:] = [pid for pid, name in descendants_of(process.pid).items() if name == "stress"]
            return len(workers) == 3 or process.poll() is not None

        wait_until(loaded)
        self.assertEqual(len(workers), 3, process.poll())
        return process, descendants_of(process.pid)

    def test_no_process_outlives_an_experiment_ended_by_a_signal(self):
        for signum in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(signum):
                process, offspring = self.start_loaded()
                process.send_signal(signum)
                said, told = process.communicate(timeout=120)
                self.assertEqual(process.returncode, 4, said + told)
                self.assertTrue(wait_until(lambda gone=offspring: not any(map(is_running, gone))))

    def test_no_process_outlives_a_killed_experiment(self):
        process, offspring = self.start_loaded()
        process.kill()
        process.communicate(timeout=120)
        self.assertTrue(wait_until(lambda: not any(map(is_running, offspring))))


class Cell(unittest.TestCase):
    def run_cell(self, *options):
        return subprocess.run([CELL, *options], capture_output=True, text=True, timeout=120, check=False)

    def test_cell_prints_a_row_per_duration_in_the_given_order(self):
        for kind in ("deadline", "wcet"):
            ran = self.run_cell("--policy=other", f"--kind={kind}", "1500", "500", "1000")
            header, *rows = ran.stdout.splitlines()
            self.assertEqual(header, "duration_us,caught_ns,noticed_ns,raw_ns")
            values = [list(map(int, row.split(","))) for row in rows]
            self.assertEqual([row[0] for row in values], [1500, 500, 1000])
            for _duration_us, caught_ns, noticed_ns, raw_ns in values:
                self.assertGreaterEqual(noticed_ns, 0)
                self.assertGreaterEqual(caught_ns, noticed_ns)
                self.assertGreaterEqual(raw_ns, 0)

    def test_bad_options_are_refused_in_one_sentence(self):
        for options in (["--nonsense"], ["--kind=x"], ["--kind=wcet", "0"], ["--kind=wcet", "1x"],
                        ["--policy=rr", "--kind=wcet", "500"], []):
            ran = self.run_cell(*options)
            self.assertEqual((ran.returncode, ran.stderr.count("\n"), ran.stdout), (1, 1, ""), options)


class Plans(unittest.TestCase):
    def setUp(self):
        from dlex_bench.latency import plan as latency_plan

        self.plan = latency_plan.LatencyPlan(500, 10)
        self.module = latency_plan

    def test_default_plan_is_the_experiment_of_the_paper(self):
        durations = self.plan.durations_us
        self.assertEqual((durations[0], durations[-1], len(durations)), (500, 100_000, 200))
        table = [(level.tasks, level.cpu, level.memory) for level in self.module.LOADS.values()]
        self.assertEqual(table, [(0, 0, 0), (2, 1, 1), (5, 4, 1), (10, 8, 2)])

    def test_every_cell_runs_once_with_every_duration(self):
        cells = [cell for of_round in self.plan.rounds(self.plan.policies) for of_load in of_round for cell in of_load]
        self.assertEqual(len(cells), 10 * 4 * 3 * 2)
        self.assertEqual(len({cell.name for cell in cells}), len(cells))
        for cell in cells:
            self.assertEqual(sorted(self.plan.order_us(cell)), self.plan.durations_us)

    def test_each_round_begins_with_a_different_load(self):
        begins = [of_round[0][0].load for of_round in self.plan.rounds(self.plan.policies)]
        self.assertEqual(begins[:5], [0, 2, 5, 10, 0])

    def test_finished_cells_do_not_count_in_the_remaining_time(self):
        whole_s = self.module.total_s(self.plan, ("other", "fifo"), 2)
        cells = [cell for of_round in self.plan.rounds(("fifo",)) for of_load in of_round for cell in of_load]
        left_s = self.module.total_s(self.plan, ("other", "fifo"), 2, frozenset(cell.name for cell in cells))
        self.assertLess(left_s, whole_s)
        self.assertEqual(self.module.total_s(self.plan, ("fifo",), 2, frozenset(cell.name for cell in cells)), 0)

    def test_quick_plan_keeps_its_limit_with_few_and_with_many_cpus(self):
        for cpus in (1, 2, 64):
            plan = self.module.quick_plan(cpus, self.module.POLICIES, tuple(self.module.LOADS), self.module.KINDS, 90)
            self.assertLessEqual(self.module.total_s(plan, plan.policies, cpus), 90)
            self.assertGreaterEqual(len(plan.durations_us), 4)

    def test_memory_of_the_load_is_limited_by_free_memory(self):
        from dlex_bench.rig.load import stress

        with mock.patch.object(stress, "find_stress", lambda: "stress"):
            command = stress.stress_command(8, 2, 1 << 30)
            self.assertEqual(command[1:-1], ["--cpu", "8", "--vm", "2", "--vm-bytes"])
            self.assertEqual(int(command[-1]), (1 << 30) // 16)
            self.assertEqual(int(stress.stress_command(1, 1, 1 << 40)[-1]), 256 << 20)
            self.assertEqual(stress.stress_command(1, 0, 1 << 30)[1:], ["--cpu", "1"])


class Statistics(unittest.TestCase):
    def test_mean_and_deviation_are_computed_from_the_samples(self):
        import numpy as np

        from dlex_bench.latency.report import by_duration, statistics_us

        found = statistics_us(np.array([1000.0, 3000.0, 5000.0]))
        self.assertEqual((found["mean"], found["sd"], found["p50"], found["max"]), (3.0, 2.0, 3.0, 5.0))
        columns = {"duration_us": np.array([500.0, 1000.0, 500.0]), "caught_ns": np.array([1000.0, 9000.0, 3000.0])}
        means = by_duration(columns)
        self.assertEqual(means["duration_ms"].tolist(), [0.5, 1.0])
        self.assertEqual(means["mean_us"].tolist(), [2.0, 9.0])
        self.assertEqual(means["sd_us"].round(6).tolist(), [1.414214, 0.0])


if __name__ == "__main__":
    found = python_with_packages("import matplotlib, pydantic, rich")
    if found != sys.executable:
        os.execv(found, [found, *sys.argv])
    CELL = os.path.abspath(sys.argv.pop(1))
    unittest.main()
