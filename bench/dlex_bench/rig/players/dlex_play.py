# SPDX-License-Identifier: LGPL-2.1-or-later
"""Drives dlex-play, our own player."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ...machine.policy import Policy
from ...processes import last_words
from ...record import CpuTime, TimeOfPlaying, cpu_of_playing, decoded_ahead, time_of_playing
from .player import extent, extra_options, log_of, sdl_environment, unhappy_end
from .status_line import OwnView
from .threads import BOTH, DECODE, PRESENT, Work, Works

if TYPE_CHECKING:
    from ...agenda.job import Job

NOBODY_WATCHES = "inside"
OWN = "own"
NO_QUEUE = "0"
AHEAD: Works = {
    "main": Work("presents", PRESENT),
    "decoder": Work("decodes", DECODE),
    "codec": Work("decodes", DECODE),  # codec threads (--threads) that have no name of their own
    "dlex-play:*": Work("helps"),
    "feeder": Work("demuxes"),
    "sound": Work("decodes sound"),
    "limits": Work("watches its limits"),
    "threaded-ml": Work("sound"),
}
SERIAL: Works = {**AHEAD, "main": Work("decodes and presents", BOTH)}


@dataclass(frozen=True)
class DlexPlayAdapter:
    program: Path
    name: ClassVar[str] = "dlex-play"
    package: ClassVar[str] = "dlex"
    places_itself: ClassVar[bool] = True
    refuses_root: ClassVar[bool] = False

    def prepare(self, job: Job, clip: Path) -> Path:
        return clip

    def works(self, job: Job, out: Path) -> Works:
        """Returns what the threads do. If the agenda has no `queue`, only the player's record says it, after playing.

        Until then the main thread counts as decoding and presenting.
        """
        queue = job.player_params.queue
        if queue is None:
            return AHEAD if (out / OWN / "run.json").exists() and decoded_ahead(out / OWN) else SERIAL
        return SERIAL if queue == NO_QUEUE else AHEAD

    def argv(self, job: Job, clip: Path, out: Path) -> list[str]:
        params = job.player_params
        sinks = ["--vo=null", "--ao=null"] if job.observe == NOBODY_WATCHES else ["--vo=sdl", "--ao=pulse"]
        argv = [str(self.program), "--quiet", *sinks, f"--record={out / OWN}", f"--drop={params.drop}"]
        if params.rule:
            argv.append(f"--deadline-rule={params.rule}")
        if params.queue:
            argv.append(f"--queue={params.queue}")
        return [*argv, *_placement(job), *_extent(job), *extra_options(job), str(clip)]

    def environment(self, job: Job) -> dict[str, str]:
        return sdl_environment(job)

    def applicable(self, job: Job) -> str | None:
        return None

    def complaint(self, status: int, out: Path) -> str | None:
        return unhappy_end(self.name, status, last_words(log_of(out)) or "it left no message")

    def own_view(self, job: Job, out: Path) -> OwnView | None:
        return None  # its record says more than a status line

    def cpu_of_playing(self, out: Path) -> CpuTime | None:
        return cpu_of_playing(out / OWN)

    def time_of_playing(self, out: Path) -> TimeOfPlaying | None:
        return time_of_playing(out / OWN)


def _placement(job: Job) -> list[str]:
    """Returns the options for the policy and the CPU.

    A quota is not the policy of a thread: a control group imposes it from outside. Where nothing is placed, dlex-play starts
    as it does for its user.
    """
    policy, cpu = Policy.parse(job.sched), [] if job.cpu is None else [f"--cpu={job.cpu}"]
    if policy.is_free:
        return []
    return cpu if policy.kind == "quota" else [f"--sched={job.sched}", *cpu]


def _extent(job: Job) -> list[str]:
    start_s, length_s = extent(job)
    argv = [f"--start={start_s:.3f}"] if start_s else []
    return argv if length_s is None else [*argv, f"--length={length_s:.3f}"]
