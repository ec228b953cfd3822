# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plays a clip in dlex-play on a terminal of its own, presses keys, and reads from the record when they took effect."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import random
import termios
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from subprocess import Popen

from ..errors import LabError
from ..processes import child, has_ended, last_words
from ..record import Frame, read_frames

FORWARD, BACK, QUIT = b"\033[C", b"\033[D", b"q"
# A seek moves 10 s. Without one, pictures and time move alike.
SEEK_S = 10.0
JUMP_NS = 3_000_000_000
STARTING_S = 1.2
NOT_FOR_SEEKS_S = STARTING_S + SEEK_S + 1.5  # of a clip's length; seeks begin later and later in it
# The time from key to key, as parts of its mean.
SPREAD = (0.7, 1.3)
QUITS = 3
LIMIT_S = 30.0
NEVER_NS = 1 << 63


@dataclass(frozen=True)
class SeekPlay:
    """What a play showed, in ms. `missing`: seeks whose picture was not found before the next key."""

    seeks_ms: list[float]
    missing: int
    quits_ms: list[float]


@dataclass(frozen=True)
class SeekSetting:
    """`queue`: the argument of --queue. `seeks`: how many there are. `between_s`: the mean time from key to key."""

    program: Path
    clip: Path
    queue: str
    cpus: Collection[int]
    seeks: int
    between_s: float


def play_with_seeks(setting: SeekSetting, chance: random.Random, out: Path) -> SeekPlay:
    """Seeks forward and back in turns, at times that `chance` chooses. Then plays some times more, without a record, and quits.

    `out` is a new folder.
    """

    def press(keys: int, key: bytes) -> int:
        return _press(keys, key, setting.between_s * chance.uniform(*SPREAD))

    with _on_terminal(setting, out, [f"--record={out / 'own'}"]) as (player, keys):
        pressed_ns = [press(keys, (FORWARD, BACK)[number % 2]) for number in range(setting.seeks)]
        press(keys, QUIT)
        _await_end(player, out)
    frames = read_frames(out / "own")
    found = [shown_after(ns, until_ns, frames) for ns, until_ns in pairwise([*pressed_ns, NEVER_NS])]
    seeks_ms = [ms for ms in found if ms is not None]
    quits_ms = []
    for _ in range(QUITS):
        with _on_terminal(setting, out, []) as (player, keys):
            quit_ns = press(keys, QUIT)
            _await_end(player, out)
            quits_ms.append((time.monotonic_ns() - quit_ns) / 1e6)
    return SeekPlay(seeks_ms, len(found) - len(seeks_ms), quits_ms)


@contextlib.contextmanager
def _on_terminal(setting: SeekSetting, out: Path, options: Sequence[str]) -> Iterator[tuple[Popen[bytes], int]]:
    """Starts the player in a session whose terminal is the yielded file descriptor's other end."""
    keys, terminal = pty.openpty()

    def take_terminal() -> None:
        os.setsid()
        os.dup2(terminal, 0)
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    argv: list[str | Path] = [setting.program, "--quiet", "--vo=null", "--ao=null", f"--queue={setting.queue}"]
    argv += [*options, setting.clip]
    try:
        with (out / "player.log").open("ab") as log, child(argv, cpus=setting.cpus, stderr=log, enter=take_terminal) as player:
            os.close(terminal)
            terminal = -1
            time.sleep(STARTING_S)
            yield player, keys
    finally:
        for descriptor in (keys, terminal):
            if descriptor >= 0:
                os.close(descriptor)


def _press(keys: int, key: bytes, after_s: float) -> int:
    """Waits, presses the key, and returns when, in ns of CLOCK_MONOTONIC."""
    time.sleep(after_s)
    now_ns = time.monotonic_ns()
    os.write(keys, key)
    return now_ns


def _await_end(player: Popen[bytes], out: Path) -> None:
    if not has_ended(player, LIMIT_S):
        raise LabError(f"dlex-play did not end within {LIMIT_S:.0f} s after q")
    if player.wait() != 0:
        raise LabError(f"dlex-play ended with status {player.returncode} ({last_words(out / 'player.log')})")


def shown_after(pressed_ns: int, until_ns: int, frames: Sequence[Frame]) -> float | None:
    """Returns how many ms after the key a picture was shown that does not continue those before it.

    None: there is no such picture before `until_ns`. Times are in ns of CLOCK_MONOTONIC.
    """
    shown = sorted((frame.shown_ns, frame.pts_ns) for frame in frames if frame.shown_ns is not None)
    for before, after in pairwise(shown):
        jumps = abs((after[1] - before[1]) - (after[0] - before[0])) > JUMP_NS
        if jumps and pressed_ns <= after[0] <= until_ns:
            return (after[0] - pressed_ns) / 1e6
    return None
