# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs `./dlex bench heartbeat`: the seed's experiments one after the other, and one page with their tables and findings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from ..analysis.chapter import Chapter, write_chapters
from ..detect.commands import PLAYERS
from ..detect.experiment import DetectOptions, detect
from ..detect.overhead import OverheadOptions, measure_overhead
from ..progress import tell
from .periods import PeriodOptions, measure_periods


@dataclass(frozen=True)
class HeartbeatOptions:
    root: Path
    out: Path
    quick: bool
    parts: tuple[str, ...]


def heartbeat(options: HeartbeatOptions) -> None:
    out, quick = options.out, options.quick
    run: dict[str, Callable[[], Chapter]] = {
        "detect": lambda: detect(DetectOptions(options.root, out / "detect", quick, tuple(PLAYERS))),
        "overhead": lambda: measure_overhead(OverheadOptions(options.root, out / "overhead", quick)),
        "periods": lambda: measure_periods(PeriodOptions(options.root, out / "periods", quick)),
    }
    chapters: list[Chapter] = []
    for part in options.parts:
        chapters.append(run[part]())
        write_chapters(out / "heartbeat.md", chapters)  # what is there so far, if a later part fails
    tell(Console(), f"written: {out}/heartbeat.md")
