# SPDX-License-Identifier: LGPL-2.1-or-later
"""Drives FFmpeg's ffplay: one thread reads, one decodes, the main one presents."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ...machine.policy import Policy
from ...paths import require_installed
from ...record import CpuTime, TimeOfPlaying
from .player import (
    extent,
    extra_options,
    log_of,
    never_played,
    one_reservation_is_too_few,
    sdl_environment,
    unhappy_end,
)
from .status_line import OwnView, last_message, read_status
from .threads import DECODE, PRESENT, Work, Works

if TYPE_CHECKING:
    from ...agenda.job import Job

#    7.85 A-V: -0.014 fd=   0 aq=    0KB vq=    0KB sq=    0B f=0/0
STATUS = re.compile(r"A-V: *(?P<skew_s>-?\d+\.\d+) fd= *(?P<dropped>\d+)")
ANY_STATUS = re.compile(r" fd= *\d+ +aq=")
BARE = ["-hide_banner", "-autoexit", "-sn", "-noborder", "-left", "0", "-top", "0"]


THREADS: Works = {
    "main": Work("presents", PRESENT),
    "video_decoder": Work("decodes", DECODE),
    "audio_decoder": Work("decodes sound"),
    "read_thread": Work("demuxes"),
    "SDLAudio*": Work("sound"),
    "SDLTimer": Work("keeps time"),
    "PulseHotplug": Work("sound"),
    "PulseMainloop": Work("sound"),  # Debian 13 (SDL 2.32)
    "ffplay:*": Work("helps"),
    "ffplay": Work("helps"),
}
# Debian 12 (FFmpeg 5.1): libavcodec's threads inherit the name of the thread that starts them, which demuxes.
SEVERAL_DECODING: Works = {**THREADS, "read_thread": Work("demuxes or decodes", DECODE)}


class FfplayAdapter:
    name: ClassVar[str] = "ffplay"
    package: ClassVar[str] = "ffmpeg"
    places_itself: ClassVar[bool] = False
    refuses_root: ClassVar[bool] = False

    def prepare(self, job: Job, clip: Path) -> Path:
        require_installed("ffplay", self.package)
        return clip

    def works(self, job: Job, out: Path) -> Works:
        return SEVERAL_DECODING if job.player_params.threads == "auto" else THREADS

    def argv(self, job: Job, clip: Path, out: Path) -> list[str]:
        params = job.player_params
        argv = [require_installed("ffplay", self.package), *BARE]
        argv.append("-framedrop" if params.framedrop is not False else "-noframedrop")
        if params.threads != "auto":
            argv += ["-threads", "1", "-filter_threads", "1"]
        return [*argv, *_extent(job), *extra_options(job), str(clip)]

    def environment(self, job: Job) -> dict[str, str]:
        return sdl_environment(job)

    def applicable(self, job: Job) -> str | None:
        policy = Policy.parse(job.sched)
        return one_reservation_is_too_few(self.name) if policy.kind == "deadline" and not policy.is_of_several_threads else None

    def complaint(self, status: int, out: Path) -> str | None:
        """Returns what is wrong with how ffplay ended, or None. Its status is 0 even for a file that does not exist."""
        words = last_message(log_of(out), ANY_STATUS)
        if status == 0 and read_status(log_of(out), STATUS) is None:
            return never_played(self.name, words)
        return unhappy_end(self.name, status, words)

    def own_view(self, job: Job, out: Path) -> OwnView | None:
        return read_status(log_of(out), STATUS)

    def cpu_of_playing(self, out: Path) -> CpuTime | None:
        return None

    def time_of_playing(self, out: Path) -> TimeOfPlaying | None:
        return None


def _extent(job: Job) -> list[str]:
    start_s, length_s = extent(job)
    argv = ["-ss", f"{start_s:.3f}"] if start_s else []
    return argv if length_s is None else [*argv, "-t", f"{length_s:.3f}"]
