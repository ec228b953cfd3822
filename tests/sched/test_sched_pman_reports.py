# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests `dlex sched pman` and the statistics of its log.

    test_sched_pman_reports.py PROGRAM GRAPHS TOOLS

Not covered: whether the timeline and the tables look right.
"""


import errno
import io
import json
import os
import signal
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

from outside import Folder, with_packages
from pman_case import NAMES, PROGRAM, TOOLS, WORKS
from programs import OnTerminal

with_packages("yaml, pydantic, rich, matplotlib")

from rich.console import Console

from dlex_bench.errors import LabError
from dlex_bench.graphs.instances import read_log
from dlex_sched import live_program, pman
from dlex_sched.__main__ import main
from dlex_sched.graph_statistics import spread, statistics_of
from dlex_sched.results import make_results_folder


class Statistics(Folder):
    def test_log_is_read_as_instances(self):
        path = self.folder / "log.csv"
        path.write_text(
            "time_ns,kind,process,number,tick,value\n"
            "900,finish,a,6,-1,2\n"  # it was released before the log began
            "1000,release,a,7,3,990\n1000,tick,,3,3,12000\n1200,miss,a,7,-1,0\n1010,start,a,7,-1,0\n1500,finish,a,7,-1,2\n"
            "1600,release,b,1,3,1600\n"
        )
        log = read_log(path)
        a, b = log.instances
        self.assertEqual((a.process, a.number, a.tick, a.due_ns, a.started_ns, a.finished_ns, a.missed),
                         ("a", 7, 3, 990, 1010, 1500, True))
        self.assertEqual((b.process, b.started_ns, b.begun_ns, b.finished_ns, b.missed), ("b", None, 1600, None, False))
        found = statistics_of(log, ["a", "b", "c"])
        self.assertEqual((found.ticks, found.tick_us.mean), (1, 12))
        self.assertEqual((found.processes["a"].instances, found.processes["a"].misses), (1, 1))
        self.assertAlmostEqual(found.processes["a"].delay_ms.mean, 10e-6)
        self.assertAlmostEqual(found.processes["a"].lateness_us.max, 0.02)
        self.assertAlmostEqual(found.processes["a"].work_ms.p50, 490e-6)
        self.assertEqual((found.processes["b"].instances, found.processes["b"].lateness_us), (1, None))
        self.assertEqual(found.processes["c"].instances, 0)

    def test_wrong_logs_are_errors(self):
        path = self.folder / "log.csv"
        for text in ("", "time_ns\n1\n", "time_ns,kind,process,number,tick,value\n1,release,a\n",
                     "time_ns,kind,process,number,tick,value\n1,release,a,x,1,1\n"):
            path.write_text(text)
            with self.subTest(text), self.assertRaises(LabError):
                read_log(path)

    def test_spread(self):
        self.assertIsNone(spread([]))
        found = spread(range(1, 101))
        self.assertEqual((found.count, found.min, found.mean, found.p50, found.p99, found.max), (100, 1, 50.5, 50.5, 99, 100))
        self.assertAlmostEqual(found.sd, 28.866, places=3)
        self.assertEqual(spread([5]).p99, 5)


# `dlex sched` with the programs of this build: PROGRAM TOOLS COMMAND...
DLEX_SCHED = """
import sys
from pathlib import Path
from dlex_sched import __main__, live_program, pman
pman.PROGRAM, live_program.TOOLS = Path(sys.argv[1]), [Path(sys.argv[2])]
sys.exit(__main__.main(sys.argv[3:]))
"""


class Live(Folder):
    """A graph that runs until its test ends it."""

    def setUp(self):
        super().setUp()
        file = self.folder / "graph.yaml"
        file.write_text(f"name: {next(NAMES)}\ntick: 10\nprocesses:\n  a: {{command: {WORKS}}}\n  b: {{period: 0}}\n")
        self.command = [sys.executable, "-c", DLEX_SCHED, PROGRAM, TOOLS, "pman", file, "--seconds=20", f"--out={self.folder}/out"]

    def test_pipe_gets_a_short_line_a_second(self):
        with subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True) as program:
            self.addCleanup(program.kill)
            lines = [program.stdout.readline() for _ in range(2)]
            self.assertIsNone(program.poll())
            program.send_signal(signal.SIGINT)
            rest = program.communicate(timeout=60)[0]
        for line in lines:
            self.assertRegex(line, r"^\d+ s, \d+ ticks; activations: a \d+( \(\d+ skipped\))?, b 0\n$")
        self.assertEqual(program.returncode, 0)
        self.assertIn("late µs", rest)

    def test_terminal_shows_a_table_that_changes(self):
        terminal = OnTerminal(self.command, env={**os.environ, "TERM": "xterm", "COLUMNS": "120"})
        self.addCleanup(terminal.close)
        terminal.read_until(r" s, (\d+) ticks.*activations.* s, (?!\1 )\d+ ticks.*activations")
        self.assertIsNone(terminal.process.poll())
        terminal.process.send_signal(signal.SIGINT)
        terminal.read_until("late µs")
        self.assertEqual(terminal.process.wait(60), 0)
        self.assertNotIn("; activations", terminal.output)


class Command(Folder):
    def setUp(self):
        super().setUp()
        self.output = io.StringIO()
        console = Console(file=self.output, width=160)
        for patch in (mock.patch.object(pman, "PROGRAM", PROGRAM), mock.patch.object(live_program, "TOOLS", [TOOLS]),
                      mock.patch.object(pman, "Console", lambda: console)):
            patch.start()
            self.addCleanup(patch.stop)
        self.file = self.folder / "graph.yaml"
        self.file.write_text(f"name: {next(NAMES)}\ntick: 10\nprocesses:\n  a: {{command: {WORKS}}}\n"
                             f"  b: {{command: {WORKS}, after: [a], delay: 2}}\n")

    def test_graph_runs_and_is_reported_and_drawn(self):
        out = self.folder / "out"
        self.assertEqual(main(["pman", str(self.file), "--ticks=40", "--plot", f"--out={out}"]), 0)
        self.assertEqual({path.name for path in out.iterdir()}, {"log.csv", "pman.json", "timeline.png"})
        stored = json.loads((out / "pman.json").read_text())
        self.assertGreaterEqual(stored["statistics"]["processes"]["b"]["delay_ms"]["min"], 2)
        self.assertIn("late µs", self.output.getvalue())
        self.assertIn("a tick took", self.output.getvalue())

    def test_hostile_files_are_errors_with_a_line(self):
        graph = "name: test-hostile\ntick: 10\nprocesses:\n"
        for text, line in {
            graph + "  a: {delay: !!int abc}\n": 4, graph + "  a: {}\n  a: {}\n": 5, graph + '  a: {command: "x\\0y"}\n': 4,
            graph + f"  a:\n    command: {'x' * 200_000}\n": 5, graph + f"  a: {{command: [{', '.join(['x' * 30] * 5000)}]}}\n": 4,
            graph + "  a: {}\n  b: {after: [c]}\n": 5, graph + "  a: {}\n  b: {nice: 1}\n": 5,
        }.items():
            self.file.write_text(text)
            with self.subTest(text[:100]), mock.patch("sys.stderr", io.StringIO()) as errors:
                self.assertEqual(main(["pman", str(self.file)]), 1)
                sentence = errors.getvalue()
                self.assertTrue(sentence.startswith(f"dlex sched pman: {self.file}, line {line}: "), sentence)
                self.assertLess(len(sentence), 400)
                self.assertEqual(sentence.count("\n"), 1)

    def test_new_folder_for_results_is_the_users_under_sudo(self):
        for number, (user, owner) in enumerate((({}, os.geteuid()), ({"SUDO_UID": "65534", "SUDO_GID": "65533"}, 65534))):
            folder = self.folder / str(number) / "results"
            with mock.patch.dict(os.environ, user):
                make_results_folder(folder)
                make_results_folder(folder)  # again is no error
            if not os.geteuid():
                self.assertEqual(folder.stat().st_uid, owner)
        (self.folder / "file").touch()
        with self.assertRaisesRegex(LabError, "name another folder with --out"):
            make_results_folder(self.folder / "file/results")

    def test_commands_that_are_too_long_together_are_an_error(self):
        refused = OSError(errno.E2BIG, os.strerror(errno.E2BIG))
        with mock.patch("sys.stderr", io.StringIO()) as errors, mock.patch("subprocess.Popen", side_effect=refused):
            self.assertEqual(main(["pman", str(self.file), f"--out={self.folder}"]), 1)
        self.assertIn("all options together are too long", errors.getvalue())

    def test_errors_are_sentences(self):
        with mock.patch("sys.stderr", io.StringIO()) as errors:
            self.assertEqual(main(["pman", str(self.folder / "none.yaml")]), 1)
            self.assertEqual(main(["pman", str(self.file), "--end"]), 2)
            with self.assertRaises(SystemExit) as caught:
                main(["pman", str(self.file), "--ticks=0", f"--out={self.folder}"])
            self.assertEqual(caught.exception.code, 1)
        self.assertIn("there is no such table", errors.getvalue())
        self.assertIn("--ticks", errors.getvalue())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
