# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads what players print while they play.

This is what the players themselves report: each means something different by A-V and by a drop.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator
from pathlib import Path

from ...schema import Amount, Count, Stored


class OwnView(Stored):
    """What a player reports about its own play.

    mplayer, mpv and ffplay print audio minus video, which is our A-V: > 0 means that the video is late. VLC does not print it.
    """

    lines: Count
    skew_ms_mean: float | None
    skew_ms_sd: Amount | None
    dropped: Count | None
    av_source: str = "status"


def read_status(log: Path, pattern: re.Pattern[str]) -> OwnView | None:
    """Returns what the log's status lines say; None if it has none.

    `pattern` has the group `skew_s` and one or more groups `dropped...`. The last values of these are added.
    """
    skews_ms: list[float] = []
    dropped = 0
    for found in _status_lines(log, pattern):
        groups = found.groupdict()
        skews_ms.append(1000 * float(groups.pop("skew_s")))
        dropped = sum(map(int, groups.values()))
    if not skews_ms:
        return None
    spread_ms = statistics.pstdev(skews_ms)
    mean_ms = statistics.fmean(skews_ms)
    return OwnView(lines=len(skews_ms), skew_ms_mean=mean_ms, skew_ms_sd=spread_ms, dropped=dropped, av_source="status")


def _status_lines(log: Path, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """Yields the status lines. Each overwrites the one before, so they are separated by carriage returns."""
    for line in re.split(r"[\r\n]+", log.read_text(errors="replace")):
        if found := pattern.search(line):
            yield found


def last_message(log: Path, status: re.Pattern[str]) -> str:
    """Returns the last line that is not a status line."""
    try:
        lines = re.split(r"[\r\n]+", log.read_text(errors="replace"))
    except OSError:
        lines = []
    words = [words for line in lines if not status.search(line) and (words := re.sub(r"\x1b\[\w", "", line).strip())]
    return words[-1] if words else "it left no message"
