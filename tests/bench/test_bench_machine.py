# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests policies, CPUs with their own domain and quotas as the kernel reports them, and that each run restores the machine.

The tests use the mounted version of control groups. Not covered: containers whose control groups cannot be written.
"""

import contextlib
import ctypes
import errno
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

from outside import program, with_packages

with_packages("pydantic")

from dlex_bench.errors import LabError
from dlex_bench.job.placing import Placing
from dlex_bench.machine import cgroups, journal, thread_policy
from dlex_bench.machine.domain import own_cpu, threads_of
from dlex_bench.machine.journal import repair
from dlex_bench.machine.lock import only_measurement
from dlex_bench.machine.policy import Policy, allowed_kinds, apply, policy_of
from dlex_bench.machine.quota import quota_group
from dlex_bench.processes import child

CPU = max(os.sched_getaffinity(0))
NOBODY = 65534
CAP_SYS_NICE, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 23, 24, 38
LIMIT_S = 60
BUSY = "while True: pass"
DEADLINE, QUOTA = Policy.parse("deadline:5/40"), Policy.parse("quota:15/40")


def setUpModule():
    """Takes the lock of measurements, because batches and the tests of other builds change the same settings."""
    unittest.enterModuleContext(only_measurement({CPU}, print))


def require(kind):
    if kind not in allowed_kinds():
        raise unittest.SkipTest(f"the policy {kind} is not available here: it needs root and writable control groups")


@contextlib.contextmanager
def own_cpu_soon():
    """Gives the CPU its own domain. Waits while another run on this machine has one."""
    limit = time.monotonic() + LIMIT_S
    with contextlib.ExitStack() as stack:
        while True:
            try:
                domain = stack.enter_context(own_cpu(CPU))
                break
            except LabError as refusal:
                if "another run" not in str(refusal) or time.monotonic() > limit:
                    raise
                time.sleep(0.1)
        yield domain


def snapshot():
    """Returns the state of the control groups: our own groups, and the files that we change."""
    told = {}
    for controller in ("cpuset", "cpu", "cpuacct"):
        hierarchy = cgroups.hierarchy_of(controller)
        if hierarchy:
            told[f"{controller} groups"] = sorted(str(path) for path in hierarchy.root.glob(f"{cgroups.PREFIX}*"))
            for name in ("cpuset.sched_load_balance", "cpuset.cpus", "cpuset.cpus.effective", "cgroup.subtree_control"):
                with contextlib.suppress(OSError):
                    told[f"{controller} {name}"] = (hierarchy.root / name).read_text()
    return told


HOLDER = f"""
import sys, time
from dlex_bench.errors import LabError, Interrupted
from dlex_bench.machine.domain import own_cpu
from dlex_bench.machine.policy import Policy
from dlex_bench.machine.quota import quota_group
from dlex_bench.processes import child, signals_as_exceptions
try:
    with signals_as_exceptions(), own_cpu({CPU}) as domain, quota_group(Policy.parse("quota:15/40"), domain) as group:
        with child([sys.executable, "-c", "while True: pass"], cpus={{{CPU}}}, enter=group.enter):
            print("ready")
            time.sleep(600)
except Interrupted:
    sys.exit(4)
