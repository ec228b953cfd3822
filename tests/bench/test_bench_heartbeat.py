# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what the laboratory makes of runs under reservations with several periods. The runs are invented.

Not covered: the runs themselves, which need root and an idle machine.
"""

import contextlib
import io
import json
import os
import tempfile
import unittest
from dataclasses import asdict
from pathlib import Path
from unittest import mock

from outside import Folder, with_packages

with_packages("numpy, scipy, pydantic, rich, matplotlib")

from dlex_bench.analysis.chapter import Chapter, write_chapters
from dlex_bench.analysis.outcome import HOLDS, Outcome
from dlex_bench.errors import LabError
from dlex_bench.heartbeat import heartbeat as whole
from dlex_bench.heartbeat import periods
from dlex_bench.heartbeat.cli import PARTS, heartbeat_parser
from dlex_bench.heartbeat.figure import draw_periods
from dlex_bench.heartbeat.findings import FILM, TASK, PeriodRun, Reserved, period_findings
from dlex_bench.heartbeat.heartbeat import joined_pages
from dlex_bench.heartbeat.periods import PAPER, PeriodOptions, measure_periods, periods_table, read_reserved, steps_ms
from written_results import WritesResults


def run_of(workload, period_ms, repetition, p95_ms, mean, most):
    """Returns a run with these figures, a little different in each repetition."""
    late_ms = p95_ms + repetition / 100
    reserved = tuple(Reserved(6.0 + number, mean + (most - mean) * (number == 0)) for number in range(10))
    return PeriodRun(workload, period_ms, repetition, (*(40.0,) * 90, *(late_ms,) * 10), reserved)


def runs_as_in_the_paper(**changes):
    """Returns five runs of each period with the figures of the paper's Table II. `changes`: mean by period, such as film_20=0.3."""
    return [run_of(workload, period, repetition, p95, changes.get(f"{workload}_{period}", mean), most)
            for workload in (TASK, FILM) for period, (_p90, p95, mean, most) in PAPER.items() for repetition in range(1, 6)]


class Findings(unittest.TestCase):
    def words(self, runs):
        return [it.word for it in period_findings(runs)]

    def test_figures_of_the_paper_confirm_what_its_table_shows(self):
        # In the table, 100 ms reserves less than 40 ms.
        self.assertEqual(self.words(runs_as_in_the_paper()), ["holds", "does not hold", "holds", "holds", "holds", "does not hold"])
        changed = runs_as_in_the_paper(task_90=0.4, task_100=0.4)
        self.assertEqual(self.words(changed)[1], "holds")

    def test_steady_period_that_reserves_less_refutes_table_two(self):
        self.assertEqual(self.words(runs_as_in_the_paper(film_20=0.3))[3], "does not hold")

    def test_unsteady_period_that_reserves_less_does_not(self):
        self.assertEqual(self.words(runs_as_in_the_paper(film_60=0.3))[3], "holds")

    def test_jobs_come_in_time_if_they_do_with_each_period_up_to_the_own(self):
        for p95_ms, word in ((41, "holds"), (50, "does not hold")):
            runs = [run_of(TASK, period, repetition, p95_ms if period == 30 else 40, 0.3, 0.4) for period in (20, 30, 40, 60)
                    for repetition in range(1, 6)]
            self.assertEqual(self.words(runs)[5], word)

    def test_one_repetition_tells_nothing(self):
        runs = [run for run in runs_as_in_the_paper() if run.repetition == 1]
        self.assertEqual(self.words(runs), ["undecided"] * 6)
        self.assertEqual(set(self.words([])), {"not measured"})


