# SPDX-License-Identifier: LGPL-2.1-or-later
"""Holds the tests that all commands share which measure first and write their results at the end."""

import errno
from unittest import mock

from dlex_bench.errors import LabError


class WritesResults:
    """A class of tests with this one and Folder as its bases has `measure(out, **stand_ins)`, which runs the whole command.

    `FIRST` names what the command calls before it measures, and after it has looked at the folder. `MEASURES` names what makes
    one measurement, or each kind of them.
    """

    FIRST = "only_measurement"
    MEASURES = ("_run",)

    def test_folder_that_cannot_be_written_is_refused_before_anything_is_measured(self):
        (self.folder / "file").touch()
        with self.assertRaisesRegex(LabError, "file/out cannot be written"):
            self.measure(self.folder / "file/out", **{self.FIRST: mock.Mock(side_effect=AssertionError)})

    def test_disk_that_is_full_at_the_end_is_one_sentence_and_no_run_is_lost(self):
        full = mock.Mock(side_effect=OSError(errno.ENOSPC, "No space left on device"))
        with self.assertRaisesRegex(LabError, "cannot be made or written.*make room on the disk"):
            self.measure(self.folder / "out", write_json=full)
        self.measure(self.folder / "out", **{name: mock.Mock(side_effect=AssertionError) for name in self.MEASURES})
        with self.assertRaises(AssertionError):  # what is finished begins again
            self.measure(self.folder / "out", **{name: mock.Mock(side_effect=AssertionError) for name in self.MEASURES})
