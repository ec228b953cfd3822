# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the command `simulate` and the program dlex-bench-sim, over a clip that the real player plays.

    test_bench_simulate.py BUILD MEDIA_MAKE

Not covered: the model itself (tests/sim), and how near it is to real plays, which is measured.
"""

import csv
import functools
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from outside import Folder, with_packages

with_packages("pydantic, rich")

from rich.console import Console

from dlex_bench.errors import LabError
from dlex_bench.job.result import JobResult
from dlex_bench.record import read_frames
from dlex_bench.simulate.measured import supply_of
from dlex_bench.simulate.policies import simulated_policy
from dlex_bench.simulate.program import SimulatedFilm, SimulatedRun, Simulation, simulated
from dlex_bench.simulate.simulate import SimulatedSetting, _ratio, _show

BUILD, MAKE = Path(sys.argv[1]), sys.argv[2]
PICTURES = 200
PLAYER, QOE, SIM = (BUILD / name for name in ("player/dlex-play", "qoe/dlex-qoe", "bench/sim/dlex-bench-sim"))


def text_of(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@functools.cache
def played():
    """Plays the clip once for all tests. Returns the holder of the folder with the record and its trace."""
    holder = tempfile.TemporaryDirectory()
    record = Path(holder.name) / "whole"
    options = ("--drop=none", "--untimed", "--vo=null", "--quiet", f"--record={record}")
    text_of(PLAYER, *options, text_of(MAKE, "progressive_cabac"))
    text_of(QOE, record, f"--trace={holder.name}/trace.csv")
    return holder


class WithRecord(Folder):
    """Tests with a record of their own, without its trace."""

    def setUp(self):
        super().setUp()
        self.record = self.folder / "whole"
        shutil.copytree(Path(played().name) / "whole", self.record)


class Program(WithRecord):
    def setUp(self):
        super().setUp()
        self.trace = Path(played().name) / "trace.csv"

    def sim(self, *options):
        return json.loads(text_of(SIM, self.trace, *options))

    def test_every_policy_plays_every_picture(self):
        for policy in ("--drop=none", "--drop=heuristic", "--drop=vlc", "--deadline-rule=paper", "--deadline-rule=slack",
                       "--strict", "--skip-to-key=never", "--degrade=auto", "--clairvoyant=drops", "--clairvoyant=rmse"):
            for queue in (0, 8):
                with self.subTest(policy, queue=queue):
                    report = self.sim(policy, f"--queue={queue}", "--demand=1.3", "--runs=2")
                    self.assertEqual([run["seed"] for run in report["runs"]], [1, 2])
                    self.assertAlmostEqual(report["film"]["demand"], 1.3, 6)
                    for run in report["runs"]:
                        self.assertEqual(run["frames"], PICTURES)
                        self.assertEqual(run["dropped"], run["aborted"] + run["skipped"] + run["late"])
                        self.assertEqual(run["dropped"] == 0, policy == "--drop=none")

    def test_clairvoyant_is_between_its_bound_and_rule_plan(self):
        for supply in ("cbs:15/40", "quota:15/40", "fair:400ms", "part:0.4"):
            options = (f"--supply={supply}", "--demand=1.3", "--queue=8")
            best = self.sim(*options, "--clairvoyant=drops")["runs"][0]
            plan = self.sim(*options, "--strict")["runs"][0]
            self.assertLessEqual(best["at_least"]["drops"], best["dropped"], supply)
            self.assertLessEqual(best["dropped"], plan["dropped"], supply)
            self.assertIsNone(plan["at_least"])
            least = self.sim(*options, "--clairvoyant=rmse")["runs"][0]
            self.assertLessEqual(least["rmse_q16_sum"], best["rmse_q16_sum"], supply)

    def test_codec_threads_share_a_whole_machine(self):
        def dropped(*options):
            run = self.sim("--supply=fair:2/8", "--scale=8", "--queue=8", *options)["runs"][0]
            return run["dropped"]

        self.assertEqual(dropped("--threads=2", "--drop=none"), 0)
        self.assertGreater(dropped("--threads=1"), dropped("--threads=4"))
        self.assertGreater(dropped("--threads=1", "--nice=10"), dropped("--threads=1"))
        self.assertLessEqual(dropped("--threads=2", "--clairvoyant=drops"), dropped("--threads=2", "--strict"))

    def test_share_of_droppable_pictures_is_that_of_the_trace(self):
        film = self.sim()["film"]
        rows = list(csv.DictReader(self.trace.read_text().splitlines()))
        droppable = [row for row in rows if row["droppable"] == "1"]
        part = sum(int(row["decode_cpu_ns"]) for row in droppable) / sum(int(row["decode_cpu_ns"]) for row in rows)
        self.assertEqual(film["droppable"], len(droppable))
        self.assertAlmostEqual(film["droppable_cpu_part"], part, 6)

    def test_same_options_give_the_same_figures(self):
        options = ("--demand=1.2", "--runs=3", "--supply=fair:300ms")
        self.assertEqual(self.sim(*options), self.sim(*options))
        self.assertNotEqual(self.sim(*options)["runs"], self.sim(*options, "--seed=9")["runs"])

    def test_rows_are_those_of_the_run(self):
        rows = self.folder / "run" / "frames.csv"
        rows.parent.mkdir()
        run = self.sim("--demand=1.4", "--queue=0", "--deadline-rule=slack", f"--rows={rows}")["runs"][0]
        frames = read_frames(rows.parent)
        self.assertEqual(len(frames), PICTURES)
        for verdict in ("aborted", "late", "shown"):
            self.assertEqual(sum(frame.verdict == verdict for frame in frames), run[verdict], verdict)

    def changed_trace(self, name, change):
        """Returns a copy of the trace whose rows, lists of fields, were changed."""
        rows = list(csv.reader(self.trace.read_text().splitlines()))
        for row in rows[1:]:
            change(row)
        with (self.folder / name).open("w") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
        return self.folder / name

    def test_there_is_no_bound_where_the_head_start_depends_on_the_schedule(self):
        for head_start, exists in ((2, True), (40, False)):
            options = ("--queue=50", "--demand=1.2", f"--head-start={head_start}", "--states=5")
            run = self.sim("--clairvoyant=drops", *options)["runs"][0]
            self.assertEqual(run["at_least"] is not None, exists)

    def test_faults_are_one_sentence(self):
        self.free = self.changed_trace("free.csv", lambda row: row.__setitem__(4, "0"))
        self.blind = self.changed_trace("blind.csv", lambda row: row.__setitem__(5, ""))
        for options, code, words in (
            ([], 1, "no TRACE"),
            ([self.trace, "--supply=cbs:50/40"], 1, "is not a budget"),
            ([self.trace, "--supply=nothing"], 1, "is unknown"),
            ([self.trace, "--queue=1.5"], 1, "whole number"),
            ([self.trace, "--tolerance=40"], 1, "not a time"),
            ([self.trace, "--drop=maybe"], 1, "is unknown"),
            ([self.trace, "--demand=1", "--scale=2"], 1, "leave out one"),
            ([self.trace, "--demand=nan"], 1, "not a number"),
            ([self.trace, "--demand="], 1, "not a number"),
            ([self.trace, "--draw=-1ms"], 1, "not a time"),
            ([self.trace, "--draw=nanms"], 1, "not a time"),
            ([self.trace, "--supply=quota:1e-9/40"], 1, "is not a budget"),
            ([self.trace, "--supply=part:"], 1, "not a number"),
            ([self.trace, "--supply=fair:2/"], 1, "is not a number of CPUs and of programs"),
            ([self.trace, "--supply=fair:0/8"], 1, "is not a number of CPUs and of programs"),
            ([self.trace, "--supply=fair:2/8x"], 1, "is not a number of CPUs and of programs"),
            ([self.trace, "--threads=2"], 1, "need --supply=fair:CPUS/PROGRAMS"),
            ([self.trace, "--nice=5"], 1, "need --supply=fair:CPUS/PROGRAMS"),
            ([self.trace, "--supply=fair:2/8", "--threads=17"], 1, "is not a number from 1 to 16"),
            ([self.trace, "--supply=fair:2/8", "--threads=2", "--queue=0"], 1, "needs a --queue"),
            ([self.trace, "--supply=fair:2/8", "--demand=1.2"], 1, "use --scale"),
            ([self.free, "--demand=1"], 2, "no decode of the trace takes CPU time"),
            ([self.blind], 2, "lacks the error of a picture"),
            ([self.folder], 2, "cannot be read"),
            ([self.folder / "none.csv"], 2, "No such file"),
            ([self.record / "run.json"], 2, "no decode trace"),
        ):
            with self.subTest(options):
                run = subprocess.run([SIM, *options], capture_output=True, text=True)
                self.assertEqual(run.returncode, code, run.stderr)
                self.assertIn(words, run.stderr)
                self.assertEqual(run.stdout, "")


class Command(WithRecord):
    def setUp(self):
        super().setUp()
        (self.folder / "build").mkdir()
        (self.folder / "build/release").symlink_to(BUILD)

    def simulate(self, *options):
        command = [sys.executable, "-m", "dlex_bench", "simulate", f"--out={self.folder}/simulate.json", *map(str, options)]
        environment = {**os.environ, "DLEX_BENCH_ROOT": str(self.folder)}
        return subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)

    def test_trace_is_made_once_and_every_setting_is_simulated(self):
        options = ("--demand=1.2", "--queues=0,8", "--policies=none,vlc,plan,clairvoyant", "--repeat=2")
        run = self.simulate(self.record, *options)
        self.assertEqual(run.returncode, 0, run.stderr)
        found = json.loads((self.folder / "simulate.json").read_text())
        names = [(one["queue"], one["policy"]) for one in found["settings"]]
        self.assertEqual(names, [(0, "none"), (0, "plan"), (0, "clairvoyant"),
                                 (8, "none"), (8, "vlc"), (8, "plan"), (8, "clairvoyant")])
        self.assertTrue(all(len(one["runs"]) == 2 for one in found["settings"]))
        for word in ("clairvoyant", "ratio", f"{PICTURES} pictures", "demand 120%"):
            self.assertIn(word, run.stdout)
        trace = self.record / "trace.csv"
        made_ns = trace.stat().st_mtime_ns
        self.assertEqual(self.simulate(trace, *options).returncode, 0)
        self.assertEqual(self.simulate(self.record, *options).returncode, 0)
        self.assertEqual(trace.stat().st_mtime_ns, made_ns)
        os.utime(trace, (1, 1))
        self.assertEqual(self.simulate(self.record, *options).returncode, 0)
        self.assertGreater(trace.stat().st_mtime_ns, made_ns)

    def test_each_film_without_stamps_has_its_own_trace(self):
        film = Path(text_of(MAKE, "progressive_cabac"))
        copy = self.folder / "copy.mp4"
        shutil.copy(film, copy)
        for unstamped, traces in ((None, 1), (film, 2), (film, 2), (copy, 3), (None, 3)):
            options = [f"--unstamped={unstamped}"] if unstamped else []
            run = self.simulate(self.record, "--policies=none", "--queues=0", "--repeat=1", *options)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(len(list(self.record.glob("trace*.csv"))), traces)

    def job(self, name, sched="quota:4/40", load="none", applied=None, dropped=0, **params):
        """Keeps a result, with the record of the whole clip as the player's own."""
        folder = self.folder / "batch" / name
        shutil.copytree(self.record, folder / "own")
        facts = json.loads((folder / "own/run.json").read_text())
        (folder / "own/run.json").write_text(json.dumps({**facts, "queue": None}))
        job = {"id": name, "repetition": 1, "section": "s", "workload": name, "player": "dlex-play", "player_params": params,
               "sched": sched, "load": {"kind": load, "cpu": 3}, "clip": {"recipe": "progressive_cabac"}, "observe": "inside"}
        content = {"version": 1, "job": job, "status": "done", "policy": {"applied": applied or sched},
                   "figures": {"frames": PICTURES, "dropped": dropped, "skew_ms_sd": 12.3, "rmse_q16_sum": 45678}}
        (folder / "result.json").write_text(json.dumps(content))
        return JobResult.model_validate(content)

    def compared(self, *names):
        """Simulates the batch. Returns the rows of the named policies, and what was printed."""
        (self.folder / "batch/batch.json").write_text('{"version": 1, "jobs": []}')
        run = self.simulate(self.folder / "batch", "--repeat=3")
        self.assertEqual(run.returncode, 0, run.stderr)
        rows = [line.split() for line in run.stdout.splitlines()]
        return [next(row for row in rows if row[:2] == [name, "0"]) for name in names], run.stdout

    def test_measured_plays_are_simulated_and_compared(self):
        self.job("whole", drop="none", queue="0")
        self.job("known", drop="deadline", rule="slack", queue="0", dropped=77)
        self.job("other", drop="deadline", rule="slack", queue="0", options=["--threads=2"])
        (none, slack), printed = self.compared("none", "slack")
        self.assertEqual(none[2:9], ["0", "0..0", "0", "yes", "1.00", "0", "yes"])
        self.assertEqual(slack[2:4], ["77", "77..77"])
        self.assertEqual(int(slack[5]), int(slack[4]) - 77)
        self.assertEqual(slack[6:9], ["1.00", *slack[4:6]])
        self.assertEqual(slack[9], "12")
        self.assertIn("1 of 2 are near", printed)
        self.assertIn("plays themselves (then) 1.", printed)

    def multiply_costs(self, play, factor):
        """Multiplies the decode times of all pictures but those that were not shown."""
        path = self.folder / "batch" / play / "own/frames.csv"
        with path.open(newline="") as lines:
            rows = list(csv.DictReader(lines))
        for row in rows:
            row["decode_cpu_ns"] = str(int(row["decode_cpu_ns"]) * factor)
        with path.open("w", newline="") as lines:
            writer = csv.DictWriter(lines, rows[0].keys())
            writer.writeheader()
            writer.writerows(rows)

    def test_plays_are_simulated_with_their_own_costs_too(self):
        self.job("whole", drop="none", queue="0")
        self.job("dear", drop="deadline", rule="slack", queue="0")
        self.multiply_costs("dear", 3)
        ([slack], _printed) = self.compared("slack")
        self.assertEqual(slack[6], "3.00")
        self.assertGreater(int(slack[7]), int(slack[4]))

    def test_costs_of_the_plays_that_measured_the_demand_serve_where_no_job_drops_nothing(self):
        known = self.job("known", sched="quota:120%/40", applied="quota:4/40", drop="deadline", rule="slack", queue="0")
        shutil.copytree(self.record, self.folder / "batch/demand/here/film-2-1/own")
        clip = known.job.clip.to_json()
        films = [{"clip": {**clip, "start_s": 1.0}, "observe": "inside", "plays": [0.1]},
                 {"clip": clip, "observe": "inside", "plays": [0.1]}]
        (self.folder / "batch/demand-here.json").write_text(json.dumps({"version": 1, "machine": "here", "films": films}))
        ([slack], _printed) = self.compared("slack")
        self.assertEqual(slack[6], "1.00")

    def test_measured_plays_without_one_that_drops_nothing_cannot_be_compared(self):
        self.job("known", drop="deadline", rule="slack", queue="0")
        (self.folder / "batch/batch.json").write_text('{"version": 1, "jobs": []}')
        run = self.simulate(self.folder / "batch")
        self.assertEqual(run.returncode, 2)
        self.assertIn("s: no play with drop: none", run.stdout)
        self.assertIn("has nothing to compare", run.stderr)
        self.assertIn("name one folder", self.simulate(self.folder / "batch", self.record).stderr)

    def test_supply_is_that_of_the_policy_beside_its_load(self):
        divided = "deadline:2/10 + deadline:8/40"
        for number, (sched, load, applied, queue, expected) in enumerate((
            ("quota:calibrated/40", "rtapp", "quota:15.5/40", 8, ["--supply=quota:15.5/40"]),
            ("quota:120%/40", "none", "quota:9/40", 0, ["--supply=quota:9/40", "--alone"]),
            ("deadline:15/40", "rtapp", "deadline:15/40", 0, ["--supply=cbs:15/40"]),
            ("deadline:15/40", "rtapp", divided, 8, ["--supply=cbs-divided:4/10"]),
            ("other", "rtapp", "other", 8, ["--supply=part:0.525"]),
            ("other", "stress", "other", 8, ["--supply=part:0.25"]),
            ("other", "none", "other", 8, ["--supply=part:1"]),
        )):
            result = self.job(str(number), sched, load, applied, drop="none", queue=str(queue))
            self.assertEqual(supply_of(result, queue), expected)

    def test_policies_have_their_names_in_the_simulator(self):
        for number, (name, params) in enumerate((
            ("heuristic", {"drop": "heuristic"}),
            ("plan", {"drop": "deadline", "rule": "plan"}),
            ("strict", {"drop": "deadline", "rule": "plan", "options": ["--strict"]}),
            ("never-skip", {"drop": "deadline", "rule": "plan", "options": ["--skip-to-key=never"]}),
            ("degrade", {"drop": "deadline", "rule": "plan", "options": ["--degrade=auto"]}),
            (None, {"drop": "deadline", "rule": "slack", "options": ["--strict"]}),
            (None, {"drop": "deadline", "rule": "plan", "options": ["--strict", "--skip-to-key=never"]}),
            (None, {"drop": "heuristic", "options": ["--vo=sdl"]}),
            (None, {"drop": "deadline"}),
        )):
            self.assertEqual(simulated_policy(self.job(str(number), **params).job), name)

    def test_program_of_another_build_is_reported(self):
        report = json.loads(text_of(SIM, Path(played().name) / "trace.csv"))
        other = json.dumps({**report, "format": 2})
        with mock.patch("dlex_bench.simulate.program._run", return_value=other):
            with self.assertRaisesRegex(LabError, "does it belong to this build"):
                simulated(self.folder, Path("trace"), [])

    def test_job_of_the_laboratory_holds_its_record(self):
        job = self.folder / "job"
        job.mkdir()
        self.record.rename(job / "own")
        run = self.simulate(job, "--policies=none", "--queues=0", "--repeat=1")
        self.assertEqual(run.returncode, 0, run.stderr)
        with (job / "own/trace.csv").open() as file:
            self.assertEqual(len(list(csv.DictReader(file))), PICTURES)

    def test_faults_are_one_sentence(self):
        (self.record / "run.json").write_text((self.record / "run.json").read_text().replace('"none"', '"vlc"', 1))
        for options, words in (
            ([self.folder / "nothing"], "holds no record"),
            ([self.record], "--drop=none"),
            ([self.record, "--policies=best"], "is not one of"),
            ([self.record, "--queues=x"], "not a list of numbers"),
            ([self.record, "--repeat=0"], "--repeat"),
            ([self.folder / "whole/run.json"], "no decode trace"),
            ([self.record, "--policies=vlc", "--queues=0"], "needs a queue"),
            ([self.record, "--queues="], "not a list of numbers"),
            ([Path(played().name) / "trace.csv", "--queues=-1"], "not a list of numbers"),
            ([Path(played().name) / "trace.csv", "--demand=nan"], "--demand=nan is not a number"),
            ([Path(played().name) / "trace.csv", "--seed=-1"], "--seed: '-1' is not a seed; give 0 to"),
            ([self.record, "--unstamped=none.mp4"], "none.mp4 cannot be read"),
        ):
            with self.subTest(options):
                run = self.simulate(*options)
                self.assertIn(run.returncode, (1, 2), run.stderr)
                self.assertIn(words, run.stderr)
                self.assertEqual(len(run.stderr.strip().splitlines()), 1, run.stderr)


