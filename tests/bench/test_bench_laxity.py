# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the findings about laxities, with invented ones. Not covered: the measurement, which needs root and an idle machine."""

import unittest

from outside import with_packages

with_packages("numpy, scipy, pydantic, rich")

from dlex_bench.laxity.experiment import laxity_table
from dlex_bench.laxity.findings import Laxities, laxity_findings


def cells(**found):
    """Returns cells by names such as other_0."""
    return {(name.split("_")[0], int(name.split("_")[1])): Laxities(values) for name, values in found.items()}


class Findings(unittest.TestCase):
    def words(self, **found):
        return [outcome.word for outcome in laxity_findings(cells(**found))]

    def test_findings_of_the_paper_hold_for_its_own_figures(self):
        found = {"other_0": (38.0, 30.0), "other_3": (10.0, -60.0), "other_16": (-300.0, -10.0), "fifo_0": (38.0, 42.0),
                 "fifo_16": (26.0, 41.0)}
        self.assertEqual(self.words(**found), ["met"] * 4)
        self.assertIn("26.0 to 42.0 ms", laxity_findings(cells(**found))[3].sentence)

    def test_each_finding_is_missed_by_its_opposite(self):
        found = {"other_0": (38.0, -1.0), "other_3": (10.0, 20.0), "other_16": (-300.0, -10.0), "fifo_0": (38.0, 42.0),
                 "fifo_16": (-1.0, 41.0)}
        self.assertEqual(self.words(**found), ["missed"] * 4)

    def test_one_or_two_programs_beside_say_nothing(self):
        self.assertEqual(self.words(other_1=(-5.0, 1.0), other_2=(-5.0, 1.0)), ["not measured"] * 4)

    def test_table_has_a_row_for_each_number_of_programs(self):
        table = laxity_table(cells(other_0=(1.0, 2.0), fifo_0=(1.0, 2.0), other_3=(1.0, 2.0), fifo_3=(1.0, 2.0)))
        self.assertEqual(table.row_count, 2)


if __name__ == "__main__":
    unittest.main()
