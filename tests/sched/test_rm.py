# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests `dlex-sched rm`: levels of running programs, refusals, and members that are killed at any moment.

Skipped without the right to fixed priorities. Not covered: how levels and response times are computed (test_rm_levels,
test_response_time), and what priorities are worth, which the laboratory measures.

Run as: test_rm.py DLEX_SCHED
"""
import contextlib
import os
import pwd
import random
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


def priority(pid):
    """Returns a process's SCHED_FIFO priority; 0: it has an ordinary policy."""
    return os.sched_getparam(pid).sched_priority if os.sched_getscheduler(pid) & 0xff == os.SCHED_FIFO else 0


def listed():
    """Returns the rows of `rm list` as tuples of priority, class, rate and process id."""
    said = subprocess.run([SCHED, "rm", "list"], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in said.splitlines() if line.split()[0].isdigit()]
    return [(int(row[0]), row[1], float(row[2]), int(row[4])) for row in rows]


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

    def test_program_that_has_ended_leaves(self):
        one, other = self.run_at(25), self.run_at(30)
        one.kill()
        one.wait()
        self.assertEqual([row[3] for row in listed()], [other.pid])

    def test_command_runs_without_capabilities_and_its_exit_code_counts(self):
        said = subprocess.run([SCHED, "rm", "run", "--rate=25", "--", "sh", "-c", "grep CapPrm /proc/self/status; exit 9"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(said.returncode, 9)
        self.assertRegex(said.stdout, r"CapPrm:\s0+\n")

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

    def test_nonsense_in_the_table_is_ignored(self):
        TABLE.parent.mkdir(mode=0o700, exist_ok=True)
        TABLE.write_text(f"hello\n1 1 1 49 1 1 1 1 init\n{os.getpid()} 5 0 99 40 40 0 1 us\n\n" + "9" * 500 + "\n")
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
