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
    """`is_fifo`: all processes have priorities, and with two CPUs the delayed ones have a CPU of their own."""

    is_fifo: bool
    is_delayed: bool
    is_loaded: bool

    def __str__(self) -> str:
        return ", ".join((
            "fifo" if self.is_fifo else "other",
            "with a delay" if self.is_delayed else "at once",
            "beside stress" if self.is_loaded else "alone",
        ))


def conditions() -> list[Condition]:
    return [Condition(fifo, delayed, loaded) for fifo, delayed, loaded in itertools.product((False, True), repeat=3)]


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
