# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests how detections are made and judged, with invented ones. Not covered: real players."""

import io
import json
import os
import shutil
import tempfile
import time
import unittest
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from unittest import mock

from outside import Folder, with_packages

with_packages("numpy, scipy, pydantic, rich, matplotlib")

from dlex_bench.analysis.claims import Share, all_of, is_above, is_never
from dlex_bench.analysis.statistics import Interval
from dlex_bench.detect import experiment, overhead
from dlex_bench.detect.experiment import SECONDS, DetectOptions, detect, detect_table, film_seconds, make_film
from dlex_bench.detect.figure import draw_detections
from dlex_bench.detect.findings import JOBS, SYSCALLS, Detection, detect_findings
from dlex_bench.detect.overhead import (
    ALONE,
    STRACE,
    WATCHED,
    OverheadOptions,
    TimedRun,
    measure_overhead,
    overhead_findings,
    overhead_table,
)
from dlex_bench.detect.records import PlayedRun, records_findings, records_table
from dlex_bench.detect.spectrum import peaks_finding, spectrum_of
from dlex_bench.errors import LabError
from written_results import WritesResults


def seen(seconds, hz, paper_hz, true_hz=25.0, standard_hz=None, player="mplayer"):
    return Detection(player, true_hz, seconds, hz, standard_hz, paper_hz)


class Judged(unittest.TestCase):
    def test_answers_are_right_within_what_each_detector_can_tell(self):
        one = seen(4, 23.97, 24.0, 24000 / 1001, 24000 / 1001)
        self.assertEqual((one.is_found, one.is_named, one.is_found_by_paper), (True, True, True))
        other = seen(4, 24.1, 25.0, 24000 / 1001, 24.0)
        self.assertEqual((other.is_found, other.is_named, other.is_found_by_paper), (False, False, False))
        none = seen(4, None, None)
        self.assertEqual((none.is_found, none.is_named, none.is_found_by_paper), (False, False, False))

    def words(self, found):
        return [it.word for it in detect_findings(found)]

    def test_findings_hold_or_not(self):
        named = [seen(4.0, 25.0, 25.0, standard_hz=25.0)] * 40
        good = [*[seen(0.2, None, None)] * 10, *[seen(0.4, None, 25.0)] * 40, *named]
        self.assertEqual(self.words(good), ["holds", "holds", "met"])
        self.assertIn("in 0 of 10 (0% to 28%) shorter windows", detect_findings(good)[1].sentence)
        bad = [*[seen(0.2, None, 25.0)] * 40, *[seen(0.4, None, 50.0)] * 40, *[seen(4.0, 25.0, 50.0)] * 40]
        self.assertEqual(self.words(bad), ["does not hold", "does not hold", "missed"])
        self.assertEqual(self.words([]), ["not measured"] * 3)

    def test_few_windows_tell_nothing(self):
        few = [seen(0.2, None, None), *[seen(0.4, None, 25.0)] * 5, *[seen(4.0, 25.0, 25.0, standard_hz=25.0)] * 5]
        self.assertEqual(self.words(few), ["undecided", "undecided", "not certain"])

    RATES = (24000 / 1001, 24.0, 25.0, 30000 / 1001, 30.0, 50.0, 60000 / 1001, 60.0)

    def named(self, wrong, each=5):
        """Returns the goal's outcome if in one cell of three players and eight rates so many of the windows are wrong."""
        found = [seen(4.0, hz, None, hz, hz if (player, hz) != ("ffplay", 60.0) or number >= wrong else None, player)
                 for player in ("mplayer", "mpv", "ffplay") for hz in self.RATES for number in range(each)]
        return detect_findings(found)[2]

    def test_player_that_is_always_wrong_at_one_rate_misses_the_goal(self):
        self.assertEqual(self.named(0).word, "met")
        found = self.named(5)
        self.assertEqual(found.word, "missed")
        self.assertEqual(found.sentence, "in 115 of 120 (91% to 98%) windows; under 90%: ffplay at 60 Hz 0 of 5 (0% to 43%)")

    def test_goal_is_not_met_while_one_player_is_under_it_at_one_rate(self):
        for wrong, each, word in ((1, 5, "not certain"), (5, 40, "not certain"), (4, 40, "met"), (40, 40, "missed")):
            self.assertEqual(self.named(wrong, each).word, word, (wrong, each))

    def test_system_calls_count_for_the_paper_where_they_were_watched(self):
        jobs = [seen(0.4, 25.0, 50.0, standard_hz=25.0)] * 40
        calls = [Detection("mplayer", 25.0, 0.4, None, None, 25.0, SYSCALLS)] * 40
        self.assertEqual(self.words(jobs)[0], "does not hold")
        self.assertEqual(self.words([*jobs, *calls])[0], "holds")
        self.assertIn("system calls", detect_findings([*jobs, *calls])[0].sentence)

    def test_table_has_a_column_for_each_player_and_detector(self):
        table = detect_table([seen(4.0, 25.0, 25.0), seen(4.0, 25.0, 25.0, player="mpv")])
        self.assertEqual((len(table.columns), table.row_count), (7, 6))


