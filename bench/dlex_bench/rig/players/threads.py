# SPDX-License-Identifier: LGPL-2.1-or-later
"""Lists a player's threads by the names that the kernel has for them: what each does, and the CPU time it used.

A policy holds only some of them. What a player does in its other threads (dlex-play demuxes and decodes its sound in one)
escapes the policy, and a comparison has to report how much that was. It is the process's CPU time minus the main thread's:
both are known to the end. The figures of the single other threads come from the last look at each, and may lack half a
second.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from ...machine.domain import threads_of

UNKNOWN = "unknown"
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
NS_PER_S = 1e9


@dataclass(frozen=True)
class Thread:
    tid: int
    name: str
    work: str
    cpu_s: float


def player_threads(pid: int, works: Mapping[str, str]) -> list[Thread]:
    """Returns the player's threads, the main one first. `works` is an adapter's `threads`.

    A thread that ends during the call is left out.
    """
    found = []
    for tid in sorted(threads_of(pid), key=lambda tid: tid != pid):
        with contextlib.suppress(OSError):
            name, cpu_s = _seen(Path(f"/proc/{pid}/task/{tid}"))
            found.append(Thread(tid, name, works["main"] if tid == pid else _work(name, works), cpu_s))
    return found


def with_later(known: Iterable[Thread], later: Iterable[Thread]) -> list[Thread]:
    """Returns the threads of both lists. Those that have ended stay as they were.

    A thread gets the name that it had last, because threads are named after they have started.
    """
    threads = {thread.tid: thread for thread in known}
    for thread in later:
        before = threads.get(thread.tid, thread)
        threads[thread.tid] = replace(thread, cpu_s=max(before.cpu_s, thread.cpu_s))
    return list(threads.values())


def unknown_threads(threads: Iterable[Thread]) -> list[str]:
    """Returns the names of the threads whose work is not known, each name once."""
    return list(dict.fromkeys(it.name for it in threads if it.work == UNKNOWN))


def _seen(task: Path) -> tuple[str, float]:
    """Returns the name and the CPU time in s: measured in ns where the kernel has that, else in its ticks."""
    name, cpu_s = _stat((task / "stat").read_text())
    with contextlib.suppress(FileNotFoundError):
        cpu_s = int((task / "schedstat").read_text().split()[0]) / NS_PER_S
    return name, cpu_s


def _stat(text: str) -> tuple[str, float]:
    """Returns the name and the CPU time from the text of a stat file, see proc(5). A name may contain parentheses."""
    name, rest = text.split("(", 1)[1].rsplit(")", 1)
    user, system = rest.split()[11:13]
    return name, (int(user) + int(system)) / TICKS_A_SECOND


def _work(name: str, works: Mapping[str, str]) -> str:
    return next((work for pattern, work in works.items() if fnmatchcase(name, pattern)), UNKNOWN)
