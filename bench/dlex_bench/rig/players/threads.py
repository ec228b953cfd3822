# SPDX-License-Identifier: LGPL-2.1-or-later
"""Looks at a player's threads: what each does by its name, the CPU time it has used, and where the kernel lets it run.

The threads that decode or present belong on the measured CPU under the job's policy. What a player does in its other
threads (dlex-play demuxes and decodes its sound in two) escapes the policy, and a comparison has to report how much that
was. The main thread's CPU time is known to the player's end. That of the other threads comes from the last look at each,
and may lack half a second.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal, TypeVar

from ...machine.domain import threads_of
from ...machine.policy import Policy, policy_of
from ...schema import Stored

Role = Literal["decode", "present"]
Roles = tuple[Role, ...]
DECODE: Roles = ("decode",)
PRESENT: Roles = ("present",)
BOTH: Roles = ("decode", "present")

TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
NS_PER_S = 1e9
MOVES = re.compile(r"^se\.nr_migrations *: *(\d+)$", re.MULTILINE)
Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class Work:
    """What a thread does, in words, and whether it decodes or presents pictures."""

    text: str
    roles: Roles = ()


# A thread of a version of the player that is not known here. It may decode or present, so it is held like one that does.
UNKNOWN = Work("unknown", BOTH)
MAIN = "main"
Works = Mapping[str, Work]
# Threads that libraries start in every player: FFmpeg's frame threads, libdav1d's, and Mesa's, which draw OpenGL on the CPU.
LIBRARIES: Works = {
    "av:*": Work("decodes", DECODE),
    "dav1d*": Work("decodes", DECODE),
    "llvmpipe-*": Work("presents", PRESENT),
}


class Thread(Stored):
    """What a result says of a thread. Results of older versions have only the first four fields."""

    tid: int
    name: str
    work: str
    cpu_s: float
    roles: Roles | None = None
    cpus: str | None = None  # where it may run, such as "0,1", at the last look that counts
    policy: str | None = None  # as the kernel reported it at that look
    outside_s: float | None = None  # CPU time that it used where it does not belong, see job/holding.py
    # How long it could run and waited for a CPU, and how often it got one (`schedstat` in proc(5)), at the last look. Null: the
    # kernel does not say it; absent from older versions, as those below.
    wait_s: float | None = None
    slices: int | None = None
    ran_on: str | None = None  # the CPUs on which the looks saw it, such as "0,1"
    moves_seen: int | None = None  # how often a look saw it on another CPU than the look before
    moves: int | None = None  # how often it moved, as the kernel counts it; null: this kernel does not show it


@dataclass(frozen=True)
class Look:
    """What one look saw of a thread. A thread that has ended has no CPUs and no policy."""

    time_ns: int  # CLOCK_MONOTONIC, after the rest was read
    name: str
    cpu_s: float
    cpus: frozenset[int] | None
    policy: Policy | None
    wait_s: float | None = None  # the time in which it waited for a CPU; None: the kernel does not say it
    slices: int | None = None  # how often it got a CPU
    on_cpu: int | None = None  # where it ran last
    moves: int | None = None  # how often the kernel moved it to another CPU; None: the kernel does not say it


@dataclass
class SeenThread:
    """A thread and all looks at it, the first look first."""

    tid: int
    looks: list[Look] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Returns the name that the thread had last, because threads are named after they have started."""
        return self.looks[-1].name

    @property
    def cpu_s(self) -> float:
        return self.looks[-1].cpu_s

    @property
    def wait_s(self) -> float | None:
        return self._last([look.wait_s for look in self.looks])

    @property
    def slices(self) -> int | None:
        return self._last([look.slices for look in self.looks])

    @property
    def moves(self) -> int | None:
        return self._last([look.moves for look in self.looks])

    @property
    def places(self) -> list[int]:
        """Returns where each look saw it."""
        return [look.on_cpu for look in self.looks if look.on_cpu is not None]

    @staticmethod
    def _last(values: Sequence[Number | None]) -> Number | None:
        return next((value for value in reversed(values) if value is not None), None)

    def add(self, look: Look) -> None:
        before_s = self.looks[-1].cpu_s if self.looks else 0.0
        self.looks.append(replace(look, cpu_s=max(before_s, look.cpu_s)))


def looks_at(pid: int) -> dict[int, Look]:
    """Returns a look at each of the player's threads by its id, the main one first.

    A thread that ends during the call is left out.
    """
    found = {}
    for tid in sorted(threads_of(pid), key=lambda tid: tid != pid):
        with contextlib.suppress(OSError):
            found[tid] = _look(pid, tid)
    return found


def work_of(tid: int, name: str, pid: int, works: Works) -> Work:
    """Returns what a thread does. `works` has the works of the player `pid` by patterns of names, without those of libraries."""
    return works[MAIN] if tid == pid else _work(name, works)


def unknown_threads(threads: Iterable[Thread]) -> list[str]:
    """Returns the names of the threads whose work is not known, each name once."""
    return list(dict.fromkeys(it.name for it in threads if it.work == UNKNOWN.text))


def _look(pid: int, tid: int) -> Look:
    task = Path(f"/proc/{pid}/task/{tid}")
    name, has_ended, cpu_s, on_cpu = _stat((task / "stat").read_text())
    wait_s, slices = None, None
    with contextlib.suppress(FileNotFoundError):  # in ns where the kernel has that, else in its ticks
        run_ns, wait_ns, slices = map(int, (task / "schedstat").read_text().split())
        cpu_s, wait_s = run_ns / NS_PER_S, wait_ns / NS_PER_S
    moves = _moves(task)
    if has_ended:
        return Look(time.monotonic_ns(), name, cpu_s, None, None, wait_s, slices, on_cpu, moves)
    cpus, policy = frozenset(os.sched_getaffinity(tid)), policy_of(tid)
    return Look(time.monotonic_ns(), name, cpu_s, cpus, policy, wait_s, slices, on_cpu, moves)


def _moves(task: Path) -> int | None:
    """Returns how often the kernel moved a thread to another CPU. None: it was built without this file."""
    with contextlib.suppress(OSError):
        found = MOVES.search((task / "sched").read_text())
        return int(found[1]) if found else None
    return None


def _stat(text: str) -> tuple[str, bool, float, int]:
    """Returns the name, whether the thread has ended, the CPU time and the last CPU from the text of a stat file, see proc(5).

    A name may contain parentheses.
    """
    name, rest = text.split("(", 1)[1].rsplit(")", 1)
    fields = rest.split()
    user, system = fields[11:13]
    return name, fields[0] in "ZX", (int(user) + int(system)) / TICKS_A_SECOND, int(fields[36])


def _work(name: str, works: Works) -> Work:
    known = (*works.items(), *LIBRARIES.items())
    return next((work for pattern, work in known if fnmatchcase(name, pattern)), UNKNOWN)
