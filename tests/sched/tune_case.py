# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests of `dlex-sched tune` share: programs that they start, what is reserved, and how tests run side by side.

A test that watches only what it has started itself runs beside others, in a process of its own. A test that takes whole CPUs, times
something or kills at random is marked `alone` and runs after these. When all have ended, nothing on the machine may have changed.

A test file calls `main`. It is run as: test_NAME.py DLEX_SCHED PERIODIC [CLASS.test ...]
"""
import contextlib
import csv
import ctypes
import os
import pwd
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SCHED, PERIODIC = (os.path.abspath(path) for path in sys.argv[1:3])
JOURNALS = Path("/run/dlex-sched")
SKIPPED = 77
PLAYED = "3"  # periodic's exit code
DEADLINE = 6
RESETS_ON_FORK = 0x40000000
NOBODY = pwd.getpwnam("nobody").pw_uid
GUARD = "dlex-sched-undo"
PR_SET_CHILD_SUBREAPER = 36
CPUS = os.cpu_count() or 1
# Works 25 times a second until a file exists, and then executes a program: FILE PROGRAM [ARGUMENT ...]
PLAYS_AND_EXECUTES = """
import os, sys, time
while not os.path.exists(sys.argv[1]):
    begun = time.monotonic()
    while time.monotonic() < begun + 0.004:
        pass
    time.sleep(0.036)
os.execv(sys.argv[2], sys.argv[2:])
"""
os.environ.pop("SUDO_UID", None)  # dlex-sched runs commands as this user, who may not be able to run those of the build
# The players of a test use 10 to 40 % of a CPU.
AT_ONCE = 3 * CPUS


def alone(test):
    """Marks a test that disturbs others, or that others disturb."""
    test.is_alone = True
    return test


def lengthy(test):
    """Marks a test that takes half a minute: it starts before the others."""
    test.is_lengthy = True
    return test


def policy(tid):
    """Returns the number of a thread's policy without its flags; None if it has ended."""
    try:
        return os.sched_getscheduler(tid) & ~RESETS_ON_FORK
    except ProcessLookupError:
        return None


def threads(pid):
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    except (FileNotFoundError, ProcessLookupError):
        return []


def children(pid):
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def family(pid):
    return [pid, *(member for child in children(pid) for member in family(child))]


def reserved(pid):
    """Returns the threads of a process that have a reservation."""
    return [tid for tid in threads(pid) if policy(tid) == DEADLINE]


def reserved_of_all():
    return {tid for pid in os.listdir("/proc") if pid.isdigit() for tid in reserved(int(pid))}


def reserved_of_test():
    """Returns the threads with a reservation in the processes that this test has started, those without a parent included."""
    return {tid for pid in family(os.getpid()) if not has_ended(pid) for tid in reserved(pid)}


