# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the commands `report` and `compare` on a batch that was really run (fixtures/batch): their outputs and errors.

Not covered: how the page looks and behaves in a browser (test_bench_report_page).
"""

import base64
import csv
import json
import math
import os
import shutil
import subprocess
import sys
import unittest
import zlib
from pathlib import Path

from outside import Folder, with_packages

with_packages("rich, scipy, jinja2, plotly, yaml, pydantic")
FIXTURE = Path(__file__).resolve().parent / "fixtures/batch"
RUN = "cbs-dlex_slack-r1"

import made_up
from dlex_bench.analysis import results_frame
from dlex_bench.batch.batch_file import StoredAgenda
from dlex_bench.report import export, meaning, report, sections, timeline
from dlex_bench.report.export import json_text
from dlex_bench.report.gather import Batch, gather
from dlex_bench.report.metrics import SKEW_SD


def strict_json(text):
    """Parses JSON as strictly as browsers and other languages do. Only Python accepts Infinity and NaN."""
    def refuse(word):
        raise ValueError(f"{word} is no JSON")

    return json.loads(text, parse_constant=refuse)


def made_batch(folder, **settings):
    """Writes five runs per setting. `settings` maps a workload to the five values of each figure."""
    for workload, figures in settings.items():
        for number in range(1, 6):
            run = made_up.result(workload, number, **{key: some[number - 1] for key, some in figures.items()})
            path = folder / run.job.id
            path.mkdir(parents=True)
            (path / "result.json").write_text(json.dumps(run.to_json()))


class Command(Folder):
    columns = 150

    def setUp(self):
        super().setUp()
        self.batch = self.copy("batch")

    def copy(self, name):
        return Path(shutil.copytree(FIXTURE, self.folder / name))

    def run_command(self, *arguments):
        return subprocess.run(
            [sys.executable, "-m", "dlex_bench", *map(str, arguments)], cwd=self.folder, text=True, capture_output=True,
            env={**os.environ, "DLEX_CACHE": str(self.folder / "cache"), "COLUMNS": str(self.columns), "TERM": "dumb"},
        )

    def done(self, *arguments):
        ran = self.run_command(*arguments)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        return ran.stdout

    def refusal(self, *arguments):
        ran = self.run_command(*arguments)
        self.assertEqual(ran.stderr.count("\n"), 1, ran.stderr)
        return ran.returncode, ran.stderr

    def change(self, batch, run, change):
        path = batch / run / "result.json"
        result = json.loads(path.read_text())
        change(result)
        path.write_text(json.dumps(result))

    def repeat(self, batch, times, factor=1.0):
        """Copies the first repetition of cbs-dlex_slack to `times` runs that differ a little. A-V is multiplied by `factor`."""
        for number in range(1, times + 1):
            name = f"cbs-dlex_slack-r{number}"
            content = json.loads((FIXTURE / RUN / "result.json").read_text())
            content["job"] |= {"id": name, "repetition": number}
            content["figures"]["skew_ms_sd"] *= factor * (1 + 0.01 * number)
            (batch / name).mkdir(exist_ok=True)
            (batch / name / "result.json").write_text(json.dumps(content))


class Report(Command):
    def test_tables_have_a_row_for_every_job_including_failed_ones(self):
        output = self.done("report", "batch")
        self.assertIn("12 done, 6 failed", output)
        with (self.batch / "report.csv").open(newline="") as lines:
            rows = {row["id"]: row for row in csv.DictReader(lines)}
        jobs = json.loads((self.batch / "batch.json").read_text())["jobs"]
        self.assertEqual(list(rows), [job["id"] for job in jobs])
        figures = json.loads((self.batch / RUN / "result.json").read_text())["figures"]
        self.assertEqual(float(rows[RUN]["skew_ms_sd"]), figures["skew_ms_sd"])
        self.assertEqual(rows["gone-dlex_none-r1"]["status"], "failed")
        self.assertIn("there is no clip", rows["gone-dlex_none-r1"]["reason"])

    def test_json_has_the_median_of_every_setting(self):
        self.done("report", "batch", "-o", "elsewhere.html")
        content = json.loads((self.folder / "elsewhere.json").read_text())
        settings = {(it["section"], it["workload"]): it for it in content["settings"]}
        runs = [json.loads((self.batch / f"cbs-dlex_slack-r{n}/result.json").read_text()) for n in (1, 2)]
        mean = sum(run["figures"]["skew_ms_sd"] for run in runs) / 2
        self.assertAlmostEqual(settings["cbs", "dlex_slack"]["figures"]["skew_ms_sd"]["value"], mean)
        self.assertEqual(settings["gone", "dlex_slack"]["done"], 0)
        self.assertFalse((self.batch / "report.html").exists())

    def test_json_of_a_ratio_without_a_bound_is_json(self):
        made_batch(self.folder / "made", dlex_slack={"dropped": (12, 13, 12, 14, 12)},
                   mplayer_framedrop={"dropped": (0, 1, 0, 2, 1)})
        self.done("report", "made")
        content = strict_json((self.folder / "made/report.json").read_text())
        found = next(it for it in content["ratios"] if it["figure"] == "dropped")["found"]
        self.assertEqual((found["ratio"]["value"], found["ratio"]["high"], found["ratio"]["unbounded"]), (12, None, True))
        self.assertNotIn("unbounded", found["difference"])

    def test_object_that_holds_an_infinite_number_is_marked_as_unbounded(self):
        text = json_text({"a": [1.0, (math.inf, 2)], "b": {"c": math.nan, "d": -math.inf}, "e": {"low": None}})
        self.assertEqual(text, '{"a":[1.0,[null,2]],"b":{"c":null,"d":null,"unbounded":true},"e":{"low":null},'
                               '"unbounded":true}')

    def test_violations_have_a_column_where_a_window_was_asked_for(self):
        made_batch(self.folder / "made", dlex_slack={"dropped": (12, 13, 12, 14, 12)})
        self.done("report", "made")
        self.assertNotIn("beyond the window", (self.folder / "made/report.html").read_text())
        made_batch(self.folder / "made", dlex_window={"dropped": (9, 9, 9, 9, 9), "violations_sliding": (3, 4, 3, 5, 4)})
        self.done("report", "made")
        self.assertIn("beyond the window, pictures", (self.folder / "made/report.html").read_text())
        content = json.loads((self.folder / "made/report.json").read_text())
        figures = {it["workload"]: it["figures"] for it in content["settings"]}
        self.assertEqual(figures["dlex_window"]["violations_sliding"]["value"], 4)
        self.assertNotIn("violations_sliding", figures["dlex_slack"])

    def test_page_refers_to_nothing_outside_itself(self):
        self.done("report", "batch")
        page = (self.batch / "report.html").read_text()
        own = page[: page.index("<script>")]
        self.assertNotRegex(own, r'(src|href)="(?!#|data:)')
        self.assertIn("default-src 'none'", own)

    def test_text_of_a_result_is_escaped_in_the_page(self):
        evil = "</script><script>alert(1)</script>"
        self.change(self.batch, "gone-dlex_none-r1", lambda result: result.update(reason=evil))
        self.change(self.batch, RUN, lambda result: result["job"].update(workload=evil))
        self.done("report", "batch")
        self.assertNotIn(evil, (self.batch / "report.html").read_text())

    def test_torn_result_is_reported_and_left_out(self):
        (self.batch / RUN / "result.json").write_text('{"version": 1, "job"')
        ran = self.run_command("report", "batch")
        self.assertEqual(ran.returncode, 0)
        self.assertIn(f"batch/{RUN}/result.json is incomplete", ran.stdout)
        self.assertIn("11 done, 6 failed, 1 not run yet", ran.stdout)
        self.assertIn(f"batch/{RUN}/result.json is incomplete", (self.batch / "report.html").read_text())

    def test_results_of_different_machines_are_not_combined(self):
        self.change(self.batch, RUN, lambda result: result.update(machine="another"))
        self.done("report", "batch")
        found = json.loads((self.batch / "report.json").read_text())["settings"]
        of_slack = {
            it["section"]: it["done"] for it in found if it["workload"] == "dlex_slack" and "cbs" in it["section"]
        }
        self.assertEqual(of_slack, {"cbs on another": 1, "cbs on 734262333128": 1})

    def mixed(self, batch, *machines):
        """Gives each machine all runs. The A-V of each machine is ten times that of the one before."""
        for number, machine in enumerate(machines):
            for path in list(batch.glob("cbs-*r[0-9]")):
                content = json.loads((path / "result.json").read_text())
                name = f"{path.name}@{machine}" if number else path.name
                content["job"]["id"], content["machine"] = name, machine
                content["figures"]["skew_ms_sd"] *= 10**number
                (batch / name).mkdir(exist_ok=True)
                (batch / name / "result.json").write_text(json.dumps(content))
        for path in [*batch.glob("other-*"), *batch.glob("gone-*")]:
            shutil.rmtree(path)

    def test_papers_tables_and_plots_are_made_per_machine(self):
        self.mixed(self.batch, "m1", "m2")
        found = gather(self.batch)
        output = meaning.meaning_of(found)
        self.assertEqual({it.section for it in output.findings}, {"cbs on m1", "cbs on m2"})
        self.assertEqual(len(output.tables), 6)
        ratios = {it.section for it in output.ratios}
        self.assertEqual(ratios, {"cbs on m1", "cbs on m2"})
        lines = report._data(found, sections.section_summaries(found))["figures"]["dlex_slack"][0]["lines"]
        self.assertEqual([line["section"] for line in lines], ["cbs on m1", "cbs on m2"])

    def test_goals_are_judged_by_the_control_of_the_same_machine(self):
        groups = []
        for machine, missed in (("m1", 30), ("m2", 0)):
            options = {"machine": machine, "missed": missed}
            groups += [made_up.repeated("dlex_slack", [made_up.point()] * 5, **options),
                       made_up.repeated("mpv_vo", [made_up.point()] * 5, **options),
                       made_up.repeated("dlex_none", [{}] * 5, section="control", **options)]
        rows = results_frame.rows([one for group in groups for one in group])
        output = meaning.meaning_of(Batch(self.folder, rows)).outcomes
        misses = {it.section: it.word for it in output if it.name.startswith("no rt-app miss")}
        self.assertEqual(misses, {"cbs on m1": "met", "cbs on m2": "met"})
        self.assertEqual(len(output), 6)

    def test_labels_follow_the_names_even_of_crossed_sections(self):
        agenda = {
            "sections": [{"id": "a", "group": "x", "label": "one clip"}, {"id": "cbs", "group": "y", "label": "reserved"},
                         {"id": "b", "group": "x", "label": None}],
            "workloads": [{"id": "mpv_vo", "label": "mpv's default"}, {"id": "mpv_no"}],
        }
        runs = [made_up.result(name, section=section) for section in ("a-cbs", "b-cbs") for name in ("mpv_vo", "mpv_no")]
        batch = Batch(self.folder, results_frame.rows(runs), StoredAgenda.model_validate(agenda))
        output = sections.section_summaries(batch)
        self.assertEqual([it.title for it in output], ["a-cbs: one clip; reserved", "b-cbs: reserved"])
        self.assertEqual([it.label for it in output[0].settings], ["mpv's default", ""])
        page = report.page(batch, output, meaning.meaning_of(batch), timeline.Timelines({}, set()))
        self.assertIn("<small>mpv&#39;s default</small>", page)
        content = export.json_content(batch, output, meaning.meaning_of(batch))
        self.assertEqual([it["label"] for it in content["settings"]], ["mpv's default", ""] * 2)

    def test_tables_and_findings_of_the_paper_have_a_row_for_its_own_budget(self):
        point = {"dropped": 6, "skew_ms_mean": 1.0, "rmse_q16_sum": 10.0}
        groups = [made_up.repeated("dlex_paper", [point] * 5, section=name) for name in ("cbs", "cbs15")]
        rows = results_frame.rows([one for group in groups for one in group])
        output = meaning.meaning_of(Batch(self.folder, rows))
        for table in output.tables:
            (cbs, *theirs), (cbs15, *same) = table.rows
            self.assertEqual((cbs, cbs15, theirs), ("cbs", "cbs15", same))
        self.assertEqual({it.section for it in output.findings}, {"cbs", "cbs15"})

    def test_two_runs_are_listed_and_five_are_summarised_by_their_interval(self):
        two = results_frame.rows(made_up.repeated("mpv_vo", [{"skew_ms_sd": 3.14}, {"skew_ms_sd": 3.4}]))
        self.assertEqual(sections.estimate(SKEW_SD, two).spread, "2 runs: 3.1, 3.4")
        one = sections.estimate(SKEW_SD, two[:1])
        self.assertEqual((one.median, one.spread), ("3.1", ""))
        five = results_frame.rows(made_up.repeated("mpv_vo", [{"skew_ms_sd": it} for it in (1.0, 2.0, 3.0, 4.0, 5.0)]))
        self.assertEqual(sections.estimate(SKEW_SD, five).spread, "1.0 to 5.0")

    def test_goals_need_our_player_and_another_one(self):
        for workload in ("dlex_slack", "mpv_vo"):
            rows = results_frame.rows(made_up.repeated(workload, [made_up.point()] * 5, missed=0))
            self.assertEqual(meaning.meaning_of(Batch(self.folder, rows)).outcomes, [])

    def test_our_settings_are_compared_without_another_player(self):
        where = {"load": "none", "sched": "quota:120%/40", "section": "film"}
        drops = {"dlex_heuristic_auto": 100, "dlex_plan_auto": 50}
        rows = [row for name, least in drops.items()
                for row in results_frame.rows(made_up.repeated(name, [{"dropped": least + it} for it in range(5)], **where))]
        found = {it.name: it.word for it in meaning.meaning_of(Batch(self.folder, rows)).outcomes}
        self.assertEqual(found["dlex_plan_auto: drops at most 0.7 of dlex_heuristic_auto"], "met")

    def test_figures_in_which_a_policy_is_worse_are_in_the_page_and_in_json(self):
        for path in self.batch.glob("cbs-*"):
            self.change(self.batch, path.name, lambda result: result["job"].update(load={"kind": "rtapp"}))
        other = {"player": "mpv", "workload": "mpv_vo"}
        self.change(self.batch, "cbs-dlex_none-r1", lambda result: result["job"].update(other))
        self.done("report", "batch")
        page = (self.batch / "report.html").read_text()
        self.assertTrue('<th scope="col">dlex_slack</th>' in page, "no table of what is missing")
        found = json.loads((self.batch / "report.json").read_text())["worse"]
        of_slack = next(it for it in found if it["policy"] == "dlex_slack")
        self.assertEqual((of_slack["section"], of_slack["peer"]), ("cbs", "mpv_vo"))
        self.assertIn("dropped", of_slack["figures"])

    def test_runs_from_which_the_host_took_much_are_marked(self):
        self.change(self.batch, RUN, lambda result: result.update(steal={"measured": 0.123, "others": 0.01}, plays=3))
        self.done("report", self.batch)
        text = (self.batch / "report.html").read_text()
        self.assertEqual(text.count("<small>the host took 12.3 %</small>"), 1)
        self.assertIn("dlex_slack: from 1 of 2 runs (r1) the host took more than 5%; medians with and without them", text)
        self.assertIn("from 1 of 12 runs the host took more than 5% of the measured CPU", text)
        output = strict_json((self.batch / "report.json").read_text())["stolen"]
        self.assertEqual([it["runs"] for it in output], [[RUN]])

    def test_folder_without_results_is_refused(self):
        (self.folder / "empty").mkdir()
        self.assertEqual(self.refusal("report", "nowhere")[0], 1)
        status, output = self.refusal("report", "empty")
        self.assertEqual(status, 2)
        self.assertIn("empty has no results; fill it with", output)

    def test_batch_with_only_torn_results_is_refused(self):
        for path in self.batch.glob("*/result.json"):
            path.write_text("")
        status, output = self.refusal("report", "batch")
        self.assertEqual(status, 2)
        self.assertRegex(output, r"none of the 18 results in batch can be used: batch/[^ ]*/result.json is incomplete; run its job")

    def test_unwritable_path_is_refused(self):
        status, output = self.refusal("report", "batch", "-o", "/proc/report.html")
        self.assertEqual(status, 1)
        self.assertIn("/proc/report.html cannot be written", output)
        self.assertEqual(self.refusal("report", "batch", "-o", "page.json")[0], 1)

    def test_page_that_would_overwrite_the_batch_or_its_film_is_refused(self):
        before = (self.batch / "batch.json").read_bytes()
        (self.folder / "link.json").symlink_to(self.batch / RUN / "result.json")
        for page, read in (("batch/batch.html", "batch.json"), ("link.html", "link.json")):
            status, output = self.refusal("report", "batch", "-o", page)
            self.assertEqual(status, 1)
            self.assertIn(f"{read} is the same file as batch/", output)
        self.assertEqual((self.batch / "batch.json").read_bytes(), before)
        self.done("report", "batch")
        self.done("report", "batch")  # its own page may be written again

    def test_full_disk_leaves_the_previous_page_unchanged(self):
        self.done("report", "batch")
        before = (self.batch / "report.html").read_bytes()
        limited = ["sh", "-c", 'ulimit -f 4000; exec "$0" "$@"', sys.executable, "-m", "dlex_bench", "report", "batch"]
        ran = subprocess.run(limited, cwd=self.folder, text=True, capture_output=True)
        self.assertEqual(ran.returncode, 1, ran.stderr)
        self.assertIn("cannot be written", ran.stderr)
        self.assertEqual((self.batch / "report.html").read_bytes(), before)
        self.assertFalse(list(self.batch.glob(".*partial")))


class Timelines(Command):
    def test_packed_record_equals_frames_csv(self):
        packed = json.loads(zlib.decompress(base64.b64decode(timeline.pack(self.batch / RUN))))["own"]
        with (self.batch / RUN / "own/frames.csv").open(newline="") as lines:
            rows = [row for row in csv.DictReader(lines) if row["verdict"] != "none"]
        self.assertEqual([timeline.LETTERS[row["verdict"]] for row in rows], list(packed["verdict"]))
        for number, row in enumerate(rows):
            for key, ns, base in (
                ("skew", "skew_ns", None), ("end", "decode_end_ns", "decode_start_ns"), ("cpu", "decode_cpu_ns", None),
                ("deadline", "deadline_ns", "decode_start_ns"), ("pts", "pts_ns", None),
            ):
                if not row[ns]:
                    self.assertIsNone(packed[key][number])
                    continue
                first = int(rows[0]["pts_ns"]) if key == "pts" else int(row[base]) if base else 0
                self.assertAlmostEqual(packed[key][number] * 1e4, int(row[ns]) - first, delta=5e3)

    def test_record_from_outside_may_lack_the_decoders_columns(self):
        seen = self.batch / RUN / "seen"
        seen.mkdir()
        (seen / "frames.csv").write_text(
            "index,pts_ns,verdict,shown_ns,skew_ns\n0,0,shown,5000000000,\n1,40000000,unseen,,\n"
            "2,80000000,shown,5090000000,-7000000\n"
        )
        packed = json.loads(zlib.decompress(base64.b64decode(timeline.pack(self.batch / RUN))))["seen"]
        self.assertEqual(packed["verdict"], "sus")
        self.assertEqual((packed["skew"], packed["shown"]), ([None, None, -700], [0, None, 1000]))

    def test_budget_is_spent_evenly_over_the_settings(self):
        rows = gather(self.batch).rows
        every = timeline.pack_all(self.batch, rows)
        self.assertEqual((len(every.packed), every.left_out), (12, set()))
        first = [name for name in every.packed if name.endswith("-r1")]
        some = timeline.pack_all(self.batch, rows, budget_bytes=sum(len(every.packed[name]) for name in first))
        self.assertEqual(sorted(some.packed), sorted(first))
        self.assertEqual(len(some.left_out), 6)


class Compare(Command):
    def figures(self, *arguments):
        content = json.loads(self.done("compare", *arguments, "--json"))
        return content, {(it["section"], it["workload"], it["figure"]): it for it in content["figures"]}

    def test_batch_compared_with_itself_is_noise(self):
        self.repeat(self.batch, 6)
        _content, figures = self.figures("batch", "batch")
        found = figures["cbs", "dlex_slack", "skew_ms_sd"]
        self.assertEqual((found["ratio"]["value"], found["verdict"]), (1, "noise"))
        self.assertLess(found["ratio"]["low"], 1)
        self.assertGreater(found["ratio"]["high"], 1)

    def test_real_difference_is_reported_with_its_ratio(self):
        other = self.copy("other")
        self.repeat(self.batch, 6)
        self.repeat(other, 6, factor=0.5)
        _content, figures = self.figures("batch", "other")
        found = figures["cbs", "dlex_slack", "skew_ms_sd"]
        self.assertAlmostEqual(found["ratio"]["value"], 0.5)
        self.assertEqual(found["verdict"], "less")
        self.assertIn("0.500 (0.4", self.done("compare", "batch", "other"))

    def made_batch(self, name, **figures):
        made_batch(self.folder / name, **dict.fromkeys(("dlex_slack", "mplayer_hardframedrop"), figures))

    def test_json_of_a_ratio_without_a_bound_is_json(self):
        self.made_batch("one", drops_fraction=(0, 0.1, 0, 0.2, 0.1))
        self.made_batch("other", drops_fraction=(0.3, 0.4, 0.3, 0.5, 0.3))
        content = strict_json(self.done("compare", "one", "other", "--json"))
        ratio = content["figures"][0]["ratio"]
        self.assertAlmostEqual(ratio["value"], 3)
        self.assertEqual((ratio["high"], ratio["unbounded"]), (None, True))

    def test_table_of_five_runs_fits_into_80_columns_and_verdicts_are_counted(self):
        noisy = {"drops_fraction": (0.1, 0.12, 0.09, 0.11, 0.1), "skew_ms_sd": (1843, 1901, 1755, 1810, 1888),
                 "cpu_ms_per_frame": (12, 12, 12, 12, 12)}
        self.made_batch("one", **noisy)
        self.made_batch("other", **(noisy | {"skew_ms_sd": (903, 950, 870, 920, 905)}))
        self.columns = 80
        output = self.done("compare", "one", "other")
        self.assertNotIn("…", output)
        self.assertIn("cbs: medians, 5 runs each, and B/A with 95 % intervals", output)
        self.assertRegex(output, r"  A-V s.d., ms +1,843 +905 +0\.491 \(0\.4\d+\.\.0\.5\d+\) +less")
        flat = " ".join(output.split())
        self.assertIn("6 figures: 2 less in B, 2 noise (these runs cannot distinguish A and B), 2 the same in every run.", flat)

    def test_two_runs_are_too_few_for_a_verdict(self):
        _content, figures = self.figures("batch", "batch")
        self.assertEqual({it["verdict"] for it in figures.values()}, {"too few runs"})

    def test_different_machine_is_refused_unless_requested(self):
        other = self.copy("other")
        for path in other.glob("*/result.json"):
            self.change(other, path.parent.name, lambda result: result.update(machine="another"))
        status, output = self.refusal("compare", "batch", "other")
        self.assertEqual(status, 1)
        self.assertIn("other is from another; --mixed compares them nevertheless", output)
        self.assertIn("dlex_slack", self.done("compare", "batch", "other", "--mixed"))

    def play_films(self, batch, *films):
        """Gives the repetitions of each job of `batch` these films, in turn."""
        for path in batch.glob("*/result.json"):
            result = json.loads(path.read_text())
            clip, number = result["job"]["clip"], int(path.parent.name.rpartition("-r")[2])
            name = clip.get("file") or (clip.get("unstamped") if result["job"]["observe"] == "inside" else None) or clip["recipe"]
            path.write_text(json.dumps({**result, "films": {name: films[number % len(films)]}}))

    def test_different_films_are_not_divided(self):
        other = self.copy("other")
        self.play_films(self.batch, "a" * 64)
        self.play_films(other, "a" * 64)
        self.assertIn("dlex_slack", self.done("compare", "batch", "other"))
        self.play_films(other, "b" * 64)
        status, output = self.refusal("compare", "batch", "other")
        self.assertEqual(status, 2)
        self.assertIn(f"A played the film {'a' * 18}..., B {'b' * 18}... (SHA-256)", output)

    def test_films_of_one_name_have_sections_of_their_own_in_a_report(self):
        self.play_films(self.batch, "a" * 64, "b" * 64)
        output = self.done("report", "batch")
        self.assertIn("had 2 contents", output)
        settings = json.loads((self.batch / "report.json").read_text())["settings"]
        slack = [it for it in settings if it["workload"] == "dlex_slack" and it["section"].startswith("cbs with ")]
        self.assertEqual(sorted(it["done"] for it in slack), [1, 1])
        self.assertEqual(sorted(it["section"][-18:] for it in slack), ["a" * 18, "b" * 18])

    def test_machines_of_mixed_batches_are_compared_separately(self):
        other = self.copy("other")
        for batch in (self.batch, other):
            Report.mixed(self, batch, "m1", "m2")
        _content, figures = self.figures("batch", "other", "--mixed")
        found = {where: figures[f"cbs on {where}", "dlex_slack", "skew_ms_sd"] for where in ("m1", "m2")}
        for one in found.values():
            self.assertEqual((len(one["a"]["runs"]), len(one["b"]["runs"]), one["ratio"]["value"]), (2, 2, 1))
        self.assertAlmostEqual(found["m2"]["a"]["median"], 10 * found["m1"]["a"]["median"])

    def test_machine_in_only_one_batch_is_reported(self):
        other = self.copy("other")
        Report.mixed(self, self.batch, "m1", "m2")
        Report.mixed(self, other, "m1")
        content, figures = self.figures("batch", "other", "--mixed")
        self.assertEqual({section for section, _workload, _figure in figures}, {"cbs on m1"})
        self.assertIn("Only A has results of machine m2: these results are left out.", content["notes"])
        self.mixed_other(other)
        _content, figures = self.figures("batch", "other", "--mixed")
        self.assertEqual({section for section, _workload, _figure in figures}, {"cbs, m1 to m3", "cbs, m2 to m3"})

    def mixed_other(self, batch):
        for path in batch.glob("*/result.json"):
            self.change(batch, path.parent.name, lambda result: result.update(machine="m3"))

    def test_different_experiment_with_the_same_name_is_reported(self):
        other = self.copy("other")
        self.change(other, RUN, lambda result: result["job"]["clip"].update(length_s=3.0))
        content, _figures = self.figures("batch", "other")
        self.assertEqual(
            content["notes"], ["cbs-dlex_slack is not the same experiment: clip.length_s is 2.0 in A and 3.0 in B."]
        )

    def test_batches_with_nothing_in_common_are_refused(self):
        other = self.copy("other")
        for path in [*other.glob("cbs-*"), *other.glob("other-*")]:
            shutil.rmtree(path)
        status, output = self.refusal("compare", "batch", "other")
        self.assertEqual(status, 2)
        self.assertIn("have no setting in common", output)


if __name__ == "__main__":
    unittest.main()
