# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests `dlex-sched rm`: levels of running programs, refusals, and members that are killed at any moment.

Skipped without the right to fixed priorities. Not covered: how levels and response times are computed (test_rm_levels,
test_response_time), what priorities are worth, which the laboratory measures, and user namespaces.

Run as: test_rm.py DLEX_SCHED
"""
import contextlib
import ctypes
import os
import pwd
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

SCHED = os.path.abspath(sys.argv[1])
TABLE = Path("/run/dlex-sched/rm")
SKIPPED = 77
KILLS = 60
NOBODY = pwd.getpwnam("nobody").pw_uid
GROUPS = Path("/sys/fs/cgroup/cpu")
CAP_SYS_NICE, PR_CAPBSET_DROP = 23, 24
FIELD_LEVEL = 3  # in a line of the table; the level before follows it
LIBC = ctypes.CDLL(None, use_errno=True)
# A program with a second thread, which does as the test wants.
WITH_THREAD = """
import ctypes, os, threading, time
def second():
    {second}
    time.sleep(60)
threading.Thread(target=second).start()
{first}
time.sleep(60)
"""
ENDING = WITH_THREAD.format(second="pass", first="ctypes.CDLL(None).pthread_exit(None)")
CHOOSING = WITH_THREAD.format(second="os.sched_setparam(threading.get_native_id(), os.sched_param(22))", first="pass")


def limit_real_time():
    resource.setrlimit(resource.RLIMIT_RTTIME, (200000, 200000))


def priority(pid):
    """Returns a process's SCHED_FIFO priority; 0: it has an ordinary policy."""
    return os.sched_getparam(pid).sched_priority if os.sched_getscheduler(pid) & 0xff == os.SCHED_FIFO else 0


def listed(**options):
    """Returns the rows of `rm list` as tuples of priority, class, rate and process id."""
    said = subprocess.run([SCHED, "rm", "list"], capture_output=True, text=True, check=True, **options).stdout
    rows = [line.split() for line in said.splitlines() if line.split()[0].isdigit()]
    return [(int(row[0]), row[1], float(row[2]), int(row[4])) for row in rows]


def levels_before():
    """Returns which levels before a move the table has; 0: the threads of that program are moved."""
    return {line.split()[FIELD_LEVEL + 1] for line in TABLE.read_text().splitlines()}