"""


class Threads(unittest.TestCase):
    def test_kernel_reports_the_applied_policy(self):
        require("fifo")
        with child(["sleep", "60"], cpus={CPU}) as process:
            for text in ("fifo:5", "rr:7", "other"):
                apply(Policy.parse(text), process.pid)
                self.assertEqual(str(policy_of(process.pid)), text)

    def test_thread_started_by_a_real_time_thread_is_ordinary(self):
        require("fifo")
        told = []

        def start():
            apply(Policy.parse("fifo:1"), 0)
            later = threading.Thread(target=lambda: told.append(policy_of(0)))
            later.start()
            later.join()
            told.append(policy_of(0))

        first = threading.Thread(target=start)
        first.start()
        first.join()
        self.assertEqual([str(policy) for policy in told], ["other", "fifo:1"])

    def test_ended_thread_is_reported(self):
        process = subprocess.Popen(["true"])
        process.wait()
        with self.assertRaisesRegex(LabError, "ended before"):
            apply(Policy.parse("other"), process.pid)

    def as_nobody(self, most, prepare=lambda: None):
        """Asks as an ordinary user whose limit of real-time priorities is `most`, after `prepare` in its process.

        Returns the kinds of policy that this user may use, and the policy or the error of a program put under fifo:5.
        """
        if os.geteuid():
            self.skipTest("only root can become a user without privileges")
        thread_policy.sched_calls()  # the build may be in a folder that nobody can read
        reading, writing = os.pipe()
        pid = os.fork()
        if not pid:
            try:
                resource.setrlimit(resource.RLIMIT_RTPRIO, (most, most))
            except ValueError:
                os.write(writing, b"null")
                os._exit(0)
            prepare()
            os.setgroups([])
            os.setuid(NOBODY)
            with subprocess.Popen(["sleep", "60"]) as started:
                try:
                    apply(Policy.parse("fifo:5"), started.pid)
                    told = str(policy_of(started.pid))
                except LabError as refusal:
                    told = str(refusal)
                started.kill()
            os.write(writing, json.dumps([sorted(allowed_kinds()), told]).encode())
            os._exit(0)
        os.close(writing)
        with open(reading, encoding="utf-8") as told:
            answer = json.loads(told.read())
        os.waitpid(pid, 0)
        if not answer:
            self.skipTest("the limit of real-time priorities cannot be raised here")
        return answer

    def test_without_privilege_only_ordinary_policies_are_allowed_and_the_message_says_what_grants_more(self):
        kinds, sentence = self.as_nobody(0)
        self.assertEqual(kinds, ["free", "other"])
        for word in ("fifo:5 was refused", "only the policy other", "limits.conf", "systemd"):
            self.assertIn(word, sentence)
        self.assertNotIn("setcap", sentence)  # a capability on a player's file does not help rt-app or this process

    def test_user_in_a_container_reads_nothing_that_cannot_help_there(self):
        for call in ((PR_CAPBSET_DROP, CAP_SYS_NICE, 0, 0, 0), (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)):
            kinds, sentence = self.as_nobody(0, lambda call=call: ctypes.CDLL(None).prctl(*call))
            self.assertEqual(kinds, ["free", "other"])
            self.assertRegex(sentence, "fifo:5 was refused; .*as in a container.*`--cap-add=SYS_NICE`.*`--ulimit rtprio=95`")
            self.assertNotRegex(sentence, "as root|limits.conf|sudo")

    def test_limit_in_the_message_also_grants_fixed_priorities_to_child_processes(self):
        kinds, applied = self.as_nobody(95)
        self.assertLessEqual({"fifo", "rr"}, set(kinds))
        self.assertNotIn("deadline", kinds)
        self.assertEqual(applied, "fifo:5")


class OwnCpu(unittest.TestCase):
    def setUp(self):
        require("deadline")
        repair()

    def test_deadline_is_admitted_on_the_own_cpu_only(self):
        before = snapshot()
        with own_cpu_soon() as domain:
            with child([sys.executable, "-c", BUSY], cpus={CPU}, enter=domain.enter) as process:
                apply(DEADLINE, process.pid)
                self.assertEqual(policy_of(process.pid), DEADLINE)
                with self.assertRaisesRegex(LabError, "not admit"):
                    apply(Policy.parse("deadline:40/40"), process.pid)
        self.assertEqual(snapshot(), before)
        if len(os.sched_getaffinity(0)) > 1:
            with child([sys.executable, "-c", BUSY], cpus={CPU}) as process:
                with self.assertRaisesRegex(LabError, "domain of its own"):
                    apply(DEADLINE, process.pid)

    def test_sleeping_thread_is_admitted_when_it_wakes_on_the_cpu(self):
        others = os.sched_getaffinity(0) - {CPU}
        if not others:
            self.skipTest("there is only one CPU")
        text = "import time\nfor i in range(10**6): print(i); time.sleep(0.1)"
        with own_cpu_soon() as domain, child([sys.executable, "-uc", text], cpus=others, stdout=subprocess.PIPE) as process:
            if domain.group:
                self.skipTest("affinity does not move a thread into a partition")
            process.stdout.readline()
            os.sched_setaffinity(process.pid, {CPU})
            apply(DEADLINE, process.pid)
            self.assertEqual(policy_of(process.pid), DEADLINE)

    def test_thread_may_wake_between_the_refusal_and_the_look(self):
        refused = OSError(errno.EPERM, "refused")
        with mock.patch("dlex_bench.machine.policy.set_policy", side_effect=[refused, None]) as asked, \
                mock.patch("dlex_bench.machine.policy._runs_where_it_may", side_effect=[False, True]):
            apply(DEADLINE, 1)
        self.assertEqual(asked.call_count, 2)

    def test_thread_may_move_to_the_other_cpus(self):
        text = "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\nprint(1)\n" + BUSY
        with own_cpu_soon() as domain, child([sys.executable, "-uc", text], cpus={CPU}, enter=domain.enter,
                                             stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            (other,) = set(threads_of(process.pid)) - {process.pid}
            domain.leave_thread(other)
            self.assertEqual(os.sched_getaffinity(process.pid), {CPU})
            if domain.others:
                self.assertEqual(os.sched_getaffinity(other), domain.others)

    def test_machine_admits_reservations_afterwards(self):
        """A reservation is released at the end of its period, and must not be subtracted from the whole machine's sum then."""
        for busy_s in (0.04, 0.045, 0.05):  # less than the budget: a throttled thread would end only with its period
            with own_cpu_soon() as domain:
                with child([sys.executable, "-c", BUSY], cpus={CPU}, enter=domain.enter) as process:
                    apply(Policy.parse("deadline:60/200"), process.pid)
                    time.sleep(busy_s)
            time.sleep(0.3)
            with child(["sleep", "60"], cpus=os.sched_getaffinity(0)) as process:
                apply(Policy.parse("deadline:1/100"), process.pid)

    def test_second_domain_is_refused_with_a_reason(self):
        with own_cpu_soon():
            with self.assertRaisesRegex(LabError, "another run has given a CPU"), own_cpu(CPU):
                pass

    def test_missing_cpu_is_reported(self):
        with self.assertRaisesRegex(LabError, "there is no CPU 4000; choose one of"), own_cpu(4000):
            pass


