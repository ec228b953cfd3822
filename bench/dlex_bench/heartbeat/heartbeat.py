# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs `./dlex bench heartbeat`: the seed's experiments one after the other, and one page with their tables and findings.

Each part writes a page into its own folder. The page of all is made of these, so that a part can be repeated alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from ..detect.commands import PLAYERS
from ..detect.experiment import DetectOptions, detect, require_for_detect
from ..detect.overhead import OverheadOptions, measure_overhead, require_for_overhead
from ..files import write_whole
from ..output import checked_files, output_folder
from ..progress import tell
from .cli import PARTS
from .periods import PeriodOptions, measure_periods, require_for_periods


@dataclass(frozen=True)
class HeartbeatOptions:
    root: Path
    out: Path
    quick: bool
    parts: tuple[str, ...]


@dataclass(frozen=True)
class Part:
    """`require` raises LabError if the part cannot be measured here."""

    require: Callable[[], object]
    measure: Callable[[], object]


def heartbeat(options: HeartbeatOptions) -> None:
    out, parts = output_folder(options.out), _parts(options)
    for name in options.parts:
        parts[name].require()
    for name in options.parts:
        parts[name].measure()
        with checked_files(out):
            write_whole(out / "heartbeat.md", joined_pages(out))  # what is there so far, if a later part fails
    tell(Console(), f"written: {out}/heartbeat.md")


def _parts(options: HeartbeatOptions) -> dict[str, Part]:
    root, out, quick = options.root, options.out, options.quick
    rates = DetectOptions(root, out / "detect", quick, tuple(PLAYERS))
    costs = OverheadOptions(root, out / "overhead", quick)
    periods = PeriodOptions(root, out / "periods", quick)
    return {
        "detect": Part(lambda: require_for_detect(rates), lambda: detect(rates)),
        "overhead": Part(lambda: require_for_overhead(costs), lambda: measure_overhead(costs)),
        "periods": Part(lambda: require_for_periods(periods), lambda: measure_periods(periods)),
    }


def joined_pages(out: Path) -> str:
    """Returns the pages of all parts that have been measured into this folder, now or before."""
    pages = [out / part / f"{part}.md" for part in PARTS]
    return "\n".join(page.read_text() for page in pages if page.exists())
