# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests dlex-sched-dwcs and `dlex sched dwcs`.

    test_sched_dwcs.py DLEX_SCHED_DWCS DLEX_SCHED_SIM SCHED_FOLDER

Not covered: the dispatcher (the C tests beside this file) and the figures of the paper. Without a right to real-time priorities
only wrong options, the simulation and the refusal are tested. Run-queue delays need root and the kernel's tracer.
"""

import contextlib
import io
import json
import os
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

from outside import Folder, children_of, is_running, state_of, wait_until, with_packages
from programs import run_on_terminal, soon

with_packages("yaml, pydantic, rich, matplotlib")

from rich.console import Console

from dlex_bench.errors import LabError
from dlex_bench.machine import journal
from dlex_bench.machine.switch_recording import recorded_switches, require_recording
from dlex_bench.machine.tracefs import mounted_tracefs
from dlex_sched import dwcs, program, sim
from dlex_sched.__main__ import main
from dlex_sched.scenario import read_scenario

DWCS, SIM, SCHED = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
DLEX_SCHED = DWCS.parents[1] / "cmd/dlex-sched"
GUARD = "dlex-dwcs-guard"
BUSY = "while :; do :; done"
NAPS = "while :; do sleep 0.01; done"  # the shell wakes up each time
TASK = "--task=a,0/1,10,2"
NOBODY = 65534
CPUS = os.sysconf("SC_NPROCESSORS_CONF")
os.environ.pop("SUDO_UID", None)  # commands would run as this user, who may not be able to read the build's folder


def has_right():
    """Whether this account may have the priorities that dlex-sched-dwcs takes if none is named."""
    pid = os.fork()
    if pid == 0:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(19))
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitpid(pid, 0)[1] == 0


def refusal_to_record():
    try:
        require_recording()
    except LabError as refusal:
        return str(refusal)
    return None


ALLOWED = has_right()
needs_right = unittest.skipUnless(ALLOWED, "this account may not have real-time priorities")
REFUSAL = refusal_to_record()
needs_recording = unittest.skipUnless(ALLOWED and not REFUSAL, REFUSAL or "this account may not have real-time priorities")


def ended(*options):
    return subprocess.run([DWCS, *options], capture_output=True, text=True, timeout=120)


@contextlib.contextmanager
def scheduling(*options, **how):
    """Yields a running program. Kills it at the end, which does nothing if the test has waited for it."""
    with subprocess.Popen([DWCS, *options], stdout=subprocess.PIPE, **how) as scheduler:
        try:
            yield scheduler
        finally:
            scheduler.kill()


@contextlib.contextmanager
def busy():
    """Yields a process that always computes."""
    with subprocess.Popen(["sh", "-c", BUSY]) as other:
        try:
            yield other
        finally:
            other.kill()


def guard_of(scheduler):
    return next(pid for pid, name in children_of(scheduler.pid).items() if name == GUARD)


def last_state(output):
    return json.loads(output.strip().splitlines()[-1])


class Program(Folder):
    def test_wrong_options_are_errors(self):
        command = f"--command=a,{BUSY}"
        for wrong in ((), (TASK,), ("--task=a,2/1,10,2", command), ("--task=a,0/1,1,2", command), (TASK, TASK, command),
                      (TASK, "--command=b,true"), (TASK, "--command=a"), (TASK, command, "--slot=5"),
                      (TASK, command, "--leave=-1"), (TASK, command, "--leave=nan"), (TASK, command, "--leave=5.1"),
                      ("--leave=3", "--slot=5", TASK, command), (TASK, command, "--leave="), ("--slot=0.5", TASK, command),
                      (TASK, command, "--pid=a,1"), (TASK, "--pid=a,0"), (TASK, command, "--events=a,often"),
                      (TASK, "--pid=a,1", "--events=a,eventfd"), (TASK, command, "--events=a,socket:x"),
                      (TASK, command, "--cpu=-1"), (TASK, command, "--priority=98"), (TASK, command, "--seconds=0"),
                      (TASK, command, "--rules=6"), (TASK, command, "surplus"), (TASK, command, f"--cpu={CPUS}"),
                      ("--task=a,1/4,4294967298,1", command), ("--task=a,4294967297/4294967298,2,1", command),
                      ("--task=a,1/4,99999999999999999999,1", command), ("--task=a,1/4,2,1,wc,wc", command),
                      (TASK, command, "--server=4294967296/4294967301"), (TASK, command, "--server=0/5x")):
            with self.subTest(wrong):
                done = ended(*wrong)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn("dlex-sched-dwcs: ", done.stderr)

    def test_cpu_that_is_not_there_is_named_with_those_that_are(self):
        done = ended(TASK, f"--command=a,{BUSY}", f"--cpu={CPUS}")
        self.assertIn(f"--cpu={CPUS} is not a whole number from 0 to {CPUS - 1}", done.stderr)

    @unittest.skipIf(os.geteuid(), "only root can install it setuid")
    def test_program_that_is_setuid_refuses_everything(self):
        if os.statvfs(self.folder).f_flag & os.ST_NOSUID:
            self.skipTest("the file system does not allow it")
        self.folder.chmod(0o755)
        copy = shutil.copy(DWCS, self.folder)
        for mode in (0o4755, 0o2755):
            os.chmod(copy, mode)
            with self.subTest(mode=oct(mode)):
                done = subprocess.run([copy, TASK, "--command=a,id -u"], capture_output=True, text=True, user=NOBODY, group=NOBODY,
                                      cwd="/", timeout=120)
                self.assertIn("must not be installed setuid", done.stderr)
                self.assertEqual(done.stdout, "")
                # At the end the sanitizers search for leaks, which the kernel does not allow in a setgid program.
                if "LeakSanitizer has encountered a fatal error" not in done.stderr:
                    self.assertEqual(done.returncode, 2, done.stderr)

    @unittest.skipIf(ALLOWED, "this account may have real-time priorities")
    def test_without_a_right_it_says_what_helps(self):
        done = ended(TASK, f"--command=a,{BUSY}")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("dlex-sched doctor", done.stderr)

    @needs_right
    def test_commands_are_scheduled_and_ended(self):
        done = ended("--slot=5", TASK, "--task=b,0/1,10,4", "--best-effort=c", "--server", f"--command=a,{BUSY}",
                     f"--command=b,{BUSY}", f"--command=c,{BUSY}", "--seconds=6")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        state = last_state(done.stdout)
        self.assertAlmostEqual(state["utilisation"], 0.6)
        self.assertGreater(state["slots"], 1000)
        a, b, c = state["tasks"]
        self.assertGreater(a["windows_kept"], 80)  # of 120
        self.assertGreater(b["cpu_ms"], a["cpu_ms"])
        self.assertGreater(c["cpu_ms"], 200)

    @needs_right
    @unittest.skipIf(os.geteuid(), "only root has rights to give up")
    def test_commands_run_without_rights_and_under_sudo_as_the_user(self):
        command = f"--command=a,id -u; grep CapEff /proc/self/status; {BUSY}"
        for user in (None, NOBODY):
            environment = os.environ if user is None else {**os.environ, "SUDO_UID": str(user)}
            with self.subTest(user=user):
                done = subprocess.run([DWCS, TASK, command, "--seconds=3"], capture_output=True, text=True, timeout=120,
                                      env=environment)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stderr.split(), [str(user or 0), "CapEff:", "0" * 16])
                self.assertGreater(last_state(done.stdout)["tasks"][0]["served"], 15)  # of 30

    @needs_right
    @unittest.skipIf(os.geteuid(), "only root believes who called sudo")
    def test_command_of_an_unknown_user_of_sudo_does_not_run_as_root(self):
        done = subprocess.run([DWCS, TASK, "--command=a,id -u"], capture_output=True, text=True, timeout=120,
                              env={**os.environ, "SUDO_UID": "4294967294"})
        self.assertEqual(done.stderr, "the command `id -u` was not started: Operation not permitted\n")

    @needs_right
    def test_ignored_end_of_children_changes_nothing(self):
        ignored = {"preexec_fn": lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)}
        with scheduling(TASK, f"--command=a,{BUSY}", **ignored) as scheduler:
            scheduler.stdout.readline()
            shell = next(pid for pid, name in children_of(scheduler.pid).items() if name == "sh")
            self.assertTrue(wait_until(lambda: os.sched_getscheduler(shell) == os.SCHED_IDLE))  # most of the time

    @needs_right
    def test_policy_that_another_program_has_set_stays(self):
        with scheduling(TASK, f"--command=a,{BUSY}", "--seconds=5", stderr=subprocess.PIPE) as scheduler:
            scheduler.stdout.readline()
            shell = next(pid for pid, name in children_of(scheduler.pid).items() if name == "sh")
            os.sched_setscheduler(shell, os.SCHED_BATCH, os.sched_param(0))
            time.sleep(0.5)
            self.assertEqual(os.sched_getscheduler(shell) & ~os.SCHED_RESET_ON_FORK, os.SCHED_BATCH)
            errors = scheduler.communicate(timeout=60)[1].decode()
            self.assertEqual(scheduler.returncode, 0, errors)
            self.assertEqual(errors.count("another program has changed the policy of a, which keeps that one from now on"), 1)

    @needs_right
    def test_killed_guard_ends_it_in_good_order(self):
        with busy() as other:
            cpus = os.sched_getaffinity(other.pid)
            with scheduling(TASK, f"--pid=a,{other.pid}", stderr=subprocess.PIPE) as scheduler:
                scheduler.stdout.readline()
                os.kill(guard_of(scheduler), signal.SIGKILL)
                errors = scheduler.communicate(timeout=60)[1].decode()
                self.assertRegex(errors, r"^dlex-sched-dwcs: its guard process was killed.*\n$")
                self.assertEqual(scheduler.returncode, 2)
            self.assertEqual(os.sched_getscheduler(other.pid) & ~os.SCHED_RESET_ON_FORK, os.SCHED_OTHER)
            self.assertEqual(os.sched_getaffinity(other.pid), cpus)

    @needs_right
    def test_repair_gives_back_when_the_guard_was_killed_too(self):
        with busy() as other:
            cpus = os.sched_getaffinity(other.pid)
            with scheduling(TASK, f"--pid=a,{other.pid}") as scheduler:
                scheduler.stdout.readline()
                guard = guard_of(scheduler)
                scheduler.send_signal(signal.SIGSTOP)  # it would see the end of its guard
                soon(lambda: state_of(scheduler.pid) == "T")
                os.kill(guard, signal.SIGKILL)
                soon(lambda: not is_running(guard))
                scheduler.kill()
            self.assertNotEqual(os.sched_getscheduler(other.pid) & ~os.SCHED_RESET_ON_FORK, os.SCHED_OTHER)
            done = subprocess.run([DLEX_SCHED, "repair"], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("1 processes were put back as they were, of 1 killed runs of dwcs", done.stdout)
            self.assertEqual(os.sched_getscheduler(other.pid) & ~os.SCHED_RESET_ON_FORK, os.SCHED_OTHER)
            self.assertEqual(os.sched_getaffinity(other.pid), cpus)

    @needs_right
    def test_other_processes_are_scheduled_and_given_back(self):
        with busy() as other:
            cpus = os.sched_getaffinity(other.pid)
            os.sched_setscheduler(other.pid, os.SCHED_BATCH, os.sched_param(0))
            with scheduling(TASK, f"--pid=a,{other.pid}", text=True) as scheduler:
                for _ in range(3):  # a line each second
                    self.assertEqual(json.loads(scheduler.stdout.readline())["tasks"][0]["pid"], other.pid)
                self.assertEqual(len(os.sched_getaffinity(other.pid)), 1)
                scheduler.send_signal(signal.SIGINT)
                self.assertGreater(last_state(scheduler.communicate(timeout=60)[0])["tasks"][0]["served"], 15)
                self.assertEqual(scheduler.returncode, 0)
            self.assertIsNone(other.poll())
            self.assertEqual(os.sched_getscheduler(other.pid) & ~os.SCHED_RESET_ON_FORK, os.SCHED_BATCH)
            self.assertEqual(os.sched_getaffinity(other.pid), cpus)

    @needs_right
    def test_command_raises_its_own_events(self):
        write = "import os\nwhile True: os.eventfd_write(int(os.environ['DLEX_DWCS_EVENT']), 1)"
        raises = f"exec {shlex.join([sys.executable, '-c', write])}"
        done = ended("--slot=5", TASK + ",wc", "--task=b,0/1,10,2,wc", f"--command=a,{raises}", f"--command=b,{BUSY}",
                     "--events=a,eventfd", "--seconds=4")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(last_state(done.stdout)["tasks"][0]["events"], 20)

    @needs_right
    def test_commands_end_with_a_killed_scheduler(self):
        pids = self.folder / "pids"
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        signal.signal(signal.SIGQUIT, signal.SIG_DFL)  # a shell has programs in the background ignore it
        for number in (signal.SIGKILL, signal.SIGQUIT):
            pids.unlink(missing_ok=True)
            command = f"sleep 1000 2>/dev/null & echo $$ $! >{pids}; {BUSY}"
            with scheduling(TASK, f"--command=a,{command}") as scheduler:
                scheduler.stdout.readline()
                soon(lambda: pids.exists() and pids.read_text().endswith("\n"))
                started = pids.read_text().split()
                self.assertEqual([is_running(pid) for pid in started], [True, True])
                scheduler.send_signal(number)
                self.assertEqual(scheduler.wait(timeout=60), -number)
            soon(lambda started=started: not any(map(is_running, started)))

    @needs_right
    def test_it_does_not_stop(self):
        # In a group of its own: the kernel does not stop a group that nobody could continue.
        with scheduling(TASK, f"--command=a,{BUSY}", text=True, process_group=0) as scheduler:
            scheduler.stdout.readline()
            scheduler.send_signal(signal.SIGTSTP)
            time.sleep(0.5)
            state = state_of(scheduler.pid)
            scheduler.send_signal(signal.SIGCONT)
            scheduler.send_signal(signal.SIGTERM)
            scheduler.communicate(timeout=60)
            self.assertEqual(scheduler.returncode, 0)
            self.assertNotEqual(state, "T")

    @needs_right
    def test_it_schedules_on_when_nobody_reads(self):
        with scheduling(TASK, f"--command=a,{BUSY}", "--seconds=6", pipesize=4096) as scheduler:
            fill = os.open(f"/proc/self/fd/{scheduler.stdout.fileno()}", os.O_WRONLY | os.O_NONBLOCK)
            os.write(fill, b"\n" * 4096)
            time.sleep(5)
            os.close(fill)
            output = scheduler.communicate(timeout=60)[0].decode()
            self.assertEqual(scheduler.returncode, 0)
            self.assertGreater(last_state(output)["tasks"][0]["served"], 35)  # of 60; 20 if it had waited for the reader
            self.assertLess(len(output.strip().splitlines()), 4)

    @needs_right
    def test_command_that_reads_from_a_terminal_reads_nothing(self):
        done = run_on_terminal(DWCS, TASK, "--command=a,read line; exit 0", "--seconds=10")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(last_state(done.stdout)["tasks"][0]["has_ended"])

    @needs_right
    def test_it_ends_with_its_last_process(self):
        done = ended(TASK, "--command=a,exit 0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(last_state(done.stdout)["tasks"][0]["has_ended"])
        self.assertEqual(ended(TASK, "--pid=a,99999999").returncode, 2)


class Command(Folder):
    def setUp(self):
        super().setUp()
        self.output = io.StringIO()
        console = Console(file=self.output, width=160)
        for patch in (mock.patch.object(dwcs, "PROGRAM", DWCS), mock.patch.object(program, "PROGRAM", SIM),
                      mock.patch.object(dwcs, "Console", lambda: console), mock.patch.object(sim, "Console", lambda: console)):
            patch.start()
            self.addCleanup(patch.stop)

    def write(self, text):
        path = self.folder / "players.yaml"
        path.write_text(text)
        return path

    def test_options_are_those_of_the_file(self):
        scenario = read_scenario(self.write("slot: 5\nleave: 0.5\ntasks:\n"
                                            "  a: {window: 1/5, period: 10, command: [x, a b], events: wake}\n"
                                            "  b: {best-effort: true, pid: 7, events: 'socket:3'}\nserver: true\n"))
        self.assertEqual(scenario.real_options(), [
            "--slot=5.0", "--leave=0.5", "--task=a,1/5,10,1", "--best-effort=b", "--command=a,exec x 'a b'", "--events=a,wake",
            "--pid=b,7", "--events=b,socket:3", "--server", "--rules=1,2,3,4,5", "--rule-4=paper",
        ])

    def test_wrong_files_are_errors(self):
        for text, reason in {"tasks: {a: {window: 1/2, period: 2, events: often}}": "events",
                             "tasks: {a: {best-effort: false}}": "a", "slot: 0\ntasks: {a: best-effort}": "slot",
                             "slot: 5\nleave: 3\ntasks: {a: best-effort}": "leave"}.items():
            with self.subTest(text), self.assertRaises(LabError) as caught:
                read_scenario(self.write(text))
            self.assertIn(reason, str(caught.exception))
        with mock.patch("sys.stderr", io.StringIO()) as errors:
            self.assertEqual(main(["dwcs", str(self.write("tasks: {a: best-effort}"))]), 1)
        self.assertIn("tasks.a needs a command or a pid", errors.getvalue())

    def test_examples_can_be_simulated(self):
        files = sorted((SCHED / "players").glob("*.yaml"))
        self.assertTrue(files)
        for path in files:
            with self.subTest(path.stem):
                self.assertEqual(main(["dwcs", str(path), "--backend=sim"]), 0)
        self.assertIn("Who runs in each slot", self.output.getvalue())

    @needs_right
    def test_processes_are_scheduled_and_reported(self):
        path = self.write(f"tasks:\n  a: {{window: 0/1, period: 10, service: 2, command: '{BUSY}'}}\n")
        self.assertEqual(main(["dwcs", str(path), "--seconds=3", f"--out={self.folder}/out"]), 0)
        self.assertGreater(json.loads((self.folder / "out/dwcs.json").read_text())["tasks"][0]["served"], 15)
        self.assertIn("waited µs", self.output.getvalue())
        self.assertRegex(self.output.getvalue(), r"(?m)^\d+ s; periods served: a \d+( \(.*\))?$")

    def schedule(self, *options):
        """Schedules a process that sleeps and one that computes. Returns what is written, and what is shown so far."""
        path = self.write(f"slot: 5\ntasks:\n  naps: {{window: 1/2, period: 10, command: '{NAPS}'}}\n"
                          f"  busy: {{window: 1/2, period: 10, service: 2, command: '{BUSY}'}}\n")
        self.assertEqual(main(["dwcs", str(path), f"--out={self.folder}/out", *options]), 0)
        return json.loads((self.folder / "out/dwcs.json").read_text()), self.output.getvalue()

    @needs_recording
    def test_run_queue_delays_are_those_that_the_kernel_records(self):
        written, shown = self.schedule("--seconds=6")
        naps, busy = (task["run_queue_delay"] for task in written["tasks"])
        self.assertGreater(naps["count"], 20)  # in 5 s; not each 10 ms, since its children share the CPU
        self.assertLess(0, naps["mean_ms"])
        self.assertLessEqual(max(naps["mean_ms"], naps["p99_ms"]), naps["max_ms"])
        self.assertLess(busy["count"] if busy else 0, naps["count"])  # one that computes is not woken
        self.assertGreaterEqual(written["lost_records"], 0)
        row = f"naps +{naps['count']} +{naps['mean_ms']:.2f} +{naps['p99_ms']:.2f} +{naps['max_ms']:.2f}"
        self.assertRegex(shown, rf"Run-queue delay, ms\n\s*task +wake-ups +mean +p99 +longest\n[^\n]+\n *{row}\n")
        with mounted_tracefs() as root:
            self.assertFalse((root / "instances" / f"dlex-{os.getpid()}").exists())

    @needs_recording
    def test_without_a_recording_it_says_why_and_schedules(self):
        with recorded_switches(self.folder / "other.gz"), mock.patch.object(journal, "PASSING_S", 0.1):
            written, shown = self.schedule("--seconds=3")
            self.assertIn("Run-queue delays are missing: another run records context switches; wait until that has ended.\n", shown)
            self.assertGreater(written["tasks"][1]["served"], 15)  # of 60
            self.assertEqual([task["run_queue_delay"] for task in written["tasks"]], [None, None])
            self.assertIsNone(written["lost_records"])
            _written, shown = self.schedule("--seconds=1", "--no-record")
            self.assertEqual(shown.count("Run-queue delays are missing"), 1)

    @needs_recording
    def test_processes_that_end_at_once_have_no_delays(self):
        path = self.write("tasks: {a: {window: 0/1, period: 10, command: exit 0}}\n")
        self.assertEqual(main(["dwcs", str(path), f"--out={self.folder}/out"]), 0)
        self.assertIn("Run-queue delays are missing: all processes ended within the first second.\n", self.output.getvalue())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
