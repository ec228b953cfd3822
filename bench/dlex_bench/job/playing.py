# SPDX-License-Identifier: LGPL-2.1-or-later
"""Starts the player of a job, puts it under its policy, and waits for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from ..agenda.job import Job
from ..machine.domain import Domain
from ..machine.quota import Throttled, quota_group
from ..processes import children_cpu_s
from ..record import CpuTime
from ..rig.players.playing import Playing, playing
from ..rig.players.status_line import OwnView
from ..rig.players.threads import Thread
from .placing import Placing
from .setting import Setting

# While a player starts, it creates its threads one after another. Later ones are rare (a seek, a lost sound server).
STARTING_S = 2.0
STARTING_POLL_S = 0.05


@dataclass(frozen=True)
class Played:
    """What is known about a play that has ended.

    `cpu_s`: CPU time of all the player's threads, until playing ended if the player reports that, else until the player
    ended. `outside_cpu_s`: the part of `cpu_s` in threads on other CPUs that the policy does not hold; None: unknown.
    `throttled`: how often a quota was used up.
    """

    cpu_s: float
    outside_cpu_s: float | None
    applied: str | None
    constrains: str
    throttled: Throttled | None
    player_report: OwnView | None
    threads: list[Thread]


def play(setting: Setting, env: Mapping[str, str], domain: Domain | None, watch: Callable[[], None]) -> Played:
    """Plays the clip and returns what is known about the play. `env` is the environment of the stage.

    `watch` is called now and then, and raises when something around the player has died.
    """
    before_s = children_cpu_s()
    with _placing(setting, domain) as placing:
        applied, player = _play(setting, placing, env, watch)
        whole = CpuTime(children_cpu_s() - before_s, player.main_cpu_s)
        cpu = setting.adapter.cpu_of_playing(setting.directory) or whole
        outside_s, throttled = placing.outside_s(cpu.process_s, cpu.held_s), placing.throttled()
    report = setting.adapter.own_view(setting.job, setting.directory)
    return Played(cpu.process_s, outside_s, applied, placing.constrains, throttled, report, player.threads)


@contextmanager
def _placing(setting: Setting, domain: Domain | None) -> Iterator[Placing]:
    with ExitStack() as stack:
        quota = setting.policy.kind == "quota"
        group = stack.enter_context(quota_group(setting.policy, domain)) if quota else None
        threads = setting.adapter.reserved_threads(0)
        if threads is None and domain and domain.group:
            threads = "main"  # only members of the group may run on the CPU: the player cannot place itself
        yield Placing(setting.policy, threads, setting.cpu, setting.driver_cpus, domain, group)


def _play(
    setting: Setting, placing: Placing, env: Mapping[str, str], watch: Callable[[], None]
) -> tuple[str | None, Playing]:
    """Returns the policy that the kernel reported (None: the play was too short), and the player, which has ended."""
    job = _as_it_applies(setting, placing)
    applied: str | None = None
    with playing(
        setting.adapter,
        job,
        setting.clip,
        setting.directory,
        environment=env,
        cpus=placing.cpus,
        enter=placing.enter,
    ) as player:

        def place() -> None:
            nonlocal applied
            placing.place(player.process.pid)
            applied = placing.applied(player.process.pid) or applied

        def tick() -> None:
            watch()
            place()

        _settle(player, place)
        player.wait(setting.length_s, tick)
    return applied, player


def _as_it_applies(setting: Setting, placing: Placing) -> Job:
    """Returns the job for the player's command line, which does not ask for what is imposed from outside."""
    by_itself = placing.threads is None and not placing.group
    sched = str(setting.policy) if by_itself or placing.group else "other"
    return replace(setting.job, sched=sched, cpu=setting.cpu if by_itself else None)


def _settle(player: Playing, place: Callable[[], None]) -> None:
    limit = time.monotonic() + STARTING_S
    while not player.ended and time.monotonic() < limit:
        place()
        player.look()
        time.sleep(STARTING_POLL_S)
