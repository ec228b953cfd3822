# SPDX-License-Identifier: LGPL-2.1-or-later
"""Drives Debian's mpv: the main thread decodes, another presents.

With mpv's decoder queue (--vd-queue-enable) a third thread decodes. The main thread then only passes each picture on when
it is due.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ...machine.policy import Policy
from ...paths import require_installed
from ...record import CpuTime, TimeOfPlaying
from .player import extent, extra_options, log_of, one_reservation_is_too_few, unhappy_end
from .status_line import OwnView, last_message, read_status
from .threads import DECODE, PRESENT, Work, Works

if TYPE_CHECKING:
    from ...agenda.job import Job

# The two counts are the pictures dropped by the output, and by the decoder.
MESSAGE = "dlex ${=avsync} ${=frame-drop-count} ${=decoder-frame-drop-count}"
STATUS = re.compile(r"dlex (?P<skew_s>-?\d+\.\d+) (?P<dropped_by_output>\d+) (?P<dropped_by_decoder>\d+)")
UNATTENDED = ["--no-config", "--no-input-terminal", "--no-input-default-bindings", "--no-osc", "--no-ytdl"]
BARE = ["--load-scripts=no", "--no-sub", "--osd-level=0", "--no-border", "--geometry=+0+0"]
# These are the profile that mpv's manual has for slow machines, and libswscale instead of zimg: the same 8 s of 1080p took
# 4.3 s of CPU time with zimg, and 3.0 s without. A peer should be shown at its best.
CONVERSION = ["--profile=sw-fast", "--sws-allow-zimg=no"]


THREADS: Works = {
    "main": Work("decodes", DECODE),
    "vo": Work("presents", PRESENT),
    "dec/video": Work("decodes", DECODE),
    "ao": Work("sound"),
    "dec/audio": Work("decodes sound"),
    "threaded-ml": Work("sound"),
    "demux": Work("demuxes"),
    "opener": Work("opens the file"),
    "worker": Work("helps", PRESENT),  # may convert pictures
    "lua/*": Work("scripts"),
    "mpv:*": Work("helps"),  # Mesa's, beside those that draw
    # Other versions (Debian 12: mpv 0.35): the same threads under other names.
    "vdec": Work("decodes", DECODE),
    "adec": Work("decodes sound"),
    "mpv/vo": Work("presents", PRESENT),
    "mpv/vdec": Work("decodes", DECODE),
    "mpv/ao": Work("sound"),
    "mpv/adec": Work("decodes sound"),
    "mpv/demux": Work("demuxes"),
    "mpv/opener": Work("opens the file"),
    "mpv/worker": Work("helps", PRESENT),
    "mpv/lua*": Work("scripts"),
    "mpv": Work("decodes", DECODE),  # libavcodec's threads, which inherit the name of the thread that starts them
}
QUEUE_OPTION = re.compile(r"--(no-)?vd-queue-enable(?:=(yes|no))?")
WITH_QUEUE: Works = {**THREADS, "main": Work("passes pictures on", PRESENT)}


class MpvAdapter:
    name: ClassVar[str] = "mpv"
    package: ClassVar[str] = "mpv"
    places_itself: ClassVar[bool] = False
    refuses_root: ClassVar[bool] = False

    def prepare(self, job: Job, clip: Path) -> Path:
        require_installed("mpv", self.package)
        return clip

    def works(self, job: Job, out: Path) -> Works:
        return WITH_QUEUE if _has_queue(job) else THREADS

    def argv(self, job: Job, clip: Path, out: Path) -> list[str]:
        params = job.player_params
        argv = [require_installed("mpv", self.package), *UNATTENDED, *BARE, "--ao=pulse"]
        argv += [] if params.output == "default" else [*CONVERSION, "--vo=x11"]
        argv += [f"--framedrop={params.framedrop or 'vo'}", f"--term-status-msg={MESSAGE}"]
        if params.threads != "auto":
            argv += ["--vd-lavc-threads=1", "--zimg-threads=1"]
        return [*argv, *_extent(job), *extra_options(job), str(clip)]

    def environment(self, job: Job) -> dict[str, str]:
        return {}

    def applicable(self, job: Job) -> str | None:
        policy = Policy.parse(job.sched)
        return one_reservation_is_too_few(self.name) if policy.kind == "deadline" and not policy.is_of_several_threads else None

    def complaint(self, status: int, out: Path) -> str | None:
        return unhappy_end(self.name, status, last_message(log_of(out), STATUS))

    def own_view(self, job: Job, out: Path) -> OwnView | None:
        return read_status(log_of(out), STATUS)

    def cpu_of_playing(self, out: Path) -> CpuTime | None:
        return None

    def time_of_playing(self, out: Path) -> TimeOfPlaying | None:
        return None


def _extent(job: Job) -> list[str]:
    start_s, length_s = extent(job)
    argv = [f"--start={start_s:.3f}"] if start_s else []
    return argv if length_s is None else [*argv, f"--length={length_s:.3f}"]


def _has_queue(job: Job) -> bool:
    """Returns whether the job's own options enable the decoder queue. The last such option counts."""
    found = [words for option in job.player_params.options if (words := QUEUE_OPTION.fullmatch(option))]
    return bool(found) and not found[-1][1] and found[-1][2] != "no"
