# SPDX-License-Identifier: LGPL-2.1-or-later
"""Implements `dlex bench seek --players`: compares players in windows, as the screen shows them."""

from __future__ import annotations

import json
import os
import random
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from ..clips import clip_facts, film_is_here, make_clip
from ..errors import EXIT_SETUP, LabError
from ..machine.facts import commit, machine_facts
from ..machine.lock import only_measurement
from ..order import interleaved
from ..output import output_file
from ..paths import require_installed, require_program
from ..progress import tell, tell_table
from ..table import titled_table
from .window import OBSERVER, InWindow, WindowPlay, WindowPlayer, play_in_window, window_players

RECIPES = ("trailer_1080p_stamped", "hard_1080p_stamped")  # the first needs a film
DLEX_PLAY = "build/release/player/dlex-play"
AFTER_SEEKS_S = 11.5  # a key moves 10 s
LEAST_BETWEEN_S = 0.1


@dataclass(frozen=True)
class WindowOptions:
    """`clips`: stamped files, or names of recipes. `players` are compared with the first of them."""

    root: Path
    out: Path
    clips: Sequence[str]
    players: Sequence[str]
    rounds: int
    seeks: int
    between_s: float
    play_s: float
    load: int
    wait: bool


def compare_windows(options: WindowOptions) -> None:
    if options.between_s < LEAST_BETWEEN_S:
        raise LabError(f"--between must be at least {LEAST_BETWEEN_S} s", EXIT_SETUP)
    console = Console()
    settings = [setting for clip in _clips(options) for setting in _settings(options, clip)]
    output_file(options.out, [setting.clip for setting in settings])
    with only_measurement(settings[0].cpus, partial(tell, console) if options.wait else None):
        plays = _play_all(settings, options, console)
    _write(options, settings, plays)
    _show(settings, plays, console)
    tell(console, f"All figures: {options.out}", wrap=False)


def _clips(options: WindowOptions) -> list[Path]:
    names = options.clips or [RECIPES[0 if film_is_here() else 1]]
    return [Path(name) if Path(name).is_file() else make_clip(options.root, name) for name in names]


def _settings(options: WindowOptions, clip: Path) -> list[InWindow]:
    players = [_player(options.root, name) for name in options.players]
    observer = require_program(options.root / "build/release" / OBSERVER)
    cpus = frozenset(os.sched_getaffinity(0))
    facts = clip_facts(clip)
    seeks = _seeks_in(clip, facts.length_s, options)
    return [
        InWindow(player, clip, facts, observer, cpus, options.load, seeks, options.play_s, options.between_s)
        for player in players
    ]


def _seeks_in(clip: Path, length_s: float, options: WindowOptions) -> int:
    """Returns how many seeks a play has: as many as are wanted, or as have room in the clip, which plays on between them."""
    if not options.seeks:
        return 0
    seeks = min(options.seeks, int((length_s - options.play_s - AFTER_SEEKS_S) / options.between_s))
    if seeks < 1:
        least_s = options.play_s + AFTER_SEEKS_S + options.between_s
        message = f"{clip.name} is {length_s:.1f} s long; choose a clip of {least_s:.1f} s or more, or a smaller --between"
        raise LabError(message, EXIT_SETUP)
    return seeks


def _player(root: Path, name: str) -> WindowPlayer:
    known = window_players(root / DLEX_PLAY)
    if name not in known:
        raise LabError(f"{name} is not a player that can be compared; choose of {', '.join(known)}", EXIT_SETUP)
    if known[name].keys:
        require_installed("mpv", "mpv")
    else:
        require_program(root / DLEX_PLAY)
    return known[name]


def _play_all(settings: Sequence[InWindow], options: WindowOptions, console: Console) -> dict[int, list[WindowPlay]]:
    """Returns the plays by the place of their setting. In a round all players get the same keys at the same times."""
    plays: dict[int, list[WindowPlay]] = {place: [] for place in range(len(settings))}
    for number, (place, setting) in interleaved(list(enumerate(settings)), options.rounds):
        with tempfile.TemporaryDirectory(prefix="dlex-seek-") as folder:
            play = play_in_window(setting, random.Random(number), Path(folder))
        plays[place].append(play)
        tell(console, f"  round {number}: {setting.clip.name}, {setting.player.name}: {_summary(play)}", wrap=False)
    return plays


def _summary(play: WindowPlay) -> str:
    first = "not seen" if play.first_ms is None else f"{play.first_ms:.0f} ms"
    seeks = ", ".join(f"{ms:.0f}" for ms in play.seeks_ms)
    return f"first picture {first}, seeks {seeks or '-'} ms, {play.peak_mib:.0f} MiB"


def _write(options: WindowOptions, settings: Sequence[InWindow], plays: dict[int, list[WindowPlay]]) -> None:
    facts: dict[str, Any] = {
        "commit": commit(),
        "machine": machine_facts().model_dump(),
        "load": options.load,
        "settings": [
            {"clip": setting.clip.name, "player": setting.player.name, "plays": [asdict(play) for play in plays[place]]}
            for place, setting in enumerate(settings)
        ],
    }
    try:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(facts, indent=2) + "\n")
    except OSError as cause:
        raise LabError(f"{options.out} cannot be written ({cause.strerror}); name another file with --out", EXIT_SETUP) from cause


def _show(settings: Sequence[InWindow], plays: dict[int, list[WindowPlay]], console: Console) -> None:
    table = titled_table("First picture, key to picture, q to end, in ms; below: the first player's figure divided by this one")
    for heading in ("clip", "player", "first", "p95", "seeks", "not seen", "median", "p95", "longest", "quit", "peak, MiB"):
        table.add_column(heading, justify="left" if heading in ("clip", "player") else "right")
    bases: dict[Path, list[WindowPlay]] = {}
    for place, setting in enumerate(settings):
        own, base = plays[place], bases.setdefault(setting.clip, plays[place])
        table.add_row(
            setting.clip.name,
            setting.player.name,
            *_compared([_firsts(own), _firsts(base)], (50, 95)),
            str(len(_seeks(own))),
            str(sum(play.missing for play in own)),
            *_compared([_seeks(own), _seeks(base)], (50, 95, 100)),
            *_compared([[play.quit_ms for play in side] for side in (own, base)], (50,)),
            *_compared([[play.peak_mib for play in side] for side in (own, base)], (100,)),
        )
    tell_table(console, table)


def _firsts(plays: Sequence[WindowPlay]) -> list[float]:
    return [play.first_ms for play in plays if play.first_ms is not None]


def _seeks(plays: Sequence[WindowPlay]) -> list[float]:
    return [ms for play in plays for ms in play.seeks_ms]


def _compared(sides: Sequence[Sequence[float]], percents: Sequence[int]) -> list[str]:
    """Returns percentiles of the first side, each with that of the second in parts of it."""
    own, base = sides
    if not own or not base:
        return ["-"] * len(percents)
    pairs = [(np.percentile(own, percent), np.percentile(base, percent)) for percent in percents]
    return [f"{one:.0f}\n{other / one:.2f}" for one, other in pairs]
