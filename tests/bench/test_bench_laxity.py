# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the findings about laxities, with invented ones. Not covered: the measurement, which needs root and an idle machine."""

import contextlib
import io
import itertools
import json
import math
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from outside import Folder, with_packages

with_packages("numpy, scipy, pydantic, rich, matplotlib")

from dlex_bench.errors import LabError
from dlex_bench.laxity import experiment
from dlex_bench.laxity.experiment import LaxityOptions, laxity_table, measure_laxity, several_table
from dlex_bench.laxity.figure import draw_laxities
from dlex_bench.laxity.findings import Laxities, laxity_findings
from dlex_bench.laxity.several import GROUPS, NONE, RATES, REVERSE, laxities_of, several_findings
from written_results import WritesResults


def cells(**found):
    """Returns cells by names such as other_0."""
    return {(name.split("_")[0], int(name.split("_")[1])): Laxities(values) for name, values in found.items()}


class Findings(unittest.TestCase):
    def words(self, **found):
        return [outcome.word for outcome in laxity_findings(cells(**found))]

    def test_findings_of_the_paper_hold_for_its_own_figures(self):
        found = {"other_0": (38.0, 30.0), "other_3": (10.0, -60.0), "other_16": (-300.0, -10.0), "fifo_0": (38.0, 42.0),
                 "fifo_16": (26.0, 41.0)}
        self.assertEqual(self.words(**found), ["holds"] * 4)
        self.assertIn("26.0 to 42.0 ms", laxity_findings(cells(**found))[3].sentence)

    def test_each_finding_is_missed_by_its_opposite(self):
        found = {"other_0": (38.0, -1.0), "other_3": (10.0, 20.0), "other_16": (-300.0, -10.0), "fifo_0": (38.0, 42.0),
                 "fifo_16": (-1.0, 41.0)}
        self.assertEqual(self.words(**found), ["does not hold"] * 4)

    def test_one_or_two_programs_beside_say_nothing(self):
        self.assertEqual(self.words(other_1=(-5.0, 1.0), other_2=(-5.0, 1.0)), ["not measured"] * 4)

    def test_missed_deadlines_come_with_the_interval_of_their_share(self):
        found = cells(other_0=tuple(range(1, 201)))
        self.assertIn("missed: 0 of 200 (0% to 2%) beside 0", laxity_findings(found)[0].sentence)

    def test_table_has_a_row_for_each_number_of_programs(self):
        table = laxity_table(cells(other_0=(1.0, 2.0), fifo_0=(1.0, 2.0), other_3=(1.0, 2.0), fifo_3=(1.0, 2.0)))
        self.assertEqual(table.row_count, 2)


class Several(unittest.TestCase):
    def groups(self, by_rates=5.0, reverse=-5.0, none=-100.0):
        """Returns the laxities of both groups: what the fastest program has in each order; the others have twice as much."""
        least = {RATES: by_rates, REVERSE: reverse, NONE: none}
        return {(len(group), order, paced): Laxities((20.0, value * (1 + (paced != group[0]))))
                for group in GROUPS for order, value in least.items() for paced in group}

    def words(self, **least):
        return [outcome.word for outcome in several_findings(self.groups(**least))]

    def test_order_of_rates_is_the_one_that_meets_all_deadlines(self):
        self.assertEqual(self.words(), ["holds"] * 6)
        self.assertEqual(self.words(by_rates=-1.0, reverse=1.0, none=1.0), ["does not hold"] * 6)
        self.assertEqual([outcome.word for outcome in several_findings({})], ["not measured"] * 6)

    def test_rates_and_costs_make_the_order_matter(self):
        for group in GROUPS:
            self.assertLess(sum(paced.cost_ms / paced.period_ms for paced in group), 0.95)
            for number, paced in enumerate(group):
                self.assertLessEqual(response_ms(paced, group[:number]), paced.period_ms)
            self.assertGreater(response_ms(group[0], group[1:]), group[0].period_ms)
            for one, other in itertools.combinations(group, 2):
                self.assertEqual(math.gcd(one.rate_hz, other.rate_hz), 1)

    def test_first_and_last_packets_do_not_count(self):
        said = "".join(f"{number * 1000000}\n" for number in range(-2, 18)) + "laxity 1.0 to 2.0 ms, 0 of 20 packets too late\n"
        self.assertEqual(laxities_of(said, 20, 2, "it"), [float(number) for number in range(16)])
        with self.assertRaisesRegex(LabError, "reported 20 of 21"):
            laxities_of(said, 21, 2, "it")

    def test_table_and_picture_have_a_place_for_each_program(self):
        self.assertEqual(several_table(self.groups()).row_count, 5)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "several.png"
            draw_laxities({("fifo", "one"): Laxities((1.0, -2.0)), ("other", "two"): Laxities((3.0,))}, {"one": 5, "two": 6}, path)
            self.assertEqual(path.read_bytes()[:4], b"\x89PNG")


class Results(WritesResults, Folder):
    """The whole command with invented laxities."""

    MEASURES = ("_measure", "measure_group")

    def measure(self, out, **replaced):
        found = [38.0, 30.0]
        stand_ins = {
            "require_program": mock.Mock(), "find_stress": mock.Mock(), "_measure": mock.Mock(return_value=found),
            "measure_group": lambda _programs, group, *_others: [found for _paced in group],
            "only_measurement": mock.Mock(return_value=contextlib.nullcontext()), "own_cpu": mock.MagicMock(),
        }
        with mock.patch.multiple(experiment, **{**stand_ins, **replaced}), contextlib.redirect_stdout(io.StringIO()):
            measure_laxity(LaxityOptions(self.folder, out, quick=True, cpu=None))

    def test_all_laxities_are_written_with_the_commit(self):
        lock = mock.Mock(return_value=contextlib.nullcontext())
        self.measure(self.folder / "out", only_measurement=lock)
        lock.assert_called_once_with(os.sched_getaffinity(0))
        written = json.loads((self.folder / "out/laxity.json").read_text())
        self.assertIn("commit", written)
        self.assertEqual((len(written["cells"]), len(written["several"])), (8, 15))
        self.assertEqual(sorted(it.name for it in (self.folder / "out").iterdir()),
                         ["laxity.json", "laxity.md", "laxity.png", "several.png"])


def response_ms(paced, higher):
    """Returns the longest response time of a program below these, by the field's iteration; what it needs if that is too much."""
    found_ms, before_ms = paced.cost_ms, 0.0
    while before_ms < found_ms <= paced.period_ms:
        before_ms = found_ms
        found_ms = paced.cost_ms + sum(math.ceil(before_ms / it.period_ms) * it.cost_ms for it in higher)
    return found_ms


if __name__ == "__main__":
    unittest.main()
