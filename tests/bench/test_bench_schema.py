# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that stored JSON of this and older versions can be read and written again, and that errors name the file and the field.

Not covered: the making of results (test_bench_job) and their evaluation (test_bench_report).
"""

import json
import math
import shutil
import unittest

from outside import Folder, with_packages

with_packages("pydantic, rich, yaml")


from dlex_bench.batch.results import Store, read_result
from dlex_bench.errors import EXIT_SETUP, LabError
from dlex_bench.job.budget import calibrated_budget_ms, parse_calibration, read_calibration, write_calibration
from dlex_bench.job.loops import read_loops
from dlex_bench.job.result import Figures
from dlex_bench.qoe import read_summary
from dlex_bench.record import cpu_of_playing, read_run
from dlex_bench.report.gather import gather
from dlex_bench.schema import Torn
from stored_files import (
    BOTH_SIDES,
    EMPTY,
    EMPTY_OBJECT,
    FOREIGN,
    HUGE,
    JOB,
    MACHINE,
    NEW,
    OLD,
    UNREADABLE,
    Place,
    edited,
    named,
    setting,
    text_of,
    unknown_keys,
    with_news,
)


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
                sentence = self.refusal(read_result, self.out / JOB)
                self.assertTrue(sentence.startswith(f"{self.out / JOB}/result.json cannot be read: {field}: "), sentence)
                self.assertEqual(self.refusal(Store(self.out).results), sentence)

    def test_result_that_ends_too_early_means_that_the_job_is_not_over(self):
        path = self.out / JOB / "result.json"
        whole = path.read_text().rstrip()
        for length in range(0, len(whole), 7):
            path.write_text(whole[:length])
            self.assertRaisesRegex(Torn, f"^{path} is incomplete; ", read_result, self.out / JOB)
            self.assertIsNone(Store(self.out).result(JOB))
        self.assertNotIn(JOB, Store(self.out).results())
        self.assertEqual(list(Store(self.out).begin(named(JOB)).iterdir()), [])

    def test_result_that_this_program_cannot_read_is_refused_and_never_removed(self):
        for name, change, sentence in FOREIGN:
            with self.subTest(name):
                self.begin_anew()
                change(self.out / JOB / "result.json")
                before = self.content()
                for use in (lambda: Store(self.out).result(JOB), Store(self.out).results,
                            lambda: Store(self.out).begin(named(JOB)), lambda: Store(self.out).drop(JOB)):
                    self.assert_refused(use, f"{self.out / JOB / 'result.json'} {sentence}")
                self.assertEqual(self.content(), before)

    def test_impossible_value_is_refused_with_its_field(self):
        for field, value in (
            ("figures.skew_ms_mean", math.nan), ("figures.rmse_q16_sum", math.inf), ("wall_s", math.nan), ("wall_s", -1.0),
            ("figures.dropped", HUGE), ("figures.skew_ms_mean", HUGE), ("threads.0.tid", HUGE), ("news", math.nan),
            ("figures.news", HUGE), ("figures.frames", -5), ("figures.drops_fraction", 1.5), ("figures.frame_ms", 0.0),
            ("job.clip.length_s", -1.0), ("job.repetition", -1), ("rtapp.rt-app-1.missed", -1), ("plays", -1),
            ("own_word.skew_ms_sd", -1.0), ("machine", "../../elsewhere"),
        ):
            with self.subTest(field, value=str(value)[:9]):
                self.begin_anew()
                self.change(f"{JOB}/result.json", setting(field, value))
                self.assert_refused(lambda: read_result(self.out / JOB), f"{self.out / JOB}/result.json cannot be read: {field}: ")
                self.assertEqual((len(gather(self.out).rows), len(gather(self.out).torn)), (4, 1))

    def test_number_that_is_not_finite_cannot_be_stored(self):
        for value in (math.nan, math.inf):
            with self.assertRaisesRegex(ValueError, "skew_ms_mean"):
                Figures(skew_ms_mean=value)

    def test_report_goes_on_without_files_that_it_cannot_read(self):
        self.change(f"{JOB}/result.json", lambda result: result.update(wall_s="long"))
        (self.out / BOTH_SIDES / "result.json").write_text("{")
        (self.out / f"calibration-{MACHINE}.json").write_text("{")
        (self.out / f"machines/{MACHINE}.json").write_text('{"cpu": 3}')
        found = gather(self.out)
        self.assertEqual((len(found.rows), found.machines, found.calibrations), (3, {}, []))
        for sentence, part in zip(found.torn, ("wall_s: ", "is incomplete", "cpu: ", f"calibration-{MACHINE}.json"), strict=True):
            self.assertIn(part, sentence)
        self.assertIn(BOTH_SIDES, found.waiting)
        self.assertNotIn(JOB, found.waiting)

    def test_folder_that_an_interrupted_merge_left_holds_no_result(self):
        (self.out / JOB).rename(self.out / ".merging")
        self.assertNotIn(JOB, Store(self.out).results())

    def test_keys_of_a_newer_version_are_ignored_and_kept(self):
        def newer(result):
            result["news"] = {"a": [1, None]}
            result["figures"]["news"] = 7

        self.change(f"{JOB}/result.json", newer)
        result = read_result(self.out / JOB)
        self.assertEqual(result.figures.dropped, 0)
        for content in (result, result.model_copy(update={"reason": None})):
            self.assertEqual((content.to_json()["news"], content.to_json()["figures"]["news"]), ({"a": [1, None]}, 7))


    def test_unknown_keys_are_kept_and_absent_ones_stay_absent_in_every_object(self):
        for path in (*NEW.glob("*/result.json"), *OLD.glob("*/result.json")):
            content = with_news(json.loads(path.read_text()))
            del content["job"]["cpu"]
            if content.get("own_word"):
                del content["own_word"]["av_source"]
            copy = self.out / path.parent.name / path.name
            copy.parent.mkdir(exist_ok=True)
            copy.write_text(json.dumps(content))
            result = read_result(copy.parent)
            self.assertEqual(result.to_json(), content)
            self.assertEqual(result.job.but(id="x").to_json(), {**content["job"], "id": "x"})


class Batches(Place):
    def test_unknown_keys_are_kept_and_absent_ones_stay_absent_in_every_object(self):
        content = with_news(json.loads((NEW / "batch.json").read_text()))
        for job in content["jobs"]:
            del job["cpu"]
        (self.out / "batch.json").write_text(json.dumps(content))
        batch = Store(self.out).batch()
        self.assertEqual(batch.to_json(), content)
        added = batch.jobs[0].but(id="new-r9")
        Store(self.out).claim(batch.model_copy(update={"jobs": [added]}))
        content["jobs"].append({**content["jobs"][0], "id": "new-r9"})
        self.assertEqual(json.loads((self.out / "batch.json").read_text()), content)

    def test_file_is_unchanged_after_reading_and_writing(self):
        for folder in (NEW, OLD):
            batch = Store(folder).batch()
            self.assertEqual(text_of(batch), (folder / "batch.json").read_text())
        self.assertEqual([job.id for job in batch.jobs][:1], ["other-dlex_none-r1"])
        self.assertEqual(batch.agenda.sections[1].label, "9 of 40 ms")

    def test_error_names_the_file_and_the_wrong_field(self):
        self.change("batch.json", lambda batch: batch["jobs"][2].pop("sched"))
        sentence = self.refusal(Store(self.out).jobs)
        self.assertTrue(sentence.startswith(f"{self.out}/batch.json cannot be read: jobs.2.sched: "), sentence)

    def test_file_that_cannot_be_read_is_refused_with_the_reason(self):
        for name, change, sentence in [*UNREADABLE, EMPTY, EMPTY_OBJECT]:
            with self.subTest(name):
                self.begin_anew()
                change(self.out / "batch.json")
                beginning = f"{self.out}/batch.json {sentence}"
                self.assertEqual(self.refusal(Store(self.out).batch)[: len(beginning)], beginning)

    def test_job_that_is_named_twice_has_one_result(self):
        self.change("batch.json", lambda batch: batch["jobs"].append(batch["jobs"][2]))
        self.assertEqual(len(Store(self.out).results()), 5)



class Machines(Place):
    def test_file_is_unchanged_after_reading_and_writing(self):
        for folder in (NEW, OLD):
            ((machine, facts),) = Store(folder).machines().items()
            self.assertEqual(list(unknown_keys(facts)), [])
            self.assertEqual(text_of(facts), (folder / f"machines/{machine}.json").read_text())
        self.assertEqual(facts.programs["mpv"].version, "0.35.1-4")

    def test_error_names_the_file_and_the_wrong_field(self):
        name = f"machines/{MACHINE}.json"
        self.change(name, lambda facts: facts["programs"]["mpv"].update(made_ns="yesterday"))
        sentence = self.refusal(Store(self.out).machines)
        self.assertTrue(sentence.startswith(f"{self.out / name} cannot be read: programs.mpv.made_ns: "), sentence)
        left_out = []
        self.assertEqual((Store(self.out).machines(left_out), left_out), ({}, [sentence]))

    def test_number_that_is_too_large_is_refused_with_its_field(self):
        for field in ("cpus", "programs.mpv.made_ns"):
            self.begin_anew()
            self.change(f"machines/{MACHINE}.json", setting(field, HUGE))
            sentence = f"{self.out}/machines/{MACHINE}.json cannot be read: {field}: "
            self.assertEqual(self.refusal(Store(self.out).machines)[: len(sentence)], sentence)

    def test_file_that_cannot_be_read_is_refused_with_the_reason(self):
        path = self.out / f"machines/{MACHINE}.json"
        for name, change, sentence in [*UNREADABLE[1:], EMPTY]:
            with self.subTest(name):
                self.begin_anew()
                change(path)
                self.assertIn(f"{path} {sentence}", self.refusal(Store(self.out).machines))


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
        texts = {"budget_ms: ": '{"machine": "m", "budget_ms": "8 ms"}', "machine: ": '{"budget_ms": 8}', "Invalid JSON": "}"}
        for field, text in texts.items():
            (self.out / self.name).write_text(text)
            with self.assertRaises(LabError) as caught:
                read_calibration(self.out, MACHINE)
            self.assertTrue(str(caught.exception).startswith(f"{self.out / self.name} cannot be read: {field}"), caught.exception)
            self.assertEqual(caught.exception.code, EXIT_SETUP)


    def test_file_that_cannot_be_read_is_refused_with_the_reason(self):
        of_another = "cannot be read: machine: it is the calibration of "
        others = [("of another", edited(machine="zzz"), f"{of_another}zzz; "), ("a path", edited(machine="a/../b"), of_another)]
        for name, change, sentence in [*UNREADABLE, *others]:
            with self.subTest(name):
                self.begin_anew()
                change(self.out / self.name)
                for read in (read_calibration, lambda out, machine: parse_calibration(out / f"calibration-{machine}.json")):
                    self.assert_refused(lambda read=read: read(self.out, MACHINE), f"{self.out / self.name} {sentence}")


    def test_impossible_value_is_refused_with_its_field(self):
        for field, value in (
            ("budget_ms", math.nan), ("budget_ms", -5.0), ("budget_ms", 0.0), ("period_ms", 0.0), ("tries.0.share", -0.1),
            ("tries.0.frames", -1), ("tries.0.drops_fraction", 2.0), ("tolerance", HUGE), ("news", [math.inf]),
        ):
            with self.subTest(field, value=str(value)[:9]):
                self.begin_anew()
                self.change(self.name, setting(field, value))
                self.assert_refused(lambda: read_calibration(self.out, MACHINE), f"{self.out / self.name} cannot be read: {field}")


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
