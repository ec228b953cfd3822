# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that an experiment that was interrupted continues where it ended, with nothing lost and nothing foreign."""

import errno
import io
import unittest
from unittest import mock

from outside import Folder, with_packages

with_packages("pydantic, rich")

from rich.console import Console

from dlex_bench.errors import LabError
from dlex_bench.machine import kept_runs
from dlex_bench.machine.kept_runs import FILE, KeptRuns

NOT_AGAIN = mock.Mock(side_effect=AssertionError)


class Kept(Folder):
    def setUp(self):
        super().setUp()
        self.path = self.folder / FILE

    def open(self, **options):
        self.said = io.StringIO()
        return KeptRuns(Console(file=self.said), self.folder, options)

    def three_runs(self):
        kept = self.open()
        for number in range(3):
            kept.run(f"run {number}", lambda number=number: {"ms": [number, 0.5]})

    def test_runs_are_measured_once(self):
        self.three_runs()
        kept = self.open()
        self.assertIn("3 runs were measured before", self.said.getvalue())
        for number in range(3):
            self.assertEqual(kept.run(f"run {number}", NOT_AGAIN), {"ms": [number, 0.5]})
        self.assertEqual(kept.run("another", lambda: (1, 2)), [1, 2])
        self.assertEqual(self.open().run("another", NOT_AGAIN), [1, 2])

    def test_run_that_fails_is_not_kept(self):
        kept = self.open()
        for error in (LabError("it"), KeyboardInterrupt()):
            with self.assertRaises(type(error)):
                kept.run("run", mock.Mock(side_effect=error))
        self.assertEqual(self.open().run("run", lambda: 1), 1)

    def test_file_that_was_cut_off_anywhere_keeps_what_is_whole(self):
        self.three_runs()
        whole = self.path.read_bytes()
        for length in range(len(whole) + 1):
            self.path.write_bytes(whole[:length])
            kept = self.open()
            lines = whole[:length].count(b"\n") + (length < len(whole) and whole[length:length + 1] == b"\n")
            self.assertEqual(kept.run("run 2", lambda: "again"), {"ms": [2, 0.5]} if lines == 4 else "again")
            self.assertEqual(self.open().run("run 2", NOT_AGAIN), {"ms": [2, 0.5]} if lines == 4 else "again")

    def test_runs_of_another_experiment_are_forgotten(self):
        for other in ({"commit": lambda: "other"}, {"machine_id": lambda _facts: "other"}):
            self.three_runs()
            with mock.patch.multiple(kept_runs, **other):
                self.assertEqual(self.open().run("run 0", lambda: "again"), "again")
        self.three_runs()
        self.assertEqual(self.open(quick=True).run("run 0", lambda: "again"), "again")
        self.assertEqual(self.said.getvalue(), "")

    def test_foreign_file_is_no_experiment(self):
        for text in (b"", b"\n", b"7\n", b"\0\n", b"\xff\n", b"not this\n[1, 2]\n"):
            self.path.write_bytes(text)
            self.assertEqual(self.open().run("1", lambda: "measured"), "measured")

    def test_finished_experiment_leaves_no_file(self):
        self.three_runs()
        self.open().forget()
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_disk_that_is_full_is_one_sentence(self):
        kept = self.open()
        full = mock.Mock(side_effect=OSError(errno.ENOSPC, "No space left on device"))
        with mock.patch.object(kept_runs, "append_line", full), self.assertRaisesRegex(LabError, "make room on the disk"):
            kept.run("run", lambda: 1)


if __name__ == "__main__":
    unittest.main()
