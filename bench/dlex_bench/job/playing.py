# SPDX-License-Identifier: LGPL-2.1-or-later
"""The player of a job: started on its CPU, put under its policy, waited for."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import DemoError
from ..machine.domain import Domain
from ..machine.quota import quota_group
from ..processes import child, children_cpu_s, last_words, wait_for
from ..stage.stage import Stage
from .placing import MAIN, Placing
from .setting import Setting

OWN = "own"
LOG = "player.log"
PLAYER = "player/dlex-play"
# While a player starts, its threads come one after another; later ones are rare (a seek, a lost sound server).
STARTING_S = 2.0
STARTING_POLL_S = 0.05


@dataclass(frozen=True)
class Played:
    cpu_s: float
    applied: str
    constrains: str


def play(setting: Setting, stage: Stage | None, domain: Domain | None, watch: Callable[[], None]) -> Played:
    before_s = children_cpu_s()
    with _placing(setting, domain) as placing:
        applied = _play(setting, stage, placing, watch)
    return Played(children_cpu_s() - before_s, applied, placing.constrains)


@contextmanager
def _placing(setting: Setting, domain: Domain | None) -> Iterator[Placing]:
    with ExitStack() as stack:
        quota = setting.policy.kind == "quota"
        group = stack.enter_context(quota_group(setting.policy, setting.cpu)) if quota else None
        yield Placing(setting.policy, MAIN, setting.cpu, setting.driver_cpus, domain, group)


def _play(setting: Setting, stage: Stage | None, placing: Placing, watch: Callable[[], None]) -> str:
    """The policy that the kernel said the player had."""
    log_path = setting.directory / LOG
    applied = str(setting.policy)
    env = stage.environment if stage else None
    name = setting.job.player
    with log_path.open("wb") as log:
        started = child(_inside(setting), cpus={setting.cpu}, stdout=log, stderr=log, env=env, enter=placing.enter)
        with started as player:
            _settle(player, placing)
            if player.poll() is None:
                applied = placing.applied(player.pid)

            def tick() -> None:
                watch()
                placing.place(player.pid)

            wait_for(player, 3 * setting.length_s + 30, tick, name)
    if player.returncode != 0:
        words = last_words(log_path) or "no message"
        raise DemoError(f"{name} ended with status {player.returncode} ({words}); try it by hand")
    return applied


def _settle(player: subprocess.Popen[bytes], placing: Placing) -> None:
    limit = time.monotonic() + STARTING_S
    while player.poll() is None and time.monotonic() < limit:
        placing.place(player.pid)
        time.sleep(STARTING_POLL_S)


def _inside(setting: Setting) -> list[str | Path]:
    params = setting.job.player_params
    drop = [f"--drop={params['drop']}"] + ([f"--deadline-rule={params['rule']}"] if params.get("rule") else [])
    sinks = ["--vo=null", "--ao=null", "--quiet", f"--record={setting.directory / OWN}"]
    length = setting.job.clip.get("length_s")
    extent = [f"--start={setting.start_s:.3f}"] + ([f"--length={length:.3f}"] if length else [])
    return [setting.context.program(PLAYER), *sinks, *drop, *extent, *params.get("options", ()), setting.clip]
