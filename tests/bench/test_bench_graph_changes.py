# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the experiment that changes a process of a graph while it runs: what is changed, and how it is judged. Logs are invented.

Not covered: the calls of libdlex-pman and a graph that really runs (tests/sched/test_graph_changes.py).
"""

import random
import unittest
from dataclasses import asdict, replace

from outside import with_packages

with_packages("numpy, scipy, yaml, rich")

from dlex_bench.graphs.change_experiment import changes_chapter, changes_table
from dlex_bench.graphs.change_findings import change_findings
from dlex_bench.graphs.changed_run import FIRST_TICKS, LAST_TICKS, ChangedRun, Obedience, PartFigures, changed_run, stored_run
from dlex_bench.graphs.changes import DEADLINE_MS, Change, attributes_of, make_changes, next_attributes
from dlex_bench.graphs.findings import OWN_CPU, PAPER_AT_ONCE, PAPER_DELAYED
from dlex_bench.graphs.instances import GraphLog, Instance, Tick

MS = 1_000_000
TICK_NS = 33 * MS
ORIGINAL = attributes_of({"delay": 20, "after": ["a", "b"]})
PART = PartFigures(1000, 0, 30, 60, 20, 40)
RUN = ChangedRun(500, 300, 0, PART, PART, PART)


def made_up_log(ticks=100, late_us=30):
    """A log of a and b, which finish 5 ms after each tick, and of c, which follows them with a delay of 20 ms."""
    log = GraphLog({number: Tick(number * TICK_NS, 10_000) for number in range(ticks)})
    for number, tick in log.ticks.items():
        for name, after_ms in (("a", 0), ("b", 0), ("c", 20)):
            due_ns = tick.time_ns + after_ms * MS
            start_ns, finish_ns = due_ns + late_us * 1000, due_ns + 5 * MS
            log.instances.append(Instance(name, number + 1, number, due_ns, due_ns, start_ns, False, finish_ns))
    return log


def change_at(tick, after_ms=-1.0, **attributes):
    """A change that comes so much after the tick; the default is before it."""
    at_ns = tick * TICK_NS + int(after_ms * MS)
    return Change(at_ns, at_ns + 1000, replace(ORIGINAL, **attributes))


def instance_of(log, name, tick):
    return next(each for each in log.instances if (each.process, each.tick) == (name, tick))


class Attributes(unittest.TestCase):
    def test_original_attributes_are_those_of_the_file(self):
        self.assertEqual((ORIGINAL.period, ORIGINAL.delay_ms, ORIGINAL.deadline_ms, ORIGINAL.priority), (1, 20, 0, 0))
        self.assertEqual(ORIGINAL.after, {"a", "b"})

    def test_each_change_is_of_one_attribute_and_all_are_changed(self):
        original, choice, changed = replace(ORIGINAL, priority=35), random.Random(1), set()
        now = original
        for _ in range(200):
            wanted = next_attributes(now, original, ["a", "b", "d"], choice)
            different = [key for key, value in asdict(now).items() if asdict(wanted)[key] != value]
            self.assertEqual(len(different), 1)
            self.assertLessEqual(len(now.after ^ wanted.after), 1)
            changed.update(different)
            now = wanted
        self.assertEqual(changed, set(asdict(original)))
        self.assertLessEqual((now.period, now.deadline_ms), (2, DEADLINE_MS))

    def test_process_without_a_priority_gets_none(self):
        choice = random.Random(1)
        self.assertEqual({next_attributes(ORIGINAL, ORIGINAL, ["a"], choice).priority for _ in range(100)}, {0})

    def test_the_last_change_restores_the_original(self):
        class Recorder:
            def __init__(self):
                self.calls = []

            def change(self, process, now, wanted):
                self.calls.append((process, now, wanted))

        table, left = Recorder(), [False] * 5 + [True]
        made = make_changes(table, "c", ORIGINAL, ["a", "b"], lambda: left.pop(0), 1)
        self.assertEqual(len(made), 6)
        self.assertEqual(made[-1].attributes, ORIGINAL)
        self.assertEqual([call[0] for call in table.calls], ["c"] * 6)
        self.assertEqual([call[1] for call in table.calls], [ORIGINAL, *(each.attributes for each in made[:-1])])
        self.assertTrue(all(each.begin_ns <= each.end_ns for each in made))


class Obeying(unittest.TestCase):
    def obeys(self, log, changes, tick):
        return Obedience(log, "c", ORIGINAL, changes).at(tick)

    def test_unchanged_process_obeys(self):
        self.assertIs(self.obeys(made_up_log(), [change_at(90)], 50), True)

    def test_delay_is_that_of_the_last_change_before_the_tick(self):
        log = made_up_log()
        self.assertIs(self.obeys(log, [change_at(50, delay_ms=15.0)], 50), False)
        instance_of(log, "c", 50).due_ns -= 5 * MS
        self.assertIs(self.obeys(log, [change_at(50, delay_ms=15.0)], 50), True)
        self.assertIs(self.obeys(log, [change_at(50, 1, delay_ms=15.0)], 50), False)  # the change came after the tick

    def test_every_second_tick_is_left_out_with_period_2(self):
        log, changes = made_up_log(), [change_at(50, period=2)]
        self.assertEqual([self.obeys(log, changes, tick) for tick in (51, 52)], [False, True])
        log.instances.remove(instance_of(log, "c", 51))
        self.assertIs(self.obeys(log, changes, 51), True)

    def test_missing_start_is_disobedience_unless_the_last_one_had_not_finished(self):
        log = made_up_log()
        log.instances.remove(instance_of(log, "c", 50))
        self.assertIs(self.obeys(log, [change_at(90)], 50), False)
        instance_of(log, "c", 49).finished_ns = 51 * TICK_NS
        self.assertIsNone(self.obeys(log, [change_at(90)], 50))

    def test_predecessor_that_outlasts_the_delay_is_waited_for(self):
        log = made_up_log()
        instance_of(log, "b", 50).finished_ns = 50 * TICK_NS + 25 * MS
        self.assertIs(self.obeys(log, [change_at(90)], 50), False)
        self.assertIs(self.obeys(log, [change_at(50, after=frozenset("a"))], 50), True)  # it is no predecessor any longer
        instance_of(log, "c", 50).due_ns += 5 * MS
        self.assertIs(self.obeys(log, [change_at(90)], 50), True)

    def test_what_cannot_be_known_is_not_judged(self):
        at_the_tick = Change(50 * TICK_NS - 10, 50 * TICK_NS + 10, ORIGINAL)
        self.assertIsNone(self.obeys(made_up_log(), [at_the_tick], 50))
        late = made_up_log()
        for name in ("a", "b"):
            instance_of(late, name, 50).released_ns += 3 * MS
        self.assertIsNone(self.obeys(late, [change_at(50, 2, delay_ms=15.0)], 50))
        self.assertIs(self.obeys(late, [change_at(50, 4, delay_ms=15.0)], 50), True)
        removed_meanwhile = change_at(50, 10, after=frozenset("a"))
        self.assertIsNone(self.obeys(made_up_log(), [removed_meanwhile], 50))
        log = made_up_log()
        instance_of(log, "a", 50).finished_ns = None
        self.assertIsNone(self.obeys(log, [change_at(90)], 50))


class Figures(unittest.TestCase):
    changes = [change_at(40, 1, delay_ms=15.0), change_at(70, 1)]

    def figures(self, log):
        return changed_run(log, "c", ORIGINAL, self.changes, ["a", "b"], "b")

    def test_parts_are_before_during_and_after_the_changes(self):
        found = self.figures(made_up_log())
        ticks = (41 - FIRST_TICKS, 30, 29 - LAST_TICKS)
        self.assertEqual([part.due for part in (found.before, found.during, found.after)], [2 * count for count in ticks])
        self.assertEqual((found.changes, found.judged, found.disobeyed), (2, 30, 30))  # the log has the old delay
        self.assertEqual(found.during, PartFigures(60, 0, 30, 30, 30, 30))

    def test_lost_start_is_counted_in_its_part(self):
        log = made_up_log()
        log.instances.remove(instance_of(log, "a", 50))
        instance_of(log, "b", 60).started_ns = None
        found = self.figures(log)
        self.assertEqual([part.lost for part in (found.before, found.during, found.after)], [0, 2, 0])

    def test_late_start_of_the_one_process_is_seen(self):
        log = made_up_log()
        for tick in range(41, 71):
            instance_of(log, "b", tick).started_ns += 200_000
        found = self.figures(log)
        self.assertEqual((found.during.one_p50_us, found.before.one_p50_us), (230, 30))

    def test_run_is_stored_and_read(self):
        self.assertEqual(stored_run(asdict(RUN)), RUN)


class Findings(unittest.TestCase):
    def words(self, *runs, condition=OWN_CPU):
        found = change_findings({condition: runs})
        return [it.word for it in found if str(condition) in it.name or it is found[0]]

    def changed(self, **during):
        return replace(RUN, during=replace(PART, **during))

    def test_nothing_is_known_without_runs(self):
        self.assertEqual({it.word for it in change_findings({})}, {"not measured"})

    def test_claim_holds_if_nothing_changes(self):
        self.assertEqual(self.words(*[RUN] * 4), ["holds"] * 4)

    def test_one_tick_of_disobedience_refutes(self):
        self.assertEqual(self.words(RUN, RUN, RUN, replace(RUN, disobeyed=1))[0], "does not hold")

    def test_lost_start_refutes_unless_starts_are_lost_without_changes(self):
        lost = self.changed(lost=1)
        self.assertEqual(self.words(RUN, RUN, RUN, lost)[1], "does not hold")
        self.assertEqual(self.words(RUN, RUN, RUN, replace(lost, after=replace(PART, lost=1)))[1], "undecided")

    def test_later_starts_refute_by_the_median_or_the_99th_percentile(self):
        for change, words in (({"p50_us": 140}, ["does not hold", "holds"]), ({"p99_us": 170}, ["does not hold", "holds"]),
                              ({"one_p99_us": 170}, ["holds", "does not hold"]), ({"p99_us": 150}, ["holds", "holds"])):
            with self.subTest(change):
                self.assertEqual(self.words(*[self.changed(**change)] * 4)[2:], words)

    def test_one_run_is_not_enough(self):
        self.assertEqual(self.words(RUN)[2:], ["undecided", "undecided"])

    def test_drift_is_no_disruption(self):
        drifts = replace(RUN, before=replace(PART, p99_us=0), during=replace(PART, p99_us=150), after=replace(PART, p99_us=300))
        self.assertEqual(self.words(*[drifts] * 4)[2], "holds")

    def test_table_has_the_three_parts_of_each_condition(self):
        table = changes_table({PAPER_DELAYED: [RUN, self.changed(lost=3)], OWN_CPU: []})
        cells = [list(column.cells) for column in table.columns]
        self.assertEqual(cells[1], ["before", "during", "after"])
        self.assertEqual((cells[2], cells[4]), (["0", "1000", "0"], ["0", "3", "0"]))
        self.assertEqual(len(changes_chapter({PAPER_AT_ONCE: []}, 90).findings), 7)


if __name__ == "__main__":
    unittest.main()
