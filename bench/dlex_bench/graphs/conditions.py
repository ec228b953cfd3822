# SPDX-License-Identifier: LGPL-2.1-or-later
"""The conditions under which the robot's processes are run, and the graph of each. The functions are pure."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

# What the paper delays, so that the jitter of the others does not reach it.
DELAYED = ("Control", "WSUpdater")
CAMERA, CONTROL = "readFireWire", DELAYED[0]
PRIORITY, DELAYED_PRIORITY = 30, 35


@dataclass(frozen=True)
class Condition:
    """
    `is_fifo`: all processes have priorities, and with two CPUs the delayed ones have a CPU of their own. `is_awake`: on that CPU
    a program of SCHED_IDLE computes, so that the CPU never sleeps. It runs only while nothing else does.
    """

    is_fifo: bool
    is_delayed: bool
    is_loaded: bool
    is_awake: bool = False

    def __str__(self) -> str:
        return ", ".join((
            "fifo" if self.is_fifo else "other",
            "with a delay" if self.is_delayed else "at once",
            "beside stress" if self.is_loaded else "alone",
            *(("CPU kept awake",) if self.is_awake else ()),
        ))


AWAKE = Condition(True, True, False, True)


def conditions(*, has_own_cpu: bool = True) -> list[Condition]:
    """Returns all conditions. Without a CPU for the delayed processes, none is kept awake."""
    paper = [Condition(fifo, delayed, loaded) for fifo, delayed, loaded in itertools.product((False, True), repeat=3)]
    return [*paper, AWAKE] if has_own_cpu else paper


def graph_of(robot: Mapping[str, Any], condition: Condition, own_cpu: int, other_cpus: Collection[int]) -> dict[str, Any]:
    """Returns the graph for this condition. Without other CPUs, all processes share the only one."""
    graph = copy.deepcopy(dict(robot))
    for name, process in graph["processes"].items():
        if name in DELAYED and not condition.is_delayed:
            process.pop("delay", None)
        if not condition.is_fifo:
            continue
        process["priority"] = DELAYED_PRIORITY if name in DELAYED else PRIORITY
        if other_cpus:
            cpus = [own_cpu] if name in DELAYED else sorted(other_cpus)
            process["command"] = f"taskset -pc {','.join(map(str, cpus))} $$ >/dev/null; {process['command']}"
    return graph