FILM = SimulatedFilm(pictures=100, droppable=50, frame_ms=40, decode_ms_mean=10, demand=1)


def setting(policy, queue, drops):
    """Returns a setting whose run with seed n dropped `drops[n]` pictures."""
    none = dict.fromkeys(("skew_ms_mean", "skew_ms_sd", "skew_ms_abs_mean", "skew_ms_p99", "cost_mape", "cost_r2",
                          "wasted_of_droppable", "at_least"))
    runs = [SimulatedRun(seed=seed, dropped=number, aborted=0, skipped=number, late=0, rmse_q16_sum=0, longest_freeze_ms=40, **none)
            for seed, number in enumerate(drops)]
    return SimulatedSetting(Path("trace"), policy, queue, Simulation(format=1, film=FILM, runs=runs))


class Ratio(unittest.TestCase):
    def test_compares_the_same_seeds_and_queue(self):
        plan = setting("plan", 8, [30, 60, 500])
        settings = [plan, setting("clairvoyant", 0, [1, 1]), setting("clairvoyant", 8, [20, 40])]
        self.assertEqual(_ratio(plan, settings), "1.50")
        self.assertEqual(_ratio(setting("plan", 50, [1]), settings), "-")
        self.assertEqual(_ratio(settings[2], settings), "-")

    def test_nothing_to_divide_by_has_no_ratio(self):
        plan = setting("plan", 8, [3])
        self.assertEqual(_ratio(plan, [plan, setting("clairvoyant", 8, [0])]), "-")

    def test_median_of_a_figure_that_a_run_lacks_is_unknown(self):
        one = setting("plan", 8, [1, 5, 9])
        self.assertEqual(one.median(lambda run: run.dropped, {0, 1, 2}), 5)
        self.assertIsNone(one.median(lambda run: run.cost_mape, {0}))

    def test_medians_are_over_the_seeds_of_all_rows(self):
        console = Console(width=100, file=io.StringIO())
        options = mock.Mock(supply="part:1")
        _show(console, options, [setting("plan", 8, [10, 20, 3000, 4000, 5000]), setting("clairvoyant", 8, [7, 9, 11])])
        said = console.file.getvalue()
        self.assertIn("Medians of 3 runs", said)
        self.assertRegex(said, r"plan +20 ")
        self.assertRegex(said, r"clairvoyant +9 ")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
