# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the load of a job beside the player. A load of any kind may die, and has a report."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..rig.load.rtapp import RTAPP_LIMIT_S, RtApp, TaskPolicy, rtapp
from ..rig.load.rtapp_log import TaskStats
from ..rig.load.stress import require_running, stress
from ..rig.players.playing import LIMIT_EXTRA_S, LIMIT_FACTOR
from .loops import Loops
from .result import LoadReport
from .setting import Setting

SETTLE_S = 0.5
# Time for the player's start and end, beyond the playing itself.
AROUND_S = 60.0


@dataclass
class Companion:
    """The running load of a job.

    `watch` is called while the player plays, and raises when the load has died. `task_stats` is called when all has
    ended.
    """

    watch: Callable[[], None]
    about: LoadReport
    rtapp: RtApp | None = None

    def task_stats(self, window_us: tuple[float, float] | None) -> dict[str, TaskStats] | None:
        return self.rtapp.task_stats(window_us) if self.rtapp else None


@contextlib.contextmanager
def companion(setting: Setting, loops: Loops | None, enter: Callable[[], None] | None) -> Iterator[Companion]:
    load, cpu = setting.job.load, None if setting.is_free else setting.cpu
    if loops:
        policy = task_policy(setting.load_sched)
        limit_s = rtapp_limit_s(setting.length_s)
        folder = setting.directory / "rt-app"
        with (
            rtapp(cpu, loops.ns_per_loop, folder, policy, enter, limit_s=limit_s) as running,
            stress(load.stress or 0, 0, setting.load_cpus, 0.0, enter) as workers,
        ):
            about = LoadReport(
                cpu=cpu, kind="rtapp", sched=setting.load_sched, ns_per_loop=loops.ns_per_loop, stress=load.stress
            )

            def watch() -> None:
                running.sample()
                require_running(workers)

            yield Companion(watch, about, running)
    else:
        with stress(load.cpu or 0, load.vm or 0, setting.load_cpus, SETTLE_S, enter) as process:
            yield Companion(lambda: require_running(process), LoadReport(cpu=cpu, kind=load.kind))


def rtapp_limit_s(length_s: float) -> float:
    """Returns a limit longer than the time that the player gets for its clip, so that rt-app never ends before it."""
    return max(RTAPP_LIMIT_S, LIMIT_FACTOR * length_s + LIMIT_EXTRA_S + AROUND_S)


def task_policy(sched: str) -> TaskPolicy:
    """Returns the policy for `other`, `fifo:5`, `rr:5` or `deadline`, which gives each task the paper's budget."""
    kind, _, priority = sched.partition(":")
    return TaskPolicy(kind, int(priority) if kind in ("fifo", "rr") else 0)
