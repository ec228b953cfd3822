# SPDX-License-Identifier: LGPL-2.1-or-later
"""Starts the players of one setting, under a policy of the kernel or under DWCS, and ends them."""

from __future__ import annotations

import contextlib
import math
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ..errors import LabError
from ..files import write_whole
from ..machine.domain import Domain
from ..machine.policy import Policy, apply
from ..paths import require_installed
from ..processes import child, last_words, own_environment, wait_for
from ..rig.load.stress import HOG
from ..rig.players.mplayer import STATUS, UNATTENDED
from ..rig.players.status_line import last_message
from .conditions import ALONE, DWCS_WAYS, PictureCost, WindowPlan, WindowSetting, window_policy, window_scenario

PLAYER = Path("build/release/player/dlex-play")
# Overload makes players late. Those that need more than this much time are ended, and their records count so far.
PATIENCE, PATIENCE_S = 1.5, 5.0
STARTING_S, POLL_S = 20.0, 0.1
SAID = "said.log"


@dataclass(frozen=True)
class WindowStage:
    """The film, the plan and the CPU, which are the same for all runs."""

    root: Path
    clip: Path
    plan: WindowPlan
    domain: Domain

    @property
    def beside(self) -> Collection[int]:
        """Returns the CPUs for what is not measured; in a partition only the measured one is left."""
        return {self.domain.cpu} if self.domain.group or not self.domain.others else self.domain.others

    @property
    def limit_s(self) -> float:
        return PATIENCE * self.plan.seconds + PATIENCE_S


def player_command(stage: WindowStage, kind: str, seconds: float, record: Path | None = None) -> list[str]:
    """Returns the command that plays the beginning of the film in one thread, without screen and sound card."""
    if kind == "mplayer":
        program = require_installed("mplayer", "mplayer")
        bare = ["-vo", "null", "-ao", "null", "-framedrop", "-lavdopts", "threads=1"]
        return [program, *UNATTENDED, *bare, "-endpos", f"{seconds:g}", str(stage.clip)]
    written = [f"--record={record}"] if record else []
    return [str(stage.root / PLAYER), "--queue=0", "--vo=null", "--ao=null", "--quiet", f"--length={seconds:g}", *written,
            str(stage.clip)]


def player_environment() -> dict[str, str]:
    """Returns our environment, in which mplayer's status lines can be read."""
    return {**own_environment(), "TERM": "dumb", "LC_ALL": "C.UTF-8"}


def log_of_player(folder: Path, number: int) -> Path:
    return folder / f"player-{number}.log"


def record_of_player(folder: Path, number: int) -> Path:
    """Returns the folder of dlex-play's record. mplayer makes none."""
    return folder / f"player-{number}"


@contextlib.contextmanager
def playing_together(stage: WindowStage, setting: WindowSetting, cost: PictureCost, folder: Path) -> Iterator[list[int]]:
    """Plays while the block runs. Yields the process ids of the players. What they wrote is complete after the block."""
    commands = [player_command(stage, setting.kind, stage.plan.seconds, record_of_player(folder, number))
                for number in range(1, setting.players + 1)]
    start = _under_dwcs if setting.way in DWCS_WAYS else _under_kernel
    with start(stage, setting, cost, commands, folder) as players:
        yield players


@contextlib.contextmanager
def _under_kernel(
    stage: WindowStage, setting: WindowSetting, cost: PictureCost, commands: Sequence[Sequence[str]], folder: Path
) -> Iterator[list[int]]:
    policy, cpus, enter = Policy.parse(window_policy(setting, cost)), {stage.domain.cpu}, stage.domain.enter
    environment = player_environment()
    with contextlib.ExitStack() as stack:
        players = []
        for number, command in enumerate(commands, 1):
            log = stack.enter_context(log_of_player(folder, number).open("wb"))
            player = stack.enter_context(child(command, cpus=cpus, stdout=log, stderr=log, env=environment, enter=enter))
            if policy.kind != "other":
                apply(policy, player.pid)
            players.append(player.pid)
        if setting.beside != ALONE:
            stack.enter_context(child(["/bin/sh", "-c", HOG], cpus=cpus, enter=enter))
        yield players


@contextlib.contextmanager
def _under_dwcs(
    stage: WindowStage, setting: WindowSetting, cost: PictureCost, commands: Sequence[Sequence[str]], folder: Path
) -> Iterator[list[int]]:
    shell = [f"exec {shlex.join(command)} >{shlex.quote(str(log_of_player(folder, number)))} 2>&1"
             for number, command in enumerate(commands, 1)]
    with dispatching(stage, window_scenario(setting, cost, shell), stage.limit_s, folder) as process:
        players = _players_of(process, setting, folder)
        yield players
        # Beside a program that never ends, it would go on. Alone it ends with the players, and writes its results then.
        if setting.beside != ALONE and process.poll() is None:
            process.send_signal(signal.SIGINT)


@contextlib.contextmanager
def dispatching(stage: WindowStage, content: Mapping[str, Any], seconds: float, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Runs `dlex sched dwcs` while the block runs, and then waits for its end. Its results are in `folder`/dwcs.json."""
    file, log_path = folder / "scenario.yaml", folder / SAID
    write_whole(file, yaml.safe_dump(dict(content), sort_keys=False))
    argv = [sys.executable, "-m", "dlex_sched", "dwcs", str(file), f"--cpu={stage.domain.cpu}", f"--out={folder}",
            f"--seconds={math.ceil(seconds)}", "--no-record"]  # the experiment records all its runs itself
    path = os.pathsep.join(str(stage.root / it) for it in ("bench", "sched"))
    environment = {**player_environment(), "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    with (
        log_path.open("wb") as log,
        child(argv, cpus=stage.beside, stdout=log, stderr=log, env=environment, enter=stage.domain.enter,
              orphaned=signal.SIGINT) as process,
    ):
        yield process
        wait_for(process, STARTING_S + 2 * seconds, lambda: None, "dlex sched dwcs")
    if process.returncode:
        raise LabError(f"dlex sched dwcs ended with status {process.returncode}: {last_words(log_path)}")


def _players_of(process: subprocess.Popen[bytes], setting: WindowSetting, folder: Path) -> list[int]:
    """Waits until all players have started below `process`, and returns their process ids."""
    limit = time.monotonic() + STARTING_S
    while len(found := [pid for pid in _descendants(process.pid) if _program_of(pid) == setting.kind]) < setting.players:
        if process.poll() is not None or time.monotonic() > limit:
            raise LabError(f"only {len(found)} of {setting.players} {setting.kind} started under dlex sched dwcs: "
                           f"{last_words(folder / SAID) or last_message(log_of_player(folder, 1), STATUS)}")
        time.sleep(POLL_S)
    return found


def _program_of(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(os.fsdecode(Path(f"/proc/{pid}/cmdline").read_bytes().partition(b"\0")[0])).name
    return ""


def _descendants(ancestor: int) -> list[int]:
    """Returns the processes that a process has started, and those that these have started, in the order of their ids."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents[int(stat.parent.name)] = int(stat.read_text(errors="replace").rpartition(")")[2].split()[1])
    found = {ancestor}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return sorted(found - {ancestor})


def have_ended(players: Sequence[int]) -> bool:
    """Returns whether all players have ended. One that has ended may be a zombie until its parent looks."""
    return all(_state(pid) in "ZX" for pid in players)


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "X"
