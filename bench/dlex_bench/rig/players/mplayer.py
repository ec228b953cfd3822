# SPDX-License-Identifier: LGPL-2.1-or-later
"""Drives Debian's mplayer, the seed's baseline: one thread demuxes, decodes and presents."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ...paths import require_installed
from ...record import CpuTime, TimeOfPlaying
from .player import extent, extra_options, log_of, never_played, unhappy_end
from .status_line import OwnView, last_message, read_status
from .threads import BOTH, DECODE, Work, Works

if TYPE_CHECKING:
    from ...agenda.job import Job

# A:   7.8 V:   7.8 A-V: -0.001 ct:  0.221   0/  0 13%  3%  0.2% 6 0
# The last two numbers are the pictures to be dropped, and the quality of postprocessing, which is not requested.
STATUS = re.compile(r"A-V: *(?P<skew_s>-?\d+\.\d+) ct:.*?(?P<dropped>\d+) \d+ *$")
FRAMEDROP = {"none": [], "soft": ["-framedrop"], "hard": ["-hardframedrop"]}
# Nobody operates the player. Subtitles and an OSD would cost time that other players do not spend.
UNATTENDED = ["-noconfig", "all", "-noconsolecontrols", "-nolirc", "-nojoystick", "-nomouseinput"]
BARE = ["-nosub", "-noautosub", "-osdlevel", "0", "-noborder", "-geometry", "0:0"]
BEGIN, END = "Starting playback...", "Exiting... (End of file)"


THREADS: Works = {
    "main": Work("demuxes, decodes and presents", BOTH),
    "threaded-ml": Work("sound"),
    "mplayer": Work("decodes", DECODE),  # libavcodec's threads, which inherit the name of the thread that starts them
}


class MplayerAdapter:
    name: ClassVar[str] = "mplayer"
    package: ClassVar[str] = "mplayer"
    places_itself: ClassVar[bool] = False
    refuses_root: ClassVar[bool] = False

    def prepare(self, job: Job, clip: Path) -> Path:
        require_installed("mplayer", self.package)
        return clip

    def works(self, job: Job, out: Path) -> Works:
        return THREADS

    def argv(self, job: Job, clip: Path, out: Path) -> list[str]:
        params = job.player_params
        argv = [require_installed("mplayer", self.package), *UNATTENDED, "-vo", "x11", "-ao", "pulse", *BARE]
        argv += FRAMEDROP[str(params.framedrop or "none")]
        # Without this option, mplayer decodes in one thread, too.
        if params.threads != "auto":
            argv += ["-lavdopts", "threads=1"]
        return [*argv, *_extent(job), *extra_options(job), str(clip)]

    def environment(self, job: Job) -> dict[str, str]:
        return {"TERM": "dumb"}

    def applicable(self, job: Job) -> str | None:
        return None

    def complaint(self, status: int, out: Path) -> str | None:
        """Returns what is wrong with how mplayer ended, or None.

        Its status is 0 even for a file that does not exist, and then it also prints that it is at the end of the file.
        """
        log = log_of(out)
        said = log.read_text(errors="replace")
        if status == 0 and not (BEGIN in said and END in said):
            return never_played(self.name, last_message(log, STATUS))
        return unhappy_end(self.name, status, last_message(log, STATUS))

    def own_view(self, job: Job, out: Path) -> OwnView | None:
        """Returns what the status line said, without drops where mplayer may not drop.

        Even then it counts the pictures that it would drop.
        """
        view = read_status(log_of(out), STATUS)
        may_drop = job.player_params.framedrop not in (None, "none")
        return view if view is None or may_drop else view.model_copy(update={"dropped": 0})

    def cpu_of_playing(self, out: Path) -> CpuTime | None:
        return None

    def time_of_playing(self, out: Path) -> TimeOfPlaying | None:
        return None


def _extent(job: Job) -> list[str]:
    start_s, length_s = extent(job)
    argv = ["-ss", f"{start_s:.3f}"] if start_s else []
    return argv if length_s is None else [*argv, "-endpos", f"{length_s:.3f}"]
