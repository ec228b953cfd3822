# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plays a stamped clip in a player's window, presses keys there, and reads from the screen when they took effect."""

from __future__ import annotations

import contextlib
import csv
import mmap
import random
import signal
import struct
import subprocess
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from subprocess import Popen

from ..clips import ClipFacts
from ..errors import LabError
from ..processes import child, has_ended, last_words
from ..rig.load.stress import stress
from ..rig.players.mpv import BARE, CONVERSION, UNATTENDED
from ..rig.players.player import SDL_ENVIRONMENT
from ..rig.stage import Stage, stage
from .keyboard import Keyboard, keyboard

OBSERVER = "bench/observer/dlex-bench-observe"
JUMP_NS = 3_000_000_000
SPREAD = (0.85, 1.15)  # of the time from key to key, as parts of its mean
SETTLE_S = 0.7
END_LIMIT_S = 20.0
NEVER_NS = 1 << 63

# mpv seeks to a key picture by its arrow keys; `exact` decodes from there to the place itself, as dlex-play does.
MPV_KEYS = "RIGHT seek 10 {how}\nLEFT seek -10 {how}\nq quit\n"
MPV_BARE = [*UNATTENDED, *BARE, *CONVERSION, "--vo=x11", "--ao=pulse"]
MPV_QUEUE = ["--vd-queue-enable=yes", "--vd-queue-max-samples=50", "--vd-queue-max-bytes=512MiB", "--vd-queue-max-secs=10"]
# Its usual scripts and its default output, and nothing of the user's.
MPV_PLAIN = ["--no-config"]


