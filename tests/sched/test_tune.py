# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what `dlex-sched tune` reserves, for programs of the tests: periodic ones, and shell scripts that fork.

Skipped without root, because only root may reserve CPU time. Not covered: real players, which the laboratory plays, and what
reservations are worth to them on a busy machine.

Run as: test_tune.py DLEX_SCHED PERIODIC [CLASS.test ...]
"""
import itertools
import os
import re
import signal
import statistics
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
from sanitizers import not_sanitized
from tune_case import (
    CPUS,
    PERIODIC,
    PLAYED,
    PLAYS_AND_EXECUTES,
    Case,
    alone,
    family,
    guard_of,
    lengthy,
    main,
    name_of,
    periodic_of,
    reserved,
    reserved_of_test,
    rows_of,
    threads,
    wait_until,
)

TUNED_MOST = 32  # threads


class Tuning(Case):
    def expect_mean(self, words, said, rows):
        """Expects that the mean of all seconds with a reservation is reported at the end."""
        mean = re.search(rf"{words} (\d+\.\d) % of a CPU \(at most", said)
        self.assertIsNotNone(mean, said)
        reserved_parts = [part for row in rows if (part := float(row["reserved"])) > 0]
        self.assertAlmostEqual(float(mean[1]), 100 * statistics.mean(reserved_parts), delta=0.06)

    def test_player_gets_what_it_uses_and_a_little_more(self):
        self.succeeds_once(self.get_what_is_used)

    def get_what_is_used(self):
        run = self.tune(f"--record={self.dir}/rows", "--", PERIODIC, 25, 4, 20)
        code, said = self.end_of(run)
        self.assertEqual(code, int(PLAYED), said)
        rows = rows_of(self.dir / "rows")
        tuned = [row for row in rows if float(row["reserved"]) > 0]
        self.assertGreaterEqual(len(tuned), 4, said)
        # A second in which the machine stops for a moment is an exception.
        hz, used, kept = (statistics.median(float(row[name]) for row in tuned[2:]) for name in ("hz", "used", "reserved"))
        self.assertAlmostEqual(hz, 25, delta=0.2)
        self.assertGreater(used, 0.07)
        self.assertGreater(kept, used * 0.9)
        self.assertLess(kept, 0.1 * 1.6 + 0.02)
        self.assertRegex(said, r"25 pictures/s, reserved 1\d\.\d %")
        self.expect_mean("reserved", said, rows)
        first_rate = next(float(row["second"]) for row in rows if float(row["hz"]) > 0)
        self.assertLessEqual(float(tuned[0]["second"]) - first_rate, 2)
        self.assertIn("--check finds out", said)
        self.expect_nothing_left()

    @alone
    @not_sanitized
    def test_first_reservation_comes_within_four_seconds(self):
        def measure():
            begun = time.monotonic()
            run = self.tune("--quiet", "--", PERIODIC, 25, 4, 90)
            is_reserved, lasted = wait_until(reserved_of_test), time.monotonic() - begun
            run.terminate()
            self.end_of(run)
            self.assertTrue(is_reserved)
            self.assertLess(lasted, 4)
        self.succeeds_once(measure)

    def test_program_that_a_script_starts_is_tuned_and_the_script_is_not(self):
        run = self.tune("--quiet", "--", "sh", "-c", f'(sh -c "{PERIODIC} 25 4 90; true"; true); exit 9')
        member = wait_until(lambda: periodic_of(run.pid))
        self.expect_reservation(member)
        others = [pid for pid in family(run.pid) if pid != member]
        self.assertGreaterEqual(len(others), 3)
        self.assertEqual([reserved(pid) for pid in others], [[]] * len(others))
        os.kill(member, signal.SIGTERM)
        self.assertEqual(self.end_of(run)[0], 9)
        self.expect_nothing_left()

    def test_programs_that_a_script_starts_one_after_the_other_are_tuned(self):
        script = f"for i in 1 2; do {PERIODIC} 25 4 90; done"
        run = self.tune("--quiet", "--", "sh", "-c", script)
        for _ in range(2):
            member = wait_until(lambda: periodic_of(run.pid))
            self.expect_reservation(member)
            os.kill(member, signal.SIGTERM)
            self.assertTrue(wait_until(lambda pid=member: not threads(pid)))
        self.end_of(run)
        self.expect_nothing_left()

    def test_program_that_a_shell_becomes_is_tuned(self):
        path = self.dir / "shell"
        run = self.tune("--quiet", "--", "sh", "-c", f"echo $$ >{path}; sleep 0.5; exec {PERIODIC} 25 4 90")
        member = wait_until(lambda: periodic_of(run.pid))
        self.assertEqual(int(path.read_text()), member)
        self.expect_reservation(member)
        os.kill(member, signal.SIGTERM)
        self.assertEqual(self.end_of(run)[0], 128 + signal.SIGTERM)
        self.expect_nothing_left()

    def test_program_that_executes_another_keeps_its_reservation_and_is_tuned_anew(self):
        go, path = self.dir / "go", self.dir / "rows"
        player = self.start(sys.executable, "-ISc", PLAYS_AND_EXECUTES, go, PERIODIC, 50, 4, 120)
        run = self.tune("--quiet", f"--record={path}", f"--pid={player.pid}")
        self.expect_reservation(player.pid)
        go.touch()
        self.assertTrue(wait_until(lambda: name_of(player.pid) == "periodic"))
        self.assertTrue(reserved(player.pid))
        last = wait_until(lambda: [row for row in rows_of(path)[-1:] if round(float(row["hz"])) == 50], 60)
        self.assertTrue(last, path.read_text())
        self.assertTrue(reserved(player.pid))
        self.assertTrue(wait_until(lambda: float(rows_of(path)[-1]["reserved"]) > 0.2), path.read_text())
        run.send_signal(signal.SIGINT)
        self.assertEqual(self.end_of(run)[0], 0)
        self.expect_no_reservation(player.pid)
        self.assertIsNone(player.poll())
        self.expect_nothing_left()

    def test_program_that_forks_all_the_time_goes_on(self):
        script = f"{PERIODIC} 25 3 6 & while kill -0 $! 2>/dev/null; do /bin/true; done; wait $!"
        code, said = self.end_of(self.tune("--quiet", "--", "sh", "-c", script))
        self.assertEqual(code, int(PLAYED), said)
        self.expect_nothing_left()

    def test_running_player_is_tuned_and_gets_back_what_it_had(self):
        player = self.player()
        os.setpriority(os.PRIO_PROCESS, player.pid, 5)
        os.sched_setscheduler(player.pid, os.SCHED_BATCH, os.sched_param(0))
        run = self.tune(f"--pid={player.pid}")
        self.expect_reservation(player.pid)
        run.send_signal(signal.SIGINT)
        code, said = self.end_of(run)
        self.assertEqual(code, 0, said)
        self.assertEqual(os.sched_getscheduler(player.pid), os.SCHED_BATCH)
        self.assertEqual(os.getpriority(os.PRIO_PROCESS, player.pid), 5)
        self.assertIsNone(player.poll())
        self.expect_nothing_left()

    def test_tuning_ends_with_the_running_player(self):
        player = self.player(25, 4, 4)
        run = self.tune(f"--pid={player.pid}")
        player.wait()
        self.assertEqual(self.end_of(run)[0], 0)
        self.expect_nothing_left()

    def test_several_threads_share_the_limit(self):
        run = self.tune("--limit=20", f"--record={self.dir}/rows", "--", PERIODIC, 25, 3, 16, 4)
        code, said = self.end_of(run)
        self.assertEqual(code, int(PLAYED), said)
        rows = rows_of(self.dir / "rows")
        self.assertEqual(max(int(row["tuned"]) for row in rows), 4)
        self.assertLessEqual(max(float(row["reserved"]) for row in rows), 0.2001)
        self.assertIn("needed more than may be reserved", said)

    @lengthy
    def test_program_that_wants_more_is_kept_to_the_limit(self):
        """It wants 30 % of a CPU. Under --strict it never has more than its budget, else for a second or two."""
        for options, first_row, seconds in (("--strict",), 1, 3), ((), 4, 8):
            with self.subTest(options):
                rows_file = self.dir / f"rows{len(options)}"
                run = self.tune("--limit=10", *options, f"--record={rows_file}", "--", PERIODIC, 25, 12, seconds)
                code, said = self.end_of(run)
                self.assertEqual(code, int(PLAYED), said)
                tuned = [row for row in rows_of(rows_file) if float(row["reserved"]) > 0][first_row:]
                self.assertGreaterEqual(len(tuned), 3, said)
                self.assertLess(statistics.median(float(row["used"]) for row in tuned), 0.12)

    def expect_within(self, limit, rows):
        """Expects that the reservations have never been more than the limit, nor more threads tuned than can be."""
        self.assertLessEqual(max(int(row["tuned"]) for row in rows), TUNED_MOST)
        self.assertLessEqual(max(float(row["reserved"]) for row in rows), limit + 0.0001)

    def test_hundred_threads_are_survived(self):
        run = self.tune("--quiet", "--limit=30", f"--record={self.dir}/rows", "--", PERIODIC, 10, 0.2, 6, 100)
        code, said = self.end_of(run)
        self.assertEqual(code, int(PLAYED), said)
        rows = rows_of(self.dir / "rows")
        self.assertEqual(max(int(row["threads"]) for row in rows), 100)
        self.expect_within(0.3, rows)
        self.expect_nothing_left()

    def test_as_many_threads_as_can_be_tuned_share_the_limit(self):
        path = self.dir / "rows"
        run = self.tune("--quiet", "--limit=17", f"--record={path}", "--", PERIODIC, 10, 0.5, 90, TUNED_MOST + 8)

        def shares():
            return [row for row in rows_of(path) if int(row["tuned"]) == TUNED_MOST and row["limited"] == "1"]

        self.assertTrue(wait_until(path.exists))
        found = wait_until(shares, 60)
        run.terminate()
        said = self.end_of(run)[1]
        self.assertTrue(found, path.read_text())
        self.expect_within(0.17, rows_of(path))
        self.assertIn("needed more than may be reserved", said)
        self.expect_nothing_left()

    @lengthy
    def test_changed_rate_is_followed(self):
        run = self.tune(f"--record={self.dir}/rows", "--", PERIODIC, 25, 3, 30, 1, 50)
        code, said = self.end_of(run, 60)
        self.assertEqual(code, int(PLAYED), said)
        rates = [round(float(row["hz"])) for row in rows_of(self.dir / "rows")]
        self.assertIn(25, rates)
        self.assertEqual(rates[-1], 50, rates)

    def test_pause_keeps_the_reservation(self):
        player = self.player()
        run = self.tune(f"--pid={player.pid}")
        self.expect_reservation(player.pid)
        player.send_signal(signal.SIGSTOP)
        time.sleep(10)
        self.assertTrue(reserved(player.pid))
        player.send_signal(signal.SIGCONT)
        run.send_signal(signal.SIGTERM)
        self.end_of(run)
        self.expect_no_reservation(player.pid)

    @alone
    @not_sanitized
    def test_player_that_starves_is_tried_and_then_tuned(self):
        for _ in range(4 * CPUS):
            self.start(sys.executable, "-ISc", "while True: pass")
        run = self.tune(f"--record={self.dir}/rows", "--", PERIODIC, 25, 12, 30)
        code, said = self.end_of(run, 120)
        self.assertEqual(code, int(PLAYED), said)
        self.assertIn("waits for the CPU", said)
        rows = rows_of(self.dir / "rows")
        self.assertTrue(any(float(row["reserved"]) > 0 and float(row["hz"]) == 0 for row in rows), said)
        self.assertAlmostEqual(float(rows[-1]["hz"]), 25, delta=0.2, msg=said)
        self.assertGreater(statistics.median(float(row["used"]) for row in rows[-6:-1]), 0.25, said)

    def test_program_without_a_rate_gets_nothing(self):
        code, said = self.end_of(self.tune("--", "sleep", 3))
        self.assertEqual(code, 0)
        self.assertIn("nothing was reserved, because no thread worked at a steady rate", said)

    def test_dry_run_reserves_nothing(self):
        run = self.tune("--dry-run", f"--record={self.dir}/rows", "--", PERIODIC, 25, 4, 20)
        seen = []
        while run.poll() is None:
            seen += [member for member in family(run.pid) if reserved(member)]
            time.sleep(0.1)
        said = self.end_of(run)[1]
        self.assertEqual(seen, [])
        self.assertRegex(said, r"would reserve 1\d\.\d %")
        self.expect_mean("would have reserved", said, rows_of(self.dir / "rows"))
        self.assertIsNone(guard_of(run.pid))

    def test_seconds_without_reservations_are_reported_as_such(self):
        said = self.dir / "said"
        line = re.compile(r"25 pictures/s, reserved 0\.0 %, used [1-9]\d*\.\d %, .*, 1 of 1 threads; switched off to compare")
        run = self.tune_into(said, "--check", "--", PERIODIC, 25, 4, 90)
        found = wait_until(lambda: line.search(said.read_text()))
        run.terminate()
        run.wait(timeout=30)
        self.assertTrue(found, said.read_text())

    @alone
    @not_sanitized
    def test_check_reports_that_a_starving_player_was_helped(self):
        def measure():
            run = self.tune("--check", "--quiet", f"--record={self.dir}/rows", "--", PERIODIC, 25, 8, 40)
            self.assertTrue(wait_until(reserved_of_test))
            hogs = [self.start(sys.executable, "-ISc", "while True: pass") for _ in range(6 * CPUS)]
            code, said = self.end_of(run, 120)
            for hog in hogs:
                hog.kill()
            self.assertEqual(code, int(PLAYED), said)
            self.assertIn("the reservations helped", said)
            self.expect_same_budgets_again(rows_of(self.dir / "rows"))
        self.succeeds_once(measure)

    def expect_same_budgets_again(self, rows):
        """Expects that what a player uses without its reservations has not made them smaller when they are switched on again."""
        before, returns = 0, 0
        for row, after in itertools.pairwise(rows):
            if row["off"] == "0" and after["off"] == "1":
                before = float(row["reserved"])
            if row["off"] == "1" and after["off"] == "0":
                returns += 1
                self.assertGreater(float(after["reserved"]), 0.8 * before)
        self.assertGreaterEqual(returns, 2)

    @lengthy
    def test_check_reports_whether_it_helped(self):
        run = self.tune("--check", "--quiet", "--", PERIODIC, 25, 4, 36)
        code, said = self.end_of(run, 90)
        self.assertEqual(code, int(PLAYED), said)
        self.assertRegex(said, r"woke up \d+\.\d\d ms late with reservations and \d+\.\d\d ms without .*: the reservations ")

    def test_each_rule_tunes(self):
        for rule in ("percentile", "max", "lfsg"):
            with self.subTest(rule=rule):
                code, said = self.end_of(self.tune("--quiet", f"--rule={rule}", "--", PERIODIC, 25, 4, 8))
                self.assertEqual(code, int(PLAYED), said)
                self.assertRegex(said, r"reserved \d+\.\d % of a CPU")

    def test_pinned_player_is_named_with_the_remedy(self):
        if CPUS < 2:
            self.skipTest("there is one CPU")
        player = self.player()
        os.sched_setaffinity(player.pid, {0})
        path = self.dir / "said"
        run = self.tune_into(path, "--quiet", f"--pid={player.pid}")
        wait_until(lambda: "gets no reservation" in path.read_text())
        time.sleep(2)  # it says it once only
        run.send_signal(signal.SIGINT)
        self.end_of(run)
        said = path.read_text()
        self.assertIn("it may not run on all CPUs", said)
        self.assertEqual(len(re.findall("gets no reservation", said)), 1, said)


if __name__ == "__main__":
    main()
