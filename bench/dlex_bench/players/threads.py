# SPDX-License-Identifier: LGPL-2.1-or-later
"""A player's threads as the kernel names them: what each does, and the CPU time it took.

A policy holds some of them only. What a player does in others (our own decodes its sound in one) escapes the policy,
and a comparison has to say how much that was.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from ..machine.domain import threads_of

TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Thread:
    tid: int
    name: str
    work: str
    cpu_s: float

    def to_json(self) -> dict[str, int | float | str]:
        return asdict(self)


def player_threads(pid: int, works: Mapping[str, str]) -> list[Thread]:
    """The main one comes first. One that ends meanwhile is left out. `works` is an adapter's `threads`."""
    found = []
    for tid in threads_of(pid):
        with contextlib.suppress(OSError):
            name, cpu_s = _stat(Path(f"/proc/{pid}/task/{tid}/stat").read_text())
            found.append(Thread(tid, name, works["main"] if tid == pid else _work(name, works), cpu_s))
    return found


def _stat(text: str) -> tuple[str, float]:
    """Name and CPU time, proc(5); a name may contain parentheses."""
    name, rest = text.split("(", 1)[1].rsplit(")", 1)
    user, system = rest.split()[11:13]
    return name, (int(user) + int(system)) / TICKS_A_SECOND


def _work(name: str, works: Mapping[str, str]) -> str:
    return next((work for begin, work in works.items() if name.startswith(begin)), "unknown")
