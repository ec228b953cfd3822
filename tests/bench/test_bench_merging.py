# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that merging folders of results neither loses nor changes what they hold.

Not covered: the command line (test_bench_batch), and the reading of single files (test_bench_schema).
"""

import io
import json
import shutil
import unittest

from outside import with_packages

with_packages("pydantic, rich, yaml")

from rich.console import Console

from dlex_bench.batch.merge import merge
from dlex_bench.batch.results import Store, read_result
from stored_files import (
    BOTH_SIDES,
    EMPTY,
    FOREIGN,
    JOB,
    MACHINE,
    Place,
    edited,
    with_news,
)


class Merging(Place):
    """Merges a folder of three jobs, which have all a result, into another one."""

    OTHERS = ("quota-mpv_vo-r1", "cbs-mpv_vo-r1", "stress-dlex_bad-r1")  # from another batch
    united = property(lambda self: self.folder / "united")

    def begin_anew(self):
        super().begin_anew()
        for name in self.OTHERS:
            shutil.rmtree(self.out / name)
        shutil.rmtree(self.united, ignore_errors=True)

    def merge(self, mixed=False):
        said = io.StringIO()
        merge([self.out], self.united, mixed, Console(file=said, width=1000))
        return said.getvalue()

    def test_unknown_keys_are_kept_and_absent_ones_stay_absent(self):
        def newer(content):
            content.update(with_news(content))
            for job in [content["job"]] if "job" in content else content.get("jobs", ()):
                del job["cpu"]

        names = [f"{JOB}/result.json", f"{BOTH_SIDES}/result.json", "batch.json", f"machines/{MACHINE}.json"]
        names.append(f"calibration-{MACHINE}.json")
        for name in names:
            self.change(name, newer)
        before = [json.loads((self.out / name).read_text()) for name in names]
        for content in (*before[:2], *before[2]["jobs"]):
            job = content.get("job", content)
            job["id"] = f"{job['id']}@{MACHINE}"
        self.merge(mixed=True)
        after = [json.loads((self.united / name.replace("/result", f"@{MACHINE}/result")).read_text()) for name in names]
        before[2]["created"] = after[2]["created"]
        self.assertEqual(after, before)

    def test_result_of_a_source_that_cannot_be_read_is_refused(self):
        for name, change, sentence in FOREIGN:
            with self.subTest(name):
                self.begin_anew()
                change(self.out / JOB / "result.json")
                self.assert_refused(self.merge, f"{self.out / JOB / 'result.json'} {sentence}")
                self.assertFalse(self.united.exists())

    def test_torn_result_of_a_source_is_left_out_with_a_sentence(self):
        (self.out / JOB / "result.json").write_text('{"version": 1')
        self.assertIn(f"left out: {self.out / JOB / 'result.json'} is incomplete; run its job again\n", self.merge())
        self.assertEqual(list(Store(self.united).results()), [BOTH_SIDES])

    def test_result_of_the_target_that_cannot_be_read_is_refused_and_stays(self):
        for name, change, sentence in FOREIGN:
            with self.subTest(name):
                self.begin_anew()
                shutil.copytree(self.out, self.united)
                change(self.united / JOB / "result.json")
                (self.united / JOB / "records.txt").write_text("precious")
                before = self.content(self.united)
                self.assert_refused(self.merge, f"{self.united / JOB / 'result.json'} {sentence}")
                self.assertEqual(self.content(self.united), before)

    def test_torn_result_of_the_target_is_replaced(self):
        shutil.copytree(self.out, self.united)
        (self.united / JOB / "result.json").write_text("")
        self.merge()
        self.assertEqual(self.content(self.united / JOB).keys(), {self.united / JOB / "result.json"})
        self.assertEqual(read_result(self.united / JOB), read_result(self.out / JOB))

    def test_machine_or_calibration_that_cannot_be_read_is_refused_before_anything_is_written(self):
        for place in (f"machines/{MACHINE}.json", f"calibration-{MACHINE}.json"):
            for _name, change, sentence in (EMPTY, ("", edited(machine="a/b", cpu=3), "cannot be read: ")):
                self.begin_anew()
                change(self.out / place)
                self.assertIn(f"{self.out / place} {sentence}", self.refusal(self.merge))
                self.assertFalse(self.united.exists())


if __name__ == "__main__":
    unittest.main()
