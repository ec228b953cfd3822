# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the experiment with a graph of processes: its conditions and findings. The runs are invented.

Not covered: the processes and their manager (tests/sched), and a whole run, which needs root and a minute.
"""

import io
import json
import os
import time
import unittest
from contextlib import nullcontext, redirect_stderr, redirect_stdout
from dataclasses import asdict, replace
from pathlib import Path
from unittest import mock

from outside import Folder, with_packages

with_packages("numpy, scipy, yaml, rich")

import yaml

from dlex_bench.errors import EXIT_SETUP, LabError
from dlex_bench.graphs import experiment
from dlex_bench.graphs.changed_run import ChangedRun, PartFigures
from dlex_bench.graphs.cli import graphs_parser
from dlex_bench.graphs.conditions import DELAYED, Condition, conditions, graph_of
from dlex_bench.graphs.experiment import (
    ROBOT,
    GraphsOptions,
    folder_of,
    graphs_chapter,
    graphs_table,
    intervals_table,
    measure_graphs,
    run_of,
)
from dlex_bench.graphs.findings import OWN_CPU, OWN_CPU_AT_ONCE, PAPER_AT_ONCE, PAPER_DELAYED, GraphRun, graphs_findings
from dlex_bench.graphs.graph_run import kept_awake
from written_results import WritesResults

PROJECT = Path(__file__).resolve().parents[2]
GRAPH = yaml.safe_load((PROJECT / ROBOT).read_text())
PART = PartFigures(1000, 0, 30, 60, 20, 40)
CHANGED_RUN = ChangedRun(500, 300, 0, PART, PART, PART)
RUN = GraphRun(20.0, 21.0, 20.1, 0.1, 30, 60, 15, 50, 20, 4, 8, 14, 1000, 6.5, 999, 1, 0.4, 0.1)


def runs(condition, *changes):
    return {condition: [replace(RUN, **change) for change in changes]}


class Conditions(unittest.TestCase):
    def test_all_combinations_are_run_once_each(self):
        self.assertEqual(len(set(map(str, conditions()))), 9)
        self.assertEqual(len(conditions(has_own_cpu=False)), 8)
        self.assertIn("other, at once, alone", map(str, conditions()))

    def test_delay_is_that_of_the_robot_or_none(self):
        for condition in conditions():
            processes = graph_of(GRAPH, condition, 1, {0})["processes"]
            self.assertEqual([processes[it].get("delay") for it in DELAYED], [20 if condition.is_delayed else None] * 2)
        self.assertEqual(GRAPH["processes"]["Control"]["delay"], 20)  # not changed

    def test_under_fifo_only_the_delayed_ones_are_on_the_own_cpu(self):
        processes = graph_of(GRAPH, OWN_CPU, 3, {0, 2})["processes"]
        for name, process in processes.items():
            self.assertEqual(process["priority"], 35 if name in DELAYED else 30)
            self.assertTrue(process["command"].startswith(f"taskset -pc {'3' if name in DELAYED else '0,2'} $$"), name)
        self.assertFalse(any("priority" in it for it in graph_of(GRAPH, PAPER_DELAYED, 3, {0})["processes"].values()))

    def test_one_cpu_is_not_divided(self):
        self.assertNotIn("taskset", str(graph_of(GRAPH, OWN_CPU, 0, set())))


class Awake(unittest.TestCase):
    def test_program_computes_on_the_cpu_only_while_nothing_else_does(self):
        cpu = max(os.sched_getaffinity(0))
        with kept_awake(cpu) as process:
            end = time.monotonic() + 10
            while os.sched_getscheduler(process.pid) != os.SCHED_IDLE and time.monotonic() < end:
                time.sleep(0.01)
            self.assertEqual((os.sched_getscheduler(process.pid), os.sched_getaffinity(process.pid)), (os.SCHED_IDLE, {cpu}))
        self.assertIsNotNone(process.returncode)

    def test_program_that_has_ended_is_an_error(self):
        with self.assertRaisesRegex(LabError, "keeps CPU .* awake has ended"), kept_awake(max(os.sched_getaffinity(0))) as process:
            process.kill()
            process.wait()

    def test_no_cpu_no_program(self):
        with kept_awake(None) as process:
            self.assertIsNone(process)


class Findings(unittest.TestCase):
    def words(self, *, has_own_cpu=True, **found):
        return [it.word for it in graphs_findings(found["runs"], has_own_cpu)]

    def test_nothing_is_known_without_runs(self):
        self.assertEqual(set(self.words(runs={})), {"not measured"})
        self.assertNotIn("not measured ms", " ".join(it.sentence for it in graphs_findings({}, has_own_cpu=True)))

    def test_delay_must_make_the_start_more_regular(self):
        at_once = runs(PAPER_AT_ONCE, *[{"start_sd_ms": it} for it in (1.0, 1.1, 0.9, 1.0, 1.05)])
        cases = (((0.1, 0.12, 0.1, 0.11, 0.1), "holds"), ((2.0, 2.1, 1.9, 2.0, 2.0), "does not hold"), ((0.1, 3), "undecided"))
        for sds, word in cases:
            found = {**at_once, **runs(PAPER_DELAYED, *[{"start_sd_ms": it} for it in sds])}
            self.assertEqual(self.words(runs=found)[0], word)

    def test_offset_of_the_paper_is_gone_when_control_starts_at_its_delay(self):
        for mean_ms, word in ((20.1, "does not hold"), (25, "holds")):
            self.assertEqual(self.words(runs=runs(PAPER_DELAYED, *[{"start_mean_ms": mean_ms}] * 5))[1], word)

    def test_goals_are_judged_by_all_runs(self):
        for late, word in (((40, 99), "met"), ((40, 120), "not certain"), ((130, 120), "missed")):
            self.assertEqual(self.words(runs=runs(OWN_CPU, *[{"late_p99_us": it} for it in late]))[3], word)
        self.assertEqual(self.words(runs=runs(OWN_CPU, {"tick_p99_us": 25}))[5], "missed")

    def test_systematic_offset_is_the_median_not_the_worst_case(self):
        for late_us, word in ((122, "met"), (500, "missed")):
            found = self.words(runs=runs(OWN_CPU, *[{"late_p50_us": late_us, "late_p99_us": 600}] * 5))
            self.assertEqual(found[3:5], ["missed", word])

    def test_process_after_the_camera_is_compared_with_and_without_a_delay(self):
        at_once = runs(PAPER_AT_ONCE, *[{"next_mean_us": it} for it in (20, 21, 20, 19, 20)])
        cases = (((40, 41, 42, 40, 40), "holds"), ((20, 20, 19, 20, 21), "undecided"), ((9, 9, 10, 9, 9), "does not hold"))
        for delayed, word in cases:
            found = {**at_once, **runs(PAPER_DELAYED, *[{"next_mean_us": it} for it in delayed])}
            self.assertEqual(self.words(runs=found)[2], word)

    def test_jitter_is_judged_under_each_policy(self):
        wide = {"start_least_ms": 20.0, "start_most_ms": 24.0, "start_sd_ms": 0.4}
        narrow = {"start_least_ms": 20.0, "start_most_ms": 20.5, "start_sd_ms": 0.1}
        found = {**runs(PAPER_AT_ONCE, *[narrow] * 4), **runs(PAPER_DELAYED, *[wide] * 4),
                 **runs(OWN_CPU_AT_ONCE, *[wide] * 4), **runs(OWN_CPU, *[narrow] * 4)}
        words = {it.name: it.word for it in graphs_findings(found, has_own_cpu=True) if "Table 5" in it.name}
        self.assertEqual(len(words), 4)
        for name, word in words.items():
            self.assertEqual(word, "holds" if "under fifo" in name else "does not hold", name)

    def test_jitter_is_inherited_if_control_starts_as_irregularly_as_what_it_waits_for(self):
        for sd, word in ((0.1, "holds"), (0.9, "does not hold")):
            found = graphs_findings(runs(OWN_CPU, *[{"delayed_sd_ms": sd}] * 4), has_own_cpu=True)
            inherited = {it.name: it.word for it in found if "Figure 2" in it.name}
            self.assertEqual(sorted(inherited.values()), sorted([word, "not measured"]))

    def test_with_one_cpu_nothing_is_said_of_a_cpu_for_control(self):
        some = runs(OWN_CPU, {"late_p99_us": 40})
        self.assertEqual(self.words(runs=some, has_own_cpu=False)[3:6], ["not measured", "not measured", "met"])
        self.assertIn("share the only CPU", graphs_chapter(some, 90, None, has_own_cpu=False).about)
        self.assertIn("have their own CPU", graphs_chapter(some, 90, Path("a/film.mp4"), has_own_cpu=True).about)


class Options(unittest.TestCase):
    def test_each_condition_is_run_once_or_more(self):
        self.assertEqual(graphs_parser().parse_args(["--reps=1"]).reps, 1)
        for text in ("0", "-1", "x"):
            said = io.StringIO()
            with self.assertRaises(SystemExit) as caught, redirect_stderr(said):
                graphs_parser().parse_args([f"--reps={text}"])
            self.assertEqual(caught.exception.code, EXIT_SETUP)
            self.assertIn(f"{text!r} is not a number of repetitions", said.getvalue())

    def test_each_run_has_its_own_folder(self):
        folders = {folder_of(Path("out"), condition, number) for condition in conditions() for number in (1, 2)}
        self.assertEqual(len(folders), 18)
        self.assertIn(Path("out/other-with_a_delay-alone-2"), folders)


class Results(WritesResults, Folder):
    """The whole command with invented runs."""

    def measure(self, out, **replaced):
        stand_ins = {
            "require_program": mock.Mock(), "find_stress": mock.Mock(), "_run": mock.Mock(return_value=asdict(RUN)),
            "run_changing": mock.Mock(return_value=asdict(CHANGED_RUN)), "only_measurement": mock.Mock(return_value=nullcontext()),
        }
        with (
            mock.patch.multiple(experiment, **{**stand_ins, **replaced}), mock.patch("os.geteuid", return_value=0),
            redirect_stdout(io.StringIO()),
        ):
            return measure_graphs(GraphsOptions(PROJECT, out, quick=False, reps=2, clip=None))

    def test_all_runs_are_written_with_the_commit(self):
        self.measure(self.folder / "out")
        written = json.loads((self.folder / "out/graphs.json").read_text())
        self.assertIn("commit", written)
        self.assertEqual((len(written["runs"]), len(written["changed"])), (18, 4))
        self.assertEqual(written["changed"][0]["during"]["p99_us"], 60)
        self.assertIn("Precedences and times changed while a graph runs", (self.folder / "out/graphs.md").read_text())

    def test_goal_that_needs_two_cpus_is_not_measured_on_one(self):
        with mock.patch("os.sched_getaffinity", return_value={3}):
            starts, _changes = self.measure(self.folder / "out")
        self.assertEqual(starts.findings[3].word, "not measured")
        self.assertIn("share the only CPU", (self.folder / "out/graphs.md").read_text())


class Reading(unittest.TestCase):
    def read(self, lost_records):
        def of(number):
            keys = ("min", "max", "mean", "sd", "p50", "p99", "count")
            return {key: number + place for place, key in enumerate(keys)}

        processes = {"Control": {"delay_ms": of(200), "lateness_us": of(300), "work_ms": {"mean": 1.5}},
                     "Color_Class0": {"delay_ms": of(400), "lateness_us": of(500), "work_ms": {"mean": 2}},
                     "readFireWire": {"delay_ms": of(0), "work_ms": {"mean": 30}},
                     "WSUpdater": {"delay_ms": of(700), "work_ms": None},
                     **{f"Obj_Track{it}": {"delay_ms": of(600 + 10 * it), "work_ms": None} for it in range(5)}}
        state = {"lost_records": lost_records, "processes": [{"name": "Color_Class0", "skips": 3}, {"name": "Control", "skips": 7}]}
        return run_of({"ticks": 9, "tick_us": of(100), "processes": processes}, state)

    def test_figures_are_those_of_control_and_of_what_follows_the_camera(self):
        self.assertEqual(self.read(0), GraphRun(200, 201, 202, 203, 304, 305, 400e3, 401e3, 402e3, 403e3, 102, 105, 9, 3.5, 206, 7,
                                                623, 703))

    def test_incomplete_log_is_an_error(self):
        with self.assertRaisesRegex(LabError, "5 records of the log are missing"):
            self.read(5)

    def test_table_has_a_row_for_each_condition_that_was_run(self):
        table = graphs_table({Condition(True, True, True): [RUN, replace(RUN, start_most_ms=29.5)], PAPER_AT_ONCE: []})
        self.assertEqual([list(column.cells) for column in table.columns][:2], [["fifo, with a delay, beside stress"], ["29.50"]])

    def test_intervals_need_enough_runs(self):
        table = intervals_table({OWN_CPU: [replace(RUN, start_most_ms=it) for it in (21, 22, 23, 24)], PAPER_AT_ONCE: [RUN]})
        cells = next([*column.cells] for column in table.columns if column.header == "range, ms")
        self.assertRegex(cells[0], r"\A2\.50 \([-\d.]+ to [\d.]+\)\Z")
        self.assertEqual(cells[1], "1.00 (too few runs for an interval)")


if __name__ == "__main__":
    unittest.main()
