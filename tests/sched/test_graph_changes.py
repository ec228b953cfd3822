# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that a process of a graph that runs can be changed from outside, through libdlex-pman, and obeys.

    test_graph_changes.py PROGRAM TOOLS

The library is named by DLEX_PMAN_LIBRARY. Not covered: whether other processes start later meanwhile, which `./dlex bench graphs`
measures; priorities, which need a right.
"""

import os
import subprocess
import sys
import unittest
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

from outside import Folder, with_packages
from programs import end_left_tables, soon

with_packages("numpy, yaml, rich")

from dlex_bench.graphs.changed_run import changed_run
from dlex_bench.graphs.changes import attributes_of, make_changes
from dlex_bench.graphs.instances import read_log
from dlex_bench.graphs.live_table import LiveTable

PROGRAM, TOOLS = Path(sys.argv[1]), Path(sys.argv[2])
NAME = f"test-{os.getpid()}"
WORKS = "exec dlex-pictures work --work=0.1"
TICK_MS, TICKS = 20, 250
ORIGINAL = attributes_of({"delay": 4, "after": ["a", "b"]})


def setUpModule():
    end_left_tables(PROGRAM)


class Changes(Folder):
    """The graph a, b, then c after both and a delay; d runs beside them. c is changed."""

    def setUp(self):
        super().setUp()
        self.log = self.folder / "log.csv"
        processes = [f"--process={name},1,0,{ORIGINAL.delay_ms if name == 'c' else 0},0,0" for name in "abcd"]
        commands = [f"--waits={name},{WORKS}" for name in "abcd"]
        self.program = subprocess.Popen(
            [PROGRAM, f"--name={NAME}", f"--tick={TICK_MS}", f"--ticks={TICKS}", f"--log={self.log}", *processes, "--after=b,a",
             "--after=c,a", "--after=c,b", *commands],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "PATH": f"{TOOLS}{os.pathsep}{os.environ['PATH']}"})
        self.addCleanup(self.program.communicate)
        self.addCleanup(self.program.terminate)

    def test_changed_process_obeys_from_the_next_tick_on(self):
        soon(self.is_there)
        with LiveTable(NAME) as table:
            soon(lambda: table.activations("a") > TICKS // 4)
            changes = make_changes(table, "c", ORIGINAL, ["a", "b", "d"], lambda: table.activations("a") > 3 * TICKS // 4, 1)
        _output, errors = self.program.communicate(timeout=120)
        self.assertEqual((self.program.returncode, errors), (0, ""))
        log = read_log(self.log)
        found = changed_run(log, "c", ORIGINAL, changes, ["a", "b", "d"], "d")
        self.assertGreater(found.changes, 20)
        self.assertGreater(found.judged, 20)
        self.assertEqual(found.disobeyed, 0)
        self.assertGreater(min(part.due for part in (found.before, found.during, found.after)), 50)
        # The judge would see it: with other attributes than those that were set, the same log is disobedient.
        wrong = [replace(each, attributes=replace(each.attributes, delay_ms=each.attributes.delay_ms + 1)) for each in changes]
        self.assertGreater(changed_run(log, "c", ORIGINAL, wrong, ["a", "b", "d"], "d").disobeyed, 10)

    def is_there(self):
        try:
            with LiveTable(NAME) as table:
                return table.has_waited("d")
        except FileNotFoundError:
            return False

    def test_errors_of_the_library_are_exceptions(self):
        with self.assertRaises(FileNotFoundError):
            LiveTable("test-none")
        soon(self.is_there)
        with LiveTable(NAME) as table:
            with self.assertRaises(FileNotFoundError):
                table.activations("nobody")
            with self.assertRaises(OSError):
                table.change("a", replace(ORIGINAL, after=frozenset()), replace(ORIGINAL, after=frozenset({"c"})))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
