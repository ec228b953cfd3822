# SPDX-License-Identifier: LGPL-2.1-or-later
"""The load of a job, whatever its kind: something that runs beside the player, may die, and has a report."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ..beside.rtapp import RtApp, TaskPolicy, rtapp
from ..beside.stress import check, stress
from .loops import loops_of
from .setting import Setting

SETTLE_S = 0.5


@dataclass
class Companion:
    """`watch` is called while the player plays, and raises when the load died; `fares` when all has ended."""

    watch: Callable[[], None]
    rtapp: RtApp | None = None
    about: dict[str, Any] | None = None

    def fares(self, window_us: tuple[float, float] | None) -> dict[str, Any] | None:
        return self.rtapp.fares(window_us) if self.rtapp else None


@contextlib.contextmanager
def companion(setting: Setting, enter: Callable[[], None] | None) -> Iterator[Companion]:
    load = setting.job.load
    if setting.load_kind == "rtapp":
        loops = loops_of(setting)
        policy = task_policy(setting.load_sched)
        with rtapp(setting.cpu, loops.ns_per_loop, setting.directory / "rt-app", policy, enter) as running:
            about = {"kind": "rtapp", "sched": setting.load_sched, "ns_per_loop": loops.ns_per_loop}
            yield Companion(running.sample, running, about)
    else:
        with stress(load.get("cpu", 0), load.get("vm", 0), {setting.cpu}, SETTLE_S) as process:
            yield Companion(lambda: check(process), about=dict(load))


def task_policy(sched: str) -> TaskPolicy:
    """From `other`, `fifo:5`, `rr:5` or `deadline`, by which each task has the paper's budget."""
    kind, _, priority = sched.partition(":")
    return TaskPolicy(kind, int(priority) if kind in ("fifo", "rr") else 0)
