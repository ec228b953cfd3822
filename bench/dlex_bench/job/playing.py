# SPDX-License-Identifier: LGPL-2.1-or-later
"""Starts the player of a job, puts it under its policy, and waits for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace

from ..agenda.job import Job
from ..machine.domain import Domain
from ..machine.quota import Throttled, quota_group
from ..machine.steal import StealLook, look_at_steal
from ..processes import POLL_S, children_cpu_s
from ..record import CpuTime
from ..rig.players.playing import Playing, playing
from ..rig.players.status_line import OwnView
from ..rig.players.threads import SeenThread, Thread
from .holding import held_cpu_s, judge, policies_of, require_held
from .placing import Placing
from .result import TunedReport
from .setting import Setting
from .tuning import Tuning, tuning

# While a player starts, it creates its threads one after another. Later ones are rare (a seek, a lost sound server).
STARTING_S = 2.0
STARTING_POLL_S = 0.05


@dataclass(frozen=True)
class Played:
    """What is known about a play that has ended.

    `cpu_s`: CPU time of all the player's threads, until playing ended if the player reports that, else until the player
    ended. `outside_cpu_s`: the part of `cpu_s` in threads on other CPUs that the policy does not hold; None: unknown.
    `playing`: the threads that decode or present, as they were seen. `throttled`: how often a quota was used up. `tuned`: what
    dlex-sched reserved; None: it did not run.
    """

    cpu_s: float
    outside_cpu_s: float | None
    applied: str | None
    constrains: str
    throttled: Throttled | None
    player_report: OwnView | None
    threads: list[Thread]
    playing: list[SeenThread]
    steal: list[StealLook]
    tuned: TunedReport | None


def play(
    setting: Setting,
    env: Mapping[str, str],
    domain: Domain | None,
    watch: Callable[[], None],
    enter: Callable[[], None] | None = None,
) -> Played:
    """Plays the clip and returns what is known about the play. `env` is the environment of the stage.

    `enter` is called in the player's process before it becomes the player, where the policy does not call anything there.
    `watch` is called now and then, and raises when something around the player has died. Raises NotHeld if a thread that decodes
    or presents was not held by the policy.
    """
    before_s, adapter, directory = children_cpu_s(), setting.adapter, setting.directory
    with _placing(setting, domain, enter) as placing:
        player, steal, tuned = _play(setting, placing, env, watch)
        process_s = children_cpu_s() - before_s - (tuned.own_cpu_s if tuned else 0.0)
        times = adapter.time_of_playing(directory)
        judged = [judge(it, player.work_of(it.tid, it.name), placing, times) for it in player.seen.values()]
        require_held(judged, adapter.name, placing)
        applied, throttled = placing.applied(policies_of(judged)), placing.throttled()
    threads = [it.thread for it in judged]
    cpu = adapter.cpu_of_playing(directory) or CpuTime(process_s, held_cpu_s(threads, process_s))
    return Played(
        cpu_s=cpu.process_s,
        outside_cpu_s=placing.outside_s(cpu.process_s, cpu.held_s),
        applied=applied,
        constrains=placing.constrains,
        throttled=throttled,
        player_report=adapter.own_view(setting.job, directory),
        threads=threads,
        playing=[seen for seen, thread in zip(player.seen.values(), threads, strict=True) if thread.roles],
        steal=steal,
        tuned=tuned,
    )


@contextmanager
def _placing(setting: Setting, domain: Domain | None, enter: Callable[[], None] | None) -> Iterator[Placing]:
    with ExitStack() as stack:
        quota = setting.policy.kind == "quota"
        group = stack.enter_context(quota_group(setting.policy, domain)) if quota else None
        by_itself = setting.adapter.places_itself
        yield Placing(setting.policy, by_itself, setting.cpu, setting.driver_cpus, domain, group, enter)


def _play(
    setting: Setting, placing: Placing, env: Mapping[str, str], watch: Callable[[], None]
) -> tuple[Playing, list[StealLook], TunedReport | None]:
    """Returns the player, which has ended, the looks at what the host took meanwhile, and what was tuned."""
    job = _as_it_applies(setting, placing)
    steal: list[StealLook] = []
    with playing(
        setting.adapter,
        job,
        setting.played,
        setting.directory,
        environment=env,
        cpus=placing.cpus,
        enter=placing.enter,
    ) as player:

        def place() -> None:
            placing.place(player)
            steal.append(look_at_steal(setting.counted_cpus, setting.driver_cpus))

        def tick() -> None:
            watch()
            place()

        tuner = tuning(setting, player.process.pid) if setting.policy.tuned else nullcontext(Tuning())
        with tuner as running:
            _settle(player, place, watch)
            player.wait(setting.length_s, tick)
    return player, steal, running.report


def _as_it_applies(setting: Setting, placing: Placing) -> Job:
    """Returns the job for the player's command line, which does not ask for what is imposed from outside."""
    by_itself = placing.by_itself and not placing.group
    is_imposed = setting.policy.tuned or setting.policy.kind == "nice"
    if setting.is_free:
        return setting.job.but(cpu=None)
    own = str(replace(setting.policy, divided=False))  # dlex-play divides its reservation in any case
    sched = own if (by_itself and not is_imposed) or placing.group else "other"
    return setting.job.but(sched=sched, cpu=setting.cpu if by_itself else None)


def _settle(player: Playing, place: Callable[[], None], watch: Callable[[], None]) -> None:
    begun = watched = time.monotonic()
    while not player.ended and time.monotonic() < begun + STARTING_S:
        player.look()
        place()
        if time.monotonic() >= watched + POLL_S:
            watched = time.monotonic()
            watch()
        time.sleep(STARTING_POLL_S)
