# SPDX-License-Identifier: LGPL-2.1-or-later
"""Starts a player and follows it to its end: its log, its time limit, and how it ended."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import EXIT_SETUP, LabError, TimedOut
from ...processes import child, has_ended, wait_for
from .dlex_play import DlexPlayAdapter
from .ffplay import FfplayAdapter
from .mplayer import MplayerAdapter
from .mpv import MpvAdapter
from .playbin import PlaybinAdapter
from .player import Adapter, log_of
from .threads import Look, SeenThread, Work, Works, looks_at, work_of
from .vlc import VlcAdapter

if TYPE_CHECKING:
    from ...agenda.job import Job

# Overload may make a player late, but it must not take twice as long. Half a minute is for a start on a busy machine.
LIMIT_FACTOR = 2.0
LIMIT_EXTRA_S = 30.0
PLAYERS = ("dlex-play", "mplayer", "mpv", "ffplay", "vlc", "playbin")


def adapter_for(player: str, dlex_play: Path) -> Adapter:
    """Returns the adapter for `player`. `dlex_play` is the path of dlex-play in the build."""
    ours: list[Adapter] = [DlexPlayAdapter(dlex_play)]
    adapters = [*ours, MplayerAdapter(), MpvAdapter(), FfplayAdapter(), VlcAdapter(), PlaybinAdapter()]
    for adapter in adapters:
        if adapter.name == player:
            return adapter
    raise LabError(f"{player!r} is not a known player; choose one of {', '.join(PLAYERS)}", EXIT_SETUP)


@dataclass
class Playing:
    """A running player, and what was seen of it."""

    adapter: Adapter
    job: Job
    process: subprocess.Popen[bytes]
    out: Path
    seen: dict[int, SeenThread] = field(default_factory=dict)  # all threads that were seen, the main one first
    present: dict[int, Look] = field(default_factory=dict)  # the threads that the last look found

    @property
    def ended(self) -> bool:
        """Returns whether the player has ended by itself; `wait` must still be called."""
        return has_ended(self.process)

    @property
    def works(self) -> Works:
        return self.adapter.works(self.job, self.out)

    def work_of(self, tid: int, name: str) -> Work:
        return work_of(tid, name, self.process.pid, self.works)

    def look(self) -> None:
        """Looks at each of the player's threads.

        When the player has ended, its main thread is still there until the player is waited for.
        """
        self.present = looks_at(self.process.pid)
        for tid, look in self.present.items():
            self.seen.setdefault(tid, SeenThread(tid)).add(look)

    def wait(self, length_s: float, tick: Callable[[], None]) -> None:
        """Waits until the player has played `length_s` of the clip. `tick` is called now and then, and may raise."""
        limit_s = LIMIT_FACTOR * length_s + LIMIT_EXTRA_S

        def look_and_tick() -> None:
            self.look()
            tick()

        try:
            wait_for(self.process, limit_s, look_and_tick, self.adapter.name, self.look)
        except TimedOut as cause:
            raise LabError(
                f"{self.adapter.name} did not end within {limit_s:.0f} s, for a clip of {length_s:.0f} s; see "
                f"{log_of(self.out).name}, and run the job again"
            ) from cause
        tick()  # may know better why the player ended: a device has died
        if sentence := self.adapter.complaint(self.process.returncode, self.out):
            raise LabError(sentence)


@contextlib.contextmanager
def playing(
    adapter: Adapter,
    job: Job,
    clip: Path,
    out: Path,
    *,
    environment: Mapping[str, str],
    cpus: Collection[int] | None,
    enter: Callable[[], None] | None = None,
) -> Iterator[Playing]:
    """Starts the player of a job on `cpus` (None: on any CPU), with the stage's environment. Ends it when the block is left."""
    argv = adapter.argv(job, clip, out)
    env = {**environment, **adapter.environment(job)}
    with (
        log_of(out).open("wb") as log,
        child(argv, cpus=cpus, env=env, stdout=log, stderr=log, enter=enter) as process,
    ):
        yield Playing(adapter, job, process, out)
