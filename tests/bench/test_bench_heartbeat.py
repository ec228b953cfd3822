# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what the laboratory makes of runs under reservations with several periods. The runs are invented.

Not covered: the runs themselves, which need root and an idle machine.
"""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

from outside import with_packages

with_packages("numpy, scipy, pydantic, rich, matplotlib")

from dlex_bench.analysis.chapter import Chapter, write_chapters
from dlex_bench.analysis.outcome import HOLDS, Outcome
from dlex_bench.heartbeat.cli import PARTS, heartbeat_parser
from dlex_bench.heartbeat.figure import draw_periods
from dlex_bench.heartbeat.findings import FILM, TASK, PeriodRun, Reserved, period_findings
from dlex_bench.heartbeat.periods import PAPER, periods_table, read_reserved, steps_ms


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
        self.assertEqual(self.words(runs_as_in_the_paper()), ["holds", "does not hold", "holds", "holds", "holds"])
        changed = runs_as_in_the_paper(task_90=0.4, task_100=0.4)
        self.assertEqual(self.words(changed)[1], "holds")

    def test_steady_period_that_reserves_less_refutes_table_two(self):
        self.assertEqual(self.words(runs_as_in_the_paper(film_20=0.3))[3], "does not hold")

    def test_unsteady_period_that_reserves_less_does_not(self):
        self.assertEqual(self.words(runs_as_in_the_paper(film_60=0.3))[3], "holds")

    def test_one_repetition_tells_nothing(self):
        runs = [run for run in runs_as_in_the_paper() if run.repetition == 1]
        self.assertEqual(self.words(runs), ["undecided"] * 5)
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
            rows.write_text("second,hz,reserved\n1.0,25,0.3\n6.0,25,0.4\n7.0,25,0\n8.0,25,0.5\n")
            self.assertEqual(read_reserved(rows), (Reserved(6.0, 0.4), Reserved(8.0, 0.5)))

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
            with self.subTest(word), contextlib.redirect_stderr(io.StringIO()) as told, self.assertRaises(SystemExit) as caught:
                self.parts_of(word)
            self.assertEqual(caught.exception.code, 1)
            self.assertRegex(told.getvalue(), r"is not one of detect, overhead, periods; see [^\n]+\n\Z")


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


if __name__ == "__main__":
    unittest.main()
