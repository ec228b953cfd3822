# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what the laboratory makes of reservations that are found while a player plays. The players are invented.

Not covered: dlex-sched itself (tests/sched), and real players (the agenda tune).
"""

import tempfile
import unittest
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from outside import with_packages

with_packages("pydantic")

from dlex_bench.agenda.job import JobLoad, rtapp_sched
from dlex_bench.agenda.jobs import expand
from dlex_bench.agenda.reader import parse_agenda
from dlex_bench.job import placing as placing_module
from dlex_bench.job.figures import with_reserved
from dlex_bench.job.placing import Placing
from dlex_bench.job.result import Figures, TunedReport
from dlex_bench.job.tuning import read_tuning
from dlex_bench.machine.policy import Policy
from dlex_bench.rig.players.ffplay import FfplayAdapter
from dlex_bench.rig.players.mpv import MpvAdapter
from dlex_bench.rig.players.threads import DECODE, PRESENT, Look, Work

MEASURED, OTHERS = 1, frozenset({0})
HEADER = "second,hz,reserved,used,throttled,tuned,threads,limited,off\n"
WORKS = {10: Work("presents", PRESENT), 11: Work("decodes", DECODE), 12: Work("sound")}


@dataclass
class Player:
    """A player with three threads that have used this CPU time, on the CPUs where they belong."""

    cpu_s: tuple[float, float, float]
    process: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(pid=10))
    policy: str = "other"

    @property
    def present(self):
        return {tid: Look(0, "", cpu_s, frozenset({MEASURED} if WORKS[tid].roles else OTHERS), Policy.parse(self.policy))
                for tid, cpu_s in zip(WORKS, self.cpu_s, strict=True)}

    def work_of(self, tid, _name):
        return WORKS[tid]


def placed(sched, player, by_itself=False):
    """Returns the policies that placing this player sets, by thread."""
    with mock.patch.object(placing_module, "apply") as apply:
        Placing(Policy.parse(sched), by_itself, MEASURED, OTHERS).place(player)
    return {call.args[1]: str(call.args[0]) for call in apply.call_args_list}


class Placed(unittest.TestCase):
    def test_tuned_player_keeps_the_policies_that_it_has(self):
        for policy in ("other", "deadline:4/40"):
            self.assertEqual(placed("deadline:tuned", Player((1, 2, 3), policy=policy)), {})

    def test_fixed_reservation_is_divided_by_the_cpu_time_of_the_threads_that_count(self):
        self.assertEqual(placed("deadline:15/40/divided", Player((1, 2, 3))), {10: "deadline:5/40", 11: "deadline:10/40"})

    def test_thread_that_uses_next_to_nothing_gets_half_a_millisecond(self):
        found = placed("deadline:15/40/divided", Player((0.0, 2, 3)))
        self.assertAlmostEqual(Policy.parse(found[10]).runtime_ms, 0.5, delta=0.02)
        self.assertAlmostEqual(sum(Policy.parse(text).runtime_ms for text in found.values()), 15, places=4)

    def test_nothing_is_divided_before_the_shares_are_known(self):
        self.assertEqual(placed("deadline:15/40/divided", Player((0.1, 0.2, 9))), {})

    def test_nice_value_is_set_also_for_a_player_that_places_itself(self):
        for by_itself in (False, True):
            self.assertEqual(placed("nice:-11", Player((1, 2, 3)), by_itself), {10: "nice:-11", 11: "nice:-11"})

    def test_ordinary_and_reserved_threads_are_held_when_tuned(self):
        for policy, expected in (("other", True), ("deadline:4/40", True), ("fifo:5", False)):
            look = Look(0, "", 1.0, frozenset({MEASURED}), Policy.parse(policy))
            self.assertEqual(Placing(Policy.parse("deadline:tuned"), False, MEASURED, OTHERS).holds(look, DECODE), expected)

    def test_players_of_several_threads_play_when_each_gets_a_reservation(self):
        for adapter in (MpvAdapter(), FfplayAdapter()):
            for sched, plays in (("deadline:15/40", False), ("deadline:15/40/divided", True), ("deadline:tuned", True)):
                self.assertEqual(adapter.applicable(SimpleNamespace(sched=sched)) is None, plays, (adapter.name, sched))


class Report(unittest.TestCase):
    def read(self, rows):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "tune.csv"
            path.write_text(HEADER + rows)
            return read_tuning(path)

    def test_seconds_with_reservations_make_the_means(self):
        found = self.read("1,0,0,0,0,0,3,0,0\n2,25,0.2,0.1,1,2,3,0,0\n3,25,0.3,0.2,2,2,3,1,0\n")
        self.assertEqual((found.first_s, found.reserved_most, found.throttled, found.limited_s), (2, 0.3, 3, 1))
        self.assertAlmostEqual(found.reserved, 0.25)
        self.assertAlmostEqual(found.used, 0.15)

    def test_player_without_a_rate_has_no_figures(self):
        for rows in ("", "1,0,0,0,0,0,3,0,0\n"):
            found = self.read(rows)
            self.assertEqual((found.reserved, found.used, found.first_s, found.throttled), (None, None, None, 0))

    def test_reserved_part_of_fixed_and_tuned_policies(self):
        figures = Figures(cpu_ms_per_frame_held=6.0, frame_ms=40.0)
        fixed = with_reserved(figures, Policy.parse("deadline:10/40"), None)
        self.assertEqual((fixed.reserved, fixed.reserved_used), (0.25, 0.15))
        tuned = with_reserved(figures, Policy.parse("deadline:tuned"), TunedReport(reserved=0.2, used=0.1))
        self.assertEqual((tuned.reserved, tuned.reserved_used), (0.2, 0.1))
        self.assertIsNone(with_reserved(figures, Policy.parse("fifo:5"), None).reserved)


class Loads(unittest.TestCase):
    def test_ordinary_programs_run_beside_rt_app(self):
        agenda = """
workloads: [{id: a, name: mplayer}]
config: {defaults: {clip: {recipe: stamped_small}, load: {kind: rtapp, sched: deadline, stress: 4}}}
"""
        job = expand(parse_agenda(agenda, "made up"))[0]
        self.assertEqual((job.load.kind, job.load.stress), ("rtapp", 4))

    def test_load_without_them_is_described_as_before(self):
        agenda = """
workloads: [{id: a, name: mplayer}]
config: {defaults: {clip: {recipe: stamped_small}, load: {kind: rtapp}}}
"""
        self.assertEqual(expand(parse_agenda(agenda, "made up"))[0].load.to_json(), {"kind": "rtapp", "sched": "same"})

    def test_tasks_beside_a_niced_player_are_ordinary_and_beside_a_tuned_one_reserved(self):
        load = JobLoad(kind="rtapp", sched="same")
        self.assertEqual([rtapp_sched(it, load) for it in ("nice:-11", "deadline:tuned", "deadline:15/40/divided", "fifo:5")],
                         ["other", "deadline", "deadline", "fifo:5"])


if __name__ == "__main__":
    unittest.main()
