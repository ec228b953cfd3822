# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes clips from the recipes of media/, and reads the facts that a player's observer must know about a clip."""

from __future__ import annotations

import functools
import json
import math
import os
import signal
import subprocess
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from .errors import EXIT_SETUP, JobUnsupported, LabError
from .paths import cache_folder, require_installed
from .processes import child

NS_PER_S = 1_000_000_000
UNSTEADY = Fraction(1, 200)  # the mean of a few seconds differs by a picture from the true rate
FILM_FILES = ("bbb_trailer_720p.mp4", "trailer_720p.mov")
# media/make's exit status if this machine lacks something that the clip needs: the trailer, ffmpeg, or an encoder.
STATUS_NOT_HERE = 3
STDERR = 2  # the descriptor


@dataclass(frozen=True)
class ClipFacts:
    """Facts about the whole file. The first picture of a film need not have the time stamp 0."""

    width: int
    height: int
    frame_ns: int
    frames: int
    first_pts_ns: int
    is_steady: bool = True  # whether all pictures last equally long, as far as the container says; else `frame_ns` is their mean

    @property
    def length_s(self) -> float:
        return self.frames * self.frame_ns / NS_PER_S

    def frames_in(self, start_s: float, length_s: float | None) -> int:
        """Returns the number of pictures from `start_s` on, for `length_s` (None: to the end).

        dlex-play plays the same number with --start and --length.
        """
        frame_s = self.frame_ns / NS_PER_S
        first = math.ceil(round(start_s / frame_s, 6))
        last = self.frames if length_s is None else math.ceil(round((start_s + length_s) / frame_s, 6))
        return max(0, min(last, self.frames) - first)


def film_file() -> Path | None:
    """Returns the file of the real trailer, or None if it is not here. Its checksum is compared by media/film.py."""
    folders = [os.environ.get("DLEX_MEDIA"), cache_folder() / "clips"]
    files = (Path(folder) / name for folder in folders if folder for name in FILM_FILES)
    return next((file for file in files if file.is_file()), None)


def film_is_here() -> bool:
    """Returns whether recipes that need the real trailer can be made."""
    return film_file() is not None


@functools.cache
def why_not_makeable(root: Path, recipe: str) -> str | None:
    """Returns why the clip cannot be made here, because the real trailer is missing; None: it can be made."""
    return _complaint(root, "--check", recipe)


def _complaint(root: Path, *arguments: str) -> str | None:
    """Returns the last sentence that media/make says; None: it ends with success."""
    asked = subprocess.run([root / "media/make", *arguments], capture_output=True, text=True, check=False)
    words = asked.stderr.strip().splitlines() or ["it gives no reason"]
    return words[-1].removeprefix("media/make: ") if asked.returncode else None


def make_clip(root: Path, recipe: str) -> Path:
    """Returns the path of the clip, which is made if it is not there yet. media/make shows its progress meanwhile.

    Raises JobUnsupported if this machine lacks something that the clip needs, and LabError for other reasons.
    """
    # Asked to end, media/make ends its encoder and removes what is half made.
    argv: list[str | Path] = [root / "media/make", recipe]
    with child(argv, cpus=None, stdout=subprocess.PIPE, stderr=STDERR, orphaned=signal.SIGTERM) as maker:
        said, _ = maker.communicate()
    if maker.returncode == STATUS_NOT_HERE:
        reason = _complaint(root, recipe) or "now it can; run the job again"
        raise JobUnsupported(f"the clip {recipe} cannot be made here: {reason}", EXIT_SETUP)
    if maker.returncode != 0:
        raise LabError(f"the clip {recipe} could not be made; run `media/make {recipe}`", EXIT_SETUP)
    return Path(os.fsdecode(said.strip()))


def clip_facts(path: Path) -> ClipFacts:
    try:
        changed_ns = path.stat().st_mtime_ns
    except OSError as cause:
        raise LabError(f"there is no clip {path} ({cause.strerror}); make it again", EXIT_SETUP) from cause
    return _facts(path, changed_ns)


@functools.cache
def _facts(path: Path, _changed_ns: int) -> ClipFacts:
    """Returns what ffprobe reports. It reads the whole file to count the packets, so once per batch is enough."""
    program = require_installed("ffprobe", "ffmpeg")
    options = ["-v", "error", "-count_packets", "-select_streams", "v:0", "-of", "json", "-show_entries"]
    entries = "stream=width,height,avg_frame_rate,r_frame_rate,start_time,nb_read_packets"
    asked = subprocess.run([program, *options, entries, path], capture_output=True, text=True, check=False)
    try:
        stream = json.loads(asked.stdout)["streams"][0]
        start = stream.get("start_time", "0")
        mean = Fraction(stream["avg_frame_rate"])
        return ClipFacts(
            width=int(stream["width"]),
            height=int(stream["height"]),
            frame_ns=round(NS_PER_S / mean),
            is_steady=abs(Fraction(stream.get("r_frame_rate", mean)) - mean) <= UNSTEADY * mean,
            frames=int(stream["nb_read_packets"]),
            first_pts_ns=0 if start == "N/A" else round(float(start) * NS_PER_S),
        )
    except (ValueError, KeyError, IndexError, ZeroDivisionError) as cause:
        words = (asked.stderr.strip().splitlines() or ["it has no video stream"])[-1]
        raise LabError(f"{path} cannot be used as a clip ({words}); choose another", EXIT_SETUP) from cause
