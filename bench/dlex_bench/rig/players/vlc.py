# SPDX-License-Identifier: LGPL-2.1-or-later
"""Drives VLC 3.0: one thread decodes, another presents, and neither has a name.

VLC refuses to run as root. A laboratory that runs as root starts it as an ordinary user (rig/guest.py). That user may not be able
to reach the clip by its path, so VLC gets the open file as its standard input.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ...machine.policy import Policy
from ...paths import require_installed
from ...record import CpuTime, TimeOfPlaying
from ..guest import guest
from .player import extent, extra_options, log_of, never_played, one_reservation_is_too_few, unhappy_end
from .status_line import OwnView, last_message
from .threads import BOTH, Work, Works

if TYPE_CHECKING:
    from ...agenda.job import Job

WITH_CLIP = ["sh", "-c", 'exec "$@" <"$0"']
CLIP = "fd://0"
UNATTENDED = ["--ignore-config", "--intf=dummy", "--no-dbus", "--no-lua", "--no-auto-preparse", "--play-and-exit"]
BARE = ["--no-video-title-show", "--no-osd", "--no-spu", "--no-video-deco", "--video-x=0", "--video-y=0"]
DEVICES = ["--no-disable-screensaver", "--aout=pulse", "--avcodec-hw=none"]
MESSAGES = ["--no-color", "--verbose=1"]  # errors and warnings
# VLC reports each picture that its output or its decoder drops because it is late. It does not report the pictures that
# libavcodec skips at its request, which it does before it drops whole pictures.
DROPPED = re.compile("picture is too late to be displayed|late frames, dropping frame")
REFUSED = re.compile("input error: ")
NO_MESSAGE = re.compile("(?!)")


# Only PulseAudio's thread has a name of its own. So the threads that demux and decode the sound are held with the others; they use
# a fifteenth of VLC's CPU time in 1080p. The main thread starts the others and waits. It is held because they begin where it is: a
# thread that begins on another CPU and only sleeps is still counted there by the kernel, which then refuses it a reservation.
THREADS: Works = {
    "main": Work("starts the others", BOTH),
    "vlc": Work("demuxes, decodes or presents", BOTH),
    "threaded-ml": Work("sound"),
    "vlc:*": Work("helps"),
}


class VlcAdapter:
    name: ClassVar[str] = "vlc"
    package: ClassVar[str] = "vlc-bin vlc-plugin-base vlc-plugin-video-output"
    places_itself: ClassVar[bool] = False
    refuses_root: ClassVar[bool] = True

    def prepare(self, job: Job, clip: Path) -> Path:
        require_installed("vlc", self.package)
        return clip

    def works(self, job: Job, out: Path) -> Works:
        return THREADS

    def argv(self, job: Job, clip: Path, out: Path) -> list[str]:
        params, user = job.player_params, guest()
        output = [] if job.gl else ["--vout=xcb_x11"]  # with OpenGL, what VLC takes by itself
        argv = [*WITH_CLIP, str(clip), *(user.prefix if user else [])]
        argv += [require_installed("vlc", self.package), *UNATTENDED, *BARE, *output, *DEVICES, *MESSAGES]
        drops = params.framedrop is not False
        argv += [f"--{'' if drops else 'no-'}{option}" for option in ("drop-late-frames", "skip-frames")]
        if params.threads != "auto":
            argv.append("--avcodec-threads=1")
        return [*argv, *_extent(job), *extra_options(job), CLIP]

    def environment(self, job: Job) -> dict[str, str]:
        return {}

    def applicable(self, job: Job) -> str | None:
        policy = Policy.parse(job.sched)
        return one_reservation_is_too_few(self.name) if policy.kind == "deadline" and not policy.is_of_several_threads else None

    def complaint(self, status: int, out: Path) -> str | None:
        """Returns what is wrong with how VLC ended, or None. Its status is 0 even for a file that it cannot read."""
        refusals = [line for line in _log(out).splitlines() if REFUSED.search(line)]
        if status == 0 and refusals:
            return never_played(self.name, refusals[-1].strip())
        return unhappy_end(self.name, status, last_message(log_of(out), NO_MESSAGE))

    def own_view(self, job: Job, out: Path) -> OwnView:
        """Returns how many pictures VLC says that it dropped. It says nothing about A-V."""
        dropped = len(DROPPED.findall(_log(out)))
        return OwnView(lines=dropped, skew_ms_mean=None, skew_ms_sd=None, dropped=dropped)

    def cpu_of_playing(self, out: Path) -> CpuTime | None:
        return None

    def time_of_playing(self, out: Path) -> TimeOfPlaying | None:
        return None


def _log(out: Path) -> str:
    return log_of(out).read_text(errors="replace")


def _extent(job: Job) -> list[str]:
    start_s, length_s = extent(job)
    argv = [f"--start-time={start_s:.3f}"] if start_s else []
    return argv if length_s is None else [*argv, f"--run-time={length_s:.3f}"]
