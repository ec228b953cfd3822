# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests how run-queue delays are recorded by the kernel's tracer, and read. The records in fixtures/switches are a real player's.

The tests that record need root and tracefs, and are skipped without. Not covered: kernels without the two events, and several CPUs.
"""

import contextlib
import gzip
import os
import signal
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

from dlex_bench.errors import EXIT_SETUP, LabError
from dlex_bench.machine import journal, run_delay, tracefs
from dlex_bench.machine.journal import repair
from dlex_bench.machine.run_delay import (
    DelayReader,
    Delays,
    Switch,
    Wait,
    WakeUp,
    delays_of,
    read_switches,
    unseen_switches,
    waits_of,
)
from dlex_bench.machine.switch_recording import lost_records, recorded_switches, require_recording
from outside import Folder, is_running, wait_until

RECORDED = Path(__file__).resolve().parent / "fixtures/switches/dlex-play.txt"
PLAYER, SOUND = 29268, 29269
NOBODY = 65534
SLEEPS = 100
# Sleeps so often in its main thread, and then in another one, after a line on its standard input.
SLEEPER = f"""
import sys, threading, time
def sleep():
    for _number in range({SLEEPS}):
        time.sleep(0.001)
sys.stdin.readline()
sleep()
thread = threading.Thread(target=sleep)
thread.start()
print(thread.native_id, flush=True)
thread.join()
"""
# Records until it is ended, and says when it begins.
RECORDER = """
import sys, time
from pathlib import Path
from dlex_bench.machine.switch_recording import recorded_switches
from dlex_bench.processes import signals_as_exceptions
with signals_as_exceptions(), recorded_switches(Path(sys.argv[1])) as recording:
    recording.begin(lambda: [1])
    print("recording", flush=True)
    time.sleep(60)
"""
# As an ordinary user.
REFUSED = f"""
import os
from dlex_bench.errors import LabError
from dlex_bench.machine.switch_recording import require_recording
if not os.geteuid():
    os.setuid({NOBODY})
try:
    require_recording()
except LabError as refusal:
    print(f"{{refusal.code}}: {{refusal}}")