class Managed(unittest.TestCase):
    """Version 2 usually has a manager, such as systemd, which disables controllers that none of its units uses."""

    def setUp(self):
        require("deadline")
        require("quota")
        if cgroups.hierarchy_of("cpuset").version == 1:
            self.skipTest("version 1 has no controllers that a manager could disable")
        repair()

    def take_away(self, controller):
        with contextlib.suppress(OSError):  # the kernel refuses, and a manager would continue
            (cgroups.hierarchy_of(controller).root / "cgroup.subtree_control").write_text(f"-{controller}")

    def test_partition_survives_the_control_group_manager(self):
        with own_cpu_soon() as domain:
            self.take_away("cpuset")
            self.assertEqual((domain.group / "cpuset.cpus.partition").read_text(), "root\n")

    def test_quota_survives_the_control_group_manager(self):
        with quota_group(QUOTA) as group:
            self.take_away("cpu")
            self.assertEqual((group.folder / "cpu.max").read_text(), "15000 40000\n")

    def test_quota_in_a_partition_survives_the_control_group_manager(self):
        before = snapshot()
        with own_cpu_soon() as domain, quota_group(QUOTA, domain) as group:
            self.take_away("cpu")
            self.take_away("cpuset")
            self.assertEqual((group.folder / "cpu.max").read_text(), "15000 40000\n")
            self.assertEqual((domain.group / "cpuset.cpus.partition").read_text(), "root\n")
        self.assertEqual(snapshot(), before)


class Endings(unittest.TestCase):
    """After any end of a run, the machine is as it was before."""

    def setUp(self):
        require("deadline")
        require("quota")
        repair()
        self.before = snapshot()

    def held(self):
        with own_cpu_soon():
            pass  # no other run has a domain now, so the holder will not be refused
        return program(HOLDER, new_group=True)

    def end(self, signum):
        with self.held() as holder:
            self.assertEqual(holder.stdout.readline(), "ready\n", "the holder was refused")
            self.assertNotEqual(snapshot(), self.before)
            holder.send_signal(signum)
            return holder.wait(LIMIT_S)

    def test_interrupted_run_restores_the_machine(self):
        self.assertEqual(self.end(signal.SIGINT), 4)
        self.assertEqual(snapshot(), self.before)

    def test_terminated_run_restores_the_machine(self):
        self.assertEqual(self.end(signal.SIGTERM), 4)
        self.assertEqual(snapshot(), self.before)

    def test_repair_restores_the_machine_after_a_kill(self):
        self.assertEqual(self.end(signal.SIGKILL), -signal.SIGKILL)
        self.assertNotEqual(snapshot(), self.before)
        told = subprocess.run([sys.executable, "-m", "dlex_bench", "repair"], capture_output=True, text=True, check=False)
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertIn("domain", told.stdout)
        self.assertEqual(snapshot(), self.before)
        self.assertEqual(repair(), [])

    def test_repair_restores_the_machine_after_a_kill_at_any_moment(self):
        for delay_ms in range(0, 400, 20):
            with program(HOLDER, new_group=True) as holder:
                time.sleep(delay_ms / 1e3)
                holder.kill()
                holder.wait(LIMIT_S)
            repair()
            self.assertEqual(snapshot(), self.before, f"killed after {delay_ms} ms")

    def test_next_run_restores_the_machine_after_a_kill(self):
        self.end(signal.SIGKILL)
        with own_cpu_soon():
            pass
        self.assertEqual(snapshot(), self.before)


