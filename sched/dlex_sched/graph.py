# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads graphs of processes for PMan. Periods and phases are in ticks, other times in ms."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from dlex_bench.errors import nearest
from dlex_bench.plain_yaml import Place

from .reading import Command, Entry, Name, read_entry, shell_command

EXAMPLE = "sched/graphs/recorder.yaml is an example"
CAPACITY = 64  # processes; as PMAN_CAPACITY

Ticks = Annotated[int, Field(ge=0, le=1_000_000)]
Milliseconds = Annotated[float, Field(ge=0, le=1_000_000)]
Priority = Annotated[int, Field(ge=0, le=99)]


class GraphProcess(Entry):
    """A process of a graph. Without a command, another program must attach itself to it."""

    command: Command | None = None
    activation: Literal["wait", "stop"] = "wait"  # the command calls pman_wait, or stops itself after each instance
    restart: bool = False  # start the command again when it has ended
    period: Ticks = 1  # 0: only as a recovery process
    phase: Ticks = 0
    delay: Milliseconds = 0  # after the tick
    deadline: Milliseconds = 0  # after the release; 0: none
    priority: Priority = 0  # of SCHED_FIFO; 0: an ordinary process
    after: tuple[Name, ...] = ()
    recovery: Name | None = None  # activated when this one misses its deadline


class Graph(Entry):
    name: Name = "dlex"  # of the table
    tick: Annotated[float, Field(ge=0.1, le=1_000_000)] | Literal["external"]
    deadlines: Literal["timer", "tick"] = "timer"
    manager_priority: Priority | None = None  # None: above all processes
    processes: Annotated[dict[Name, GraphProcess], Field(min_length=1, max_length=CAPACITY)]

    def options(self) -> list[str]:
        """Returns the options of dlex-sched-pman. The order of the processes is the order of registration."""
        options = [f"--name={self.name}", f"--deadlines={self.deadlines}", *self.tick_options()]
        for name, process in self.processes.items():
            times = f"{process.period},{process.phase},{process.delay},{process.deadline}"
            options.append(f"--process={name},{times},{process.priority}")
        for name, process in self.processes.items():
            options += [f"--after={name},{predecessor}" for predecessor in process.after]
            if process.recovery:
                options.append(f"--recovery={name},{process.recovery}")
            if command := shell_command(process.command):
                options.append(f"--{process.activation}s={name},{command}")
            if process.restart:
                options.append(f"--restarts={name}")
        return options

    def tick_options(self) -> list[str]:
        tick = [] if self.tick == "external" else [f"--tick={self.tick}"]
        return tick if self.manager_priority is None else [*tick, f"--manager-priority={self.manager_priority}"]

    def mistake(self) -> tuple[Place, str] | None:
        """Returns where a process refers wrongly to another one, or lacks something, and what is wrong; or None."""
        names = list(self.processes)
        for name, process in self.processes.items():
            for key, others in (("after", process.after), ("recovery", (process.recovery,) if process.recovery else ())):
                for other in others:
                    if other not in names:
                        return ("processes", name, key), f"there is no process {other}{nearest(other, names)}"
            if process.restart and not process.command:
                return ("processes", name, "restart"), "it has no command"
        return None


def read_graph(path: Path) -> Graph:
    """Reads a graph. Raises LabError, which names the file, the line and the field."""
    return read_entry(Graph, path, EXAMPLE, Graph.mistake)
