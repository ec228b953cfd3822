# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests dlex-sched-sim and `dlex sched sim`.

    test_sched_sim.py PROGRAM SCENARIOS

Not covered: the simulator itself (the C tests beside this file), and whether the figures look right.
"""

import base64
import io
import json
import os
import subprocess
import sys
import unittest
from html.parser import HTMLParser
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

from outside import Folder, with_packages

with_packages("yaml, pydantic, rich, matplotlib, numpy, scipy, jinja2")

from rich.console import Console

from dlex_bench.errors import LabError
from dlex_sched import program, sim
from dlex_sched.__main__ import main
from dlex_sched.scenario import Scenario, read_scenario
from dlex_sched.sim_claims import claim_interval, claim_rows, grade
from dlex_sched.sim_settings import settings_of, shown_settings

PROGRAM, SCENARIOS = Path(sys.argv[1]), Path(sys.argv[2])
LOST = "cannot write to standard output"

# Who runs in each slot; the first letter of each task's name would not do, as there are T1 and T2.
SCHEDULES = {
    "figure-4a": "T2 T1 T2 T1 T2 T1 T2 BE",
    "figure-4b": "T2 T1 T2 T1 T2 T1 T2 T2",
    "figure-4c": "T2 T1 T2 T1 T2",
    "figure-4d": "BE T2 T1 BE BE T2 T1 T2 BE",
    "unequal-periods": "C C B C C B",
    "unequal-windows": "L L L L S1 S2",
    "third-process": "J A",
}


def ended(*options):
    return subprocess.run([PROGRAM, *options], capture_output=True, text=True, timeout=300)


def printed(*options):
    done = ended(*options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class Output(unittest.TestCase):
    """The command in Python, with a standard output that cannot be written."""

    def runs(self, *before, **how):
        file = SCENARIOS / "figure-4a.yaml"
        for command in (("sim", "--help"), ("sim", file), ("dwcs", "--help"), ("dwcs", "--backend=sim", file)):
            argv = [*before, sys.executable, "-m", "dlex_sched", *command]
            yield command[0], subprocess.run(argv, stderr=subprocess.PIPE, text=True, timeout=60, **how)

    def test_full_disk_is_one_sentence(self):
        with open("/dev/full", "w") as full:
            for name, run in self.runs(stdout=full):
                self.assertEqual((run.returncode, run.stderr), (1, f"dlex sched {name}: {LOST}: No space left on device\n"))

    def test_closed_output_is_one_sentence(self):
        for name, run in self.runs("sh", "-c", 'exec "$@" >&-', "sh"):
            self.assertEqual((run.returncode, run.stderr), (1, f"dlex sched {name}: {LOST}: Bad file descriptor\n"))


class Program(unittest.TestCase):
    def test_schedule_has_a_name_for_each_slot(self):
        found = printed("--task=film,0/1,3,1", "--slots=4")
        self.assertEqual(found["slots"], ["film", None, None, "film"])
        self.assertEqual(found["tasks"], [{"name": "film", "served": 2, "missed": 0, "violations": 0}])
        self.assertAlmostEqual(found["utilisation"], 1 / 3)

    def test_rules_decide_whether_an_event_matters(self):
        tasks = ("--task=T1,1/2,4,1", "--task=T2,1/4,2,1", "--best-effort=BE", "--event=T1@2.5", "--slots=4")
        self.assertEqual(printed(*tasks, "--rules=1,2")["slots"][3], "T1")
        self.assertEqual(printed(*tasks, "--rules=1,3")["slots"][3], "BE")

    def test_wrong_options_are_errors(self):
        for wrong in ("--task=film", "--task=film,1/2,0,0", "--task=film,1/2,1,2", "--task=film,3/2,3,1", "--task=film,1/2,3,1,nc",
                      "--task=a b,1/2,3,1", "--best-effort=", "--event=film@1", "--rules=6", "--rules=1,", "--rule-4=5",
                      "--server=2/1", "--slots=0", "--experiment=table-9", "--players=31", "--runs=x", "surplus", "--reading=late",
                      "--reading=together,", "--reading=,together", "--reading=togethe", "--cost=5", "--cost=5-", "--cost=0-5",
                      "--cost=6-5", "--cost=5-6ms", "--cost=5-nan", "--sleep=0", "--sleep=1001", "--sleep=10ms"):
            with self.subTest(wrong):
                done = ended(wrong)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn("dlex-sched-sim: ", done.stderr)

    def test_experiments_come_with_their_claims(self):
        found = printed("--experiment=table-5", "--runs=2", "--seconds=5", "--delays=3")
        self.assertEqual([(run["seed"], run["has_events"]) for run in found["runs"] if run["is_papers"]],
                         [(1, False), (1, True), (2, False), (2, True)])
        self.assertEqual(sorted({run["players"] for run in found["runs"]}), list(range(1, 11)))
        self.assertEqual({run["players"] for run in found["runs"] if run["is_papers"]}, {10})
        self.assertEqual({len(run["delays_ms"]) for run in found["runs"]}, {3})
        self.assertEqual({claim["where"] for claim in found["claims"]}, {"Table 5"})
        self.assertEqual({len(claim["simulated"]) for claim in found["claims"]}, {2})

    def test_players_sleep_and_cost_what_the_options_say(self):
        found = printed("--experiment=figure-5", "--players=1", "--cost=3.5-3.5", "--sleep=46.5", "--seconds=5")
        self.assertEqual((found["readings"], found["cost_ms_min"], found["cost_ms_max"], found["sleep_ms"]), ([], 3.5, 3.5, 46.5))
        for run in found["runs"]:  # one picture each 50 ms, whose response time is its cost
            self.assertIn(run["frames"], (99, 100))
            self.assertEqual(run["response_ms_mean"], 3.5)

    def test_each_reading_changes_who_waits(self):
        delays = set()
        for readings in ((), ("first-event",), ("by-deadline",), ("together",), ("first-event", "by-deadline", "together")):
            found = printed("--experiment=figure-8", "--players=10", "--seconds=5", f"--reading={','.join(readings)}")
            self.assertEqual(found["readings"], list(readings))
            delays.add(found["runs"][1]["delay_ms_mean"])
        self.assertEqual(len(delays), 5)

    def test_claims_are_about_the_papers_numbers_of_players(self):
        found = printed("--experiment=table-4", "--players=12", "--seconds=5")
        self.assertEqual({run["players"] for run in found["runs"]}, {12})
        self.assertEqual(found["claims"], [])


class Scenarios(Folder):
    def read(self, text):
        path = self.folder / "scenario.yaml"
        path.write_text(text)
        return read_scenario(path)

    def test_every_scenario_runs_as_expected(self):
        self.assertEqual({path.stem for path in SCENARIOS.glob("*.yaml")}, set(SCHEDULES))
        for name, expected in SCHEDULES.items():
            with self.subTest(name):
                found = printed(*read_scenario(SCENARIOS / f"{name}.yaml").options())
                self.assertEqual(" ".join(found["slots"]), expected)

    def test_scenarios_without_guarantee_have_a_violation(self):
        for name, violations in {"unequal-periods": [1, 0, 0], "unequal-windows": [0, 0, 0, 1]}.items():
            with self.subTest(name):
                found = printed(*read_scenario(SCENARIOS / f"{name}.yaml").options())
                self.assertEqual([task["violations"] for task in found["tasks"]], violations)
                self.assertAlmostEqual(found["utilisation"], 1)

    def test_third_process_is_safe_if_rule_4_is(self):
        scenario = read_scenario(SCENARIOS / "third-process.yaml")
        for rule_4, violations, slots in (("paper", [0, 1, 0], ["J", "A"]), ("safe", [0, 0, 0], ["A", "B"])):
            found = printed(*scenario.model_copy(update={"rule_4": rule_4}).options())
            self.assertEqual(([task["violations"] for task in found["tasks"]], found["slots"]), (violations, slots))

    def test_options_are_in_the_order_of_the_file(self):
        text = "tasks: {b: best-effort, a: {window: 0/1, period: 2, work-conserving: true}}\nserver: 0/5\nrules: []\n"
        scenario = self.read(text)
        self.assertEqual(scenario.options(),
                         ["--best-effort=b", "--task=a,0/1,2,1,wc", "--server=0/5", "--rules=", "--rule-4=paper", "--slots=20"])

    def test_wrong_scenarios_are_errors_that_name_the_field(self):
        for text, reason in {
            "": "", "tasks: {}": "no tasks", "tasks: [": "not YAML", "tasks: {a: {window: 1, period: 2}}": "window",
            "tasks: {a: best-effort}\nlength: 3": "length", "tasks: {a: best-effort}\nrules: [7]": "rules",
            "tasks: {a b: best-effort}": "a b",
        }.items():
            with self.subTest(text), self.assertRaises(LabError) as caught:
                self.read(text)
            self.assertIn(reason, str(caught.exception))

    def test_missing_scenario_is_an_error(self):
        with self.assertRaises(LabError):
            read_scenario(self.folder / "none.yaml")


def made_up_run(players, *, is_papers, seed, has_events, mean=10.0, swaps=0):
    return program.ExperimentRun(
        experiment="table-4", players=players, is_papers=is_papers, seed=seed, has_events=has_events, utilisation=0.5, frames=600,
        delay_ms_mean=mean, delay_ms_max=3 * mean, response_ms_mean=mean + 9, events=100 if has_events else 0, swaps=swaps,
        delays_ms=[])


def made_up_claim(simulated, **changes):
    claim = program.PaperClaim(where="Table 4", experiment="table-4", players=1, metric="swaps_percent", low=20, high=30,
                               simulated=list(simulated))
    return claim.model_copy(update=changes)


def graded(claim):
    return grade(claim, claim_interval(claim))


class Settings(unittest.TestCase):
    def test_runs_with_and_without_events_are_paired_by_seed(self):
        means = {False: (10, 20, 40, 80), True: (5, 18, 36, 72)}
        runs = [made_up_run(1, is_papers=True, seed=seed, has_events=has_events, mean=means[has_events][seed], swaps=7 * has_events)
                for seed in range(4) for has_events in (False, True)]
        setting, = settings_of(runs)
        self.assertEqual((setting.mean_without.value, setting.mean_with.value), (30, 27))
        self.assertEqual((setting.longest_without.value, setting.swaps.value), (90, 7))
        self.assertEqual((setting.response_without.value, setting.response_with.value), (39, 36))
        self.assertAlmostEqual(setting.reduction.value, 10)
        self.assertTrue(setting.reduction.low <= 10 <= setting.reduction.high <= 50)

    def test_only_the_papers_numbers_of_players_are_shown_if_there_are_some(self):
        def some(*papers):
            return settings_of([made_up_run(players, is_papers=players in papers, seed=1, has_events=has_events)
                                for players in (1, 2, 3) for has_events in (False, True)])

        self.assertEqual([each.players for each in shown_settings(some(2))], [2])
        self.assertEqual([each.players for each in shown_settings(some())], [1, 2, 3])


class Grades(unittest.TestCase):
    def test_share_holds_if_its_whole_interval_is_near_the_papers(self):
        for values, word in (((14, 14, 14, 14), "does not hold"), ((15, 15, 15, 15), "holds"), ((35, 35, 35, 35), "holds"),
                             ((36, 36, 36, 36), "does not hold"), ((10, 40, 20, 25), "undecided"), ((24, 25, 26, 25), "holds"),
                             ((60, 70, 65, 61), "does not hold")):
            with self.subTest(values):
                self.assertEqual(graded(made_up_claim(values)), word)

    def test_few_runs_decide_nothing(self):
        self.assertEqual(graded(made_up_claim([25, 25, 25])), "undecided")

    def test_figure_without_a_value_does_not_hold(self):
        self.assertEqual(graded(made_up_claim([])), "does not hold")
        self.assertEqual(graded(made_up_claim([None] * 5)), "does not hold")

    def test_delays_are_not_compared(self):
        self.assertEqual(graded(made_up_claim([25] * 5, metric="mean_with_ms")), "not compared")

    def test_row_has_the_papers_figure_and_ours(self):
        row, = claim_rows([made_up_claim([24, 25, 26, 25, None])])
        self.assertEqual(row[:4], ("Table 4", "1", "swaps, %", "20 to 30"))
        self.assertTrue(row[4].startswith("25.0 (2"), row[4])


class Words(HTMLParser):
    """The text of a page, and what its images show."""

    def __init__(self, page):
        super().__init__()
        self.text, self.images = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        if tag == "img":
            self.images.append(dict(attrs)["src"])

    def handle_data(self, data):
        self.text.append(" ".join(data.split()))


class NarrowTerminals(unittest.TestCase):
    def test_names_and_headings_are_whole(self):
        for width in (80, 60, 40):
            command = ["dwcs", "--backend=sim", SCENARIOS.parent / "players/films.yaml"]
            run = subprocess.run([sys.executable, "-m", "dlex_sched", *command], capture_output=True, text=True, timeout=60,
                                 env={**os.environ, "COLUMNS": str(width)})
            with self.subTest(width):
                self.assertNotIn("…", run.stdout, run.stderr)
                table = run.stdout[run.stdout.index("Who runs"):]
                self.assertLessEqual(max(map(len, table.splitlines())), width)
                for word in ("served", "missed", "violations"):
                    self.assertIn(word, table)


class Command(Folder):
    def setUp(self):
        super().setUp()
        self.output = io.StringIO()
        console = Console(file=self.output, width=120)
        for patch in (mock.patch.object(program, "PROGRAM", PROGRAM), mock.patch.object(sim, "Console", lambda: console)):
            patch.start()
            self.addCleanup(patch.stop)

    def test_scenario_is_shown(self):
        self.assertEqual(main(["sim", str(SCENARIOS / "figure-4a.yaml")]), 0)
        self.assertIn("1 of them made another process run", " ".join(self.output.getvalue().split()))

    def test_experiments_are_shown_drawn_and_stored(self):
        out = self.folder / "out"
        self.assertEqual(main(["sim", "--runs=1", "--seconds=5", f"--out={out}"]), 0)
        self.assertEqual({path.name for path in out.iterdir()},
                         {"sim.html", "sim.json", "figure-5.png", "figure-6.png", "figure-7.png", "figure-8.png"})
        self.assertEqual(len(json.loads((out / "sim.json").read_text())["runs"]), 2 * 6 * 10)
        for where in ("Table 3", "Table 4", "Table 5", "Table 6", "Figure 6", "Figure 7", "Figure 8", "> 320", "9 to 36"):
            self.assertIn(where, self.output.getvalue())

    def test_page_has_all_players_claims_and_figures(self):
        out = self.folder / "out"
        self.assertEqual(main(["sim", "--runs=4", "--seconds=5", f"--out={out}"]), 0)
        found, stored = Words((out / "sim.html").read_text()), json.loads((out / "sim.json").read_text())
        for source, name in zip(found.images, ("figure-5", "figure-6", "figure-7", "figure-8"), strict=True):
            self.assertEqual(base64.b64decode(source.removeprefix("data:image/png;base64,")), (out / f"{name}.png").read_bytes())
        for players in range(1, 10):  # the paper reports a share of 10 %
            claims = sum(each["players"] == players for each in stored["claims"])
            self.assertEqual(found.text.count(str(players)), 6 + claims, players)
        grades = {word: found.text.count(word) for word in ("holds", "does not hold", "undecided", "not compared")}
        self.assertEqual(sum(grades.values()), len(stored["claims"]))
        self.assertEqual(grades["not compared"], sum(each["metric"].endswith("_ms") for each in stored["claims"]))
        self.assertTrue(any((stored["commit"] or "") in text for text in found.text))

    def test_one_experiment_has_one_chapter(self):
        out = self.folder / "out"
        self.assertEqual(main(["sim", "--experiment=table-6", "--players=2", "--runs=2", "--seconds=5", f"--out={out}"]), 0)
        self.assertEqual({path.name for path in out.iterdir()}, {"sim.html", "sim.json", "figure-7.png"})
        self.assertNotIn("What the paper reports", (out / "sim.html").read_text())
        self.assertNotIn("Table 4", (out / "sim.html").read_text())

    def test_page_and_terminal_say_how_the_paper_was_read(self):
        out = self.folder / "out"
        options = ["--experiment=table-6", "--players=1", "--runs=2", "--seconds=5", f"--out={out}"]
        self.assertEqual(main(["sim", *options, "--reading=together,first-event", "--cost=15-25", "--sleep=90.5"]), 0)
        for text in ((out / "sim.html").read_text(), self.output.getvalue()):
            words = " ".join(text.split())
            for sentence in ("periods begin together", "first event of its queue only", "costs 15 to 25 ms", "sleeps for 90.5 ms"):
                self.assertIn(sentence, words)
        self.assertEqual(main(["sim", *options]), 0)
        self.assertNotIn("sleeps for", (out / "sim.html").read_text())

    def test_page_has_only_the_costs_that_were_simulated(self):
        out = self.folder / "out"
        options = ["--experiment=figure-8", "--players=1", "--runs=1", "--seconds=5", f"--out={out}"]
        for cost, expected in (([], ["15 to 25 ms"]), (["--cost=6-14"], ["6 to 14 ms"])):
            self.assertEqual(main(["sim", *options, *cost]), 0)
            page = " ".join((out / "sim.html").read_text().split())
            self.assertEqual([it for it in ("15 to 25 ms", "6 to 14 ms") if it in page], expected)

    def test_errors_are_sentences(self):
        with mock.patch("sys.stderr", io.StringIO()) as errors:
            self.assertEqual(main(["sim", str(self.folder / "none.yaml")]), 1)
            self.assertEqual(main(["sim", "--experiment=table-9", f"--out={self.folder}"]), 1)
            self.assertEqual(main(["sim", str(SCENARIOS / "figure-4a.yaml"), "--cost=6-14"]), 1)
        self.assertIn("table-9", errors.getvalue())
        self.assertIn("--cost is for the experiments", errors.getvalue())

    def test_every_scenario_of_the_model_is_a_scenario_of_the_program(self):
        """The limits of names and numbers are the same in both."""
        name = "n" * 31
        scenario = Scenario.model_validate({"tasks": {name: {"window": "1048576/1048576", "period": 100_000, "service": 100_000}},
                                            "events": [{"sink": name, "at": 100_000}], "slots": 1})
        self.assertEqual(printed(*scenario.options())["slots"], [name])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
