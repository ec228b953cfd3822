# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests dlex-sched-pman, `dlex sched pman` and the example graphs.

    test_sched_pman.py PROGRAM GRAPHS TOOLS

Not covered: the library itself (the C tests beside this file), how late processes are, and whether the timeline looks right.
"""

import errno
import fcntl
import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

from outside import Folder, is_running, with_packages
from programs import end_left_tables, run_on_terminal, soon

with_packages("yaml, pydantic, rich, matplotlib")

from rich.console import Console

from dlex_bench.errors import LabError
from dlex_bench.graphs.instances import read_log
from dlex_sched import live_program, pman
from dlex_sched.__main__ import main
from dlex_sched.graph import read_graph
from dlex_sched.graph_statistics import spread, statistics_of
from dlex_sched.results import make_results_folder

PROGRAM, GRAPHS, TOOLS = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
ENVIRONMENT = {**os.environ, "PATH": f"{TOOLS}{os.pathsep}{os.environ['PATH']}"}
# A process that needs no library: it stops itself when it is ready, and after each instance.
STOPS = "while kill -STOP $$; do :; done"
WORKS = "exec dlex-pictures work --work=0.1"


def names():
    """Yields names of tables that no other test has."""
    number = 0
    while True:
        number += 1
        yield f"test-{os.getpid()}-{number}"


NAMES = names()


def setUpModule():
    end_left_tables(PROGRAM)


def may_be_real_time():
    """Returns whether this process may give priorities of SCHED_FIFO."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(5))
    except OSError:
        return False
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    return True


def ended(*options):
    return subprocess.run([PROGRAM, *options], capture_output=True, text=True, timeout=120, env=ENVIRONMENT)


def last_state(output):
    return json.loads(output.strip().splitlines()[-1])


def by_name(state):
    return {process["name"]: process for process in state["processes"]}


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
        self.assertEqual((done.returncode, done.stderr), (0, b""))
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


class Graphs(Folder):
    def read(self, text):
        path = self.folder / "graph.yaml"
        path.write_text(text)
        return read_graph(path)

    def test_options_are_those_of_the_file(self):
        graph = self.read("name: n\ntick: 33.3\ndeadlines: tick\nmanager-priority: 9\nprocesses:\n"
                          "  b: {command: [echo, a b], after: [a], recovery: a, delay: 2, deadline: 3.5, priority: 4, phase: 1}\n"
                          "  a: {command: x; y, activation: stop, restart: true, period: 0}\n  c: {}\n")
        self.assertEqual(graph.options(), [
            "--name=n", "--deadlines=tick", "--tick=33.3", "--manager-priority=9", "--process=b,1,1,2.0,3.5,4",
            "--process=a,0,0,0,0,0", "--process=c,1,0,0,0,0", "--after=b,a", "--recovery=b,a",
            "--waits=b,exec echo 'a b'", "--stops=a,x; y", "--restarts=a",
        ])

    def test_wrong_graphs_are_errors_that_name_the_field(self):
        for text, reason in {
            "": "", "tick: 5": "processes", "tick: 5\nprocesses: {}": "processes", "processes: {a: {}}": "tick",
            "tick: 0\nprocesses: {a: {}}": "tick", "tick: often\nprocesses: {a: {}}": "tick",
            "tick: 5\nprocesses: {a b: {}}": "a b", "tick: 5\nprocesses: {a: {delay: -1}}": "delay",
            "tick: 5\nprocesses: {a: {priority: 100}}": "priority", "tick: 5\nprocesses: {a: {nice: 1}}": "nice",
            "tick: 5\nprocesses: {camera: {}, b: {after: [kamera]}}": "did you mean camera?",
            "tick: 5\nprocesses: {a: {recovery: b}}": "a.recovery", "tick: 5\nprocesses: {a: {restart: true}}": "no command",
            "tick: .inf\nprocesses: {a: {}}": "tick",
        }.items():
            with self.subTest(text), self.assertRaises(LabError) as caught:
                self.read(text)
            self.assertIn(reason, str(caught.exception))

    @unittest.skipUnless(shutil.which("ffmpeg"), "the ffmpeg program is missing")
    def test_examples_run(self):
        self.assertEqual({path.stem for path in GRAPHS.glob("*.yaml")}, {"recorder", "robot"})
        for path in sorted(GRAPHS.glob("*.yaml")):
            with self.subTest(path.stem):
                graph = read_graph(path).model_copy(update={"name": next(NAMES)})
                done = ended(*graph.options(), "--ticks=90")
                self.assertEqual(done.returncode, 0, done.stderr)
                for name, process in by_name(last_state(done.stdout)).items():
                    if graph.processes[name].period:
                        self.assertGreater(process["activations"], 20, name)


