# SPDX-License-Identifier: LGPL-2.1-or-later
"""Implements `dlex bench seek`: compares how soon keys take effect, for several depths of the queue of pictures."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Mapping, Sequence
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
from ..machine.steal import Steal, look_at_steal, steal_between
from ..order import interleaved
from ..output import output_file
from ..paths import require_program
from ..processes import choose_cpus
from ..progress import tell, tell_table
from ..table import titled_table
from .play import NOT_FOR_SEEKS_S, SeekPlay, SeekSetting, play_with_seeks

LEAST_BETWEEN_S, MOST_BETWEEN_S = 0.1, 60.0
RECIPES = ("trailer_1080p", "hard_1080p")  # the first needs a film


@dataclass(frozen=True)
class SeekOptions:
    """`clips`: files, or names of recipes; empty: a clip of 1080 lines. The other `queues` are compared with the first."""

    root: Path
    out: Path
    clips: Sequence[str]
    queues: Sequence[str]
    rounds: int
    seeks: int
    between_s: float
    wait: bool


@dataclass(frozen=True)
class Taken:
    """The times in ms of all plays with one clip and queue."""

    clip: str
    queue: str
    seeks_ms: list[float]
    quits_ms: list[float]
    missing: int


def compare_seeks(options: SeekOptions) -> None:
    if not LEAST_BETWEEN_S <= options.between_s <= MOST_BETWEEN_S:
        raise LabError(f"--between must be {LEAST_BETWEEN_S} to {MOST_BETWEEN_S} s", EXIT_SETUP)
    if options.seeks < 1:
        raise LabError("--seeks=0 is for --players; give at least 1", EXIT_SETUP)
    cpu, others = choose_cpus()
    console = Console()
    settings = _settings(options, {cpu, *others})
    output_file(options.out, [setting.clip for setting in settings])
    with only_measurement({cpu, *others}, partial(tell, console) if options.wait else None):
        before = look_at_steal({cpu}, others)
        plays = _play_all(settings, options, console)
        after = look_at_steal({cpu}, others)
    steal = steal_between([before, after], before.time_ns, after.time_ns)
    taken = [_taken(setting, plays[setting.clip, setting.queue]) for setting in settings]
    _write(options.out, taken, steal)
    _show(taken, console)
    stolen = f"{_percent(steal.measured)} of CPU {cpu}, {_percent(steal.others)} of the others" if steal else "unknown"
    tell(console, f"stolen by the host: {stolen}")
    tell(console, f"All figures: {options.out}", wrap=False)


def _settings(options: SeekOptions, cpus: set[int]) -> list[SeekSetting]:
    clips = [_clip(options.root, name) for name in options.clips or [RECIPES[0 if film_is_here() else 1]]]
    program = require_program(options.root / "build/release/player/dlex-play")
    seeks = {clip: _seeks_in(clip, options) for clip in clips}
    return [SeekSetting(program, clip, queue, cpus, seeks[clip], options.between_s) for clip in clips for queue in options.queues]


def _clip(root: Path, name: str) -> Path:
    return Path(name) if Path(name).is_file() else make_clip(root, name)


def _seeks_in(clip: Path, options: SeekOptions) -> int:
    """Returns how many seeks a play has: as many as are wanted, or as have room in the clip, which plays on between them."""
    length_s = clip_facts(clip).length_s
    seeks = min(options.seeks, int((length_s - NOT_FOR_SEEKS_S) / options.between_s))
    if seeks < 1:
        least_s = NOT_FOR_SEEKS_S + options.between_s
        message = f"{clip.name} is {length_s:.1f} s long; choose a clip of {least_s:.1f} s or more, or a smaller --between"
        raise LabError(message, EXIT_SETUP)
    return seeks


def _play_all(
    settings: Sequence[SeekSetting], options: SeekOptions, console: Console
) -> Mapping[tuple[Path, str], Sequence[SeekPlay]]:
    chance = random.Random(1)
    plays: dict[tuple[Path, str], list[SeekPlay]] = {}
    for number, setting in interleaved(settings, options.rounds):
        with tempfile.TemporaryDirectory(prefix="dlex-seek-") as folder:
            play = play_with_seeks(setting, chance, Path(folder))
        plays.setdefault((setting.clip, setting.queue), []).append(play)
        tell(console, f"  round {number}: {setting.clip.name}, queue {setting.queue}: {_summary(play)}", wrap=False)
    return plays


def _summary(play: SeekPlay) -> str:
    seeks = f"seeks {min(play.seeks_ms):.0f} to {max(play.seeks_ms):.0f} ms" if play.seeks_ms else "no seek was seen"
    return f"{seeks}, quits {min(play.quits_ms):.0f} to {max(play.quits_ms):.0f} ms"


def _taken(setting: SeekSetting, plays: Sequence[SeekPlay]) -> Taken:
    return Taken(
        clip=setting.clip.name,
        queue=setting.queue,
        seeks_ms=[ms for play in plays for ms in play.seeks_ms],
        quits_ms=[ms for play in plays for ms in play.quits_ms],
        missing=sum(play.missing for play in plays),
    )


def _write(out: Path, taken: Sequence[Taken], steal: Steal | None) -> None:
    facts: dict[str, Any] = {
        "commit": commit(),
        "machine": machine_facts().model_dump(),
        "steal": steal and steal.model_dump(),
        "settings": [asdict(one) for one in taken],
    }
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(facts, indent=2) + "\n")
    except OSError as cause:
        raise LabError(f"{out} cannot be written ({cause.strerror}); name another file with --out", EXIT_SETUP) from cause


def _show(taken: Sequence[Taken], console: Console) -> None:
    table = titled_table("Time from the key to the picture, and from q to the end, ms; below: difference to the first queue")
    for heading in ("clip", "queue", "seeks", "not seen", "median", "p95", "longest", "quits", "median", "p95"):
        table.add_column(heading, justify="left" if heading in ("clip", "queue") else "right")
    for one in taken:
        base = next(other for other in taken if other.clip == one.clip)
        seeks = _quantiles(one.seeks_ms, base.seeks_ms, (50, 95, 100))
        quits = _quantiles(one.quits_ms, base.quits_ms, (50, 95))
        table.add_row(one.clip, one.queue, str(len(one.seeks_ms)), str(one.missing), *seeks, str(len(one.quits_ms)), *quits)
    tell_table(console, table)


def _quantiles(own: Sequence[float], base: Sequence[float], percents: Sequence[int]) -> list[str]:
    if not own or not base:
        return ["-"] * len(percents)
    pairs = [(np.percentile(own, percent), np.percentile(base, percent)) for percent in percents]
    return [f"{one:.0f}" if own is base else f"{one:.0f}\n{one - other:+.0f}" for one, other in pairs]


def _percent(part: float | None) -> str:
    return "?" if part is None else f"{part:.1%}"
