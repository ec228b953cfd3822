# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what the programs do if their standard output is full, closed, or a pipe without a reader.

    test_standard_output.py BUILD_FOLDER

Not covered: what is printed once a second by dlex-sched-dwcs and dlex-sched-pman (test_line_writer.c), and the commands in Python
(tests/bench/test_bench_output.py, and tests/sched).
"""

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

BUILD = Path(sys.argv[1])
FULL = "/dev/full"

# The exit status that the manual has for what cannot be written, and the commands that print.
PROGRAMS = {
    "sched/cmd/dlex-sched": (2, (
        ("--help",), ("--version",), ("tune", "--help"), ("period", "--help"), ("rm", "--help"), ("rm", "run", "--help"),
        ("rm", "list"), ("repair", "--help"), ("repair",), ("doctor", "--help"), ("doctor",),
        ("period", f"--pid={os.getpid()}", "--seconds=0.2"), ("period", f"--pid={os.getpid()}", "--seconds=0.2", "--json"),
        ("period", "--seconds=0.2", "--", "sleep", "1.3"),
    )),
    "sched/dwcs/dlex-sched-dwcs": (2, (("--help",),)),
    "sched/pman/dlex-sched-pman": (2, (("--help",),)),
    "sched/sim/dlex-sched-sim": (2, (("--help",), ("--task=film,0/1,3,1", "--slots=4"))),
    "sched/pictures/dlex-pictures": (2, (("--help",),)),
    "player/dlex-play": (1, (("--help",), ("--version",), ("--codecs",))),
    "qoe/dlex-qoe": (1, (("--help",), ("--version",))),
    "bench/dlex-bench-decode": (2, (("--help",),)),
    "bench/libdlex/dlex-bench-libdlex": (2, (("--help",),)),
    "bench/latency/dlex-bench-cell": (2, (("--help",),)),
    "bench/gates/dlex-bench-gates": (1, (("--help",),)),
    "bench/storm/dlex-bench-storm": (1, (("--help",),)),
    "bench/sim/dlex-bench-sim": (1, (("--help",),)),
    "bench/observer/dlex-bench-observe": (1, (("--help",), ("--version",))),
}


def commands():
    """Yields each command with the status that says that it could not print. What this build does not have is left out."""
    for path, (status, lines) in PROGRAMS.items():
        if (BUILD / path).exists():
            for line in lines:
                yield (BUILD / path, *line), status


def can_print(command):
    """Returns whether the command succeeds at all on this machine, as `period` does not without perf events."""
    return subprocess.run(command, capture_output=True, timeout=60).returncode == 0


class StandardOutput(unittest.TestCase):
    def expect(self, reason, run_to):
        tried = 0
        for command, status in commands():
            name = " ".join(map(str, command))
            with self.subTest(name):
                run = run_to(command)
                if "cannot watch process" in run.stderr and not can_print(command):
                    print(f"left out: {name}: {run.stderr.strip()}")
                    continue
                self.assertEqual(run.returncode, status, run.stderr)
                last = run.stderr.splitlines()[-1]
                self.assertRegex(last, rf"\A{re.escape(command[0].name)}: cannot write to standard output: {reason}\Z")
                tried += 1
        self.assertGreaterEqual(tried, 15)

    @unittest.skipUnless(os.path.exists(FULL), "/dev/full does not exist")
    def test_full_disk_is_one_sentence_and_no_success(self):
        def run_to(command):
            with open(FULL, "w") as full:
                return subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)

        self.expect("No space left on device", run_to)

    def test_closed_output_is_one_sentence_and_no_success(self):
        def run_to(command):
            closing = ["sh", "-c", 'exec "$@" >&-', "sh", *map(str, command)]
            return subprocess.run(closing, stderr=subprocess.PIPE, text=True, timeout=60)

        self.expect("Bad file descriptor", run_to)

    def test_pipe_without_a_reader_is_one_sentence_where_its_signal_is_ignored(self):
        def run_to(command):
            reading, writing = os.pipe()
            os.close(reading)
            with os.fdopen(writing, "w") as pipe:
                return subprocess.run(command, stdout=pipe, stderr=subprocess.PIPE, text=True, timeout=60, restore_signals=False)

        self.expect("Broken pipe", run_to)

    def test_pipe_without_a_reader_otherwise_ends_a_program_in_silence(self):
        for command, _status in commands():
            if "--help" not in command:
                continue
            reading, writing = os.pipe()
            os.close(reading)
            with self.subTest(command), os.fdopen(writing, "w") as pipe:
                run = subprocess.run(command, stdout=pipe, stderr=subprocess.PIPE, text=True, timeout=60)
                self.assertEqual((run.returncode, run.stderr), (-13, ""))

    def test_closed_input_and_output_stay_apart(self):
        closing = ["sh", "-c", 'exec "$@" <&- >&-', "sh", str(BUILD / "sched/cmd/dlex-sched"), "--version"]
        run = subprocess.run(closing, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual((run.returncode, run.stderr), (2, "dlex-sched: cannot write to standard output: Bad file descriptor\n"))

    def test_command_keeps_its_own_exit_status(self):
        with open(os.devnull, "rb") as unwritable:
            run = subprocess.run([BUILD / "sched/cmd/dlex-sched", "period", "--seconds=0.2", "--", "sh", "-c", "exit 5"],
                                 stdout=unwritable, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(run.returncode, 5, run.stderr)

    def test_program_that_prints_nothing_has_lost_nothing(self):
        closing = ["sh", "-c", 'exec "$@" >&-', "sh", str(BUILD / "sched/cmd/dlex-sched"), "tune", "--dry-run", "--", "true"]
        self.assertEqual(subprocess.run(closing, stderr=subprocess.PIPE, timeout=60).returncode, 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