@unittest.skipUnless(shutil.which("ffmpeg"), "the ffmpeg program is missing")
class Crashes(Folder):
    """The example recorder, of which processes are killed."""

    def setUp(self):
        super().setUp()
        self.file = self.folder / "recording.mkv"
        graph = read_graph(GRAPHS / "recorder.yaml").model_copy(update={"name": next(NAMES)})
        self.program = subprocess.Popen([PROGRAM, *graph.options()], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                        env={**ENVIRONMENT, "OUTPUT": str(self.file)})
        self.addCleanup(self.program.communicate)
        self.addCleanup(self.program.terminate)
        self.pids = {process["name"]: process["pid"] for process in json.loads(self.program.stdout.readline())["processes"]}
        soon(lambda: len(self.numbers()) > 20)

    def numbers(self):
        """Returns the numbers of the complete pictures in the film, as their comments say."""
        data = self.file.read_bytes() if self.file.exists() else b""
        pictures = data.split(b"tEXtComment\0picture ")[1:]
        return [int(picture.split(b" ")[0]) for picture in pictures if b"IEND" in picture]

    def stop(self):
        self.program.terminate()
        self.program.stdout.read()
        self.program.wait(timeout=60)

    def played(self):
        """Plays the film to its end. Returns how the player describes it and its pictures."""
        wanted = "stream=codec_name,width,height,nb_read_frames:frame=pts_time"
        done = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-show_entries", wanted, "-of", "json", self.file],
                              capture_output=True, text=True, timeout=120, check=True)
        found = json.loads(done.stdout)
        return found["streams"][0], [float(frame["pts_time"]) for frame in found["frames"]], done.stderr

    def test_player_shows_every_picture_of_the_film(self):
        self.stop()
        stream, times, errors = self.played()
        self.assertEqual((stream["codec_name"], stream["width"], stream["height"], errors), ("png", 960, 480, ""))
        self.assertEqual(int(stream["nb_read_frames"]), len(self.numbers()))
        self.assertEqual(times, sorted(set(times)))

    def test_film_shows_what_both_filters_have_made(self):
        self.stop()
        first_picture = ["-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "gray", "-"]
        command = ["ffmpeg", "-v", "error", "-i", self.file, *first_picture]
        samples = subprocess.run(command, stdout=subprocess.PIPE, timeout=120, check=True).stdout
        rows = [samples[first:first + 960] for first in range(0, 960 * 480, 960)]
        self.assertEqual(len(samples), 960 * 480)
        self.assertFalse(any(any(row[640:]) for row in rows[240:]))
        differences = [abs(rows[2 * y][2 * x] - rows[y][640 + x]) for y in range(240) for x in range(320)]
        self.assertLess(sum(differences) / len(differences), 10)
        self.assertGreater(max(map(max, rows)) - min(min(row[:640]) for row in rows), 100)  # it is not the same everywhere

    def test_pictures_go_on_after_the_camera_was_killed(self):
        os.kill(self.pids["camera"], signal.SIGKILL)
        soon(lambda: sorted(numbers := self.numbers()) != numbers and numbers[-1] > 20)  # a new camera counts from 1 on

    def test_recording_goes_on_after_the_writer_was_killed(self):
        before = self.file.read_bytes()
        os.kill(self.pids["writer"], signal.SIGKILL)
        soon(lambda: not is_running(self.pids["writer"]))
        at_the_kill = self.file.stat().st_size
        soon(lambda: self.file.stat().st_size > at_the_kill + 1000)
        self.assertEqual(self.file.read_bytes()[:len(before)], before)
        self.stop()
        stream, times, _errors = self.played()
        # The picture that was being written may be broken, and the next one may be lost with it.
        self.assertGreaterEqual(int(stream["nb_read_frames"]), len(self.numbers()) - 1)
        self.assertEqual(times, sorted(set(times)))

    def test_file_that_is_no_film_of_ours_is_left_alone(self):
        for content in (b"a letter", self.file.read_bytes()[:400].replace(b"MPNG", b"H264") + bytes(1000)):
            self.stop()
            self.file.write_bytes(content)
            graph = read_graph(GRAPHS / "recorder.yaml")
            writer = graph.processes["writer"].model_copy(update={"restart": False})
            graph = graph.model_copy(update={"name": next(NAMES), "processes": {**graph.processes, "writer": writer}})
            done = subprocess.run([PROGRAM, *graph.options(), "--ticks=5"], capture_output=True, text=True, timeout=120,
                                  env={**ENVIRONMENT, "OUTPUT": str(self.file)})
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"dlex-pictures: {self.file}: File exists", done.stderr)
            self.assertEqual(self.file.read_bytes(), content)


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
            self.assertEqual(main(["pman", str(self.file), "--ticks=0", f"--out={self.folder}"]), 1)
        self.assertIn("there is no such table", errors.getvalue())
        self.assertIn("--ticks", errors.getvalue())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
