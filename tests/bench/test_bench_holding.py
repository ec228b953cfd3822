# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what the laboratory concludes from looks at threads. The looks are invented.

Not covered: real players, whose threads are moved (test_bench_job_stage).
"""

import unittest
from dataclasses import replace

from outside import with_packages

with_packages("pydantic")

from dlex_bench.errors import LabError
from dlex_bench.job.holding import held_cpu_s, judge, policies_of, require_held
from dlex_bench.job.placing import Placing
from dlex_bench.machine.policy import Policy
from dlex_bench.record import TimeOfPlaying
from dlex_bench.rig.players.threads import BOTH, DECODE, PRESENT, Look, SeenThread, Thread, Work

MEASURED, OTHERS = 1, frozenset({0})
DECODES, PRESENTS, HELPS = Work("decodes", DECODE), Work("presents", PRESENT), Work("sound")


def placing(sched, group=None):
    return Placing(Policy.parse(sched), False, MEASURED, OTHERS, group=group)


def seen(*looks, name="decoder", tid=7):
    """Returns a thread. A look is (s, CPU time in s, CPUs, policy), or (s, CPU time in s) of a thread that has ended."""
    thread = SeenThread(tid)
    for time_s, cpu_s, *place in looks:
        cpus, policy = (frozenset(place[0]), Policy.parse(place[1])) if place else (None, None)
        thread.add(Look(int(time_s * 1e9), name, cpu_s, cpus, policy))
    return thread


def steady(cpus, policy, until_s=10):
    """Returns looks at a thread that uses a third of a CPU and stays where it is."""
    return [(second / 2, second / 6, cpus, policy) for second in range(2 * until_s + 1)]


def outside_s(looks, sched, work=DECODES, times=None):
    return judge(seen(*looks), work, placing(sched), times).thread.outside_s


def is_astray(looks, sched, work=DECODES, times=None):
    return judge(seen(*looks), work, placing(sched), times).astray is not None


class Held(unittest.TestCase):
    def test_thread_in_its_place_is_held_under_every_policy(self):
        for sched, policy in (("other", "other"), ("fifo:5", "fifo:4"), ("rr:5", "rr:5"), ("deadline:15/40", "deadline:11.7/40"),
                              ("quota:15/40", "other")):
            one = judge(seen(*steady({1}, policy)), DECODES, placing(sched), None)
            self.assertEqual((one.thread.outside_s, one.astray, one.was_held), (0, None, True), sched)
            self.assertEqual((one.thread.roles, one.thread.cpus, one.thread.policy), (DECODE, "1", policy))

    def test_thread_on_another_cpu_or_under_another_kind_of_policy_is_astray(self):
        for sched, cpus, policy in (("other", {0}, "other"), ("other", {0, 1}, "other"), ("other", {1}, "fifo:5"),
                                    ("fifo:5", {1}, "other"), ("fifo:5", {1}, "rr:5"), ("rr:5", {0}, "rr:5"),
                                    ("deadline:15/40", {1}, "other"), ("quota:15/40", {0}, "other")):
            self.assertTrue(is_astray(steady(cpus, policy), sched), (sched, cpus, policy))

    def test_thread_is_nowhere_astray_where_nothing_is_placed(self):
        for cpus, policy in (({0}, "other"), ({0, 1}, "fifo:5")):
            for work in (DECODES, HELPS):
                one = judge(seen(*steady(cpus, policy)), work, placing("free"), None)
                self.assertEqual((one.thread.outside_s, one.astray, one.was_held), (0, None, True))

    def test_player_is_not_touched_where_nothing_is_placed(self):
        free = placing("free")
        free.place(None)  # it does not even look at the player
        self.assertEqual((free.cpus, free.enter, free.constrains, free.outside_s(2.0, 1.0)), (None, None, "nothing", None))

    def test_thread_reports_how_long_it_waited_and_where_it_ran(self):
        thread = SeenThread(7)
        for second, (wait_s, on_cpu, moves) in enumerate(((0.1, 0, 0), (0.3, 1, 3), (0.6, 1, 4), (0.7, 0, 5), (None, 0, None))):
            thread.add(Look(second * 10**9, "decoder", 1.0, frozenset({0, 1}), Policy("other"), wait_s, 10 * second, on_cpu, moves))
        found = judge(thread, DECODES, placing("free"), None).thread
        self.assertEqual((found.wait_s, found.slices, found.ran_on, found.moves_seen, found.moves), (0.7, 40, "0,1", 2, 5))

    def test_whole_process_under_a_quota_is_on_the_measured_cpu(self):
        under_quota = placing("quota:15/40", group=object())
        for cpus, expected in (({1}, 0), ({0}, 8 / 3)):
            one = judge(seen(*steady(cpus, "other")), HELPS, under_quota, None)
            self.assertAlmostEqual(one.thread.outside_s, expected)

    def test_helper_belongs_on_the_other_cpus_under_the_ordinary_policy(self):
        self.assertEqual(outside_s(steady({0}, "other"), "fifo:5", HELPS), 0)
        self.assertAlmostEqual(outside_s(steady({1}, "other"), "fifo:5", HELPS), 8 / 3)
        self.assertAlmostEqual(outside_s(steady({0}, "fifo:5"), "fifo:5", HELPS), 8 / 3)

    def test_time_up_to_a_look_counts_for_the_place_that_the_look_saw(self):
        looks = [(0, 0.0, {1}, "other"), (1, 0.2, {1}, "other"), (2, 0.5, {0}, "other"), (3, 0.9, {1}, "other")]
        self.assertAlmostEqual(outside_s(looks, "other"), 0.3)

    def test_start_is_not_judged(self):
        looks = [(0, 0.0, {0, 1}, "other"), (1, 0.8, {0, 1}, "other"), (1.5, 0.9, {1}, "other"), (2, 1.0, {1}, "other")]
        self.assertEqual(outside_s(looks, "other"), 0)

    def test_start_ends_after_two_seconds(self):
        self.assertAlmostEqual(outside_s(steady({0}, "other"), "other"), 8 / 3)
        # A slow start of the program is not a part of these two seconds, if the player reports when it began to play.
        self.assertAlmostEqual(outside_s(steady({0}, "other"), "other", times=TimeOfPlaying(int(5e9), int(9e9))), 2 / 3)

    def test_what_comes_after_playing_is_not_judged(self):
        looks = [*steady({1}, "deadline:15/40"), (10.5, 4.0, {0}, "other"), (11, 5.0, {0}, "other")]
        one = judge(seen(*looks), DECODES, placing("deadline:15/40"), TimeOfPlaying(0, int(10.2e9)))
        self.assertEqual((one.thread.outside_s, one.thread.policy, one.thread.cpus), (0, "deadline:15/40", "1"))
        self.assertEqual(one.thread.cpu_s, 5.0)
        self.assertAlmostEqual(outside_s(looks, "deadline:15/40"), 5 - 20 / 6)

    def test_ended_thread_is_where_it_was(self):
        for cpus, expected in (({1}, 0), ({0}, 8 / 3 + 0.5)):
            self.assertAlmostEqual(outside_s([*steady(cpus, "other"), (10.5, 20 / 6 + 0.5)], "other"), expected)

    def test_grain_is_no_escape(self):
        for used_s, away_s, expected in ((0.1, 0.029, False), (0.1, 0.031, True), (10, 0.49, False), (10, 0.6, True)):
            looks = [(0, 0.0, {1}, "other"), (1, used_s - away_s, {1}, "other"), (2, used_s, {0}, "other")]
            self.assertEqual(is_astray(looks, "other"), expected, (used_s, away_s))

    def test_unseen_thread_is_not_judged(self):
        one = judge(seen((1, 0.1, {0}, "other")), DECODES, placing("other"), TimeOfPlaying(0, 5))
        self.assertEqual((one.thread.outside_s, one.thread.cpus, one.was_held), (0, None, False))


class Verdict(unittest.TestCase):
    def test_sentence_names_thread_place_and_time(self):
        under = placing("fifo:5")
        judged = [judge(seen(*steady({0}, "other")), DECODES, under, None)]
        with self.assertRaises(LabError) as caught:
            require_held(judged, "mpv", under)
        self.assertEqual(str(caught.exception),
                         "mpv's thread decoder (decodes) used 2.67 s of CPU time on CPU 0 under other, and not on CPU 1 under "
                         "fifo as the job wants; see who moved it, and run the job again")

    def test_helper_on_the_measured_cpu_fails_no_job(self):
        under = placing("other")
        require_held([judge(seen(*steady({1}, "other")), HELPS, under, None)], "mpv", under)

    def test_applied_policy_is_that_of_all_threads_that_decode_or_present(self):
        def policies(sched, *threads):
            return policies_of([judge(seen(*looks), work, placing(sched), None) for looks, work in threads])

        main, decoder, sound = (steady({1}, "fifo:5"), PRESENTS), (steady({1}, "fifo:4"), DECODES), (steady({0}, "other"), HELPS)
        self.assertEqual(policies("fifo:5", main, decoder, sound), ["fifo:5", "fifo:4"])
        short = ([(0, 0.0, {1}, "other")], Work("unknown", BOTH))
        self.assertEqual(policies("fifo:5", main, short), ["fifo:5"])
        self.assertEqual(policies("fifo:5", (steady({1}, "other"), PRESENTS)), ["other"])
        self.assertEqual(placing("fifo:5").applied(["fifo:5", "fifo:4", "fifo:5"]), "fifo:5 + fifo:4")

    def test_parts_of_a_reservation_that_the_player_divides_itself_count_together(self):
        itself = replace(placing("deadline:11.068/40"), by_itself=True)
        self.assertEqual(itself.applied(["deadline:2.43496/40", "deadline:8.63304/40"]), "deadline:11.068/40")
        self.assertEqual(itself.applied(["deadline:11.068/40"]), "deadline:11.068/40")
        self.assertEqual(itself.applied(["deadline:2/40", "other"]), "deadline:2/40 + other")
        self.assertIsNone(itself.applied([]))
        other = placing("deadline:10/40/divided").applied(["deadline:2/40", "deadline:8/40"])
        self.assertEqual(other, "deadline:2/40 + deadline:8/40")


class HeldTime(unittest.TestCase):
    def threads(self, *found):
        return [Thread(tid=tid, name="it", work="it", cpu_s=cpu_s, roles=roles) for tid, (cpu_s, roles) in enumerate(found)]

    def test_only_the_main_thread_is_held(self):
        self.assertEqual(held_cpu_s(self.threads((2.0, BOTH), (0.5, ())), 3.0), 2.0)
        self.assertEqual(held_cpu_s(self.threads((2.0, BOTH)), 3.0), 2.0)

    def test_unseen_end_of_several_held_threads_is_divided_as_the_seen_time(self):
        threads = self.threads((2.0, PRESENT), (3.0, DECODE), (1.0, ()))
        self.assertAlmostEqual(held_cpu_s(threads, 6.0), 5.0)
        self.assertAlmostEqual(held_cpu_s(threads, 6.4), 5.3)

    def test_main_thread_without_a_role_is_not_held(self):
        self.assertAlmostEqual(held_cpu_s(self.threads((2.0, ()), (3.0, DECODE)), 5.0), 3.0)


if __name__ == "__main__":
    unittest.main()
