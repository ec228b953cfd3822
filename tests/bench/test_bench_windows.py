# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the experiment with players by their windows: settings, scenarios, findings, and what is read. The runs are invented.

Not covered: how delays are recorded and read (test_bench_switches.py), the dispatcher (tests/sched), and a whole run, which needs
root and two minutes.
"""

import io
import json
import sys
import unittest
from contextlib import nullcontext, redirect_stdout
from dataclasses import asdict, replace
from pathlib import Path
from unittest import mock

from outside import Folder, with_packages

with_packages("numpy, scipy, matplotlib, yaml, rich, pydantic")

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "sched"))

from dlex_bench.errors import LabError
from dlex_bench.machine.domain import Domain
from dlex_bench.machine.policy import Policy
from dlex_bench.machine.run_delay import Wait
from dlex_bench.windows import experiment, window_run
from dlex_bench.windows.cli import windows_parser
from dlex_bench.windows.conditions import (
    ALONE,
    BEST_EFFORT,
    DEADLINE,
    DISTURBED,
    DWCS,
    EVENTS,
    FIFO,
    FULL,
    KINDS,
    OTHER,
    QUICK,
    WAYS,
    PictureCost,
    WindowSetting,
    alone_settings,
    members_scenario,
    members_utilisation,
    overload_settings,
    server_settings,
    window_policy,
    window_scenario,
)
from dlex_bench.windows.experiment import (
    WindowsOptions,
    WindowsResults,
    folder_of_run,
    measure_windows,
    windows_chapters,
    windows_table,
)
from dlex_bench.windows.figure import NAMES
from dlex_bench.windows.findings import MembersRun, WindowRun, members_findings, windows_findings
from dlex_bench.windows.stage_players import WindowStage, player_command
from dlex_bench.windows.window_run import members_from, pictures_of_logs, pictures_of_records
from dlex_sched.scenario import Scenario
from written_results import WritesResults

PROJECT = Path(__file__).resolve().parents[2]
COST = PictureCost(3.4)
MEMBERS = MembersRun(600.0, 900, 900, 0.99, 60000, 2, 80.0)
RUN = WindowRun(250, 2.0, 8.0, 30.0, 400, 1.5, 7.0, 31.0, 0, 0, (0.5, 8.0), 100, 100, 50, 5, 90.0, 250, 10, 50, 49, 5.0)
KERNEL_RUN = replace(RUN, kept=None, windows=None, events=None, swaps=None, late_us_max=None)


class Settings(unittest.TestCase):
    def test_each_number_of_players_is_played_in_each_way(self):
        found = [(it.players, it.way) for it in alone_settings("mplayer", FULL)]
        ways = (OTHER, FIFO, DEADLINE, DWCS, EVENTS)
        self.assertEqual(sorted(found), sorted((count, way) for count in range(1, 11) for way in ways))
        self.assertEqual([(it.players, it.way) for it in server_settings("mplayer", FULL)],
                         [(count, way) for count in (1, 2, 3, 4) for way in (DWCS, EVENTS)])

    def test_attributes_are_the_papers_in_slots(self):
        self.assertEqual((COST.slot_ms, COST.period_slots), (4, 10))
        self.assertEqual(PictureCost(0.5).period_slots, 10)
        overload = overload_settings("dlex-play", COST)
        self.assertEqual({it.players for it in overload}, {10})
        self.assertAlmostEqual(COST.utilisation(overload[0]), 1.2)
        self.assertAlmostEqual(COST.utilisation(WindowSetting("dlex-play", 10, DWCS)), 0.8)

    def test_players_want_what_their_pictures_cost(self):
        self.assertAlmostEqual(COST.wanted(WindowSetting("dlex-play", 10, DWCS)), 0.85)
        self.assertAlmostEqual(COST.wanted(WindowSetting("dlex-play", 10, DWCS, BEST_EFFORT)), 0.85)
        self.assertAlmostEqual(COST.wanted(WindowSetting("dlex-play", 10, DWCS, DISTURBED)), 1.35)

    def test_longer_pictures_have_longer_slots_and_fewer_players_fill_the_cpu(self):
        for ms, slot_ms, players in ((4.1, 5, 8), (7.0, 8, 5), (12.0, 20, 2), (40.0, 40, 1)):
            cost = PictureCost(ms)
            self.assertEqual((cost.slot_ms, overload_settings("mplayer", cost)[0].players), (slot_ms, players))
            self.assertAlmostEqual(cost.slot_ms * cost.period_slots, 40)
        with self.assertRaisesRegex(LabError, "too slow for the film"):
            PictureCost(40.1).slot_ms  # noqa: B018

    def test_scenario_is_what_dwcs_reads(self):
        cases = ((ALONE, (1, 3), False, []), (BEST_EFFORT, (1, 5), "1/5", ["rest"]),
                 (DISTURBED, (1, 2, 3, 4, 5), False, ["disturber"]))
        for beside, rules, server, others in cases:
            for way in (DWCS, EVENTS):
                setting = WindowSetting("dlex-play", 2, way, beside)
                text = yaml.safe_dump(window_scenario(setting, COST, ["exec a", "exec b"]), sort_keys=False)
                read = Scenario.model_validate(yaml.safe_load(text))
                self.assertEqual(list(read.tasks), ["player-1", "player-2", *others])
                self.assertEqual((read.rules, read.server, read.slot), (rules if way == EVENTS else (), server, 4))
                player = read.tasks["player-2"]
                self.assertEqual((player.window, player.period, player.service, player.work_conserving), ("1/5", 10, 1, True))
                self.assertEqual(player.events, "wake" if way == EVENTS else None)
        disturber = read.tasks["disturber"]
        self.assertEqual((disturber.window, disturber.period, disturber.service, disturber.work_conserving), ("1/5", 2, 1, False))

    def test_members_need_nine_tenths_and_would_take_more_than_the_cpu(self):
        read = Scenario.model_validate(yaml.safe_load(yaml.safe_dump(members_scenario())))
        needs = [(1 - int(task.window.split("/")[0]) / 10) * task.service / task.period for task in read.tasks.values()]
        self.assertLess(sum(needs), 1)
        self.assertAlmostEqual(sum(needs) * (read.slot - read.leave) / read.slot, 0.9)
        self.assertGreater(read.leave / read.slot, 0.05)  # which the kernel keeps
        self.assertAlmostEqual(members_utilisation(), 0.9)
        self.assertEqual({(task.window.split("/")[1], task.period, task.service) for task in read.tasks.values()}, {("10", 10, 1)})
        self.assertGreater(sum(task.service / task.period for task in read.tasks.values()), 1)

    def test_policies_are_those_of_the_kernel_and_fit(self):
        for way in (OTHER, DWCS, EVENTS):
            self.assertEqual(window_policy(WindowSetting("mplayer", 3, way), COST), "other")
        self.assertEqual(Policy.parse(window_policy(WindowSetting("mplayer", 3, FIFO), COST)).kind, "fifo")
        for players in FULL.counts:
            policy = Policy.parse(window_policy(WindowSetting("mplayer", players, DEADLINE), COST))
            self.assertLess(players * policy.runtime_ms / policy.period_ms, 0.9)
        one = Policy.parse(window_policy(WindowSetting("mplayer", 1, DEADLINE), COST))
        self.assertAlmostEqual(one.runtime_ms, 1.2 * COST.ms)

    def test_estimate_counts_all_runs(self):
        once = [*alone_settings("mplayer", FULL), *server_settings("mplayer", FULL)]
        settings = len([*once, *5 * overload_settings("mplayer", COST)])
        self.assertGreater(FULL.estimated_s(2, 1), FULL.members_s + 2 * settings * FULL.seconds)
        self.assertGreater(FULL.estimated_s(2, 2) - FULL.estimated_s(2, 1), 2 * settings * FULL.seconds)
        self.assertLess(QUICK.estimated_s(2, 1), 150)
        self.assertRegex(" ".join(windows_parser().format_help().split()), r"two CPUs; \d+½? min")


class Findings(unittest.TestCase):
    def setUp(self):
        self.kind = "dlex-play"

    def words(self, runs, utilisation=0.5):
        """Returns the words of all findings by a part of their names."""
        found = windows_findings(runs, dict.fromkeys(runs, utilisation), [self.kind])
        keys = ("no record", "dwcs: at least", "events: at least", "Figure 6", "Figure 7", "Figure 8", "under other", "under fifo",
                "under deadline")
        self.assertEqual(len(found), len(keys))
        return {key: next(it.word for it in found if key in it.name) for key in keys}

    def pairs(self, way, reference, beside, ratio):
        """Returns runs of one way whose mean delays are `ratio` of those of the other one."""
        return {WindowSetting(self.kind, 7, name, beside): [replace(RUN, mean_ms=ms + it / 100) for it in range(5)]
                for name, ms in ((way, 10.0 * ratio), (reference, 10.0))}

    def test_members_must_have_every_window(self):
        for kept, windows, word in ((90, 90, "met"), (89, 90, "missed"), (0, 0, "not measured")):
            self.assertEqual(members_findings(replace(MEMBERS, kept=kept, windows=windows))[0].word, word)

    def test_members_must_have_used_what_counts_as_their_service(self):
        for used, word in ((0.96, "met"), (0.9, "missed")):
            self.assertEqual(members_findings(replace(MEMBERS, used=used))[1].word, word)

    def test_nothing_is_known_without_runs(self):
        self.assertEqual(set(self.words({}).values()), {"not measured"})

    def test_lost_record_is_reported(self):
        setting = WindowSetting(self.kind, 1, OTHER)
        self.assertEqual(self.words({setting: [RUN]})["no record"], "met")
        self.assertEqual(self.words({setting: [RUN, replace(RUN, lost_records=1)]})["no record"], "missed")

    def test_windows_count_where_the_cpu_is_enough(self):
        many = replace(RUN, kept=1000, windows=1000)
        runs = {WindowSetting(self.kind, 1, DWCS): [many, many], WindowSetting(self.kind, 2, EVENTS): [replace(many, kept=970)]}
        words = self.words(runs, 0.9)
        self.assertEqual((words["dwcs: at least"], words["events: at least"]), ("met", "missed"))
        words = self.words(runs, 0.91)
        self.assertEqual((words["dwcs: at least"], words["events: at least"]), ("not measured", "not measured"))
        few = {WindowSetting(self.kind, 1, DWCS): [replace(RUN, kept=20, windows=20)]}
        self.assertEqual(self.words(few)["dwcs: at least"], "not certain")

    def test_events_are_judged_against_runs_without_them(self):
        for beside, key in ((ALONE, "Figure 6"), (BEST_EFFORT, "Figure 7")):
            for ratio, word in ((0.8, "holds"), (1.2, "does not hold")):
                self.assertEqual(self.words(self.pairs(EVENTS, DWCS, beside, ratio))[key], word)

    def test_events_in_overload_have_a_goal(self):
        for ratio, word in ((0.3, "met"), (0.9, "missed")):
            self.assertEqual(self.words(self.pairs(EVENTS, DWCS, DISTURBED, ratio), 1.2)["Figure 8"], word)
        runs = {setting: some[:3] for setting, some in self.pairs(EVENTS, DWCS, DISTURBED, 0.3).items()}
        self.assertEqual(self.words(runs)["Figure 8"], "not certain")

    def test_each_policy_of_the_kernel_is_compared(self):
        for way in (OTHER, FIFO, DEADLINE):
            for ratio, word in ((0.5, "holds"), (1.5, "does not hold")):
                self.assertEqual(self.words(self.pairs(EVENTS, way, ALONE, ratio))[f"under {way}"], word)

    def test_numbers_of_players_are_compared_with_themselves(self):
        """With more players all wait longer, under each policy."""
        runs = {WindowSetting(self.kind, count, way): [replace(RUN, mean_ms=count**3 * share)]
                for count in range(1, 9) for way, share in ((EVENTS, 0.9), (DWCS, 1.0))}
        self.assertEqual(self.words(runs)["Figure 6"], "holds")


class Reading(Folder):
    def test_members_are_all_tasks(self):
        figures = ((4, 1485), (5, 1455))
        tasks = [{"windows_kept": kept, "windows_lost": 1, "served": 100, "cpu_ms": cpu_ms} for kept, cpu_ms in figures]
        written = {"seconds": 12.0, "slots": 1200, "lost_slots": 3, "late_us_max": 40.0, "tasks": tasks}
        self.assertEqual(members_from(written), MembersRun(12.0, 9, 11, 0.97, 1200, 3, 40.0))

    def test_service_is_that_of_the_players(self):
        path = self.folder / "dwcs.json"
        tasks = [{"name": name, "windows_kept": kept, "windows_lost": 1, "events": 7, "swaps": 2}
                 for name, kept in (("player-1", 4), ("player-2", 5), ("disturber", 99))]
        path.write_text(json.dumps({"late_us_max": 50.0, "tasks": tasks}))
        self.assertEqual(window_run._service(path), {"kept": 9, "windows": 11, "events": 14, "swaps": 4, "late_us_max": 50.0})
        self.assertEqual(set(window_run._service(self.folder / "none").values()), {None})

    def record(self, number, verdicts, ended="end"):
        """Writes a record of dlex-play and returns its folder."""
        record = self.folder / f"player-{number}"
        record.mkdir()
        rows = ["pts_ns,type,droppable,decode_cpu_ns,verdict,shown_ns,skew_ns,decode_end_ns"]
        rows += [f"{40 * place},P,0,1,{verdict},{7 if verdict == 'shown' else ''},{3000000 if verdict == 'shown' else ''},"
                 for place, verdict in enumerate(verdicts)]
        (record / "frames.csv").write_text("\n".join(rows) + "\n")
        (record / "run.json").write_text(json.dumps({"ended": ended}))
        return record

    def test_pictures_are_those_of_all_records_in_windows_that_follow_each_other(self):
        one_each = ["shown", "late", "shown", "shown", "shown"] * 2 + ["aborted"] * 3  # 3 are no whole window
        two_in_one = ["skipped", "aborted", *["shown"] * 8]
        found = pictures_of_records([self.record(1, one_each), self.record(2, two_in_one), self.folder / "ended-before"])
        self.assertEqual(found, {"pictures": 23, "lost": 7, "picture_windows": 4, "picture_windows_kept": 3, "skew_ms": 3.0})
        self.assertEqual(set(pictures_of_records([self.folder / "none"]).values()), {None})

    def test_record_without_a_shown_picture_counts_only_if_a_signal_ended_the_player(self):
        ended = self.record(1, ["late"], "signal")
        self.assertEqual(pictures_of_records([ended])["pictures"], None)
        with self.assertRaisesRegex(LabError, "no picture was shown"):
            pictures_of_records([self.record(2, ["late"])])

    def test_pictures_of_mplayer_are_in_its_status_lines(self):
        log = self.folder / "player-1.log"
        log.write_text("A:   0.1 V:   0.1 A-V:  0.010 ct:  0.000   0/  0 ??% ??% ??,?% 0 0 \r"
                       "A:   0.5 V:   0.5 A-V:  0.030 ct:  0.000   0/  0  5%  0%  0.9% 4 0 \n\nExiting... (End of file)\n")
        found = pictures_of_logs([log], 2.0)
        self.assertEqual((found["pictures"], found["lost"], found["picture_windows"]), (50, 4, None))
        self.assertAlmostEqual(found["skew_ms"], 20)
        log.write_text("")
        self.assertEqual(set(pictures_of_logs([log], 2.0).values()), {None})

    def test_delays_are_those_of_the_main_threads_and_of_all(self):
        seen = window_run._Seen([10, 20], {10, 11, 20})
        waits = [Wait(10, 0, 1000), Wait(11, 0, 9000), Wait(20, 0, 3000), Wait(99, 0, 99000), Wait(10, 5000, 7000, is_over=False)]
        found = window_run._delays(waits, seen, "2 players")
        self.assertEqual((found["wake_ups"], found["mean_ms"], found["max_ms"], found["unfinished"]), (3, 2.0, 3.0, 1))
        self.assertEqual((found["all_wake_ups"], found["all_mean_ms"], found["all_max_ms"]), (4, 3.75, 9.0))
        self.assertEqual(found["first_ms"], (1.0, 2.0))
        with self.assertRaisesRegex(LabError, "no wake-up of a player was recorded"):
            window_run._delays([waits[3]], seen, "2 players")

    def test_players_decode_and_present_in_one_thread_without_devices(self):
        stage = WindowStage(Path("/root"), Path("film.mp4"), QUICK, Domain(0, frozenset()))
        own = player_command(stage, "dlex-play", 3, Path("record"))
        self.assertLessEqual({"--queue=0", "--vo=null", "--ao=null", "--length=3", "--record=record"}, set(own))
        with mock.patch("dlex_bench.windows.stage_players.require_installed", return_value="mplayer"):
            command = " ".join(player_command(stage, "mplayer", 3))
        for part in ("-vo null", "-ao null", "-lavdopts threads=1", "-endpos 3 film.mp4"):
            self.assertIn(part, command)


class Results(WritesResults, Folder):
    """The whole command with invented runs."""

    MEASURES = ("_run", "_members", "_cost")

    def measure(self, out, **replaced):
        stand_ins = {
            "require_recording": mock.Mock(), "require_program": mock.Mock(), "require_installed": mock.Mock(),
            "film_file": mock.Mock(return_value=Path("film.mp4")), "aside": mock.Mock(return_value=nullcontext()),
            "_run": mock.Mock(return_value=asdict(RUN)), "_members": mock.Mock(return_value=asdict(MEMBERS)),
            "_cost": mock.Mock(return_value=3.4), "own_cpu": mock.Mock(return_value=nullcontext(Domain(0, frozenset({1})))),
            "only_measurement": mock.Mock(return_value=nullcontext()),
        }
        with mock.patch.multiple(experiment, **{**stand_ins, **replaced}), redirect_stdout(io.StringIO()):
            return measure_windows(WindowsOptions(PROJECT, True, 2, KINDS, None, out))

    def test_all_runs_are_written_with_the_commit_and_the_pictures(self):
        self.measure(self.folder / "out")
        written = json.loads((self.folder / "out/windows.json").read_text())
        self.assertIn("commit", written)
        settings = len(WAYS) * len(QUICK.counts) + 2 * len(QUICK.server_counts) + 3 * QUICK.overloads
        self.assertEqual(len(written["runs"]), 2 * 2 * settings)
        self.assertEqual((written["costs_ms"], written["slots_ms"]), (dict.fromkeys(KINDS, 3.4), dict.fromkeys(KINDS, 4.0)))
        self.assertEqual(written["runs"][0]["first_ms"], [0.5, 8.0])
        page = (self.folder / "out/windows.md").read_text()
        self.assertIn("Members that always compute", page)
        self.assertIn("900 of 900 windows", page)
        self.assertEqual({it.name for it in (self.folder / "out").glob("*.png")}, set(NAMES))

    def test_interrupted_experiment_continues_with_the_run_that_is_missing(self):
        runs = mock.Mock(side_effect=[*[asdict(RUN)] * 3, KeyboardInterrupt])
        with self.assertRaises(KeyboardInterrupt):
            self.measure(self.folder / "out", _run=runs)
        rest = mock.Mock(return_value=asdict(RUN))
        never = mock.Mock(side_effect=AssertionError)
        self.measure(self.folder / "out", _run=rest, _members=never, _cost=never)
        settings = len(WAYS) * len(QUICK.counts) + 2 * len(QUICK.server_counts) + 3 * QUICK.overloads
        self.assertEqual(rest.call_count, 2 * 2 * settings - 3)

    def test_each_run_has_its_own_folder(self):
        settings = [*alone_settings("mplayer", FULL), *server_settings("mplayer", FULL), *overload_settings("mplayer", COST)]
        folders = {folder_of_run(Path("out"), setting, number) for setting in settings for number in (1, 2)}
        self.assertEqual(len(folders), 2 * len(settings))
        self.assertIn(Path("out/1_mplayer_beside_a_best-effort_program_under_dwcs_with_events-2"), folders)

    def test_table_has_a_row_for_each_setting(self):
        of_mplayer = replace(KERNEL_RUN, picture_windows=None, picture_windows_kept=None, skew_ms=None)
        runs = {WindowSetting("dlex-play", 1, DWCS): [RUN, replace(RUN, max_ms=44.0, kept=99)],
                WindowSetting("mplayer", 1, OTHER): [of_mplayer]}
        table = windows_table(WindowsResults(MEMBERS, {"dlex-play": COST, "mplayer": COST}, runs))
        rows = list(zip(*(column.cells for column in table.columns), strict=True))
        self.assertEqual(rows[0][:9], ("1 dlex-play under dwcs", "8%", "8%", "2.00", "8.0", "44.0", "1.50", "31.0", "250"))
        self.assertEqual(rows[0][9:], ("99.5%", "100", "10.0%", "4.0%", "98.0%", "5.0", "90"))
        self.assertEqual(rows[1][9:], ("-", "-", "-", "4.0%", "-", "-", "-"))

    def test_chapters_name_the_film_and_the_costs(self):
        runs = {WindowSetting("mplayer", 1, OTHER): [KERNEL_RUN]}
        members, players = windows_chapters(WindowsResults(MEMBERS, {"mplayer": COST}, runs), FULL, Path("a/film.mp4"))
        self.assertIn("600 s, utilisation 0.9", members.about)
        self.assertIn("10 s of film.mp4", players.about)
        self.assertIn("mplayer 3.4 ms a picture in slots of 4 ms", players.about)


if __name__ == "__main__":
    unittest.main()
