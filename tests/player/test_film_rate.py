# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests dlex-play --sched=rm, a priority by the film's rate, as the kernel and the registry report it.

Not covered: the registry itself (tests/sched), and what the player says when it refuses (test_placement.py).
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "input"), str(HERE.parent / "support"), str(HERE.parents[1] / "bench")]

from placing import AHEAD, LIMIT_S, SERIAL, require
from playing import NULL, PLAY, Case, KeysCase, clip, environment, main, play
from sanitizers import not_sanitized

SCHED = Path(PLAY).parents[1] / "sched/cmd/dlex-sched"


def priority(pid):
    """Returns the fixed priority of a process's main thread; 0 if it has none, or has ended."""
    try:
        return os.sched_getparam(pid).sched_priority
    except ProcessLookupError:
        return 0


class Rate(Case):
    """--sched=rm: a priority by the film's rate."""

    def policies(self, *options):
        """Plays a moment and returns the policies of the threads that play, by their roles."""
        require("fifo")
        run = play(*NULL, "--length=0.4", f"--record={self.dir / 'record'}", *options, clip("cavlc"))
        self.assertEqual(run.returncode, 0, run.stderr)
        content = json.loads(next((self.dir / "record").rglob("run.json")).read_text())
        return {thread["roles"]: thread["policy"] for thread in content["scheduling"]["threads"] if thread["roles"]}

    def test_thread_that_decodes_and_presents_has_a_priority_of_the_band(self):
        self.assertRegex(self.policies("--sched=rm", "--queue=0")["decode, present"], r"^fifo:(2\d|3[0-4])$")

    def test_guaranteed_player_has_a_priority_of_the_upper_band(self):
        self.assertRegex(self.policies("--sched=rm:guaranteed:5", "--queue=0")["decode, present"], r"^fifo:(3[5-9]|4\d)$")

    def test_thread_that_decodes_ahead_has_less_than_all_registered_ones(self):
        found = self.policies("--sched=rm", f"--queue={AHEAD}")
        self.assertEqual(found["decode"], "fifo:10")
        self.assertRegex(found["present"], r"^fifo:(2\d|3[0-4])$")

    def newcomers(self):
        """Yields after each start of another program with a lower rate than the film's. The registry moves the film up for them."""
        for number in range(1, 20):
            process = subprocess.Popen([SCHED, "rm", "run", f"--rate={24.99 - number / 100}", "--", "sleep", "60"],
                                       stderr=subprocess.PIPE, text=True)
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            self.assertIn("priority", process.stderr.readline())
            process.stderr.close()
            yield

    def test_next_film_has_the_priority_to_which_newcomers_have_moved_the_player(self):
        require("fifo")
        record = self.dir / "record"
        argv = [PLAY, *NULL, "--sched=rm", "--queue=0", "--length=4", f"--record={record}", clip("cavlc"), clip("cavlc")]
        with subprocess.Popen(argv, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
            limit = time.monotonic() + LIMIT_S
            while not (first := priority(process.pid)) and time.monotonic() < limit:
                time.sleep(0.002)
            moved = next(level for _ in self.newcomers() if (level := priority(process.pid)) != first)
            seen = {moved}
            while process.poll() is None:
                seen.add(priority(process.pid))
                time.sleep(0.002)
        self.assertNotEqual(moved, 0, "the first film was over before the player was moved")
        # It has an ordinary policy (0), perhaps too shortly to be seen, while it writes the record of a film.
        self.assertEqual(seen | {0}, {moved, 0}, first)
        second = json.loads((record / "2/run.json").read_text())["scheduling"]["threads"][0]
        self.assertEqual((second["roles"], second["policy"]), ("decode, present", f"fifo:{moved}"))

    def test_cost_that_does_not_fit_is_refused(self):
        require("fifo")
        self.expect(play(*NULL, "--sched=rm:guaranteed:500", clip("cavlc")), 1, "a picture has only")


# Programs that are guaranteed 49.9 of each 50 ms leave no room for a picture.
FULL = ("--guaranteed", "--rate=20", "--cost=49.9")


@not_sanitized
class LearntCost(Case):
    """--sched=rm: what a picture costs is entered when enough pictures were seen, and decides about a guarantee."""

    def entry(self, pid):
        """Returns what `rm list` says of a program: class, and cost in ms (None: not known). None if it is not there."""
        said = subprocess.run([SCHED, "rm", "list"], capture_output=True, text=True, check=True).stdout
        for row in (line.split() for line in said.splitlines()):
            if len(row) == 6 and row[4] == str(pid):
                return row[1], None if row[3] == "?" else float(row[3])
        return None

    def play_until(self, wanted, *options):
        """Plays until the entry is as wanted. Returns the entry, the priority then, and the messages."""
        require("fifo")
        argv = [PLAY, "--ao=null", "--vo=null", "--length=4", *options, clip("cavlc")]
        with subprocess.Popen(argv, env=environment(), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            found = seen = None
            while process.poll() is None and not found:
                seen = self.entry(process.pid) or seen
                found = seen if seen and wanted(*seen) else None
                time.sleep(0.01)
            self.assertIsNotNone(found, f"the film was over; its entry was {seen}")
            level = await_level(process, found[0])
            _, said = process.communicate(timeout=LIMIT_S)
        self.assertEqual(process.returncode, 0, said)
        return found, level, said

    def other(self, *options):
        process = subprocess.Popen([SCHED, "rm", "run", *options, "--", "sleep", "60"], stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertIn("priority", process.stderr.readline())
        process.stderr.close()

    def test_learnt_mean_is_entered(self):
        for queue in (SERIAL, AHEAD):
            with self.subTest(queue=queue):
                (kind, cost_ms), _, said = self.play_until(lambda _, cost: cost is not None, "--sched=rm", f"--queue={queue}")
                self.assertEqual(kind, "statistical")
                self.assertLess(cost_ms, 40)
                self.assertNotIn("--sched", said)

    def test_deadlines_are_guaranteed_when_the_cost_is_known(self):
        found, level, said = self.play_until(lambda kind, _: kind == "guaranteed", "--sched=rm:guaranteed", "--queue=0")
        self.assertIn(level, range(35, 50))
        self.assertGreater(found[1], 0)
        self.assertNotIn("--sched", said)

    def test_guarantee_is_not_given_if_another_program_would_be_late(self):
        self.other(*FULL)
        found, level, said = self.play_until(lambda _, cost: cost is not None, "--sched=rm:guaranteed", "--queue=0")
        self.assertEqual(found[0], "statistical")
        self.assertIn(level, range(20, 35))
        self.assertRegex(said, "--sched=rm:guaranteed: with the .* no deadline is guaranteed: .*; the film plays on as with")
        self.assertEqual(said.count("--sched=rm"), 2, said)  # twice in this sentence, and in no other one

    def test_guarantee_is_taken_back_if_pictures_cost_more_than_declared(self):
        self.other(*FULL)
        _, level, said = self.play_until(lambda kind, _: kind == "statistical", "--sched=rm:guaranteed:0.01", "--queue=0")
        self.assertIn(level, range(20, 35))
        self.assertEqual(said.count("no deadline is guaranteed"), 1, said)

    def test_cost_that_pictures_exceed_is_raised(self):
        found, level, said = self.play_until(lambda _, cost: cost > 0.01, "--sched=rm:guaranteed:0.01", "--queue=0")
        self.assertEqual(found[0], "guaranteed")
        self.assertIn(level, range(35, 50))
        self.assertIn("which counts from now on", said)

    def test_next_film_has_a_cost_of_its_own(self):
        require("fifo")
        file = clip("cavlc")
        argv = [PLAY, *NULL, "--sched=rm", "--queue=0", "--length=3.5", file, file]
        costs = []
        with subprocess.Popen(argv, env=environment(), stdin=subprocess.DEVNULL) as process:
            while process.poll() is None:
                entry = self.entry(process.pid)
                if entry and (not costs or (entry[1] is None) != (costs[-1] is None)):
                    costs.append(entry[1])
                time.sleep(0.01)
        self.assertEqual(process.returncode, 0)
        self.assertEqual([cost is None for cost in costs], [True, False, True, False], costs)


def await_level(process, kind):
    """Returns the priority of a player when it is one of the class, or the last one seen: the entry comes first."""
    band = range(35, 50) if kind == "guaranteed" else range(20, 35)
    level = priority(process.pid)
    while process.poll() is None and level not in band:
        time.sleep(0.002)
        level = priority(process.pid) or level
    return level


@not_sanitized
class MovedRate(KeysCase):
    """A player with --sched=rm, which another program has moved to another priority when it joined."""

    def registry(self):
        user = os.geteuid()
        folders = f"/run/user/{user}/dlex-sched" if user else "/run/dlex-sched", f"/dev/shm/dlex-sched-{user}"
        return next(Path(folder, "rm") for folder in folders if Path(folder, "rm").exists())

    def move(self):
        """Does what the other program does: writes the table, and sets the priority."""
        lines = self.registry().read_text().splitlines()
        self.player, started, kind, self.before, *rest = lines[-1].split(" ")
        self.assertEqual(rest[-1], "dlex-play")
        self.after = 33 if int(self.before) < 33 else 21
        lines[-1] = " ".join([self.player, started, kind, str(self.after), *rest])
        self.registry().write_text("".join(line + "\n" for line in lines))
        os.sched_setparam(int(self.player), os.sched_param(self.after))

    def look(self):
        self.seen = os.sched_getparam(int(self.player)).sched_priority

    def test_player_stays_where_it_was_moved_after_a_seek(self):
        require("fifo")
        self.assertEqual(self.press([self.move, b"\x1b[D", self.look, b"q"], "--sched=rm", clip("bpyramid")), 0)
        self.assertEqual(self.seen, self.after)


if __name__ == "__main__":
    main()