class Spectra(unittest.TestCase):
    def test_peaks_of_a_film_are_the_multiples_of_its_rate(self):
        times_s = [number / 25 + part for number in range(100) for part in (0, 0.0005)]
        self.assertEqual(spectrum_of(times_s).peaks(), [25.0 * number for number in range(1, 9)])
        self.assertAlmostEqual(max(spectrum_of(times_s).part), 1, delta=0.01)
        finding = peaks_finding(times_s)
        self.assertEqual(finding.word, "holds")
        self.assertIn("8 peaks, 0 of them others: 25, 50", finding.sentence)

    def test_other_peaks_refute_it(self):
        times_s = [number / 30 for number in range(120)]
        self.assertEqual(peaks_finding(times_s).word, "does not hold")
        self.assertEqual(peaks_finding([]).word, "not measured")

    def test_both_pictures_are_drawn(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "detect.png"
            for times_s in ([], [number / 25 for number in range(100)]):
                draw_detections([seen(0.2, None, None), seen(0.4, None, 25.0)], times_s, path)
                self.assertEqual(path.read_bytes()[:4], b"\x89PNG")


class Claims(unittest.TestCase):
    def test_shares_have_wilsons_interval(self):
        low, high = Share(48, 50).interval
        self.assertAlmostEqual(low, 0.865, delta=0.001)
        self.assertAlmostEqual(high, 0.989, delta=0.001)
        self.assertEqual(Share(0, 0).interval, (0.0, 1.0))

    def test_one_case_refutes_what_is_claimed_of_all(self):
        self.assertEqual([is_never(Share(hits, n)) for hits, n in ((0, 5), (1, 500), (0, 0))],
                         ["holds", "does not hold", "not measured"])

    def test_ratio_is_judged_by_its_interval(self):
        intervals = [Interval(1.2, 1.1, 1.3, 5), Interval(1.0, 0.9, 1.1, 5), Interval(0.8, 0.7, 0.9, 5), Interval(2, None, None, 2)]
        words = [is_above(it, 1) for it in intervals]
        self.assertEqual(words, ["holds", "undecided", "does not hold", "undecided"])
        self.assertEqual([all_of(words), all_of(words[:2]), all_of(words[:1]), all_of([])],
                         ["does not hold", "undecided", "holds", "not measured"])


class Overhead(unittest.TestCase):
    def runs(self, watched, own=0.002, traced=11):
        of_one = [(ALONE, 10, None), (WATCHED, watched, own), (STRACE, traced, None)]
        return [TimedRun(how, cpu_s + number / 1000, part) for number in range(6) for how, cpu_s, part in of_one]

    def words(self, runs):
        return [it.word for it in overhead_findings("ffmpeg", runs)]

    def test_half_a_per_cent_is_the_goal(self):
        self.assertEqual(self.words(self.runs(10.01)), ["met", "met", "holds"])
        self.assertEqual(self.words(self.runs(10.2, 0.01, 10.1)), ["missed", "missed", "does not hold"])
        self.assertEqual(self.words(self.runs(10.01)[:3]), ["not certain", "met", "undecided"])

    def test_each_finding_names_its_program(self):
        for finding in overhead_findings("mplayer", self.runs(10.01)):
            self.assertIn("mplayer", finding.name)

    def test_table_has_a_row_for_each_way(self):
        self.assertEqual(overhead_table("ffmpeg", self.runs(10.01), 60).row_count, 3)


class Experiment(WritesResults, Folder):
    """The whole command with invented observations."""

    FIRST = "make_film"
    MEASURES = ("_playing",)
    SAID = {"hz": 25.0, "standard_hz": 25.0, "paper_hz": 25.0}

    def measure(self, out, refusal=None, quick=False, **replaced):
        stand_ins = {
            "require_for_detect": mock.Mock(), "make_film": mock.Mock(), "_playing": lambda _player, _film: nullcontext(1),
            "_refusal_of_syscalls": mock.Mock(return_value=refusal), "_events": mock.Mock(return_value=[]),
            "_watch": mock.Mock(return_value=self.SAID),
        }
        with mock.patch.multiple(experiment, **{**stand_ins, **replaced}), redirect_stdout(io.StringIO()):
            return detect(DetectOptions(self.folder, out, quick, ("mplayer",)))

    def seeds(self, out):
        """Returns how many detections there are of the seed's film, by the kind of the events."""
        found = json.loads((out / "detect.json").read_text())["detections"]
        events = [it["events"] for it in found if it["true_hz"] == 25]
        return {kind: events.count(kind) for kind in (JOBS, SYSCALLS)}

    def test_enough_windows_can_confirm_the_seeds_finding_without_system_calls_too(self):
        out = self.folder / "out"
        for refusal, wanted in ((None, {JOBS: 30, SYSCALLS: 60}), ("no right", {JOBS: 90, SYSCALLS: 0})):
            chapter = self.measure(out, refusal)
            self.assertEqual(self.seeds(out), wanted)
            self.assertEqual(chapter.findings[0].word, "holds")

    def test_results_have_the_commit_and_a_page(self):
        self.measure(self.folder / "out", quick=True)
        self.assertIn("commit", json.loads((self.folder / "out/detect.json").read_text()))
        self.assertIn("## How soon", (self.folder / "out/detect.md").read_text())


class Films(Folder):
    def test_film_has_time_for_all_observations_and_between_them(self):
        self.assertGreater(film_seconds(10, 0.2, 4.0), 10 * sum(SECONDS) + 4.2 + 62 * 0.1 + 10)

    def test_film_that_cannot_be_made_is_one_sentence_and_leaves_nothing(self):
        command = ["sh", "-c", 'echo half > "$0"; echo first >&2; echo no room >&2; exit 1', self.folder / ".25-9s.mp4.partial"]
        with mock.patch.object(experiment, "film_command", return_value=command):
            with self.assertRaisesRegex(LabError, r"25-9s.mp4 \(no room\)"):
                make_film(self.folder, "25", 9.0)
        self.assertEqual(list(self.folder.iterdir()), [])


COST = {"without_ns": 5000.0, "with_ns": 5600.0, "record_ns": 600.0}


class Records(unittest.TestCase):
    def test_share_is_that_of_two_records_a_switch(self):
        self.assertAlmostEqual(PlayedRun("mpv", 25_000, 6.0).share(600.0), 0.005)

    def test_each_program_has_a_goal(self):
        runs = [PlayedRun("mplayer", 6000, 6.0), PlayedRun("mpv", 60_000, 6.0)]
        self.assertEqual([it.word for it in records_findings(runs, COST)], ["met", "missed"])
        self.assertIn("0.120%", records_findings(runs, COST)[0].sentence)
        self.assertEqual(records_table(runs, COST, 60.0).row_count, 2)


class Turns(WritesResults, Folder):
    """The whole command with invented CPU times."""

    MEASURES = ("_run_in_way",)

    @staticmethod
    def run_of(program, how, cpu_s=10.0):
        return vars(TimedRun(how, cpu_s, 0.001 if how == WATCHED else None, program))

    def measure(self, out, **replaced):
        stand_ins = {
            "require_for_overhead": mock.Mock(), "make_film": mock.Mock(),
            "_run_in_way": lambda program, _film, how, _watcher: self.run_of(program, how),
            "only_measurement": mock.Mock(return_value=nullcontext()),
            "record_cost": lambda _root: COST,
            "play_at_speed": lambda program, _film: {"program": program, "switches": 6000, "cpu_s": 6.0},
        }
        with mock.patch.multiple(overhead, **{**stand_ins, **replaced}), redirect_stdout(io.StringIO()):
            return measure_overhead(OverheadOptions(self.folder, out, quick=False))

    def test_each_round_begins_with_another_setting_and_has_all_of_them(self):
        order = []

        def run(program, _film, how, _watcher):
            order.append((program, how))
            return self.run_of(program, how, 10 + len(order) / 1000)

        self.measure(self.folder / "out", _run_in_way=run)
        rounds = [order[first:first + 6] for first in range(0, len(order), 6)]
        self.assertEqual((len(rounds), {len(set(it)) for it in rounds}), (10, {6}))
        self.assertEqual(len({it[0] for it in rounds}), 6)
        written = json.loads((self.folder / "out/overhead.json").read_text())
        self.assertEqual((len(written["runs"]), "commit" in written), (60, True))
        self.assertEqual([it["program"] for it in written["played"]], ["mplayer", "mpv", "ffmpeg"])
        self.assertEqual(written["record_cost"], COST)
        self.assertTrue((self.folder / "out/overhead.md").exists())


def is_sleeping(mark):
    """Returns whether there is a process `sleep` with this argument."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes().split(b"\0")[:2] == [b"sleep", mark.encode()]:
                return True
        except OSError:  # it has ended
            pass
    return False


class Interruptions(unittest.TestCase):
    """In place of the programs there are sleeping ones. None of them may outlive an interruption."""

    MARK = f"600.{os.getpid()}"

    def interrupt(self, *_arguments):
        while not is_sleeping(self.MARK):
            time.sleep(0.01)
        raise KeyboardInterrupt

    def expect_that_nothing_is_left(self, run, **replaced):
        with mock.patch.multiple(overhead, _command=lambda _program, _film: ["sleep", self.MARK], **replaced):
            with self.assertRaises(KeyboardInterrupt):
                run()
        self.assertFalse(is_sleeping(self.MARK))

    def test_interrupted_program_ends(self):
        self.expect_that_nothing_is_left(lambda: overhead._run("ffmpeg", Path(), ALONE), _used_by=self.interrupt)

    @unittest.skipUnless(shutil.which("strace"), "strace is not installed")
    def test_interrupted_strace_ends_its_program(self):
        self.expect_that_nothing_is_left(lambda: overhead._run_traced("ffmpeg", Path()), _own_cpu_s=self.interrupt)


if __name__ == "__main__":
    unittest.main()