@dataclass(frozen=True)
class WindowPlayer:
    """A player with its options. `keys`: how mpv's arrow keys seek; None for dlex-play."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    keys: str | None = None


@dataclass(frozen=True)
class WindowPlay:
    """What the screen showed. Times in ms; None and `missing`: the picture was not seen, or not before the next key.

    `peak_mib` is the most memory that was resident (VmHWM), `quit_ms` the time from q to the end.
    """

    first_ms: float | None
    seeks_ms: list[float]
    missing: int
    peak_mib: float
    quit_ms: float


@dataclass(frozen=True)
class InWindow:
    """`load`: programs that compute beside the player. `play_s`: from the start to the first key, or to q without seeks."""

    player: WindowPlayer
    clip: Path
    facts: ClipFacts
    observer: Path
    cpus: Collection[int]
    load: int
    seeks: int
    play_s: float
    between_s: float


def window_players(dlex_play: Path) -> dict[str, WindowPlayer]:
    """Returns the players that can be compared, by name."""
    players = [
        WindowPlayer("dlex-play", (str(dlex_play), "--quiet"), SDL_ENVIRONMENT),
        WindowPlayer("mpv", ("mpv", *MPV_BARE), {}, "keyframes"),
        WindowPlayer("mpv-exact", ("mpv", *MPV_BARE), {}, "exact"),
        WindowPlayer("mpv-queue", ("mpv", *MPV_BARE, *MPV_QUEUE), {}, "exact"),
        WindowPlayer("mpv-plain", ("mpv", *MPV_PLAIN), {}, "keyframes"),
    ]
    return {player.name: player for player in players}


def play_in_window(setting: InWindow, chance: random.Random, out: Path) -> WindowPlay:
    """Seeks forward and back in turns, at times that `chance` chooses, then quits. `out` is a new folder."""
    size = (setting.facts.width, setting.facts.height)
    with stage(size, setting.cpus) as devices, keyboard(devices.environment) as keys:
        keys.put_pointer(size[0] // 2, size[1] // 2)
        with _observing(setting, devices, out), stress(setting.load, 0, setting.cpus, SETTLE_S if setting.load else 0):
            started, pressed_ns, peak_mib, quit_ms = _play(setting, devices, keys, chance, out)
    sights = read_sights(out / "seen" / "screen.csv")
    found = [seen_after(ns, until_ns, sights, setting.facts.frame_ns) for ns, until_ns in pairwise([*pressed_ns, NEVER_NS])]
    seeks_ms = [ms for ms in found if ms is not None]
    first_ms = (sights[0].time_ns - started) / 1e6 if sights else None
    return WindowPlay(first_ms, seeks_ms, len(found) - len(seeks_ms), peak_mib, quit_ms)


def _play(
    setting: InWindow, devices: Stage, keys: Keyboard, chance: random.Random, out: Path
) -> tuple[int, list[int], float, float]:
    """Returns when the player was executed, when keys were pressed, the peak memory in MiB, and how long quitting took in ms."""
    player = setting.player
    with mmap.mmap(-1, 8) as executed, (out / "player.log").open("wb") as log:

        def note_time() -> None:
            executed[:] = struct.pack("q", time.monotonic_ns())

        argv: list[str | Path] = [*player.command]
        if player.keys:
            (out / "input.conf").write_text(MPV_KEYS.format(how=player.keys))
            argv.append(f"--input-conf={out / 'input.conf'}")
        environment = devices.environment | dict(player.environment)
        with child([*argv, setting.clip], cpus=setting.cpus, env=environment, stdout=log, stderr=log, enter=note_time) as process:
            time.sleep(setting.play_s)
            pressed_ns = []
            for number in range(setting.seeks):
                pressed_ns.append(keys.press(("Right", "Left")[number % 2]))
                time.sleep(setting.between_s * chance.uniform(*SPREAD))
            peak_mib = _peak_mib(process)
            quit_ns = keys.press("q")
            if not has_ended(process, END_LIMIT_S):
                raise LabError(f"{player.name} did not end within {END_LIMIT_S:.0f} s after q ({last_words(out / 'player.log')})")
            quit_ms = (time.monotonic_ns() - quit_ns) / 1e6
        devices.require_alive()
        return struct.unpack("q", executed[:])[0], pressed_ns, peak_mib, quit_ms


def _peak_mib(process: Popen[bytes]) -> float:
    for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise LabError(f"{process.args!r} has ended before its keys were pressed; try it by hand")


@contextlib.contextmanager
def _observing(setting: InWindow, devices: Stage, out: Path) -> Iterator[None]:
    """Runs the observer of the screen while the block runs. It then writes its record to `out`/seen."""
    argv: list[str | Path] = [
        setting.observer,
        f"--screen={devices.display.screen_file}",
        f"--size={setting.facts.width}x{setting.facts.height}",
        f"--media={setting.clip}",
        f"--out={out / 'seen'}",
    ]
    with (out / "observer.log").open("wb") as log, child(argv, cpus=setting.cpus, stdout=subprocess.PIPE, stderr=log) as observer:
        assert observer.stdout is not None
        if not observer.stdout.readline():
            raise LabError(f"the observer does not start ({last_words(out / 'observer.log')})")
        yield
        observer.send_signal(signal.SIGTERM)
        if observer.wait():
            raise LabError(f"the observer saw no picture ({last_words(out / 'observer.log')})")


@dataclass(frozen=True)
class Sight:
    """A picture by its number in the clip, and when it came to the screen, in ns of CLOCK_MONOTONIC."""

    time_ns: int
    number: int


def read_sights(path: Path) -> list[Sight]:
    """Returns the whole pictures that were on the screen, in order. Screens without one, and torn ones, are left out."""
    with path.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["top"] and row["top"] == row["bottom"]]
    return [Sight(int(row["time_ns"]), int(row["top"])) for row in rows]


def seen_after(pressed_ns: int, until_ns: int, sights: Sequence[Sight], frame_ns: int) -> float | None:
    """Returns how many ms after the key a picture came that does not continue those before it.

    None: there is no such picture before `until_ns`. Times are in ns of CLOCK_MONOTONIC.
    """
    for before, after in pairwise(sights):
        jump_ns = (after.number - before.number) * frame_ns - (after.time_ns - before.time_ns)
        if abs(jump_ns) > JUMP_NS and pressed_ns <= after.time_ns <= until_ns:
            return (after.time_ns - pressed_ns) / 1e6
    return None
