# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what the commands of dlex_bench do if their standard output, or the folder of their results, cannot be written.

Not covered: a terminal that disappears; the shell prints the help of ./dlex itself.
"""

import errno
import os
import subprocess
import sys
import unittest
from pathlib import Path

from outside import Folder, with_packages

with_packages("matplotlib, numpy, pydantic, rich, jinja2")

from dlex_bench.errors import LabError
from dlex_bench.files import whole_file
from dlex_bench.output import checked_files, checked_output, output_folder

ROOT = Path(__file__).resolve().parents[2]
FULL = "/dev/full"
COMMANDS = (
    ("simulate", "--help"),
    ("plan", str(ROOT / "bench/agendas/paper.yaml")),
    ("plan", str(ROOT / "bench/agendas/paper.yaml"), "--jobs"),
)


def printing_to(output, *command):
    return subprocess.run([sys.executable, "-m", "dlex_bench", *command], stdout=output, stderr=subprocess.PIPE, text=True,
                          timeout=120, cwd=ROOT)


class Output(unittest.TestCase):
    def expect_one_sentence(self, run, reason):
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertRegex(run.stderr, rf"\Adlex bench [a-z]+: cannot write to standard output: {reason}\n\Z")

    @unittest.skipUnless(os.path.exists(FULL), "/dev/full does not exist")
    def test_full_disk_is_one_sentence(self):
        for command in COMMANDS:
            with self.subTest(command), open(FULL, "w") as full:
                self.expect_one_sentence(printing_to(full, *command), "No space left on device")

    def test_closed_pipe_is_one_sentence(self):
        for command in COMMANDS:
            reading, writing = os.pipe()
            os.close(reading)
            with self.subTest(command), os.fdopen(writing, "w") as pipe:
                self.expect_one_sentence(printing_to(pipe, *command), "Broken pipe")

    def test_output_that_the_caller_closed_is_no_error(self):
        command = [sys.executable, "-m", "dlex_bench", *COMMANDS[1]]
        closing = ["sh", "-c", 'exec "$@" >&-', "sh", *command]
        run = subprocess.run(closing, stderr=subprocess.PIPE, text=True, timeout=120, cwd=ROOT)
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    @unittest.skipUnless(os.path.exists(FULL), "/dev/full does not exist")
    def test_another_error_is_reported_first(self):
        with open(FULL, "w") as full:
            run = printing_to(full, "plan", "none.yaml")
        self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        self.assertIn("none.yaml", run.stderr)


class Block(unittest.TestCase):
    """The block of checked_output, in a child whose standard output is /dev/full."""

    @unittest.skipUnless(os.path.exists(FULL), "/dev/full does not exist")
    def test_block_goes_on_after_an_error(self):
        pid = os.fork()
        if pid:
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
            return
        lines = 0
        code = 1
        try:
            with open(FULL, "w") as sys.stdout, checked_output():
                for _line in range(100):
                    print("x" * 1000, flush=True)
                    lines += 1
        except LabError:
            code = 0 if lines == 100 else 1
        finally:
            os._exit(code)


class Results(Folder):
    def test_folder_is_made_and_left_empty(self):
        made = output_folder(self.folder / "one/two")
        self.assertEqual(output_folder(made), self.folder / "one/two")
        self.assertEqual(list(made.iterdir()), [])

    def test_folder_that_cannot_be_written_is_one_sentence(self):
        (self.folder / "file").touch()
        for place, reason in ((self.folder / "file", "File exists"), (self.folder / "file/below", "Not a directory"),
                              (Path("/proc/results"), "No such file or directory")):
            with self.subTest(place), self.assertRaises(LabError) as caught:
                output_folder(place)
            self.assertEqual((str(caught.exception), caught.exception.code),
                             (f"{place} cannot be written ({reason}); choose another by --out=", 1))

    def test_file_is_whole_or_does_not_exist(self):
        path = self.folder / "file"
        with self.assertRaises(KeyboardInterrupt), whole_file(path) as partial:
            partial.write_text("half")
            raise KeyboardInterrupt
        self.assertEqual(list(self.folder.iterdir()), [])
        with whole_file(path) as partial:
            partial.write_text("whole")
        self.assertEqual([(it.name, it.read_text()) for it in self.folder.iterdir()], [("file", "whole")])

    def test_error_of_a_write_is_one_sentence(self):
        for number, advice in ((errno.ENOSPC, "make room on the disk of out, or"), (errno.EIO, "repair that, or")):
            with self.subTest(number), self.assertRaisesRegex(LabError, rf"\(a.png: {os.strerror(number)}\); {advice}"):
                with checked_files(Path("out")):
                    raise OSError(number, os.strerror(number), "a.png")


if __name__ == "__main__":
    unittest.main()
