# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what the laboratory makes of reservations that are found while a player plays. The players are invented.

Not covered: dlex-sched itself (tests/sched), and real players (the agenda tune).
"""

import os
import tempfile
import unittest
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from outside import Folder, wait_until, with_packages

with_packages("pydantic, yaml, rich")

import made_up
from dlex_bench.agenda.job import JobLoad, rtapp_sched
from dlex_bench.agenda.jobs import expand
from dlex_bench.agenda.reader import parse_agenda
from dlex_bench.analysis.results_frame import rows
from dlex_bench.batch.one import result_line
from dlex_bench.errors import LabError
from dlex_bench.job import placing as placing_module
from dlex_bench.job.figures import with_reserved
from dlex_bench.job.placing import Placing
from dlex_bench.job.result import Figures, TunedReport
from dlex_bench.job.tuning import LOG, ROWS, read_tuning, tuning
from dlex_bench.machine.policy import Policy
from dlex_bench.report.facts import batch_facts
from dlex_bench.report.gather import Batch
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
    def read(self, seconds):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "tune.csv"
            path.write_text(HEADER + seconds)
            return read_tuning(path)

    def test_seconds_with_reservations_make_the_means(self):
        found = self.read("1,0,0,0,0,0,3,0,0\n2,25,0.2,0.1,1,2,3,0,0\n3,25,0.3,0.2,2,2,3,1,0\n")
        self.assertEqual((found.first_s, found.reserved_most, found.throttled, found.limited_s), (2, 0.3, 3, 1))
        self.assertAlmostEqual(found.reserved, 0.25)
        self.assertAlmostEqual(found.used, 0.15)

    def test_player_without_a_rate_has_no_figures(self):
        for seconds in ("", "1,0,0,0,0,0,3,0,0\n"):
            found = self.read(seconds)
            self.assertEqual((found.reserved, found.used, found.first_s, found.throttled), (None, None, None, 0))

    def test_reserved_part_of_fixed_and_tuned_policies(self):
        figures = Figures(cpu_ms_per_frame_held=6.0, frame_ms=40.0)
        fixed = with_reserved(figures, Policy.parse("deadline:10/40"), None)
        self.assertEqual((fixed.reserved, fixed.reserved_used), (0.25, 0.15))
        tuned = with_reserved(figures, Policy.parse("deadline:tuned"), TunedReport(reserved=0.2, used=0.1))
        self.assertEqual((tuned.reserved, tuned.reserved_used), (0.2, 0.1))
        self.assertIsNone(with_reserved(figures, Policy.parse("fifo:5"), None).reserved)


class Running(Folder):
    """A program stands for dlex-sched. It says something, records a second, and runs until SIGINT."""

    def tune(self, said, row="1,25,0.2,0.1,0,1,3,0,0"):
        program, record = self.folder / "dlex-sched", self.folder / ROWS
        program.write_text(f"#!/bin/sh\ntrap 'exit 0' INT\necho '{said}' >&2\nprintf '{HEADER.strip()}\\n{row}\\n' >{record}\n"
                           "while :; do sleep 0.05; done\n")
        program.chmod(0o755)
        setting = SimpleNamespace(directory=self.folder, driver_cpus=os.sched_getaffinity(0),
                                  context=SimpleNamespace(program=lambda _place: program))
        with tuning(setting, os.getpid()) as running:
            self.assertTrue(wait_until(lambda: record.exists() and row in record.read_text()))
        return running.report

    def test_what_was_reserved_is_reported(self):
        self.assertEqual(self.tune("dlex-sched: --check finds out whether it helps").reserved, 0.2)

    def test_play_in_which_reservations_were_only_shown_is_no_result(self):
        with self.assertRaises(LabError) as caught:
            self.tune("dlex-sched tune: nothing will be reserved, only shown: it could not be recorded for undoing (No space)")
        self.assertEqual(str(caught.exception), "dlex-sched reserves nothing here: it could not be recorded for undoing (No space)")
        self.assertTrue((self.folder / LOG).exists())


class InVain(unittest.TestCase):
    """Plays under deadline:tuned in which nothing was ever reserved are results, and marked."""

    def runs(self):
        found = [made_up.changed(made_up.result("w", number), tuned={"reserved": part}) for number, part in ((1, 0.2), (2, None))]
        return [*found, made_up.result("w", 3)]

    def test_line_of_the_job_says_it(self):
        self.assertEqual(["nothing was reserved" in result_line(run) for run in self.runs()], [False, True, False])

    def test_report_counts_them(self):
        facts = dict(batch_facts(Batch(Path("nowhere"), rows(self.runs()))))
        self.assertIn("in 1 of 2 runs", facts["not tuned"])
        self.assertNotIn("not tuned", dict(batch_facts(Batch(Path("nowhere"), rows(self.runs()[:1])))))


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
