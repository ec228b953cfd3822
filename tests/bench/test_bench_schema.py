# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that stored JSON of this and older versions can be read and written again, and that errors name the file and the field.

Not covered: the making of results (test_bench_job) and their evaluation (test_bench_report).
"""

import io
import json
import shutil
import unittest
from pathlib import Path

from outside import Folder, with_packages

with_packages("pydantic, rich, yaml")

from rich.console import Console

from dlex_bench.batch.merge import merge
from dlex_bench.batch.results import Store, read_result
from dlex_bench.errors import EXIT_SETUP, LabError
from dlex_bench.job.budget import calibrated_budget_ms, parse_calibration, read_calibration, write_calibration
from dlex_bench.job.loops import read_loops
from dlex_bench.qoe import read_summary
from dlex_bench.record import cpu_of_playing, read_run
from dlex_bench.report.gather import gather
from dlex_bench.schema import Stored

FIXTURES = Path(__file__).resolve().parent / "fixtures"
NEW, OLD = FIXTURES / "schema", FIXTURES / "batch"
MACHINE = "7b025c493dba"
JOB = "cbs12-mplayer_soft-r1"
BOTH_SIDES = "cbs12-dlex_paper-r1"


def text_of(content):
    return json.dumps(content.to_json(), indent=2) + "\n"


def unknown_keys(content, place=""):
    """Yields the keys of a file that no schema names."""
    if isinstance(content, Stored):
        yield from (f"{place}.{key}" for key in content.model_extra or {})
        for key in type(content).model_fields:
            yield from unknown_keys(getattr(content, key), f"{place}.{key}")
    elif isinstance(content, dict):
        for key, value in content.items():
            yield from unknown_keys(value, f"{place}.{key}")
    elif isinstance(content, list | tuple):
        for value in content:
            yield from unknown_keys(value, place)


class Place(Folder):
    def setUp(self):
        super().setUp()
        self.out = Path(shutil.copytree(NEW, self.folder / "out"))

    def change(self, name, change):
        path = self.out / name
        content = json.loads(path.read_text())
        change(content)
        path.write_text(json.dumps(content))

    def refusal(self, read, *arguments):
        with self.assertRaises(LabError) as caught:
            read(*arguments)
        self.assertEqual(str(caught.exception).count("\n"), 0)
        return str(caught.exception)


class Results(Place):
    def test_file_is_unchanged_after_reading_and_writing(self):
        found = sorted([*NEW.glob("*/result.json"), *OLD.glob("*/result.json")])
        self.assertEqual(len(found), 5 + 18)
        for path in found:
            wanted = json.loads(path.read_text())
            content = json.loads(text_of(read_result(path.parent)))
            self.assertEqual(content, wanted, path)
            self.assertEqual(list(content), list(wanted), path)

    def test_schema_names_every_key(self):
        for path in NEW.glob("*/result.json"):
            self.assertEqual(list(unknown_keys(read_result(path.parent))), [], path)

    def test_values_are_typed(self):
        result = read_result(NEW / JOB)
        self.assertEqual((result.job.player_params.framedrop, result.job.load.kind, result.job.clip.length_s), ("soft", "rtapp", 3))
        self.assertEqual(result.rtapp["rt-app-1"].slack_us.min, -679)
        self.assertEqual((result.player_report.av_source, result.threads[1].work), ("status", "sound"))
        self.assertEqual(read_result(NEW / BOTH_SIDES).inside.aborted, 0)
        self.assertGreater(read_result(NEW / "quota-mpv_vo-r1").policy.throttled.periods, 0)

    def test_roles_and_places_of_threads_are_kept(self):
        about = {"roles": ["decode", "present"], "cpus": "1", "policy": "deadline:15/40", "outside_s": 0.0}
        self.change(f"{JOB}/result.json", lambda result: result["threads"][0].update(about))
        result = read_result(self.out / JOB)
        self.assertEqual(result.to_json()["threads"][0], {**result.to_json()["threads"][0], **about})
        self.assertEqual((result.threads[0].roles, result.threads[1].roles), (("decode", "present"), None))
        self.assertNotIn("roles", result.to_json()["threads"][1])
        self.assertEqual(list(unknown_keys(result)), [])

    def test_field_that_an_older_version_lacks_is_none_and_stays_absent(self):
        result = read_result(OLD / "cbs-dlex_slack-r1")
        self.assertEqual((result.threads, result.player_report, result.policy.throttled), (None, None, None))
        self.assertEqual((result.figures.frame_ms, result.figures.dropped), (None, 24))
        self.assertFalse({"threads", "own_word"} & set(result.to_json()))

    def test_error_names_the_file_and_the_wrong_field(self):
        def text_for_a_number(result):
            result["figures"]["dropped"] = "many"

        def job_without_its_policy(result):
            del result["job"]["sched"]

        def list_for_an_object(result):
            result["rtapp"] = []

        changes = {"figures.dropped": text_for_a_number, "job.sched": job_without_its_policy, "rtapp": list_for_an_object}
        for field, change in changes.items():
            with self.subTest(field):
                shutil.copytree(NEW, self.out, dirs_exist_ok=True)
                self.change(f"{JOB}/result.json", change)
                told = self.refusal(read_result, self.out / JOB)
                self.assertTrue(told.startswith(f"{self.out / JOB}/result.json cannot be read: {field}: "), told)
                self.assertEqual(self.refusal(Store(self.out).results), told)

    def test_incomplete_result_means_that_the_job_is_not_over(self):
        path = self.out / JOB / "result.json"
        whole = path.read_text()
        for text in ("", whole[: len(whole) // 2], "[]", whole.replace('"version": 1', '"version": 2', 1)):
            path.write_text(text)
            self.assertIsNone(read_result(self.out / JOB))

    def test_unreadable_files_are_listed_on_request(self):
        self.change(f"{JOB}/result.json", lambda result: result.update(wall_s="long"))
        (self.out / BOTH_SIDES / "result.json").write_text("{")
        told = []
        found = Store(self.out).results(told)
        self.assertEqual(len(found), 3)
        self.assertEqual(["incomplete" in told[0], "wall_s" in told[1]], [True, True])
        (self.out / f"calibration-{MACHINE}.json").write_text("{")
        self.assertEqual(gather(self.out).torn[:2], told)
        self.assertIn(f"calibration-{MACHINE}.json cannot be read", gather(self.out).torn[2])

    def test_keys_of_a_newer_version_are_ignored_and_kept(self):
        def newer(result):
            result["news"] = {"a": [1, None]}
            result["figures"]["news"] = 7

        self.change(f"{JOB}/result.json", newer)
        result = read_result(self.out / JOB)
        self.assertEqual(result.figures.dropped, 0)
        for content in (result, result.model_copy(update={"reason": None})):
            self.assertEqual((content.to_json()["news"], content.to_json()["figures"]["news"]), ({"a": [1, None]}, 7))


class Batches(Place):
    def test_file_is_unchanged_after_reading_and_writing(self):
        for folder in (NEW, OLD):
            batch = Store(folder).batch()
            self.assertEqual(text_of(batch), (folder / "batch.json").read_text())
        self.assertEqual([job.id for job in batch.jobs][:1], ["other-dlex_none-r1"])
        self.assertEqual(batch.agenda.sections[1].label, "9 of 40 ms")

    def test_error_names_the_file_and_the_wrong_field(self):
        self.change("batch.json", lambda batch: batch["jobs"][2].pop("sched"))
        told = self.refusal(Store(self.out).jobs)
        self.assertTrue(told.startswith(f"{self.out}/batch.json cannot be read: jobs.2.sched: "), told)

    def test_other_version_is_refused(self):
        for text in ("{", "[]", "{}", '{"version": 2, "jobs": []}'):
            (self.out / "batch.json").write_text(text)
            self.assertIn("batch.json comes from another version of this program", self.refusal(Store(self.out).batch))

    def test_merging_keeps_unknown_keys(self):
        self.change(f"{JOB}/result.json", lambda result: result.update(news=1))
        for name in ("quota-mpv_vo-r1", "cbs-mpv_vo-r1", "stress-dlex_bad-r1"):
            shutil.rmtree(self.out / name)  # from another batch
        merge([self.out], self.folder / "united", True, Console(file=io.StringIO()))
        name = f"{JOB}@{MACHINE}"
        content = json.loads((self.folder / "united" / name / "result.json").read_text())
        self.assertEqual((content["news"], content["job"]["id"]), (1, name))
        calibration = f"calibration-{MACHINE}.json"
        self.assertEqual((self.folder / "united" / calibration).read_text(), (NEW / calibration).read_text())


class Machines(Place):
    def test_file_is_unchanged_after_reading_and_writing(self):
        for folder in (NEW, OLD):
            ((machine, facts),) = Store(folder).machines().items()
            self.assertEqual(list(unknown_keys(facts)), [])
            self.assertEqual(text_of(facts), (folder / f"machines/{machine}.json").read_text())
        self.assertEqual(facts.programs["mpv"].version, "0.35.1-4")

    def test_error_names_the_wrong_field_and_an_incomplete_file_is_left_out(self):
        name = f"machines/{MACHINE}.json"
        self.change(name, lambda facts: facts["programs"]["mpv"].update(made_ns="yesterday"))
        told = self.refusal(Store(self.out).machines)
        self.assertTrue(told.startswith(f"{self.out / name} cannot be read: programs.mpv.made_ns: "), told)
        (self.out / name).write_text("{")
        self.assertEqual(Store(self.out).machines(), {})


class Calibrations(Place):
    name = f"calibration-{MACHINE}.json"

    def test_file_is_unchanged_after_reading_and_writing(self):
        calibration = parse_calibration(NEW / self.name)
        self.assertEqual(text_of(calibration), (NEW / self.name).read_text())
        self.assertEqual(list(unknown_keys(calibration)), [])
        self.assertEqual((calibration.budget_ms, calibration.tries[0].counts, calibration.spread.plays), (2.82, False, 3))

    def test_first_version_is_unchanged_after_reading_and_writing(self):
        def of_the_first_version(content):
            del content["spread"]["work_held"]
            for known in content["tries"]:
                del known["counts"], known["work_held"]

        self.change(self.name, of_the_first_version)
        calibration = read_calibration(self.out, MACHINE)
        self.assertTrue(all(known.counts and known.work_held is None for known in calibration.tries))
        before = json.loads((self.out / self.name).read_text())
        write_calibration(self.out, MACHINE, calibration)
        self.assertEqual(json.loads((self.out / self.name).read_text()), before)

    def test_budget_alone_is_enough(self):
        (self.out / self.name).write_text(json.dumps({"machine": MACHINE, "budget_ms": 8, "period_ms": 40}))
        self.assertEqual(calibrated_budget_ms(self.out, MACHINE, 80), 16)

    def test_error_names_the_damaged_file_and_the_field(self):
        texts = {"budget_ms: ": '{"machine": "m", "budget_ms": "8 ms"}', "machine: ": '{"budget_ms": 8}', "Invalid JSON": "{"}
        for field, text in texts.items():
            (self.out / self.name).write_text(text)
            with self.assertRaises(LabError) as caught:
                read_calibration(self.out, MACHINE)
            self.assertTrue(str(caught.exception).startswith(f"{self.out / self.name} cannot be read: {field}"), caught.exception)
            self.assertEqual(caught.exception.code, EXIT_SETUP)


class Records(Folder):
    def write(self, name, content):
        (self.folder / name).write_text(json.dumps(content))

    def test_record_of_an_older_player_has_no_cpu_time(self):
        self.write("run.json", {"format": 1, "options": {"drop": "none"}})
        self.assertIsNone(cpu_of_playing(self.folder))
        self.write("run.json", {"process_cpu_ns": 2_000_000_000, "held_cpu_ns": 1_000_000_000})
        self.assertEqual(cpu_of_playing(self.folder).held_s, 1)

    def test_error_names_the_damaged_record_and_the_field(self):
        self.write("run.json", {"observer": {"screen": {"pictures_torn": "few"}}})
        with self.assertRaisesRegex(LabError, "run.json cannot be read: observer.screen.pictures_torn: "):
            read_run(self.folder)

    def test_error_names_the_figure_that_a_summary_lacks(self):
        summary = {"skew_ms_mean": None, "skew_ms_sd": None, "rmse_q16_sum": 0.0, "rmse_q16_median": 0.0, "rmse_q16_p90": 0.0}
        self.write("qoe.json", {"summary": {**summary, "late": 3}})
        self.assertEqual(read_summary(self.folder / "qoe.json", 0).to_json()["late"], 3)
        del summary["rmse_q16_p90"]
        self.write("qoe.json", {"summary": summary})
        with self.assertRaisesRegex(LabError, "qoe.json cannot be read: summary.rmse_q16_p90: "):
            read_summary(self.folder / "qoe.json", 0)

    def test_loops_that_cannot_be_read_are_measured_again(self):
        path = self.folder / "rt-app-m.json"
        for text, known in (('{"cpu": 1, "ns_per_loop": 25, "tries": []}', True), ('{"cpu": 1}', False), ("{", False)):
            path.write_text(text)
            self.assertEqual(read_loops(path) is not None, known)


if __name__ == "__main__":
    unittest.main()
