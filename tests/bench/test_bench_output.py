# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what the commands of dlex_bench do if their standard output, or the folder of their results, cannot be written.

Not covered: a terminal that disappears; the shell prints the help of ./dlex itself.
"""

import errno
import io
import os
import subprocess
import sys
import unittest
from pathlib import Path

from outside import Folder, with_packages

with_packages("matplotlib, numpy, pydantic, rich, jinja2")

from rich.console import Console

from dlex_bench.errors import LabError, brief, shown
from dlex_bench.files import whole_file
from dlex_bench.output import checked_files, checked_output, output_file, output_folder
from dlex_bench.progress import tell_table
from dlex_bench.table import titled_table

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

    def test_output_that_the_caller_closed_is_one_sentence(self):
        for command in COMMANDS:
            closing = ["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, "-m", "dlex_bench", *command]
            with self.subTest(command):
                run = subprocess.run(closing, stderr=subprocess.PIPE, text=True, timeout=120, cwd=ROOT)
                self.expect_one_sentence(run, "Bad file descriptor")

    def test_messages_do_not_go_to_standard_output_if_standard_error_is_closed(self):
        closing = ["sh", "-c", 'exec "$@" 2>&-', "sh", sys.executable, "-m", "dlex_bench", "plan", "none.yaml"]
        run = subprocess.run(closing, stdout=subprocess.PIPE, text=True, timeout=120, cwd=ROOT)
        self.assertEqual((run.returncode, run.stdout), (1, ""))

    def test_error_of_the_system_is_one_sentence(self):
        run = printing_to(subprocess.DEVNULL, "report", "x" * 60_000)
        self.assertRegex(run.stderr, r"\Adlex bench report: x{60}[^\n]*File name too long\n\Z")

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


class RefusedValues(unittest.TestCase):
    """A value that is refused is shown, but not all of it, and numbers that would take years or all memory are refused."""

    def refused(self, *command):
        run = printing_to(subprocess.PIPE, *command)
        self.assertEqual((run.returncode, run.stdout), (1, ""), run.stderr)
        self.assertRegex(run.stderr, r"\Adlex bench [a-z]+: [^\n]+\n\Z")
        self.assertLess(len(run.stderr), 600)
        return run.stderr

    def test_too_many_repetitions_are_refused_at_once(self):
        for count in ("99999999999", "10001", "0", "-1", "1e3", "9" * 100_000):
            with self.subTest(count[:20]):
                self.assertIn("is not a number of repetitions; give 1 to 10000", self.refused(*COMMANDS[1], f"--reps={count}"))

    def test_long_values_are_shown_in_part(self):
        for option in ("--reps", "--length", "--nonsense"):
            message = self.refused(*COMMANDS[1], f"{option}={'x' * 100_000}")
            self.assertIn("characters)", message)
        self.assertIn("characters)", self.refused("compare", "a", "b", "c" * 100_000))

    def test_message_keeps_paths_and_drops_megabytes(self):
        path = "/".join(["folder"] * 30)
        self.assertEqual(brief(f"{path} is missing"), f"{path} is missing")
        self.assertLess(len(brief("x" * 10**7)), 100)
        self.assertLess(len(brief("x " * 10**6)), 2100)
        self.assertEqual(shown("film"), "'film'")
        self.assertEqual(shown(1 << 100_000), "a number of more than 4300 digits")


class NarrowTables(unittest.TestCase):
    def printed(self, width):
        table = titled_table("Title of the table")
        for heading in ("task", "windows\nkept", "\nlost", "waited µs"):
            table.add_column(heading, no_wrap=True)
        table.add_row("film", "1200000", "33333", "44.25")
        table.add_row("a-second-film-of-some-length", "5", "6", "7")
        console = Console(width=width, file=io.StringIO())
        tell_table(console, table)
        return console.file.getvalue()

    def test_wide_enough_console_shows_a_table(self):
        self.assertRegex(self.printed(80), r" windows\n task +kept +lost +waited µs\n")

    def test_narrow_console_shows_each_cell_in_a_line(self):
        for width in (50, 40):
            text = self.printed(width)
            self.assertNotIn("…", text)
            self.assertLessEqual(max(map(len, text.splitlines())), width)
            self.assertRegex(text, r"task +film\nwindows kept +1200000\nwindows lost +33333\nwaited µs +44.25\n\ntask")


class Results(Folder):
    def test_file_that_cannot_be_written_is_refused_before_measuring(self):
        (self.folder / "file").write_text("old")
        self.assertEqual(output_file(self.folder / "new/file.json"), self.folder / "new/file.json")
        self.assertEqual(output_file(self.folder / "file").read_text(), "old")
        for place, reason in ((self.folder, "Is a directory"), (self.folder / "file/below", "File exists"),
                              (Path("/proc/results/x"), "No such file or directory")):
            with self.subTest(place), self.assertRaisesRegex(LabError, f"cannot be written .{reason}"):
                output_file(place)
        run = printing_to(subprocess.PIPE, "seek", f"--clip={__file__}", "--out=/proc/results/x")
        self.assertNotIn("round", run.stdout)
        self.assertEqual(run.returncode, 1)

    def test_input_is_not_overwritten(self):
        film = self.folder / "film.mp4"
        film.write_text("film")
        (self.folder / "hard").hardlink_to(film)
        (self.folder / "symbolic").symlink_to(film)
        for name in ("film.mp4", "hard", "symbolic"):
            with self.subTest(name), self.assertRaisesRegex(LabError, "which is read and would be overwritten") as caught:
                output_file(self.folder / name, [self.folder / "none", film])
            self.assertEqual(caught.exception.code, 1)
        self.assertEqual(film.read_text(), "film")

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
