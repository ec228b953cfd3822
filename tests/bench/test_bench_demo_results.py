# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what the demo makes of its plays: figures, tables, picture, folder. The plays are simulated, and some of them fail.

Not covered: a whole demo with real plays (see test_bench_demo.py).
"""

import contextlib
import errno
import io
import itertools
import json
import os
import re
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

from outside import Folder, with_packages

with_packages("matplotlib, pydantic, rich")

from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from rich.console import Console

from dlex_bench.demo import demo, plot, runs
from dlex_bench.demo.demo import QUICK, _plan_s
from dlex_bench.demo.output import COLUMNS, MARKER, group_entry, publish, workshop
from dlex_bench.demo.plot import Picture, draw
from dlex_bench.demo.runs import DROP_POLICIES, Demand, Load, Run, Setup, Stopped, assess, figures, ranges
from dlex_bench.errors import EXIT_SETUP, LabError, TimedOut
from dlex_bench.files import write_json
from dlex_bench.record import Frame
from dlex_bench.rig.load.throttle import Supply
from dlex_bench.table import WIDE, medians_table


class Outputs(Folder):
    def setUp(self):
        super().setUp()
        self.loads = [Load(Demand(0.3, 100, 0.04), 0.3 / ratio) for ratio in (0.7, 1.4, 2.2)]
        verdicts = ("shown", "shown", "aborted", "late", "skipped")
        self.runs = {}
        for load in self.loads:
            for policy in DROP_POLICIES:
                frames = []
                for number in range(100):
                    verdict = verdicts[number % 5]
                    skew_ns = number * 3_000_000 if verdict == "shown" else None
                    frames.append(Frame(number * 40_000_000, "P", False, 3_000_000, verdict, skew_ns, skew_ns))
                if policy.name == "none" and load.ratio > 1:
                    frames = frames[:60]  # it was ended early
                run = Run(policy, load, self.folder, frames, Supply(1.0, 5.0, True))
                run.summary = {"shown": 40, "aborted": 20, "skipped": 20, "late": 20, "skew_ms_mean": 80.0, "skew_ms_sd": 40.0,
                               "rmse_q16_sum": 123456.7, "longest_freeze_ms": 640.0}
                self.runs[load, policy] = [run] * 2

    def test_new_results_replace_only_the_old_results(self):
        for mark in ("demand", "calibration"):  # the latter is of a former version
            out = self.folder / f"out-{mark}"
            for name in (f"runs/{mark}/old", "runs/1-none/old"):
                (out / name).mkdir(parents=True)
            (out / "notes").write_text("mine")
            (out / "summary.json").write_text("old")
            with workshop(out) as folder:
                (folder / "runs/demand").mkdir()
                (folder / "runs/demand/qoe.json").write_text(f'"{folder}/runs"')
                for name in ("summary.json", "timeline.png"):
                    (folder / name).write_text("new")
                self.assertEqual((out / "summary.json").read_text(), "old")
                publish(folder, out.resolve())
            self.assertEqual(sorted(path.name for path in out.iterdir()), ["notes", "runs", "summary.json", "timeline.png"])
            self.assertEqual([path.name for path in (out / "runs").iterdir()], ["demand"])
            self.assertEqual((out / "runs/demand/qoe.json").read_text(), f'"{out.resolve()}/runs"')
            self.assertEqual((out / "summary.json").read_text(), "new")

    def test_failed_publishing_leaves_the_previous_results(self):
        out = self.folder / "out"
        (out / "runs/demand/old").mkdir(parents=True)
        for name in ("summary.json", "timeline.png"):
            (out / name).write_text("old")
        rename = Path.rename

        def renamed(path, target):
            if path.name == "timeline.png" and path.parent == folder:
                raise OSError(errno.ENOSPC, "No space left on device", str(target))
            return rename(path, target)

        with self.assertRaisesRegex(LabError, "No space left on device.*make room"), workshop(out) as folder:
            for name in ("summary.json", "timeline.png"):
                (folder / name).write_text("new")
            with mock.patch.object(Path, "rename", renamed):
                publish(folder, out.resolve())
        self.assertEqual({path.name for path in out.iterdir()}, {"runs", "summary.json", "timeline.png"})
        self.assertTrue((out / "runs/demand/old").is_dir())
        self.assertEqual([(out / name).read_text() for name in ("summary.json", "timeline.png")], ["old", "old"])

    def test_only_left_folders_of_a_demo_are_removed(self):
        for name in (".demo-mine", ".demo-left"):
            (self.folder / "out" / name).mkdir(parents=True)
        (self.folder / "out/.demo-left" / MARKER).touch()
        with workshop(self.folder / "out"):
            pass
        self.assertEqual([path.name for path in (self.folder / "out").iterdir()], [".demo-mine"])

    def test_pictures_that_were_not_reached_count_in_the_freeze(self):
        run = next(run for (load, policy), (run, _again) in self.runs.items() if policy.name == "none" and load.ratio > 1)
        # Of 100 pictures of 40 ms, 60 were reached, and the last new one is the 57th.
        self.assertEqual((figures(run)["unreached"], round(figures(run)["longest_freeze_ms"])), (40, 44 * 40))
        whole = next(run for (_load, policy), (run, _again) in self.runs.items() if policy.name == "paper")
        self.assertEqual((figures(whole)["unreached"], figures(whole)["longest_freeze_ms"]), (0, 640.0))

    def test_picture_marks_what_was_cut_off(self):
        for reached, wanted in ((False, True), (True, False)):
            if reached:
                self.runs = {key: [run] for key, (run, _again) in self.runs.items() if key[1].name != "none"}
            figure = Figure()
            plot._draw_timeline(figure, self.picture())
            strip = figure.axes[0]
            colours = {to_hex(bar.get_facecolor()) for bar in strip.patches}
            self.assertEqual(plot.CUT_OFF[0] in colours, wanted)
            self.assertEqual("cut off" in [text.get_text() for text in strip.get_legend().get_texts()], wanted)
            panels = Figure()
            plot._draw_panels(panels, self.picture())
            hollow = [sum(line.get_markerfacecolor() == "white" for line in axes.lines) for axes in panels.axes]
            self.assertEqual(hollow, [0, 1, 0, 1] if wanted else [0] * 4)
            legend = [text.get_text() for text in panels.legends[0].get_texts()]
            self.assertEqual(any(text.startswith("ended early") for text in legend), wanted)

    def picture(self):
        cases = itertools.product(self.loads, DROP_POLICIES)
        spreads = {(load, policy.name): ranges(self.runs.get((load, policy), ())) for load, policy in cases}
        runs = {policy.name: found[0] for (load, policy), found in self.runs.items() if load == self.loads[1]}
        return Picture("a title", self.loads, spreads, self.loads[1], runs)

    def test_picture_is_drawn(self):
        path = self.folder / "timeline.png"
        draw(self.picture(), path)
        self.assertEqual(path.read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual([entry.name for entry in self.folder.iterdir()], ["timeline.png"])

    def test_table_fits_the_terminal(self):
        spreads = {policy.name: ranges(found) for (load, policy), found in self.runs.items() if load == self.loads[0]}
        for measure, add in (("min", -60.5), ("max", 1876.5)):
            for entry in spreads.values():
                entry[measure] = {key: value + add for key, value in entry[measure].items() if value is not None}
        for width in (80, WIDE):
            console = Console(width=width)
            with console.capture() as captured:
                console.print(medians_table(spreads, 3, width, columns=COLUMNS))
            lines = captured.get().splitlines()
            self.assertFalse([line for line in lines if "…" in line or len(line) > width], captured.get())
            self.assertEqual(sum("123,457" in line for line in lines), 4)

    def test_summary_has_an_entry_for_each_policy_under_each_load(self):
        path = self.folder / "summary.json"
        write_json(path, {"runs": [group_entry(load, policy, found, ranges(found)) for (load, policy), found in self.runs.items()]})
        entries = json.loads(path.read_text())["runs"]
        self.assertEqual([entry["policy"] for entry in entries], ["none", "heuristic", "paper", "dlex-play"] * 3)
        self.assertEqual([round(entry["load"], 2) for entry in entries[::4]], [0.7, 1.4, 2.2])
        self.assertEqual((entries[0]["aborted"], entries[0]["lost_fraction"]), (20, 0.6))
        self.assertEqual(len(entries[0]["repetitions"]), 2)


class Whole(Folder):
    """Whole demos with simulated plays."""

    def played(self, setup, policy, load, directory, _tick):
        self.plays.append((round(load.ratio, 2), policy.name))
        directory.mkdir(parents=True)
        if (error := self.fails(policy.name, len(self.plays))) is not None:
            raise LabError(error) if isinstance(error, str) else error
        frames = [Frame(number * 40_000_000, "P", False, 3_000_000, "shown", number, number) for number in range(self.reached)]
        got = self.got if policy.name != "dlex-play" or self.ours is None else self.ours
        if got < self.got:
            frames[-1] = replace(frames[-1], verdict="skipped", shown_ns=None, decode_cpu_ns=0)
        return Run(policy, load, directory, frames, Supply(got * min(load.share, 0.3) * 5, 5.0, True, waited=self.waited))

    def assessed(self, _setup, runs, _tick):
        for run in runs:
            run.summary = {"shown": self.reached, "aborted": 0, "skipped": 0, "late": 0, "dropped": 0, "skew_ms_mean": 80.0,
                           "skew_ms_sd": 40.0, "rmse_q16_sum": 0.0, "longest_freeze_ms": 40.0}
        return [(run, LabError("dlex-qoe ended")) for run in runs if run.policy.name == self.qoe_fails]

    def measured(self, setup, folder, tick):
        folder.mkdir(parents=True)
        return Demand(self.rate, 100, 0.04), setup.length_s

    def demo(self, rate=0.3, got=1.0, waited=0.0, reached=100, quick=True, draws=False, **patches):
        """Runs a demo. Returns its summary and its output."""
        self.plays, self.rate, self.got, self.waited, self.reached = [], rate, got, waited, reached
        self.ours = patches.pop("ours", None)
        self.fails = patches.pop("fails", lambda _policy, _number: None)
        self.qoe_fails = patches.pop("qoe_fails", None)
        if not draws:
            patches["draw"] = lambda _picture, path: path.write_bytes(b"\x89PNG")
        clip, out, said = self.folder / "clip.mp4", self.folder / "out", io.StringIO()
        clip.touch()
        with contextlib.ExitStack() as stack:
            cpus = os.sched_getaffinity(0)
            stack.callback(os.sched_setaffinity, 0, cpus)
            stack.enter_context(mock.patch.dict(os.environ, DLEX_CACHE=str(self.folder / "cache")))
            stack.enter_context(mock.patch.multiple(
                demo, require_program=mock.DEFAULT, assess=self.assessed, play_policy=self.played, measure_demand=self.measured,
                Console=lambda: Console(file=said, width=200), **patches))
            demo.demo(demo.DemoOptions(self.folder, out, quick=quick, clip=clip, start_s=None))
        self.assertEqual((out / "timeline.png").read_bytes()[:4], b"\x89PNG")
        return json.loads((out / "summary.json").read_text()), said.getvalue()

    def test_failed_play_is_left_out(self):
        found, said = self.demo(quick=False, fails=lambda policy, number: "the decoder fell over" if number == 2 else None)
        self.assertEqual(sorted(len(entry["repetitions"]) for entry in found["runs"]), [1] + [2] * 15)
        self.assertRegex(found["findings"][0], "A play of .* at load .* is left out: the decoder fell over")
        self.assertEqual(said.count("- Load "), 4)

    def test_policy_without_figures_is_said_in_the_tables(self):
        for policy in ("paper", "dlex-play", "none"):
            fails = {policy: "it fell over"}
            found, said = self.demo(draws=True, fails=lambda name, _number, fails=fails: fails.get(name))
            self.assertEqual(said.count(f"{policy} (failed)"), 3, said)
            self.assertEqual([entry["repetitions"] for entry in found["runs"] if entry["policy"] == policy], [[], [], []])
            self.assertEqual(policy != "none", f"{policy} has no figures" in said)

    def test_failed_comparison_is_left_out(self):
        found, said = self.demo(qoe_fails="heuristic")
        self.assertEqual(said.count("heuristic (failed)"), 3, said)
        self.assertEqual(len(found["runs"]), 12)

    def test_demo_without_any_figures_fails(self):
        with self.assertRaisesRegex(LabError, "no play has any figures: .* it fell over"):
            self.demo(fails=lambda _policy, _number: "it fell over")
        self.assertFalse((self.folder / "out").exists())

    def test_play_during_which_the_demo_was_stopped_is_repeated(self):
        found, said = self.demo(fails=lambda _policy, number: Stopped("stopped") if number == 3 else None)
        self.assertEqual((len(self.plays), self.plays[2]), (13, self.plays[3]))
        self.assertEqual([len(entry["repetitions"]) for entry in found["runs"]], [1] * 12)
        self.assertIn("it is repeated", said)

    def test_full_disk_is_one_sentence_and_leaves_the_old_results(self):
        self.demo()
        summary = self.folder / "out/summary.json"
        old = summary.read_text()

        def full(path, _content):
            raise OSError(errno.ENOSPC, "No space left on device", str(path))

        with self.assertRaisesRegex(LabError, "No space left on device") as raised:
            self.demo(write_json=full)
        self.assertEqual(raised.exception.code, EXIT_SETUP)
        self.assertEqual(summary.read_text(), old)
        self.assertEqual(sorted(path.name for path in summary.parent.iterdir()), ["runs", "summary.json", "timeline.png"])

    def test_other_work_under_light_loads_is_said(self):
        _found, said = self.demo(waited=0.5)
        self.assertIn("up to 50% of the CPU time that the player was ready to use", said)

    def test_announced_time_follows_the_demand(self):
        setup = Setup(Path(), Path(), Path(), 0, 5, 0, frozenset(range(64)))
        self.assertEqual(setup.comparisons_at_once, 4)
        plans = []
        for rate in (0.1, 0.9):
            load = Load(Demand(rate, 125, 0.04), rate)  # of the same ratio
            plans.append(_plan_s(setup, QUICK, [(load, policy) for policy in DROP_POLICIES]))
        self.assertGreater(plans[1], plans[0])

    def test_every_policy_is_played_under_every_load(self):
        for quick, ratios, repetitions in ((True, {0.8, 1.3, 2.2}, 1), (False, {0.7, 1.0, 1.4, 2.2}, 2)):
            found, said = self.demo(quick=quick, draws=quick)
            policies = ("none", "heuristic", "paper", "dlex-play")
            self.assertEqual(sorted(self.plays), sorted([(ratio, policy) for ratio in ratios for policy in policies] * repetitions))
            self.assertEqual(len(found["runs"]), 4 * len(ratios))
            self.assertEqual(said.count("- Load "), len(ratios))
            self.assertNotIn("Other work", said)

    def test_announced_times_are_those_of_the_documentation(self):
        for (quick, most_s), rate in itertools.product(((True, 120), (False, 300)), (0.1, 0.9)):
            found, said = self.demo(quick=quick, rate=rate)
            self.assertEqual(found["clip"]["length_s"] == (5 if quick else 6), rate == 0.1)
            amount, unit = re.search(r"This takes about (\S+) (s|min)\.", said).groups()
            seconds = float(amount.replace("½", ".5")) * (60 if unit == "min" else 1)
            self.assertLessEqual(seconds, most_s)

    def test_other_work_on_the_machine_is_said_and_stops_nothing(self):
        found, said = self.demo(got=0.6, reached=50)
        self.assertIn("Other work on this machine took CPU time", found["findings"][0])
        self.assertEqual(found["runs"][0]["unreached"], 50)
        self.assertIn("loses 50.0% of the pictures", said)

    def test_play_that_passes_over_to_a_key_picture_wants_less(self):
        _found, said = self.demo(ours=0.6)
        self.assertNotIn("Other work", said)

    def test_film_that_is_too_hard_for_the_machine_is_played_as_far_as_it_goes(self):
        _found, said = self.demo(rate=4.0, reached=20, draws=True)
        self.assertEqual({play[0] for play in self.plays}, {round(4 / 0.95, 2)})
        self.assertIn("loads of 421%", said)


class Probe(Folder):
    """The measurement of the demand, and the comparisons, with simulated programs."""

    def setUp(self):
        super().setUp()
        self.setup = Setup(Path("player"), Path("/bin/false"), Path("clip"), 0, 5, 0, frozenset({0}))

    def demand(self, *results):
        with mock.patch.object(runs, "_untimed", side_effect=results):
            return runs.measure_demand(self.setup, self.folder, lambda: None)[0]

    def test_one_failed_probe_is_repeated_or_left_out(self):
        frames = [Frame(number * 40_000_000, "P", False, 0, "shown", number, 0) for number in range(125)]
        whole, start, error = (1.0, frames), (0.1, frames[:5]), LabError("it cannot be decoded")
        self.assertAlmostEqual(self.demand(start, whole).start_cpu_s, 0.06)
        self.assertEqual(self.demand(error, whole).start_cpu_s, 0)
        self.assertAlmostEqual(self.demand(start, error, whole).rate, 0.2)
        with self.assertRaisesRegex(LabError, "it cannot be decoded"):
            self.demand(error, error, error)
        with self.assertRaises(TimedOut):
            self.demand(start, TimedOut("decoding the clip", 300), whole)

    def test_failed_comparison_is_returned(self):
        load = Load(Demand(0.3, 100, 0.04), 0.3)
        runs = [Run(policy, load, self.folder / policy.name / "record", [], Supply(1, 5, True)) for policy in DROP_POLICIES]
        for run in runs:
            run.directory.mkdir(parents=True)
        with mock.patch("dlex_bench.demo.runs.Setup.all_cpus", os.sched_getaffinity(0)):
            failed = assess(self.setup, runs, lambda: None)
        self.assertEqual([run for run, _error in failed], runs)
        self.assertIn("dlex-qoe ended with status 1", str(failed[0][1]))


if __name__ == "__main__":
    unittest.main()