def state(pid):
    """Returns the state of a process's main thread, such as S or Z."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def threads(pid):
    """Returns the other threads of a process."""
    return [int(task.name) for task in Path(f"/proc/{pid}/task").iterdir() if int(task.name) != pid]


def without_capability():
    """Takes the right to fixed priorities from a process of root before it runs a program, as a container does."""
    resource.setrlimit(resource.RLIMIT_RTPRIO, (0, 0))
    if LIBC.prctl(PR_CAPBSET_DROP, CAP_SYS_NICE, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "the capability cannot be dropped")


def children(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def wait_until(condition, seconds=30.0):
    limit = time.monotonic() + seconds
    while not (value := condition()) and time.monotonic() < limit:
        time.sleep(0.005)
    return value


class Case(unittest.TestCase):
    def setUp(self):
        self.started = []
        TABLE.unlink(missing_ok=True)

    def tearDown(self):
        for process in self.started:
            process.kill()
            process.wait()

    def run_at(self, hz, *options, command=("sleep", "60")):
        """Starts a program at this rate and returns it when it has its priority."""
        process = subprocess.Popen([SCHED, "rm", "run", f"--rate={hz}", *options, "--", *command], stderr=subprocess.DEVNULL)
        self.started.append(process)
        name = os.path.basename(command[0])
        self.assertTrue(wait_until(lambda: Path(f"/proc/{process.pid}/comm").read_text().strip() == name))
        return process

    def refused(self, *options):
        run = subprocess.run([SCHED, "rm", "run", *options, "--", "true"], capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 2, run.stderr)
        return run.stderr


class Levels(Case):
    def test_higher_rate_has_the_higher_priority(self):
        slow, fast, middle = self.run_at(25), self.run_at(60), self.run_at(30)
        self.assertGreater(priority(fast.pid), priority(middle.pid))
        self.assertGreater(priority(middle.pid), priority(slow.pid))
        self.assertEqual([row[3] for row in listed()], [fast.pid, middle.pid, slow.pid])
        self.assertEqual([row[0] for row in listed()], [priority(one.pid) for one in (fast, middle, slow)])

    def test_equal_rates_share_a_priority(self):
        one, other = self.run_at(25), self.run_at(25)
        self.assertEqual(priority(one.pid), priority(other.pid))

    def test_guaranteed_program_precedes_every_statistical_one(self):
        statistical, guaranteed = self.run_at(100), self.run_at(5, "--guaranteed", "--cost=10")
        self.assertGreater(priority(guaranteed.pid), priority(statistical.pid))

    def test_newcomer_without_room_moves_running_programs(self):
        first = {hz: self.run_at(hz) for hz in (10, 11)}
        for number in range(1, 8):
            first[10 + number / 10] = self.run_at(10 + number / 10)
        found = [(hz, priority(process.pid)) for hz, process in sorted(first.items())]
        self.assertEqual(len({level for _, level in found}), len(found), found)
        self.assertEqual([level for _, level in found], sorted(level for _, level in found), found)
        self.assertEqual({row[3]: row[0] for row in listed()}, {process.pid: priority(process.pid) for process in first.values()})
        self.assertEqual(levels_before(), {"0"})

    def test_children_of_running_programs_move_with_them(self):
        first = {}
        for hz in (10, 11, *(10 + number / 10 for number in range(1, 8))):
            first[hz] = self.run_at(hz, command=("sh", "-c", "sleep 60 & wait"))
            self.assertTrue(wait_until(lambda pid=first[hz].pid: children(pid)))
        found = [(hz, priority(run.pid), priority(children(run.pid)[0])) for hz, run in sorted(first.items())]
        for run in first.values():
            os.kill(children(run.pid)[0], signal.SIGKILL)
        self.assertTrue(all(own == of_child for _, own, of_child in found), found)

    def test_all_threads_and_children_have_the_priority(self):
        run = self.run_at(25, command=("sh", "-c", "sleep 60 & wait"))
        self.assertTrue(wait_until(lambda: children(run.pid)))
        child = children(run.pid)[0]
        self.assertEqual(priority(child), priority(run.pid))
        os.kill(child, signal.SIGKILL)

    def test_program_whose_main_thread_has_ended_stays_listed_while_others_run(self):
        run, other = self.run_at(25, command=(sys.executable, "-c", ENDING)), self.run_at(30)
        self.assertTrue(wait_until(lambda: state(run.pid) == "Z"))
        self.assertEqual([row[3] for row in listed()], [other.pid, run.pid])
        self.run_at(50)
        self.assertIn(run.pid, [row[3] for row in listed()])

    def test_program_whose_main_thread_has_ended_moves_with_the_others(self):
        run = self.run_at(10, command=(sys.executable, "-c", ENDING))
        self.assertTrue(wait_until(lambda: state(run.pid) == "Z"))
        first = listed()[0][0]
        for number in range(10):
            self.run_at(10 + number / 10)
        level = {row[3]: row[0] for row in listed()}[run.pid]
        self.assertNotEqual(level, first)
        self.assertEqual([priority(thread) for thread in threads(run.pid)], [level])

    def test_programs_are_listed_while_no_more_files_can_be_opened(self):
        run = self.run_at(25)
        only_the_table = listed(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4)))
        self.assertEqual([row[3] for row in only_the_table], [run.pid])

    def test_thread_that_has_chosen_its_priority_keeps_it_when_others_join(self):
        run = self.run_at(25, command=(sys.executable, "-c", CHOOSING))
        self.assertTrue(wait_until(lambda: [priority(thread) for thread in threads(run.pid)] == [22]))
        self.run_at(50)
        self.assertEqual([priority(thread) for thread in threads(run.pid)], [22])

    def test_thread_that_has_chosen_its_priority_keeps_it_when_its_program_moves(self):
        run = self.run_at(10, command=(sys.executable, "-c", CHOOSING))
        first = priority(run.pid)
        self.assertTrue(wait_until(lambda: [priority(thread) for thread in threads(run.pid)] == [22]))
        for number in range(1, 11):
            self.run_at(10 + number / 10)
        self.assertNotEqual(priority(run.pid), first)
        self.assertEqual({row[3]: row[0] for row in listed()}[run.pid], priority(run.pid))
        self.assertEqual([priority(thread) for thread in threads(run.pid)], [22])

    def test_program_that_has_ended_leaves(self):
        one, other = self.run_at(25), self.run_at(30)
        one.kill()
        one.wait()
        self.assertEqual([row[3] for row in listed()], [other.pid])

    def test_child_that_outlives_its_program_keeps_the_priority_and_leaves_the_list(self):
        run = self.run_at(25, command=("sh", "-c", "sleep 60 & wait"))
        self.assertTrue(wait_until(lambda: children(run.pid)))
        child, level = children(run.pid)[0], priority(run.pid)
        run.kill()
        run.wait()
        found = priority(child), listed()
        os.kill(child, signal.SIGKILL)
        self.assertEqual(found, (level, []))

    def test_files_of_the_registry_are_for_their_user_alone_whatever_the_umask(self):
        files = [TABLE, TABLE.with_name("rm.lock")]
        for mask in (0, 0o077):
            with self.subTest(umask=oct(mask)):
                for file in files:
                    file.unlink(missing_ok=True)
                subprocess.run([SCHED, "rm", "run", "--rate=25", "--", "true"], stderr=subprocess.DEVNULL, check=True, umask=mask)
                self.assertEqual([oct(file.stat().st_mode & 0o777) for file in files], ["0o600"] * 2)

    def test_command_runs_without_capabilities_and_its_exit_code_counts(self):
        said = subprocess.run([SCHED, "rm", "run", "--rate=25", "--", "sh", "-c", "grep CapPrm /proc/self/status; exit 9"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(said.returncode, 9)
        self.assertRegex(said.stdout, r"CapPrm:\s0+\n")

    def test_limit_of_real_time_is_reported_and_does_not_kill(self):
        """rtkit demands 200 ms of its clients; a decoder that catches up computes for longer."""
        client = ("import resource, sys, time\n"
                  "if len(sys.argv) > 1: resource.setrlimit(resource.RLIMIT_RTTIME, (200000, 200000))\n"
                  "while time.process_time() < 0.6: pass")
        for own, before in (("sets it itself",), None), ((), limit_real_time):
            with self.subTest(own):
                run = subprocess.run([SCHED, "rm", "run", "--rate=25", "--", sys.executable, "-c", client, *own],
                                     capture_output=True, text=True, check=False, preexec_fn=before)
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertIn("had its real-time CPU time limited to 200 ms (RLIMIT_RTTIME), as clients of rtkit do; ", run.stderr)
                self.assertRegex(run.stderr, "the limit was lifted|only root may lift it .* an ordinary one")

    def test_limit_that_cannot_be_lifted_refuses_a_guarantee(self):
        command = [SCHED, "rm", "run", "--rate=25", "--guaranteed", "--cost=1", "--", "true"]
        run = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=limit_real_time)
        self.assertIn("RLIMIT_RTTIME", run.stderr)
        self.assertEqual(run.returncode, 0 if "was lifted" in run.stderr else 2, run.stderr)

    def test_program_that_has_a_fixed_priority_already_gets_the_one_of_its_rate(self):
        for before, level in ((os.SCHED_FIFO, 5), (os.SCHED_RR, 60), (os.SCHED_BATCH, 0)):
            with self.subTest(before=before):
                process = subprocess.Popen(
                    [SCHED, "rm", "run", "--rate=25", "--", "sleep", "60"], stderr=subprocess.PIPE, text=True,
                    preexec_fn=lambda before=before, level=level: os.sched_setscheduler(0, before, os.sched_param(level)))
                self.started.append(process)
                self.assertRegex(process.stderr.readline(), r"^dlex-sched rm: priority \d+$")
                process.stderr.close()
                self.assertIn((priority(process.pid), process.pid), [(row[0], row[3]) for row in listed()])


class Refusals(Case):
    def test_deadline_that_could_be_missed_is_refused_with_the_program(self):
        film = self.run_at(25, "--guaranteed", "--cost=20")
        said = self.refused("--rate=30", "--guaranteed", "--cost=15")  # 95 % of a CPU, but two of these come before a picture
        self.assertIn(f"sleep (process {film.pid}) could take", said)
        self.assertIn("has 40.0 ms", said)
        self.assertEqual(len(listed()), 1)

    def test_more_than_a_cpu_is_refused(self):
        self.run_at(25, "--cost=30")
        self.assertIn("more than a whole CPU", self.refused("--rate=25", "--cost=11"))

    def test_unknown_cost_does_not_count(self):
        self.run_at(25, "--cost=39")
        self.run_at(25)
        self.assertEqual(len(listed()), 2)


class Faults(Case):
    def test_members_killed_at_any_moment_leave_a_good_table(self):
        chance = random.Random(4)
        kept = self.run_at(25)
        for _ in range(KILLS):
            process = subprocess.Popen([SCHED, "rm", "run", f"--rate={chance.randint(5, 90)}", "--", "sleep", "60"],
                                       stderr=subprocess.DEVNULL)
            time.sleep(chance.uniform(0, 0.006))
            process.kill()
            process.wait()
        last = self.run_at(50)
        self.assertEqual(sorted(row[3] for row in listed()), sorted([kept.pid, last.pid]))
        self.assertEqual({row[3]: row[0] for row in listed()}, {one.pid: priority(one.pid) for one in (kept, last)})

    def test_many_newcomers_at_once_all_join(self):
        processes = [subprocess.Popen([SCHED, "rm", "run", f"--rate={hz}", "--", "sleep", "60"], stderr=subprocess.DEVNULL)
                     for hz in (20, 25, 30, 50, 60, 24)]
        self.started += processes
        wait_until(lambda: len(listed()) >= len(processes))
        rows = listed()
        self.assertEqual(sorted(row[3] for row in rows), sorted(process.pid for process in processes))
        self.assertEqual([row[2] for row in rows], sorted((row[2] for row in rows), reverse=True))

    def test_newcomers_that_move_each_other_at_once_have_the_listed_priorities(self):
        for _ in range(5):
            rates = [10 + number / 10 for number in range(13)]
            random.Random(15).shuffle(rates)
            processes = [subprocess.Popen([SCHED, "rm", "run", f"--rate={hz}", "--", "sleep", "60"], stderr=subprocess.DEVNULL)
                         for hz in rates]
            self.started += processes
            for process in processes:
                self.assertTrue(wait_until(lambda pid=process.pid: Path(f"/proc/{pid}/comm").read_text() == "sleep\n"))
            self.assertEqual({row[3]: row[0] for row in listed()}, {process.pid: priority(process.pid) for process in processes})
            for process in processes:
                process.kill()
                process.wait()

    def test_next_newcomer_finishes_the_move_of_one_that_was_killed(self):
        run = self.run_at(10, command=(sys.executable, "-c", CHOOSING))
        self.assertTrue(wait_until(lambda: [priority(thread) for thread in threads(run.pid)] == [22]))
        level = priority(run.pid)
        fields = TABLE.read_text().split(" ")
        self.assertEqual(fields[FIELD_LEVEL:FIELD_LEVEL + 2], [str(level), "0"])
        fields[FIELD_LEVEL:FIELD_LEVEL + 2] = [str(level + 1), str(level)]
        TABLE.write_text(" ".join(fields))
        self.run_at(50)
        self.assertEqual(priority(run.pid), level + 1)
        self.assertEqual([priority(thread) for thread in threads(run.pid)], [22])
        self.assertEqual(levels_before(), {"0"})

    def test_nonsense_in_the_table_is_ignored(self):
        TABLE.parent.mkdir(mode=0o700, exist_ok=True)
        TABLE.write_text(f"hello\n1 999999999999 1 49 0 1 1 1 1 init\n{os.getpid()} 5 0 30 0 40 40 0 1 us\n"
                         f"1000000000 0 0 30 0 40 40 0 1 none\n\n" + "9" * 500 + "\n")
        one = self.run_at(25)
        self.assertEqual([row[3] for row in listed()], [one.pid])
        self.assertEqual(priority(os.getpid()), 0)

    def test_link_in_place_of_the_table_is_refused(self):
        TABLE.parent.mkdir(mode=0o700, exist_ok=True)
        with tempfile.NamedTemporaryFile() as target:
            TABLE.symlink_to(target.name)
            run = subprocess.run([SCHED, "rm", "list"], capture_output=True, text=True, check=False)
            TABLE.unlink()
        self.assertEqual(run.returncode, 2, run.stdout)

    def test_user_without_rights_runs_an_ordinary_program_or_none(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            sched = shutil.copy(SCHED, folder)
            for options, code, part in ((["--rate=25"], 4, "runs under an ordinary one"),
                                        (["--rate=25", "--guaranteed", "--cost=1"], 2, "may not use fixed priorities")):
                run = subprocess.run([sched, "rm", "run", *options, "--", "sh", "-c", "exit 4"], capture_output=True, text=True,
                                     user=NOBODY, cwd="/", check=False)
                self.assertEqual(run.returncode, code, run.stderr)
                self.assertIn(part, run.stderr)
                self.assertIn("limits.conf", run.stderr)

    def without_right(self, expected, code=4, program=SCHED, **options):
        """Runs a program that may not have a fixed priority, expects that it runs, and returns the message."""
        run = subprocess.run([program, "rm", "run", "--rate=25", "--", "sh", "-c", f"exit {code}"], capture_output=True, text=True,
                             check=False, **options)
        self.assertEqual(run.returncode, code, run.stderr)
        self.assertIn("runs under an ordinary one", run.stderr)
        self.assertNotIn("run it with sudo", run.stderr)
        self.assertIn(expected, run.stderr)
        return run.stderr

    def test_root_without_the_capability_reads_about_the_container(self):
        self.without_right("CAP_SYS_NICE is missing, as in a container", preexec_fn=without_capability)
        run = subprocess.run([SCHED, "doctor"], capture_output=True, text=True, check=True, preexec_fn=without_capability)
        line = next(line for line in run.stdout.splitlines() if "fixed priorities" in line)
        self.assertRegex(line, "^no .* CAP_SYS_NICE is missing, as in a container")
        self.assertNotIn("with sudo", line)

    @unittest.skipUnless((GROUPS / "cpu.rt_runtime_us").exists(), "control groups have no time for fixed priorities of their own")
    def test_group_without_time_for_fixed_priorities_is_named(self):
        group = GROUPS / f"dlex-test-{os.getpid()}"
        group.mkdir()
        try:
            limit = group / "cpu.rt_runtime_us"
            if int(limit.read_text()):
                self.skipTest("a new group has time")

            def enter():
                (group / "cgroup.procs").write_text(str(os.getpid()))

            def enter_without_capability():
                enter()
                without_capability()

            self.without_right(f"`echo 500000 | sudo tee {limit}`", preexec_fn=enter)
            said = self.without_right("CAP_SYS_NICE is missing", preexec_fn=enter_without_capability)
            self.assertIn(str(limit), said)
        finally:
            wait_until(lambda: not (group / "cgroup.procs").read_text())
            group.rmdir()

    def test_failed_trial_is_not_taken_for_a_missing_right(self):
        lone = 2_000_000_000 + os.getpid()  # a user without other processes
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            self.without_right("cannot be found out: Resource temporarily unavailable", program=shutil.copy(SCHED, folder),
                               user=lone, cwd="/", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NPROC, (1, 1)))


if __name__ == "__main__":
    allowed = False
    with contextlib.suppress(OSError):
        before = os.sched_getparam(0)
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(49))
        os.sched_setscheduler(0, os.SCHED_OTHER, before)
        allowed = os.geteuid() == 0
    if not allowed:
        print("skipped: fixed priorities need root")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1], verbosity=2)