class Quotas(unittest.TestCase):
    def setUp(self):
        require("quota")

    def test_quota_changes_while_its_members_run(self):
        with quota_group(QUOTA) as group, child(["sleep", "60"], cpus={CPU}, enter=group.enter):
            for runtime_ms in (150.0, 75.0):  # more than one CPU, too
                group.limit(Policy("quota", runtime_ms=runtime_ms, period_ms=100.0))
                self.assertEqual(group.applied().runtime_ms, runtime_ms)

    def test_process_with_children_stays_within_its_quota(self):
        before = snapshot()
        # The forked processes end with their parents, because nothing else would end them.
        busy = "parent = os.getppid()\nprint(1)\nwhile os.getppid() == parent: pass"
        text = f"import os\nfor _ in range(3): os.fork()\n{busy}"
        with quota_group(QUOTA) as group:
            with child([sys.executable, "-uc", text], cpus={CPU}, enter=group.enter, stdout=subprocess.PIPE) as process:
                process.stdout.readline()
                # Each time is read outside of the CPU times, so that a pause between the two readings does no harm.
                begun, used_s = time.monotonic(), self.used_s(group)
                time.sleep(1)
                while group.throttled().throttled_periods <= 15 and time.monotonic() < begun + LIMIT_S:
                    time.sleep(0.1)
                used_s, took_s = self.used_s(group) - used_s, time.monotonic() - begun
                throttled = group.throttled()
            # Processes that never sleep use up the quota in every period in which the machine itself runs.
            self.assertGreater(throttled.throttled_periods, 15)
            self.assertLessEqual(throttled.throttled_periods, throttled.periods)
            # Tolerance: one more period at each end, and the slices that the kernel grants in advance.
            self.assertLess(used_s, QUOTA.utilisation * took_s + 0.1)
            self.assertEqual(group.applied(), QUOTA)
        self.assertEqual(snapshot(), before)

    def used_s(self, group):
        """Returns the CPU time of the group's members, which have one thread each."""
        pids = (group.folder / "cgroup.procs").read_text().split()
        return sum(int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) for pid in pids) / 1e9

    def test_applied_policy_is_what_the_kernel_has_even_if_another_program_set_it(self):
        with quota_group(QUOTA) as group:
            placing = Placing(QUOTA, True, CPU, frozenset(), group=group)
            self.assertEqual(placing.applied(["other"]), "quota:15/40")
            v2 = (group.folder / "cpu.max").exists()
            for quota, told in (("20000", "quota:20/40"), ("max" if v2 else "-1", "other")):
                (group.folder / ("cpu.max" if v2 else "cpu.cfs_quota_us")).write_text(quota)
                self.assertEqual(placing.applied(["other"]), told)


class Journals(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        patch = mock.patch.object(journal, "FOLDER", self.folder / "journals")
        patch.start()
        self.addCleanup(patch.stop)
        self.value = self.folder / "value"
        self.value.write_text("1\n")

    def test_value_is_restored_and_no_journal_stays(self):
        with journal.journal("test", "taken") as steps:
            steps.set_value(self.value, "0")
            self.assertEqual(self.value.read_text(), "0")
        self.assertEqual(self.value.read_text(), "1")
        self.assertEqual(list(journal.FOLDER.iterdir()), [])

    def test_value_changed_by_another_program_is_not_restored(self):
        with journal.journal("test", "taken") as steps:
            steps.set_value(self.value, "0")
            self.value.write_text("2")
        self.assertEqual(self.value.read_text(), "2")

    def test_step_is_recorded_before_it_is_taken(self):
        with self.assertRaises(OSError), journal.journal("test", "taken") as steps:
            with mock.patch.object(Path, "write_text", side_effect=OSError), contextlib.ExitStack() as stack:
                stack.callback(lambda: self.assertIn("value", steps.path.read_text()))
                steps.set_value(self.value, "0")
        self.assertEqual(self.value.read_text(), "1\n")

    def test_torn_line_does_not_count_as_a_step(self):
        journal.FOLDER.mkdir()
        self.value.write_text("0")
        note = json.dumps({"file": str(self.value), "before": "1", "value": "0"})
        (journal.FOLDER / "left.journal").write_text(f'{note}\n{{"file": "/proc/sel')
        self.assertEqual(repair(), ["left"])
        self.assertEqual(self.value.read_text(), "1")

    def test_journal_of_a_running_process_is_left_alone(self):
        with journal.journal("test", "it is taken") as steps:
            steps.set_value(self.value, "0")
            self.assertEqual(repair(), [])
            with self.assertRaisesRegex(LabError, "it is taken"), journal.journal("test", "it is taken"):
                pass
            self.assertEqual(self.value.read_text(), "0")


if __name__ == "__main__":
    unittest.main()
