# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests dlex-sched-pman: graphs that run, and how they and their supervisor end.

    test_sched_pman.py PROGRAM GRAPHS TOOLS

Not covered: the library itself (the C tests beside this file), and how late processes are.
"""


import fcntl
import json
import os
import resource
import signal
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

from outside import Folder, is_running, with_packages
from pman_case import (
    ENVIRONMENT,
    NAMES,
    PROGRAM,
    STOPS,
    WORKS,
    by_name,
    ended,
    last_state,
    may_be_real_time,
)
from programs import run_on_terminal, soon

with_packages("yaml, pydantic, rich, matplotlib")

from dlex_bench.graphs.instances import read_log


class Program(Folder):
    def test_wrong_options_are_errors(self):
        one = "--process=a,1,0,0,0,0"
        for wrong in ((), ("surplus",), (one, one), ("--process=a,1,0,0,0",), ("--process=a b,1,0,0,0,0",),
                      ("--process=a,1,0,0,0,100",), ("--process=a,1.5,0,0,0,0",), (one, "--after=a,b"), (one, "--after=a"),
                      (one, "--waits=a"), (one, "--waits=b,true"), (one, "--waits=a,true", "--stops=a,true"), (one, "--tick=0"),
                      (one, "--tick=x"), (one, "--deadlines=never"), (one, "--name=a/b"), (one, "--ticks=0"), (one, "--take-over"),
                      (one, "--recovery=a,b")):
            with self.subTest(wrong):
                done = ended(*wrong)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn("dlex-sched-pman: ", done.stderr)

    def test_commands_run_in_order_of_precedence(self):
        log = self.folder / "log.csv"
        done = ended(f"--name={next(NAMES)}", "--tick=20", "--ticks=50", f"--log={log}", "--process=b,1,0,0,0,0",
                     "--process=a,1,0,0,0,0", "--process=c,1,0,5,0,0", "--after=b,a", "--after=c,b", f"--waits=a,{WORKS}",
                     f"--stops=b,{STOPS}", f"--waits=c,{WORKS}")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        processes = by_name(last_state(done.stdout))
        found = read_log(log)
        for name in "abc":
            self.assertGreaterEqual(processes[name]["activations"] + processes[name]["skips"], 49)
            self.assertGreater(processes[name]["activations"], 10)
        finished = {(each.process, each.tick): each.finished_ns for each in found.instances if each.finished_ns}
        compared = 0
        for each in found.instances:
            if each.process != "a" and (before := finished.get(("ab"[each.process == "c"], each.tick))):
                self.assertGreaterEqual(each.released_ns, before)
                compared += 1
            if each.process == "c":
                self.assertGreaterEqual(each.released_ns, found.ticks[each.tick].time_ns + 5_000_000)
        self.assertGreater(compared, 20)

    def test_delays_end_in_time_also_before_all_commands_are_ready(self):
        log = self.folder / "log.csv"
        done = ended(f"--name={next(NAMES)}", "--ticks=4", f"--log={log}", "--process=camera,1,0,0,0,0",
                     "--process=delayed,1,0,20,0,0", "--process=late,1,0,0,0,0", f"--waits=delayed,{WORKS}",
                     f"--waits=late,sleep 1.2; {WORKS}", "--waits=camera,exec dlex-pictures read --rate=2 --size=64x48")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = read_log(log)
        delayed = [each for each in found.instances if each.process == "delayed"]
        self.assertGreater(len(delayed), 1)
        for each in delayed[:2]:
            self.assertLess(each.released_ns - found.ticks[each.tick].time_ns, 250_000_000)  # half of the way to the next tick

    def test_command_that_reads_from_a_terminal_reads_nothing(self):
        done = run_on_terminal(PROGRAM, f"--name={next(NAMES)}", "--tick=10", "--ticks=5", "--process=a,1,0,0,0,0",
                               f"--waits=a,read line; {WORKS}", env=ENVIRONMENT)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_missed_deadline_activates_the_recovery_process(self):
        done = ended(f"--name={next(NAMES)}", "--tick=100", "--ticks=15", "--process=slow,1,0,0,10,0", "--process=rescue,0,0,0,0,0",
                     "--recovery=slow,rescue", "--waits=slow,exec dlex-pictures work --work=30", f"--waits=rescue,{WORKS}")
        self.assertEqual(done.returncode, 0, done.stderr)
        processes = by_name(last_state(done.stdout))
        self.assertGreaterEqual(processes["slow"]["misses"], 6)
        self.assertGreaterEqual(processes["rescue"]["activations"], 6)

    def test_impossible_graphs_are_errors(self):
        both = ("--process=a,1,0,0,0,0", "--process=b,1,0,0,0,0")
        done = ended(f"--name={next(NAMES)}", *both, "--after=a,b", "--after=b,a")
        self.assertEqual(done.returncode, 2)
        self.assertIn("it would come after itself", done.stderr)
        done = ended(f"--name={next(NAMES)}", *both, "--waits=a,exit 3", "--waits=b,sleep 100")
        self.assertEqual(done.returncode, 2)
        self.assertIn("a has ended with status 3", done.stderr)
        self.assertIn("before its first instance", done.stderr)
        self.assertEqual(ended("--end", f"--name={next(NAMES)}").returncode, 2)
        done = ended(f"--name={next(NAMES)}", *both, f"--log={self.folder}/none/log.csv")
        self.assertEqual(done.returncode, 2)
        self.assertIn("log.csv", done.stderr)

    def test_what_an_ended_command_has_left_in_the_background_is_ended(self):
        pid = self.folder / "pid"
        done = ended(f"--name={next(NAMES)}", "--tick=10", "--seconds=3", "--process=a,1,0,0,0,0",
                     f"--stops=a,sleep 1000 >/dev/null 2>&1 & echo $! >{pid}; kill -STOP $$; exit 5")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("a has ended with status 5", done.stderr)
        self.assertFalse(is_running(pid.read_text().strip()))

    def start_with_long_lines(self):
        """Starts a graph whose lines are longer than its pipe takes at once. Returns it and what its command writes its id to."""
        pid = self.folder / "pid"
        others = [f"--process={'x' * 25}{number},0,0,0,0,0" for number in range(60)]
        program = subprocess.Popen([PROGRAM, f"--name={next(NAMES)}", "--tick=10", "--seconds=4", "--process=a,1,0,0,0,0", *others,
                                    f"--stops=a,echo $$ >{pid}; {STOPS}"], stdout=subprocess.PIPE)
        self.addCleanup(program.kill)
        self.addCleanup(program.stdout.close)
        fcntl.fcntl(program.stdout, fcntl.F_SETPIPE_SZ, 4096)
        return program, pid

    def test_graph_ends_although_nobody_reads_its_lines(self):
        program, pid = self.start_with_long_lines()
        soon(lambda: pid.exists() and pid.read_text().strip() and not is_running(pid.read_text().strip()))
        self.assertIsNone(program.poll())  # it waits for a reader of the last line
        lines = program.stdout.read().decode().splitlines()
        self.assertEqual(program.wait(60), 0)
        self.assertEqual([json.loads(line)["seconds"] >= 4 for line in lines][-1:], [True])
        self.assertEqual(len(by_name(json.loads(lines[0]))), 61)

    def test_signal_ends_a_graph_whose_lines_nobody_reads(self):
        program, pid = self.start_with_long_lines()
        soon(lambda: pid.exists() and pid.read_text().strip())
        for _number in range(2):  # the second one ends the wait for a reader
            program.send_signal(signal.SIGINT)
            soon(lambda: not is_running(pid.read_text().strip()))
        self.assertEqual(program.wait(60), 0)

    @unittest.skipIf(os.geteuid(), "only root has rights to give up")
    def test_commands_run_without_rights_and_under_sudo_as_the_user(self):
        results = self.folder / "results"
        results.mkdir()
        self.folder.chmod(0o755)
        os.chown(results, 65534, 65534)
        for user in (None, 65534):
            log = results / f"{user}.csv"
            environment = {**ENVIRONMENT} if user is None else {**ENVIRONMENT, "SUDO_UID": str(user)}
            done = subprocess.run([PROGRAM, f"--name={next(NAMES)}", "--tick=10", "--ticks=5", f"--log={log}",
                                   f"--process=a,1,0,0,0,{may_be_real_time() * 5}",
                                   f"--stops=a,id -u; grep CapEff /proc/self/status; {STOPS}"],
                                  capture_output=True, text=True, timeout=120, env=environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stderr.split(), [str(user or 0), "CapEff:", "0" * 16])
            self.assertGreater(by_name(last_state(done.stdout))["a"]["activations"], 0)
            self.assertEqual(log.stat().st_uid, user or 0)

    def test_closed_standard_output_does_not_become_the_log(self):
        log = self.folder / "log.csv"
        done = subprocess.run([PROGRAM, f"--name={next(NAMES)}", "--tick=10", "--ticks=5", "--process=a,1,0,0,0,0", f"--log={log}"],
                              stderr=subprocess.PIPE, timeout=60, preexec_fn=lambda: (os.close(0), os.close(1)))
        lost = b"dlex-sched-pman: the results cannot be written: Bad file descriptor\n"
        self.assertEqual((done.returncode, done.stderr), (2, lost))
        lines = log.read_text().splitlines()
        self.assertTrue(lines[0].startswith("time_ns,"), lines[0])
        self.assertFalse([line for line in lines if "{" in line])

    def test_command_that_cannot_be_started_is_an_error(self):
        done = subprocess.run([PROGRAM, f"--name={next(NAMES)}", "--process=a,1,0,0,0,0", f"--waits=a,{WORKS}"], timeout=60,
                              capture_output=True, text=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (5, 5)))
        self.assertEqual(done.returncode, 2)
        self.assertIn("a cannot be started: Too many open files", done.stderr)

    def test_command_that_has_ended_is_started_again(self):
        done = ended(f"--name={next(NAMES)}", "--tick=10", "--seconds=4", "--process=a,1,0,0,0,0", "--restarts=a",
                     "--stops=a,kill -STOP $$; exit 5")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreaterEqual(by_name(last_state(done.stdout))["a"]["activations"], 2)
        self.assertIn("a has ended with status 5", done.stderr)
        self.assertIn("a is started again", done.stderr)


class Supervision(Folder):
    def setUp(self):
        super().setUp()
        self.name = next(NAMES)
        self.graph = (f"--name={self.name}", "--tick=5", "--process=a,1,0,0,0,0", "--process=b,1,0,0,0,0", "--after=b,a",
                      f"--waits=a,{WORKS}", f"--waits=b,{WORKS}")
        self.addCleanup(ended, "--end", f"--name={self.name}")

    def start(self, *options):
        program = subprocess.Popen([PROGRAM, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)

        def clean_up():
            program.kill()
            program.communicate()

        self.addCleanup(clean_up)
        return program

    def test_signal_ends_the_graph_and_its_processes(self):
        program = self.start(*self.graph)
        pids = [process["pid"] for process in json.loads(program.stdout.readline())["processes"]]
        self.assertEqual([Path(f"/proc/{pid}").exists() for pid in pids], [True, True])
        program.stdout.readline()  # a second later
        program.send_signal(signal.SIGTERM)
        output, errors = program.communicate(timeout=60)
        self.assertEqual((program.returncode, errors), (0, ""))
        self.assertGreater(last_state(output)["ticks"], 100)
        self.assertEqual([Path(f"/proc/{pid}").exists() for pid in pids], [False, False])

    def test_reader_that_ends_ends_the_graph(self):
        program = self.start(*self.graph)
        program.stdout.readline()
        program.stdout.close()
        self.assertEqual(program.wait(timeout=60), 2)

    def test_processes_outlive_a_killed_supervisor_and_are_taken_over(self):
        program = self.start(*self.graph)
        before = json.loads(program.stdout.readline())
        program.kill()
        program.wait()
        done = ended(*self.graph)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--take-over", done.stderr)
        next_one = self.start("--take-over", f"--name={self.name}", "--tick=5")
        state = json.loads(next_one.stdout.readline())
        self.assertEqual([process["pid"] for process in state["processes"]], [process["pid"] for process in before["processes"]])
        for process, earlier in zip(state["processes"], before["processes"], strict=True):
            self.assertGreater(process["activations"], earlier["activations"] + 50)
        for other in ("--take-over", "--end"):
            done = ended(other, f"--name={self.name}")
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"process {next_one.pid} manages", done.stderr)
        next_one.kill()
        next_one.wait()
        self.assertEqual(ended("--end", f"--name={self.name}").returncode, 0)
        soon(lambda: not any(is_running(process["pid"]) for process in before["processes"]))

    def test_ticks_of_a_killed_supervisor_do_not_count(self):
        program = self.start(*self.graph)
        before = json.loads(program.stdout.readline())
        program.kill()
        program.wait()
        done = ended("--take-over", f"--name={self.name}", "--tick=5", "--ticks=100")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreaterEqual(last_state(done.stdout)["ticks"], before["ticks"] + 100)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
