# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cuts off the end of a film, for players that have no option for the length. The packets are copied, not encoded again."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

from ...checksum import checksum
from ...errors import EXIT_SETUP, LabError
from ...files import whole_file
from ...paths import made_folder, require_installed

FOLDER = "parts"


def film_part(film: Path, end_s: float) -> Path:
    """Returns a file with the first `end_s` of the film, in the same container, made once and kept in the cache.

    Every picture before `end_s` is in it. So are up to a few later ones, which the decoder needs earlier.
    Raises LabError if ffmpeg cannot copy the film.
    """
    program = require_installed("ffmpeg", "ffmpeg")
    content = checksum(film) or hashlib.sha256(str(film).encode()).hexdigest()
    part = made_folder(FOLDER) / f"{film.stem}-{content[:16]}-{end_s:.3f}{film.suffix}"
    if part.is_file():
        return part
    # ffmpeg chooses the container by the end of the name, which that of a partial file is not.
    with whole_file(part) as partial:
        copy = partial.with_name(f"{partial.name}{film.suffix}")
        try:
            _copy(program, film, end_s, copy)
            copy.replace(partial)
        finally:
            copy.unlink(missing_ok=True)
    return part


def _copy(program: str, film: Path, end_s: float, copy: Path) -> None:
    argv: list[str | Path] = [program, "-nostdin", "-v", "error", "-y", "-i", film, "-map", "0:v", "-map", "0:a?"]
    argv += ["-t", f"{end_s:.3f}", "-c", "copy", copy]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        words = (done.stderr.strip().splitlines() or ["it gives no reason"])[-1]
        raise LabError(f"the first {end_s:g} s of {film} cannot be copied ({words}); choose another clip", EXIT_SETUP)
