# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests how `dlex-sched tune` ends: by its command, by signals, and when its processes are killed; `repair`; and several at once.

Skipped without root, because only root may reserve CPU time. Not covered: what is reserved (test_tune.py).

Run as: test_tune_ends.py DLEX_SCHED PERIODIC [CLASS.test ...]
"""
import contextlib
import fcntl
import os
import random
import signal
import subprocess
import sys
import termios
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
from sanitizers import not_sanitized
from tune_case import (
    PERIODIC,
    SCHED,
    Case,
    alone,
    guard_of,
    guards_of_test,
    has_ended,
    journal_of,
    kernel_settings,
    left_journals,
    main,
    periodic_of,
    reserved,
    reserved_of_test,
    threads,
    wait_until,
)

# How often a round kills tune, its guard, tune and its guard, the player (or the command), and all three. Only with the first three
# does somebody have to undo something, if the player has a reservation then: as in so many of the 50 kills at least.
KILLS, ROUNDS, RESERVED_LEAST = {"tune": 11, "guard": 6, "both": 5, "player": 2, "all": 1}, 2, 40
# A player begins with these. A reservation changes the policy and, with recent kernels, the timer slack.
NICE, SLACK_NS = 3, 77000
PLAY = ("sh", "-c", f'echo {SLACK_NS} >/proc/$$/timerslack_ns; exec nice -n {NICE} "$0" 25 0.5 120', PERIODIC)


def settings(pid):
    """Returns the different policies, nice values and timer slacks of the threads of a process."""
    return {(os.sched_getscheduler(tid), os.getpriority(os.PRIO_PROCESS, tid), int(Path(f"/proc/{tid}/timerslack_ns").read_text()))
            for tid in threads(pid)}


@dataclass
class Tuned:
    """A player, the run of `tune` that tunes it, and what will be killed."""

    kind: str
    run: subprocess.Popen
    guard: int
    player: int
    journal: Path
    was_reserved: bool = False  # when it was killed

    def kill(self):
        victims = {"tune": [self.run.pid], "guard": [self.guard], "player": [self.player], "both": [self.run.pid, self.guard],
                   "all": [self.run.pid, self.guard, self.player]}
        self.was_reserved = bool(reserved(self.player))
        for pid in victims[self.kind]:
            os.kill(pid, signal.SIGKILL)

    @property
    def may_leave_something(self):
        return self.kind in ("both", "all")

    @property
    def is_undone(self):
        """Whether the player has no reservation. What has ended has its policy until it is waited for."""
        return has_ended(self.player) or not reserved(self.player)


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
        kinds, begun, tuned = [kind for kind, kills in KILLS.items() for _ in range(kills)], [], []
        for number in range(first, first + len(kinds)):
            player = None if number % 2 else self.start(*PLAY)
            what = [f"--pid={player.pid}"] if player else ["--", *PLAY]
            begun.append((self.start(SCHED, "tune", "--quiet", *what, stderr=subprocess.DEVNULL), player))
        for kind, (run, player) in zip(kinds, begun, strict=True):
            guard = self.expect_guard(run.pid)
            found = player.pid if player else wait_until(lambda one=run: periodic_of(one.pid))
            tuned.append(Tuned(kind, run, guard, found, journal_of(run.pid)))
        return tuned

    def expect_undone(self, tuned):
        for one in tuned:
            self.assertTrue(wait_until(lambda it=one: it.is_undone), f"a player keeps its reservation; killed: {one.kind}")

    def expect_replaced_guard(self, one):
        """Expects that a killed guard is replaced, and that the player keeps its reservation meanwhile."""
        self.expect_guard(one.run.pid, other_than=one.guard)
        if one.was_reserved:
            self.assertTrue(reserved(one.player))

    def end_all(self, tuned, kills_second):
        """Ends the runs that live, those with a second guard perhaps by a kill, and waits for all and for their guards."""
        for one in tuned:
            if kills_second and one.kind == "guard":
                one.run.kill()
            else:
                one.run.terminate()
        for one in tuned:
            one.run.wait(timeout=60)
        self.assertTrue(wait_until(lambda: not guards_of_test()), guards_of_test())

    def end_players(self, tuned):
        """Expects that the players that live are as before, and ends them. Those of killed runs are our children by now."""
        for one in tuned:
            if not has_ended(one.player):
                self.assertEqual(settings(one.player), {(os.SCHED_OTHER, NICE, SLACK_NS)}, one.kind)
                os.kill(one.player, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(one.player, 0)

    def kill_at_random(self, tuned, chance):
        """Waits until all players have a reservation, and then kills one of the runs after the other."""
        for one in tuned:
            self.expect_reservation(one.player)
        begun, moments = time.monotonic(), sorted(chance.uniform(0, 2.5) for _ in tuned)
        for moment, one in zip(moments, chance.sample(tuned, len(tuned)), strict=True):
            time.sleep(max(0, begun + moment - time.monotonic()))
            one.kill()
            if one.kind == "guard":
                self.expect_replaced_guard(one)

    @alone
    @not_sanitized
    def test_random_kills_leave_nothing(self):
        chance, of_kernel, were_reserved = random.Random(15), kernel_settings(), 0
        for number in range(ROUNDS):
            tuned = self.tune_many(number % 2)
            self.kill_at_random(tuned, chance)
            were_reserved += sum(one.was_reserved for one in tuned)
            self.expect_undone(one for one in tuned if one.kind == "tune")  # by their guards, while others go on
            self.end_all(tuned, kills_second=number % 2)
            self.expect_undone(one for one in tuned if not one.may_leave_something)
            self.assertLessEqual({*left_journals()}, {one.journal for one in tuned if one.may_leave_something})
            subprocess.run([SCHED, "repair"], capture_output=True, check=True)
            self.expect_undone(tuned)
            self.end_players(tuned)
        self.assertGreaterEqual(were_reserved, RESERVED_LEAST)
        self.assertEqual(kernel_settings(), of_kernel)
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
