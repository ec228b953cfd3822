# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the load of a job beside the player. A load of any kind may die, and has a report."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path

from ..agenda.loads import EVERY_S
from ..errors import EXIT_SETUP, LabError
from ..rig.folder import private_folder
from ..rig.load.audio import audio
from ..rig.load.browsing import browsing
from ..rig.load.building import building
from ..rig.load.other_films import other_films, times_to_play
from ..rig.load.quota import changing_quota
from ..rig.load.rtapp import RTAPP_LIMIT_S, RtApp, TaskPolicy, rtapp
from ..rig.load.rtapp_log import TaskStats
from ..rig.load.running import Due, RunningLoad, Window
from ..rig.load.stress import require_running, stress, stress_load
from ..rig.load.writing import writing
from ..rig.players.playing import LIMIT_EXTRA_S, LIMIT_FACTOR
from .loops import Loops
from .pace import TimedLoad
from .result import LoadReport, QuotaChange
from .setting import DLEX_PLAY, Setting

# How long there is nothing before a player without a load starts.
QUIET_S = 0.5
# Time for the player's start and end, beyond the playing itself.
AROUND_S = 60.0


@dataclass
class Companion:
    """The running load of a job.

    `watch` is called while the player plays, and raises when the load has died. `report` and `task_stats` are called when all has
    ended, with the time in which pictures were shown.
    """

    watch: Callable[[], None]
    report: Callable[[Window], LoadReport]
    rtapp: RtApp | None = None
    enter_player: Callable[[], None] | None = None  # for `enter` of processes.child, of the player

    def task_stats(self, window: Window | None) -> dict[str, TaskStats] | None:
        return self.rtapp.task_stats(window) if self.rtapp else None


@contextlib.contextmanager
def companion(setting: Setting, loops: Loops | None, enter: Callable[[], None] | None) -> Iterator[Companion]:
    """Runs the load of a job while the block runs. `enter` is the same as for processes.child."""
    kind = setting.job.load.kind
    if loops:
        running = _beside_rtapp(setting, loops, enter)
    elif kind == "none":
        running = _nothing(setting)
    elif kind == "quota":
        running = _quota(setting)
    else:
        running = _ordinary(setting, enter)
    with running as load:
        yield load


@contextlib.contextmanager
def _nothing(setting: Setting) -> Iterator[Companion]:
    time.sleep(QUIET_S)
    yield Companion(lambda: None, lambda _window: LoadReport(cpu=_measured_cpu(setting), kind="none"))


@contextlib.contextmanager
def _beside_rtapp(setting: Setting, loops: Loops, enter: Callable[[], None] | None) -> Iterator[Companion]:
    load, cpu = setting.job.load, _measured_cpu(setting)
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

        yield Companion(watch, lambda _window: about, running)


@contextlib.contextmanager
def _quota(setting: Setting) -> Iterator[Companion]:
    """Limits the player's process, with all CPUs."""
    load = setting.job.load
    with changing_quota(load.percent or (), load.every_s or EVERY_S) as quota:
        found = LoadReport(kind=load.kind)

        def report(_window: Window) -> LoadReport:
            return found

        yield Companion(quota.follow, report, enter_player=quota.group.enter)
        quotas = tuple(QuotaChange(at_ns=at_ns, percent=percent) for at_ns, percent in quota.changes)
        found = LoadReport(kind=load.kind, quotas=quotas, throttled=quota.group.throttled())


@contextlib.contextmanager
def _ordinary(setting: Setting, enter: Callable[[], None] | None) -> Iterator[Companion]:
    load = setting.job.load
    with ExitStack() as stack:
        folder = stack.enter_context(private_folder())
        timed = TimedLoad(lambda: _started(setting, folder, enter), load.after_s, stack)
        timed.before_player()
        yield Companion(timed.watch, lambda window: _report(setting, timed, window))
        timed.after_player()


def _started(setting: Setting, folder: Path, enter: Callable[[], None] | None) -> AbstractContextManager[RunningLoad]:
    """Starts the job's load. `folder` is private and in memory."""
    load, cpus = setting.job.load, setting.load_cpus
    if load.kind == "stress":
        return stress_load(load.cpu or 0, load.vm or 0, load.nice or 0, cpus, enter)
    if load.kind == "build":
        return building(folder, cpus, enter)
    if load.kind == "io":
        return writing(load.writers or 1, setting.directory, folder, cpus, enter)
    if load.kind == "audio":
        return audio(folder, cpus, enter)
    if load.kind == "browser":
        return browsing(folder, cpus, enter)
    if load.kind == "films":
        return _films(setting, enter)
    raise LabError(f"this version knows no load {load.kind!r}; a newer one wrote the batch", EXIT_SETUP)


def _films(setting: Setting, enter: Callable[[], None] | None) -> AbstractContextManager[RunningLoad]:
    """Starts other plays of the film. They do not end before the player has to."""
    player, count = setting.context.program(DLEX_PLAY), setting.job.load.count or 1
    times = times_to_play(_limit_s(setting.length_s), setting.facts.length_s)
    return other_films(count, player, setting.clip, times, setting.directory / "films", setting.load_cpus, enter)


def _report(setting: Setting, timed: TimedLoad, window: Window) -> LoadReport:
    """Returns what the load did alone, and beside the player while pictures were shown."""
    alone, beside, running = timed.alone, timed.beside(window), timed.running
    if due := timed.due(window):
        return _report_on_due(setting, due)
    return LoadReport(
        cpu=_measured_cpu(setting),
        kind=setting.job.load.kind,
        unit=running.unit if running else None,
        alone_per_s=alone.per_s if alone else None,
        beside_per_s=beside.per_s if beside else None,
        others=beside.per_s / alone.per_s if alone and beside and alone.per_s else None,
        late=beside.late if beside and running and running.late else None,
    )


def _measured_cpu(setting: Setting) -> int | None:
    """Returns the CPU of player and load; None: they may run on any."""
    return None if setting.is_free else setting.cpu


def _report_on_due(setting: Setting, due: Due) -> LoadReport:
    return LoadReport(
        cpu=_measured_cpu(setting),
        kind=setting.job.load.kind,
        unit="pictures",
        others=due.done / (due.done + due.lost) if due.done else 0.0,  # films that show nothing get nothing
        dropped=due.lost,
    )


def rtapp_limit_s(length_s: float) -> float:
    """Returns a limit longer than the time that the player gets for its clip, so that rt-app never ends before it."""
    return max(RTAPP_LIMIT_S, _limit_s(length_s))


def _limit_s(length_s: float) -> float:
    """Returns the time that the player gets for its clip, with what is around it."""
    return LIMIT_FACTOR * length_s + LIMIT_EXTRA_S + AROUND_S


def task_policy(sched: str) -> TaskPolicy:
    """Returns the policy for `other`, `fifo:5`, `rr:5` or `deadline`, which gives each task the paper's budget."""
    kind, _, priority = sched.partition(":")
    return TaskPolicy(kind, int(priority) if kind in ("fifo", "rr") else 0)