class Figures(unittest.TestCase):
    def test_table_of_the_film_has_the_papers_figures(self):
        table = periods_table(runs_as_in_the_paper(), FILM)
        self.assertEqual(table.row_count, 9)
        self.assertEqual(next(iter(table.columns[5].cells)), "41.8, 44.4, 0.386, 0.537")

    def test_first_seconds_do_not_count(self):
        second = 1_000_000_000
        times_ns = [*range(second, 7 * second, second // 25)]
        self.assertEqual(set(steps_ms(times_ns)), {40.0})
        self.assertEqual(len(steps_ms(times_ns)), 24)

    def test_seconds_without_a_reservation_do_not_count(self):
        with tempfile.TemporaryDirectory() as folder:
            rows = Path(folder) / "tune.csv"
            rows.write_text("second,hz,reserved,limited\n1.0,25,0.3,1\n6.0,25,0.4,0\n7.0,25,0,0\n8.0,25,0.5,0\n")
            self.assertEqual(read_reserved(rows), (Reserved(6.0, 0.4), Reserved(8.0, 0.5)))

    def test_run_that_was_limited_does_not_count(self):
        with tempfile.TemporaryDirectory() as folder:
            rows = Path(folder) / "tune.csv"
            rows.write_text("second,hz,reserved,limited\n1.0,25,0.3,1\n6.0,25,0.4,0\n7.0,25,0.95,1\n")
            with self.assertRaisesRegex(LabError, "in 1 of 2 s .* could not reserve"):
                read_reserved(rows)

    def test_picture_is_drawn(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "periods.png"
            draw_periods(runs_as_in_the_paper(), path)
            self.assertEqual(path.read_bytes()[:4], b"\x89PNG")


class Options(unittest.TestCase):
    def parts_of(self, *words):
        return heartbeat_parser().parse_args(words).parts

    def test_parts_are_names_separated_by_commas(self):
        self.assertEqual(self.parts_of(), PARTS)
        self.assertEqual(self.parts_of("--parts=periods,detect,periods"), ("periods", "detect"))

    def test_other_parts_are_refused_in_one_sentence(self):
        for word in ("--parts=", "--parts=detect,drums"):
            with self.subTest(word), contextlib.redirect_stderr(io.StringIO()) as printed, self.assertRaises(SystemExit) as caught:
                self.parts_of(word)
            self.assertEqual(caught.exception.code, 1)
            self.assertRegex(printed.getvalue(), r"is not one of detect, overhead, periods; see [^\n]+\n\Z")


class Pages(unittest.TestCase):
    def test_page_has_tables_and_findings(self):
        chapter = Chapter("A title", "What was done.", [periods_table(runs_as_in_the_paper(), TASK)],
                          [Outcome("a finding", "seed 003", HOLDS, "5 of 5")])
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "page.md"
            write_chapters(path, [chapter, chapter])
            lines = path.read_text().splitlines()
        self.assertEqual(lines.count("## A title"), 2)
        self.assertIn("| period, ms | p90, ms | p95, ms | reserved, mean | reserved, most |", lines)
        self.assertIn("| ---: | ---: | ---: | ---: | ---: |", lines)
        self.assertIn("| a finding | holds | 5 of 5 |", lines)
        self.assertEqual(len([line for line in lines if line.startswith("| 40 (own) |")]), 2)


class Pictures(Folder):
    def test_page_of_all_parts_shows_the_pictures_of_each(self):
        (self.folder / "periods").mkdir()
        write_chapters(self.folder / "periods/periods.md", [Chapter("A title", "What was done.", [], [])], ["periods.png"])
        self.assertIn("![periods](periods.png)", (self.folder / "periods/periods.md").read_text().splitlines())
        self.assertIn("![periods](periods/periods.png)", joined_pages(self.folder).splitlines())


class Reserving(Folder):
    def test_film_and_task_may_reserve_what_one_thread_can_have(self):
        for workload, code in ((TASK, periods.PLAYED), (FILM, 0)):
            with mock.patch.object(periods, "_output", side_effect=LabError("enough")) as output, self.assertRaises(LabError):
                periods._run_in(self.folder, Path("build"), Path("clip"), workload, 20)
            argv, expected, _folder = output.call_args.args
            self.assertLess(argv.index("--limit=95"), argv.index("--"))
            self.assertEqual(expected, code)

    def output_of(self, text, code=0):
        return periods._output(["sh", "-c", text], code, self.folder)

    def test_output_is_what_the_program_printed(self):
        self.assertEqual(self.output_of("echo 1; echo 'dlex-sched: nothing was reserved' >&2; exit 3", 3), "1\n")

    def test_run_without_reservations_does_not_count(self):
        shown = "echo 'dlex-sched tune: nothing will be reserved, only shown: this user may not; run it with sudo' >&2"
        with self.assertRaises(LabError) as caught:
            self.output_of(shown)
        self.assertEqual(str(caught.exception), "dlex-sched reserves nothing here: this user may not; run it with sudo")

    def test_another_end_is_one_sentence(self):
        with self.assertRaisesRegex(LabError, "ended with 5; try it by hand"):
            self.output_of("exit 5")


class Experiment(WritesResults, Folder):
    """The command of the periods with invented runs."""

    FIRST = "make_clip"

    def measure(self, out, **replaced):
        def run(_build, _clip, workload, period_ms):
            return asdict(run_of(workload, period_ms, 1, 50, 0.3, 0.4))

        stand_ins = {
            "require_for_periods": mock.Mock(), "film_file": mock.Mock(return_value=None),
            "make_clip": mock.Mock(return_value=Path("film.mp4")), "_run": run,
            "only_measurement": mock.Mock(return_value=contextlib.nullcontext()),
        }
        with mock.patch.multiple(periods, **{**stand_ins, **replaced}), contextlib.redirect_stdout(io.StringIO()):
            measure_periods(PeriodOptions(self.folder, out, quick=True))

    def test_all_runs_are_written_with_the_commit(self):
        lock = mock.Mock(return_value=contextlib.nullcontext())
        self.measure(self.folder / "out", only_measurement=lock)
        lock.assert_called_once_with(os.sched_getaffinity(0))
        written = json.loads((self.folder / "out/periods.json").read_text())
        self.assertEqual((len(written["runs"]), "commit" in written), (6, True))
        self.assertIn("## Which period", (self.folder / "out/periods.md").read_text())


class Parts(Folder):
    """The command of all parts, whose measurements only write a page."""

    def measure(self, text, *parts, **replaced):
        def page_of(part):
            def measure(options):
                options.out.mkdir(parents=True, exist_ok=True)
                (options.out / f"{part}.md").write_text(f"## {part}\n\n{text}\n")

            return measure

        stand_ins = {name: mock.Mock() for name in ("require_for_detect", "require_for_overhead", "require_for_periods")}
        measures = {"detect": page_of("detect"), "measure_overhead": page_of("overhead"), "measure_periods": page_of("periods")}
        with (
            mock.patch.multiple(whole, **{**stand_ins, **measures, **replaced}),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            whole.heartbeat(whole.HeartbeatOptions(self.folder, self.folder / "out", quick=True, parts=parts))
        return (self.folder / "out/heartbeat.md").read_text()

    def test_page_keeps_the_chapters_of_parts_that_are_not_repeated(self):
        self.measure("before", "periods", "detect")
        self.assertEqual(self.measure("after", "periods"), "## detect\n\nbefore\n\n## periods\n\nafter\n")

    def test_parts_before_one_that_failed_are_not_repeated(self):
        failing = mock.Mock(side_effect=LabError("it"))
        with self.assertRaises(LabError):
            self.measure("before", "detect", "periods", measure_periods=failing)
        self.assertEqual(self.measure("after", "detect", "periods"), "## detect\n\nbefore\n\n## periods\n\nafter\n")
        self.assertEqual(self.measure("again", "detect", "periods"), "## detect\n\nagain\n\n## periods\n\nagain\n")

    def test_part_that_needs_root_is_refused_before_another_one_is_measured(self):
        with mock.patch("os.geteuid", return_value=1000), self.assertRaisesRegex(LabError, "needs root"):
            self.measure("", *PARTS, require_for_periods=periods.require_for_periods, detect=mock.Mock(side_effect=AssertionError))

    def test_program_that_is_missing_is_reported_before_anything_is_measured(self):
        with mock.patch("shutil.which", return_value=None), self.assertRaisesRegex(LabError, "is not installed"):
            self.measure("", *PARTS, require_for_overhead=whole.require_for_overhead, detect=mock.Mock(side_effect=AssertionError))


if __name__ == "__main__":
    unittest.main()