def name_of(pid):
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def has_ended(pid):
    """Returns whether a process has ended; perhaps nobody has waited for it."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    return True


def guard_of(pid):
    return next((child for child in children(pid) if name_of(child) == GUARD), None)


def guards_of_test():
    return [pid for pid in family(os.getpid()) if name_of(pid) == GUARD and not has_ended(pid)]


def journals():
    return list(JOURNALS.glob("*.undo"))


def journal_of(pid):
    """Returns the journal that a process has open; None if it has none."""
    with contextlib.suppress(FileNotFoundError):
        for number in os.listdir(f"/proc/{pid}/fd"):
            if (path := os.readlink(f"/proc/{pid}/fd/{number}")).endswith(".undo"):
                return Path(path)
    return None


def left_journals():
    """Returns the journals that nobody holds: the program and its guard hold a lock while one of them lives."""
    lines = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    locked = {int(words[5].rsplit(":", 1)[1]) for words in lines if words[1] == "FLOCK"}  # "->" is there for one that waits
    found = []
    for path in journals():
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_ino not in locked:
                found.append(path)
    return found


def kernel_settings():
    """Returns the settings of the machine that a scheduling tool might change."""
    settings = {}
    for path in [*Path("/proc/sys/kernel").glob("sched_*"), *Path("/proc/sys/kernel").glob("perf_*")]:
        with contextlib.suppress(OSError):
            settings[str(path)] = path.read_text()
    settings.pop("/proc/sys/kernel/perf_event_max_sample_rate", None)  # the kernel lowers it by itself
    return settings


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def wait_until(condition, seconds=30.0):
    """Waits until the condition is true and returns its value, or the last one when the time is over."""
    limit = time.monotonic() + seconds
    while not (value := condition()) and time.monotonic() < limit:
        time.sleep(0.02)
    return value


def periodic_of(pid):
    """Returns the player that a process or its family has started; None if there is none."""
    return next((member for member in family(pid) if name_of(member) == "periodic"), None)


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.started = []
        # Processes whose parent was killed become children of this one.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def tearDown(self):
        for pid in reversed(family(os.getpid())[1:]):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for process in self.started:
            process.wait()
            process.stderr and process.stderr.close()
        if left_journals():
            subprocess.run([SCHED, "repair"], capture_output=True, check=False)

    def start(self, *argv, **options):
        process = subprocess.Popen([str(word) for word in argv], **options)
        self.started.append(process)
        return process

    def player(self, hz=25, cpu_ms=4, seconds=90, *more, **options):
        return self.start(PERIODIC, hz, cpu_ms, seconds, *more, **options)

    def tune(self, *argv, **options):
        return self.start(SCHED, "tune", *argv, stderr=subprocess.PIPE, text=True, **options)

    def tune_into(self, path, *argv):
        """Tunes, and writes what is said to a file, so that it can be read meanwhile."""
        with path.open("w") as said:
            return self.start(SCHED, "tune", *argv, stderr=said)

    def end_of(self, process, seconds=60):
        """Returns the exit code and what was said."""
        said = process.communicate(timeout=seconds)[1]
        return process.returncode, said

    def expect_reservation(self, pid, seconds=30.0):
        self.assertTrue(wait_until(lambda: reserved(pid), seconds), f"process {pid} got no reservation")

    def expect_no_reservation(self, pid, seconds=30.0):
        self.assertTrue(wait_until(lambda: not reserved(pid), seconds), f"process {pid} keeps its reservation")

    def expect_guard(self, pid, other_than=None):
        """Returns the guard of a process when there is one, and not the other one."""
        self.assertTrue(wait_until(lambda: guard_of(pid) not in (None, other_than)), f"process {pid} has no guard")
        return guard_of(pid)

    def succeeds_once(self, measure):
        """Measures up to three times, until it succeeds: a machine that stops for a moment spoils a measurement."""
        for _ in range(2):
            with contextlib.suppress(AssertionError):
                return measure()
        return measure()

    def expect_nothing_left(self):
        """Expects that all that this test has tuned is as before."""
        self.assertTrue(wait_until(lambda: not guards_of_test()), guards_of_test())
        self.assertTrue(wait_until(lambda: not left_journals()), left_journals())
        self.assertEqual(reserved_of_test(), set())


def main():
    """Runs the tests of the calling file: those that are named, or all."""
    if os.geteuid():
        print("skipped: reserving CPU time needs root")
        sys.exit(SKIPPED)
    if sys.argv[3:]:
        unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
    before = _machine()
    cases = sorted(_cases(unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])),
                   key=lambda case: not _is(case, "is_lengthy"))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        failed = [name for name in pool.map(_run, (case for case in cases if not _is(case, "is_alone"))) if name]
    failed += [name for case in cases if _is(case, "is_alone") and (name := _run(case))]
    wait_until(lambda: not _machine() - before)  # what was killed at last may need a moment
    if new := _machine() - before:
        failed.append(f"the machine has what it did not have before: {sorted(new)}")
    print(f"{len(cases)} tests; failed: {', '.join(failed) or 'none'}")
    sys.exit(bool(failed))


def _machine():
    """Returns what must not have more or other members afterwards: threads with a reservation, journals, and settings."""
    return {*map(str, reserved_of_all()), *(path.name for path in journals()), *map("=".join, kernel_settings().items())}


def _cases(suite):
    for test in suite:
        yield from _cases(test) if isinstance(test, unittest.TestSuite) else [test]


def _is(case, mark):
    return getattr(getattr(case, case._testMethodName), mark, False)


def _run(case):
    """Runs one test in a process of its own, and shows what it said if it failed. Returns the test's name then, otherwise None."""
    name = case.id().partition(".")[2]
    begun = time.monotonic()
    run = subprocess.run([sys.executable, sys.argv[0], SCHED, PERIODIC, name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True, check=False)
    skipped = ", skipped" if "skipped=" in run.stdout else ""
    text = f"{name}: {'failed' if run.returncode else 'ok'}{skipped}, {time.monotonic() - begun:.1f} s"
    print("\n".join([text, run.stdout] if run.returncode else [text]), flush=True)
    return name if run.returncode else None
