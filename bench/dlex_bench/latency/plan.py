# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plans which constraints the latency experiment violates, in which order, and for how long (seed 000, section 7)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from ..order import rotated

POLICIES = ("other", "fifo", "deadline")
KINDS = ("deadline", "wcet")
LEAST_US, MOST_US = 500, 100_000

# The time that the cell's program adds to a sample of each kind: a raw timer beside it, at most 2 ms, and its latency.
RAW_MS = {"deadline": 2.0, "wcet": 4.0}
START_S = 0.05
# How long an ordinary thread that is ready to run waits for the CPU, per other thread that wants the same CPU.
TURN_MS = 8.0
# Waiting time after the start of a load, and after its end.
SETTLE_S = 0.5


@dataclass(frozen=True)
class LoadLevel:
    """A row of the seed's Table 1."""

    tasks: int
    cpu: int
    memory: int


TABLE_1 = (LoadLevel(0, 0, 0), LoadLevel(2, 1, 1), LoadLevel(5, 4, 1), LoadLevel(10, 8, 2))
LOADS = {level.tasks: level for level in TABLE_1}


@dataclass(frozen=True)
class Cell:
    """One round of one curve: a sample of each duration."""

    round: int
    load: int
    policy: str
    kind: str

    @property
    def name(self) -> str:
        return f"{self.round:02}-load{self.load}-{self.policy}-{self.kind}"

    @property
    def about(self) -> str:
        kind = "WCET" if self.kind == "wcet" else "deadline"
        return f"round {self.round + 1}: {kind}s under {self.policy}, {self.load} load tasks"


@dataclass(frozen=True)
class LatencyPlan:
    """The requested experiment. A later run with the same plan can continue it."""

    step_us: int
    samples: int
    policies: tuple[str, ...] = POLICIES
    loads: tuple[int, ...] = tuple(LOADS)
    kinds: tuple[str, ...] = KINDS
    most_us: int = MOST_US

    @property
    def durations_us(self) -> list[int]:
        return list(range(LEAST_US, self.most_us + 1, self.step_us))

    def order_us(self, cell: Cell) -> list[int]:
        """Returns the durations in random order, which is the same for all cells of a round.

        In a sorted order, a change of the machine during a cell would look like an effect of the duration.
        """
        durations_us = self.durations_us
        random.Random(cell.round).shuffle(durations_us)
        return durations_us

    def rounds(self, policies: Sequence[str]) -> list[list[list[Cell]]]:
        """Returns the cells by round and load.

        Each round begins with another load and another policy, so that slow changes of the machine affect all of them
        equally.
        """
        return [
            [
                [
                    Cell(number, load, policy, kind)
                    for policy in rotated(policies, number)
                    for kind in self.kinds
                ]
                for load in rotated(self.loads, number)
            ]
            for number in range(self.samples)
        ]

    def seconds(self, cell: Cell, cpus: int) -> float:
        """Estimates how long a cell takes.

        A deadline takes its own time and the wait for the CPU. A WCET's time is multiplied by the number of turns,
        its own and those of others.
        """
        durations_us = self.durations_us
        work_s = sum(durations_us) / 1e6 + len(durations_us) * RAW_MS[cell.kind] / 1e3
        rivals = max(0.0, (cell.load + 1) / cpus - 1) if cell.policy == "other" else 0.0
        if cell.kind == "wcet":
            return START_S + work_s * (2.0 if cell.policy == "deadline" else 1.0 + rivals)
        return START_S + work_s + 2 * len(durations_us) * rivals * TURN_MS / 1e3


def quick_plan(
    cpus: int, policies: Sequence[str], loads: Sequence[int], kinds: Sequence[str], limit_s: float
) -> LatencyPlan:
    """Returns the finest plan that ends within the limit: two samples of durations 5, 7.5, ... ms apart."""
    for step_us in range(5_000, MOST_US // 2, 2_500):
        plan = LatencyPlan(step_us, 2, tuple(policies), tuple(loads), tuple(kinds))
        if total_s(plan, plan.policies, cpus) <= limit_s:
            return plan
    return plan


def total_s(plan: LatencyPlan, policies: Sequence[str], cpus: int, done: frozenset[str] = frozenset()) -> float:
    """Returns the time for the cells that are left when the cells of `done` are done."""
    seconds = 0.0
    for of_round in plan.rounds(policies):
        for of_load in of_round:
            left = [cell for cell in of_load if cell.name not in done]
            seconds += sum(plan.seconds(cell, cpus) for cell in left) + (SETTLE_S if left else 0)
    return seconds
