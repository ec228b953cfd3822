# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares two records of one run, picture by picture: the player's own (inside) and the observer's (outside)."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import LabError
from ..record import Frame, read_frames, read_run

NS_PER_MS = 1e6


@dataclass(frozen=True)
class Differences:
    both: int
    only_inside: tuple[int, ...]  # time stamps of pictures that only the player says were shown
    only_outside: tuple[int, ...]
    shown_ms: tuple[float, ...]  # on the screen minus presented: < 0 if the player was preempted after presenting
    skew_ms: tuple[float, ...]  # A-V from outside minus A-V from inside, where both are known


def differences(own: Path, seen: Path) -> Differences:
    inside, outside = (_shown(read_frames(record)) for record in (own, seen))
    common = [(inside[pts_ns], outside[pts_ns]) for pts_ns in sorted(inside.keys() & outside.keys())]
    return Differences(
        both=len(common),
        only_inside=tuple(sorted(inside.keys() - outside.keys())),
        only_outside=tuple(sorted(outside.keys() - inside.keys())),
        shown_ms=tuple(_ms(b.shown_ns, a.shown_ns) for a, b in common if a.shown_ns and b.shown_ns),
        skew_ms=tuple(
            _ms(b.skew_ns, a.skew_ns) for a, b in common if a.skew_ns is not None and b.skew_ns is not None
        ),
    )


def _shown(frames: Sequence[Frame]) -> dict[int, Frame]:
    return {frame.pts_ns: frame for frame in frames if frame.verdict == "shown"}


def _ms(later_ns: int, earlier_ns: int) -> float:
    return (later_ns - earlier_ns) / NS_PER_MS


def longest_blink_ns(seen: Path) -> int:
    """Returns the longest time between two looks, from the observer's own record of how late it looked.

    The observer cannot have missed a picture that stood for longer.
    """
    run = read_run(seen)
    late_us = run.observer.screen.look_late_us_worst if run.observer else None
    if late_us is None or run.options.rate_hz is None:
        raise LabError(f"{seen} does not say how often the observer looked; is dlex-bench-observe of this build?")
    return round(1e3 * late_us + 1e9 / run.options.rate_hz)


def certain_to_be_seen(own: Path, blink_ns: int) -> set[int]:
    """Returns the time stamps of pictures that surely stood for longer than `blink_ns`.

    The next picture cannot be on its way to the screen while the player is still decoding. So a decode that ended more
    than `blink_ns` after a picture was presented, and before the next one was presented, proves that the picture stood.
    """
    frames = read_frames(own)
    ends_ns = sorted(frame.decode_end_ns for frame in frames if frame.decode_end_ns is not None)
    shown = sorted((frame.shown_ns, frame.pts_ns) for frame in frames if frame.shown_ns is not None)
    certain = set()
    for (shown_ns, pts_ns), (next_ns, _) in itertools.pairwise(shown):
        before = bisect.bisect_left(ends_ns, next_ns)
        if before and ends_ns[before - 1] - shown_ns > blink_ns:
            certain.add(pts_ns)
    return certain
