# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests `dlex-sched tune` and `repair` on programs of the tests: periodic ones, shell scripts that fork, and killed ones.

Skipped without root, because only root may reserve CPU time. Not covered: real players, which the laboratory plays, and what
reservations are worth to them on a busy machine.

Run as: test_tune.py DLEX_SCHED PERIODIC [CLASS.test ...]
"""
import contextlib
import fcntl
import itertools
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import termios
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
from sanitizers import not_sanitized
from tune_case import (
    CPUS,
    PERIODIC,
    PLAYED,
    SCHED,
    Case,
    alone,
    family,
    guard_of,
    guards_of_test,
    has_ended,
    journal_of,
    kernel_settings,
    left_journals,
    lengthy,
    main,
    name_of,
    reserved,
    reserved_of_test,
    rows_of,
    threads,
    wait_until,
)

# Which processes are killed: tune, its guard, the player (or the command), tune and its guard, or all three.
KINDS, ROUNDS, KILLS_OF_KIND = ("tune", "guard", "player", "both", "all"), 2, 5


@dataclass
class Tuned:
    """A player, the run of `tune` that tunes it, and what will be killed."""

    kind: str
    run: subprocess.Popen
    player: int
    journal: Path

    def kill(self):
        guard = guard_of(self.run.pid)
        victims = {"tune": [self.run.pid], "guard": [guard], "player": [self.player], "both": [self.run.pid, guard],
                   "all": [self.run.pid, guard, self.player]}
        for pid in victims[self.kind]:
            os.kill(pid, signal.SIGKILL)

    @property
    def may_leave_something(self):
        return self.kind in ("both", "all")

    @property
    def is_undone(self):
        """Whether the player has no reservation. What has ended has its policy until it is waited for."""
        return has_ended(self.player) or not reserved(self.player)


def periodic_of(pid):
    """Returns the player that a process or its family has started; None if there is none."""
    return next((member for member in family(pid) if name_of(member) == "periodic"), None)


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

    def test_hundred_threads_are_survived(self):
        run = self.tune("--quiet", "--limit=30", "--", PERIODIC, 10, 0.2, 6, 100)
        code, said = self.end_of(run)
        self.assertEqual(code, int(PLAYED), said)
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


class Ending(Case):
    def test_exit_code_is_the_commands(self):
        for command, code in ((["sh", "-c", "exit 7"], 7), (["sh", "-c", "kill -9 $$"], 137), (["/nowhere/x"], 127), (["/"], 126)):
            with self.subTest(command=command):
                self.assertEqual(self.end_of(self.tune("--quiet", "--", *command))[0], code)
        self.expect_nothing_left()

    def test_signal_is_passed_on_and_everything_is_given_back(self):
        run = self.tune("--quiet", "--", PERIODIC, 25, 4, 90)
        self.assertTrue(wait_until(reserved_of_test))
        run.send_signal(signal.SIGTERM)
        self.assertEqual(self.end_of(run)[0], 128 + signal.SIGTERM)
        self.expect_nothing_left()

    def tune_on_terminal(self, trapped, *before):
        """Tunes a shell that a signal ends with the code 5. Returns the run and its terminal when the shell waits."""
        ready = self.dir / "ready"
        script = f"trap 'exit 5' {trapped}; : >{ready}; while :; do sleep 0.05; done"
        terminal, own = os.openpty()

        def begin():
            signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup it is ignored, and no shell traps it then
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        run = self.start(SCHED, "tune", "--quiet", "--", *before, "sh", "-c", script, stdin=own, stdout=own, stderr=own,
                         start_new_session=True, preexec_fn=begin)
        os.close(own)
        self.assertTrue(wait_until(ready.exists))
        return run, terminal

    def test_hangup_of_the_terminal_reaches_the_command(self):
        run, terminal = self.tune_on_terminal("HUP")
        os.close(terminal)
        self.assertEqual(run.wait(timeout=30), 5)
        self.expect_nothing_left()

    def test_key_of_the_terminal_reaches_a_command_that_has_left_the_group(self):
        run, terminal = self.tune_on_terminal("INT", "setsid")
        os.write(terminal, b"\x03")
        self.assertEqual(run.wait(timeout=30), 5)
        os.close(terminal)
        self.expect_nothing_left()

    def tune_and_terminate(self, trap, then):
        """Tunes a shell that traps SIGTERM, and sends one. Returns when it has had its effect: the guard has ended."""
        ready = self.dir / "ready"
        ready.unlink(missing_ok=True)
        run = self.tune("--quiet", "--", "sh", "-c", f"trap '{trap}' TERM; : >{ready}; {then}")
        self.assertTrue(wait_until(ready.exists))
        self.expect_guard(run.pid)
        run.send_signal(signal.SIGTERM)
        self.assertTrue(wait_until(lambda: guard_of(run.pid) is None))
        return run

    def test_command_that_ignores_signals_is_left_after_the_second_one(self):
        run = self.tune_and_terminate("", "sleep 90")
        time.sleep(0.5)  # or it would be the same one
        self.assertIsNone(run.poll())
        run.send_signal(signal.SIGTERM)
        run.wait(timeout=30)
        self.assertEqual(run.returncode, 128 + signal.SIGTERM)
        self.expect_nothing_left()

    def test_signal_that_comes_twice_at_once_counts_once(self):
        def measure():
            run = self.tune_and_terminate("sleep 1; exit 9", "while :; do sleep 0.05; done")
            run.send_signal(signal.SIGTERM)
            self.assertEqual(self.end_of(run)[0], 9)
        self.succeeds_once(measure)
        self.expect_nothing_left()

    def test_killed_tune_is_undone_by_its_guard(self):
        player = self.player()
        run = self.tune(f"--pid={player.pid}")
        self.expect_reservation(player.pid)
        run.kill()
        self.expect_no_reservation(player.pid)
        self.assertIsNone(player.poll())
        self.expect_nothing_left()

    def test_killed_guard_is_replaced(self):
        player = self.player()
        run = self.tune(f"--pid={player.pid}")
        self.expect_reservation(player.pid)
        first = self.expect_guard(run.pid)
        os.kill(first, signal.SIGKILL)
        self.expect_guard(run.pid, other_than=first)
        self.assertTrue(reserved(player.pid))
        run.kill()
        self.expect_no_reservation(player.pid)
        self.expect_nothing_left()

    def test_stopped_guard_does_not_keep_tune_from_ending(self):
        player = self.player()
        run = self.tune(f"--pid={player.pid}")
        self.expect_reservation(player.pid)
        os.kill(self.expect_guard(run.pid), signal.SIGSTOP)
        run.send_signal(signal.SIGINT)
        self.assertEqual(self.end_of(run)[0], 0)
        self.expect_no_reservation(player.pid)
        self.expect_nothing_left()

    @alone
    def test_repair_undoes_what_killed_processes_left(self):
        player = self.player()
        run = self.tune(f"--pid={player.pid}")
        self.expect_reservation(player.pid)
        guard = self.expect_guard(run.pid)
        for pid in (run.pid, guard):
            os.kill(pid, signal.SIGSTOP)
        for pid in (run.pid, guard):
            os.kill(pid, signal.SIGKILL)
        run.wait()
        self.assertTrue(wait_until(lambda: has_ended(guard)))  # it holds the journal until then
        self.assertTrue(reserved(player.pid))
        said = subprocess.run([SCHED, "repair"], capture_output=True, text=True, check=True).stdout
        self.assertIn("1 threads were put back", said)
        self.expect_no_reservation(player.pid)
        self.assertIn("nothing to repair", subprocess.run([SCHED, "repair"], capture_output=True, text=True, check=True).stdout)

    def tune_many(self, first):
        """Tunes players at once, every second one as a command of `tune`; `first` is 0 or 1. Returns them when all have a guard."""
        kinds, begun, tuned = KINDS * KILLS_OF_KIND, [], []
        play, quiet = (PERIODIC, 25, 0.5, 120), {"stderr": subprocess.DEVNULL}
        for number in range(first, first + len(kinds)):
            player = None if number % 2 else self.start(*play)
            what = [f"--pid={player.pid}"] if player else ["--", *play]
            begun.append((self.start(SCHED, "tune", "--quiet", *what, **quiet), player))
        for kind, (run, player) in zip(kinds, begun, strict=True):
            self.expect_guard(run.pid)
            found = player.pid if player else wait_until(lambda one=run: periodic_of(one.pid))
            tuned.append(Tuned(kind, run, found, journal_of(run.pid)))
        return tuned

    def expect_undone(self, tuned):
        for one in tuned:
            self.assertTrue(wait_until(lambda it=one: it.is_undone), f"a player keeps its reservation; killed: {one.kind}")

    def end_all(self, tuned):
        """Ends the runs that have not been killed, and waits for all, and for the guards of those that have."""
        for one in tuned:
            one.run.terminate()
        for one in tuned:
            one.run.wait(timeout=60)
        self.assertTrue(wait_until(lambda: not guards_of_test()), guards_of_test())

    def end_players(self, tuned):
        """Expects that the players that live are ordinary again, and ends them. Those of killed runs are our children by now."""
        for one in tuned:
            if not has_ended(one.player):
                self.assertEqual(os.sched_getscheduler(one.player), os.SCHED_OTHER, one.kind)
                os.kill(one.player, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(one.player, 0)

    def kill_at_random(self, tuned, chance):
        begun, moments = time.monotonic(), sorted(chance.uniform(0, 4) for _ in tuned)
        for moment, one in zip(moments, chance.sample(tuned, len(tuned)), strict=True):
            time.sleep(max(0, begun + moment - time.monotonic()))
            one.kill()

    @alone
    @not_sanitized
    def test_random_kills_leave_nothing(self):
        chance, settings = random.Random(15), kernel_settings()
        for number in range(ROUNDS):
            tuned = self.tune_many(number % 2)
            for one in tuned if number % 2 else []:  # in every second round nobody is killed before all have a reservation
                self.expect_reservation(one.player)
            self.kill_at_random(tuned, chance)
            self.expect_undone(one for one in tuned if one.kind == "tune")  # by their guards, while others go on
            self.end_all(tuned)
            self.expect_undone(one for one in tuned if not one.may_leave_something)
            self.assertLessEqual({*left_journals()}, {one.journal for one in tuned if one.may_leave_something})
            subprocess.run([SCHED, "repair"], capture_output=True, check=True)
            self.expect_undone(tuned)
            self.end_players(tuned)
        self.assertEqual(kernel_settings(), settings)
        self.expect_nothing_left()


class Several(Case):
    def test_two_players_are_tuned_at_once(self):
        players = [self.player(25, 4), self.player(30, 3)]
        runs = [self.tune(f"--pid={player.pid}") for player in players]
        for player in players:
            self.expect_reservation(player.pid)
        for run, player in zip(runs, players, strict=True):
            run.send_signal(signal.SIGINT)
            self.assertEqual(self.end_of(run)[0], 0)
            self.expect_no_reservation(player.pid)
        self.expect_nothing_left()

    def test_second_tune_of_one_player_waits_for_its_turn(self):
        player = self.player(25, 4, 180)
        first = self.tune(f"--pid={player.pid}")
        self.expect_reservation(player.pid)
        said = self.dir / "said"
        second = self.tune_into(said, f"--pid={player.pid}")
        self.assertTrue(wait_until(lambda: "a reservation by another program" in said.read_text()))
        first.send_signal(signal.SIGINT)
        self.end_of(first)
        self.expect_reservation(player.pid, 60)
        second.send_signal(signal.SIGINT)
        self.end_of(second)
        self.expect_no_reservation(player.pid)
        self.expect_nothing_left()


if __name__ == "__main__":
    main()
