# SPDX-License-Identifier: LGPL-2.1-or-later
"""Drives GStreamer's playbin as its users start it, by gst-play-1.0: one thread decodes, another presents.

gst-play chooses the outputs by itself. On a screen without XVideo and GL that is ximagesink, whose window has the size of the film
and appears at 0,0 where there is no window manager. gst-play has no option for the length, so it plays a part of the film
(film_part.py). What it prints says nothing about A-V or drops.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ...errors import EXIT_SETUP, LabError, NotInstalled
from ...machine.policy import Policy
from ...paths import made_folder, require_installed
from ...record import CpuTime, TimeOfPlaying
from .film_part import film_part
from .player import extent, extra_options, log_of, never_played, one_reservation_is_too_few, unhappy_end
from .status_line import OwnView, last_message
from .threads import DECODE, PRESENT, Work, Works

if TYPE_CHECKING:
    from ...agenda.job import Job

PROGRAM = "gst-play-1.0"
ASK = "gst-inspect-1.0"
# What gst-play takes for an ordinary film, and the Debian packages that have it. Without one of these elements it plays on, with
# less: without sound, for example.
ELEMENTS = {
    "playbin": "gstreamer1.0-plugins-base",
    "ximagesink": "gstreamer1.0-x",
    "pulsesink": "gstreamer1.0-pulseaudio",
    "autovideosink": "gstreamer1.0-plugins-good",
    "avdec_h264": "gstreamer1.0-libav",
}
# It says what GStreamer lacks for a film, such as "(gstreamer|1.0|gst-discoverer-1.0|AV1 decoder|decoder-video/x-av1)".
DISCOVER = "gst-discoverer-1.0"
LACKING = re.compile(r"^ *\(gstreamer\|[^|]*\|[^|]*\|([^|]*)\|decoder-(?:video|audio)/", re.MULTILINE)
# What the packages of ELEMENTS lack is there.
MORE_PLUGINS = "gstreamer1.0-plugins-bad"
# GStreamer looks at all its plugins when its list of them is missing. A user has the list, a home that is empty does not.
FOLDER = "plugins"
LIST_OF_PLUGINS = "gstreamer-registry.bin"
ASKING_S = 60.0
# The status is 0 even for a file that it cannot read, and for a film whose pictures it cannot decode.
REFUSED = re.compile(r"^ERROR (?!debug)|No decoder available|^WARNING .*[Mm]issing|Couldn't create specified")
NO_STATUS = re.compile(r"^(?:\d+:\d\d:\d\d\.\d / |Redistribute latency|Reached end of play list|ERROR debug)")


# libavcodec's threads inherit the name of the thread that starts them, which demuxes. Sound and pictures are decoded in threads of
# the same name.
THREADS: Works = {
    "main": Work("waits"),
    "multiqueue*:src": Work("decodes", DECODE),
    "*demux*:sink": Work("demuxes or decodes", DECODE),
    "vqueue*:src": Work("presents", PRESENT),
    "aqueue*:src": Work("sound"),
    "threaded-ml": Work("sound"),
    "typefind*:sink": Work("opens the file"),
    "pool-*": Work("helps"),
    "gmain": Work("helps"),
    "gdbus": Work("helps"),
    "gst-play-1.0": Work("opens the file"),
}


class PlaybinAdapter:
    name: ClassVar[str] = "playbin"
    package: ClassVar[str] = "gstreamer1.0-plugins-base-apps"
    places_itself: ClassVar[bool] = False
    refuses_root: ClassVar[bool] = False

    def prepare(self, job: Job, clip: Path) -> Path:
        require_installed(PROGRAM, self.package)
        _require_elements()
        _require_decoders(require_installed(DISCOVER, self.package), clip)
        start_s, length_s = extent(job)
        return clip if length_s is None else film_part(clip, start_s + length_s)

    def works(self, job: Job, out: Path) -> Works:
        return THREADS

    def argv(self, job: Job, clip: Path, out: Path) -> list[str]:
        start_s, _length_s = extent(job)
        argv = [require_installed(PROGRAM, self.package), "--no-interactive", "--no-position"]
        argv += [f"--start-position={start_s:.3f}"] if start_s else []
        return [*argv, *extra_options(job), str(clip)]

    def environment(self, job: Job) -> dict[str, str]:
        return _environment()

    def applicable(self, job: Job) -> str | None:
        policy = Policy.parse(job.sched)
        return one_reservation_is_too_few(self.name) if policy.kind == "deadline" and not policy.is_of_several_threads else None

    def complaint(self, status: int, out: Path) -> str | None:
        lines = log_of(out).read_text(errors="replace").splitlines()
        refusals = [line.strip() for line in lines if REFUSED.search(line)]
        if status == 0 and refusals:
            return never_played(self.name, refusals[0])
        return unhappy_end(self.name, status, last_message(log_of(out), NO_STATUS))

    def own_view(self, job: Job, out: Path) -> OwnView | None:
        return None

    def cpu_of_playing(self, out: Path) -> CpuTime | None:
        return None

    def time_of_playing(self, out: Path) -> TimeOfPlaying | None:
        return None


def _environment() -> dict[str, str]:
    return {"GST_REGISTRY": str(made_folder(FOLDER) / LIST_OF_PLUGINS)}


def _require_elements() -> None:
    """Raises NotInstalled for an element that is missing, and brings GStreamer's list of its plugins up to date."""
    ask = require_installed(ASK, "gstreamer1.0-tools")
    for element, package in ELEMENTS.items():
        if _asked([ask, "--exists", element]).returncode:
            raise NotInstalled(f"playbin's {element}", package)


def _require_decoders(discover: str, clip: Path) -> None:
    """Raises NotInstalled if GStreamer lacks something to read or decode the film. Its other errors are those of the play."""
    if found := LACKING.search(_asked([discover, str(clip)]).stdout):
        raise NotInstalled(f"playbin's {found[1]}", MORE_PLUGINS)


def _asked(argv: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(argv, env={**os.environ, **_environment(), "LC_ALL": "C.UTF-8"}, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors="replace", timeout=ASKING_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as cause:
        raise LabError(f"{argv[0]} does not answer ({cause}); try `{' '.join(argv)}` by hand", EXIT_SETUP) from cause