"""


def waits(*records, end_us=10_000):
    return [(it.thread, it.woken_us, it.until_us, it.is_over) for it in waits_of(records, end_us)]


class Reading(unittest.TestCase):
    def setUp(self):
        self.lines = RECORDED.read_text().splitlines(keepends=True)

    def test_waits_of_a_real_player_are_those_in_the_records(self):
        records = read_switches(self.lines)
        found = waits_of(records, records[-1].time_us)
        self.assertEqual(len(records), len(self.lines))
        self.assertTrue(all(it.is_over for it in found))
        us = {thread: [round(1e3 * it.ms) for it in found if it.thread == thread] for thread in (PLAYER, SOUND)}
        # 172: both are woken, and the sound comes first.
        self.assertEqual(us, {PLAYER: [12, 17, 30, 172, 18, 33], SOUND: [27, 31, 13, 32, 36, 26]})

    def test_no_wait_is_longer_than_the_recording(self):
        records = read_switches(self.lines)
        length_ms = (records[-1].time_us - records[0].time_us) / 1e3
        found = delays_of(waits_of(records, records[-1].time_us))
        self.assertEqual(found.count, 14)
        self.assertLess(0, found.mean_ms)
        self.assertLessEqual(found.mean_ms, found.p99_ms)
        self.assertLessEqual(found.p99_ms, found.max_ms)
        self.assertLess(found.max_ms, length_ms)

    def test_records_are_put_in_the_order_of_time(self):
        self.assertEqual(read_switches(reversed(self.lines)), read_switches(self.lines))

    def test_text_in_pieces_has_the_same_waits(self):
        pairs = list(zip(self.lines[::2], self.lines[1::2], strict=False))
        text = "".join(later + earlier for earlier, later in pairs).encode()  # as of two CPUs
        records = read_switches(text.decode().splitlines())
        end_us = records[-1].time_us
        for length, held in ((1, 4), (700, 4), (len(text), 1000)):
            with self.subTest(length=length, held=held), mock.patch.object(run_delay, "HELD", held):
                reader = DelayReader()
                for start in range(0, len(text), length):
                    reader.write(text[start : start + length])
                self.assertEqual(reader.waits_until(end_us), waits_of(records, end_us))
                self.assertEqual(reader.queue.unseen, unseen_switches(records))

    def test_name_of_a_thread_may_look_like_fields(self):
        name = "a pid=7 prio=1"
        text = [line.replace("comm=sound", f"comm={name}") for line in self.lines]
        self.assertEqual(read_switches(text), read_switches(self.lines))

    def test_gap_is_passed_over_and_anything_else_is_an_error(self):
        gap = "CPU:1 [LOST 1234 EVENTS]\n"
        self.assertEqual(read_switches([gap, *self.lines]), read_switches(self.lines))
        for line in ("nonsense\n", self.lines[0].replace("next_pid=", "next_task="), self.lines[1][:90]):
            with self.assertRaisesRegex(LabError, "is not known here"):
                read_switches([*self.lines, line])

    def test_state_says_whether_the_thread_sleeps(self):
        states = {state: read_switches([self.lines[0].replace("prev_state=R", f"prev_state={state}")])[0].sleeps
                  for state in ("R", "R+", "S", "D", "D|K", "Z")}
        self.assertEqual(states, {"R": False, "R+": False, "S": True, "D": True, "D|K": True, "Z": True})

    def test_all_kinds_of_lost_records_count(self):
        stats = "entries: 9\noverrun: 1\ncommit overrun: 20\nbytes: 77\noldest event ts: 5.5\ndropped events: 300\nread events: 8\n"
        self.assertEqual(lost_records(stats), 321)
        self.assertEqual(lost_records(stats.replace("1\n", "0\n", 1).replace("20\n", "0\n").replace("300", "0")), 0)


class Waits(unittest.TestCase):
    """Threads 1 and 2; 0 is the idle CPU."""

    def test_wait_is_from_the_wake_up_to_the_cpu(self):
        self.assertEqual(waits(WakeUp(100, 1), Switch(130, 0, False, 1)), [(1, 100, 130, True)])

    def test_preempted_thread_was_not_woken(self):
        records = (WakeUp(100, 1), Switch(110, 0, False, 1), Switch(150, 1, False, 2), Switch(190, 2, True, 1))
        self.assertEqual(waits(*records), [(1, 100, 110, True)])

    def test_wake_up_while_it_runs_counts_only_if_it_was_going_to_sleep(self):
        woken_early = (Switch(110, 0, False, 1), WakeUp(140, 1), Switch(150, 1, True, 2))
        self.assertEqual(waits(*woken_early, Switch(190, 2, True, 1)), [(1, 150, 190, True)])
        self.assertEqual(waits(*woken_early, WakeUp(180, 1), Switch(190, 2, True, 1)), [(1, 180, 190, True)])
        self.assertEqual(waits(*woken_early), [])
        preempted = (Switch(110, 0, False, 1), WakeUp(140, 1), Switch(150, 1, False, 2), Switch(190, 2, True, 1))
        self.assertEqual(waits(*preempted), [])

    def test_wait_that_is_not_over_counts_as_long_as_it_has_lasted(self):
        records = (Switch(50, 1, True, 2), WakeUp(100, 1))
        self.assertEqual(waits(*records, end_us=400), [(1, 100, 400, False)])
        self.assertEqual(waits(*records, Switch(200, 2, True, 1), WakeUp(300, 1), end_us=400), [(1, 100, 200, True)])

    def test_switch_to_a_thread_that_was_not_recorded_is_noticed(self):
        records = (Switch(90, 1, True, 0), WakeUp(100, 1), Switch(150, 1, True, 0), WakeUp(190, 1), Switch(200, 0, False, 1),
                   Switch(230, 1, False, 2), Switch(260, 1, True, 0))
        self.assertEqual(unseen_switches(records), {1: 2})
        self.assertEqual(waits(*records), [(1, 190, 200, True)])
        # A thread that had the CPU at the beginning, and one that got it by the kernel's word.
        first = (Switch(90, 1, True, 2), WakeUp(95, 1), Switch(100, 2, False, 1), Switch(110, 1, True, 2))
        self.assertEqual(unseen_switches(first), {})

    def test_percentile_is_one_of_the_values(self):
        found = delays_of([Wait(1, 0, 1000 * it) for it in range(1, 201)])
        self.assertEqual(found, Delays(200, 100.5, 198.0, 200.0))
        self.assertEqual(delays_of([Wait(1, 0, 7000)]), Delays(1, 7.0, 7.0, 7.0))
        self.assertIsNone(delays_of([]))


def instances():
    with tracefs.mounted_tracefs() as root:
        return sorted(it.name for it in (root / "instances").iterdir() if it.name.startswith("dlex-"))


class Recording(Folder):
    """The kernel's tracer itself."""

    def setUp(self):
        super().setUp()
        try:
            require_recording()
        except LabError as refusal:
            self.skipTest(str(refusal))

    def record_sleeper(self):
        """Returns the ids of the sleeper's two threads, the end of the recording, and the records."""
        path = self.folder / "switches.gz"
        with (
            recorded_switches(path) as recording,
            subprocess.Popen([sys.executable, "-c", SLEEPER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as sleeper,
        ):
            recording.begin(lambda: [sleeper.pid])
            second = int(sleeper.communicate("\n")[0])
            end = recording.end()
        with gzip.open(path, "rt") as lines:
            return (sleeper.pid, second), end, read_switches(lines)

    def test_wake_ups_of_all_threads_are_recorded_and_none_is_lost(self):
        threads, end, records = self.record_sleeper()
        self.assertEqual(end.lost, 0)
        for thread in threads:
            own = [it for it in waits_of(records, end.time_us) if it.thread == thread]
            # A sleep may be over before it has begun. What the kernel did not record was at least noticed.
            self.assertGreaterEqual(len(own) + unseen_switches(records)[thread], SLEEPS // 2)
            self.assertLessEqual(len(own), 2 * SLEEPS)
            self.assertTrue(all(0 <= it.woken_us <= it.until_us <= end.time_us for it in own))

    def test_switches_between_other_threads_are_not_recorded(self):
        argv = [sys.executable, "-c", SLEEPER]
        with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as other:
            other.stdin.write("\n")
            other.stdin.flush()
            threads, _end, records = self.record_sleeper()
        switches = [it for it in records if isinstance(it, Switch)]
        self.assertGreater(len(switches), SLEEPS)
        self.assertEqual([it for it in switches if not {it.before, it.next} & set(threads)], [])

    def test_instance_is_removed_at_the_end_and_after_an_error(self):
        self.assertNotIn(f"dlex-{os.getpid()}", instances())
        with contextlib.suppress(ZeroDivisionError), recorded_switches(self.folder / "switches.gz"):
            self.assertIn(f"dlex-{os.getpid()}", instances())
            raise ZeroDivisionError
        self.assertNotIn(f"dlex-{os.getpid()}", instances())

    def recorder(self):
        """Starts another process that records."""
        argv = [sys.executable, "-c", RECORDER, self.folder / "other.gz"]
        process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "recording\n")
        self.assertIn(f"dlex-{process.pid}", instances())
        return process

    def test_instance_is_removed_after_a_signal(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.recorder()
            process.send_signal(number)
            process.wait()
            self.assertNotIn(f"dlex-{process.pid}", instances())

    def test_instance_of_a_killed_run_is_removed_by_repair(self):
        process = self.recorder()
        process.kill()
        wait_until(lambda: not is_running(process.pid))
        self.assertIn(f"dlex-{process.pid}", instances())
        self.assertIn("trace", repair())
        self.assertNotIn(f"dlex-{process.pid}", instances())
        self.assertNotIn("trace", repair())

    def test_only_one_run_records_at_a_time(self):
        process = self.recorder()
        with mock.patch.object(journal, "PASSING_S", 0.1), self.assertRaisesRegex(LabError, "another run records"):
            require_recording()
        self.assertIn(f"dlex-{process.pid}", instances())

    def test_tracefs_is_mounted_nowhere(self):
        mounts = Path("/proc/self/mounts").read_text()
        with recorded_switches(self.folder / "switches.gz"):
            self.assertEqual(Path("/proc/self/mounts").read_text(), mounts)


class Refusals(unittest.TestCase):
    def test_without_root_it_is_one_sentence_with_the_remedy(self):
        run = subprocess.run([sys.executable, "-c", REFUSED], capture_output=True, text=True, check=True)
        self.assertEqual(run.stdout, f"{EXIT_SETUP}: the kernel does not record context switches for us (only root may record "
                                     "them, outside of a container); run it with sudo\n")


if __name__ == "__main__":
    unittest.main()
