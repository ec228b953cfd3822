# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plays a film several times beside the observed player, with dlex-play, in real time, without a screen and a sound card."""

from __future__ import annotations

import contextlib
import math
import signal
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from ...errors import LabError
from ...processes import child, own_environment
from ...record import DROPPED, Frame, read_frames_of_any_play
from .running import Due, RunningLoad, Window, ended_by_itself

# Until the first pictures are decoded and the queues are full.
SETTLE_S = 2.0
LOG = "dlex-play.log"


@contextlib.contextmanager
def other_films(
    count: int,
    player: Path,
    clip: Path,
    times: int,
    folder: Path,
    cpus: Collection[int] | None,
    enter: Callable[[], None] | None = None,
) -> Iterator[RunningLoad]:
    """Plays `clip` `times` times in a row, `count` times side by side, while the block runs.

    The records are in `folder`/1/1 (the first play of the first player), and stay there.
    """
    with contextlib.ExitStack() as stack:
        places = [folder / str(number + 1) for number in range(count)]
        checks = [stack.enter_context(_film(player, clip, times, place, cpus, enter)) for place in places]

        def check() -> None:
            for one in checks:
                one()

        yield RunningLoad(check, None, "pictures", settle_s=SETTLE_S, due=lambda window: due_of(places, window))


@contextlib.contextmanager
def _film(
    player: Path, clip: Path, times: int, place: Path, cpus: Collection[int] | None, enter: Callable[[], None] | None
) -> Iterator[Callable[[], None]]:
    """Runs one player. Yields a function that raises LabError when it has ended."""
    place.mkdir(parents=True)
    log = place / LOG
    argv: list[str | Path] = [player, "--quiet", "--vo=null", "--ao=null", f"--record={place}", *[clip] * times]
    with (
        log.open("wb") as words,
        # With this signal it writes its record, also when we are killed.
        child(argv, cpus=cpus, env=own_environment(), stderr=words, enter=enter, orphaned=signal.SIGTERM) as process,
    ):

        def check() -> None:
            if process.poll() is not None:
                raise LabError(ended_by_itself("films", process, log))

        yield check


def times_to_play(length_s: float, clip_s: float) -> int:
    """Returns how often a clip must be played in a row so that it does not end before `length_s` are over."""
    return math.ceil(length_s / clip_s) + 1


def due_of(places: list[Path], window: Window) -> Due:
    """Returns how many pictures these players showed within the window, and how many they dropped.

    The last play of each was ended with the load, perhaps before it showed a picture.
    """
    records = [record.parent for place in places for record in sorted(place.glob("*/frames.csv"))]
    found = [due_in(read_frames_of_any_play(record), window) for record in records]
    return Due(sum(one.done for one in found), sum(one.lost for one in found))


def due_in(frames: list[Frame], window: Window) -> Due:
    """Returns how many pictures of one play were shown within the window, and how many between them were dropped."""
    shown = [number for number, it in enumerate(frames) if it.shown_ns and window[0] <= it.shown_ns / 1e3 <= window[1]]
    if not shown:
        return Due(0, 0)
    verdicts = [it.verdict for it in frames[shown[0] : shown[-1] + 1]]
    return Due(verdicts.count("shown"), sum(verdict in DROPPED for verdict in verdicts))
