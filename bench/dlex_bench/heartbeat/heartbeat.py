# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs `./dlex bench heartbeat`: the seed's experiments one after the other, and one page with their tables and findings.

Each part writes a page into its own folder. The page of all is made of these, so that a part can be repeated alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.console import Console

from ..detect.commands import PLAYERS
from ..detect.experiment import DetectOptions, detect, require_for_detect
from ..detect.overhead import OverheadOptions, measure_overhead, require_for_overhead
from ..files import write_whole
from ..machine.kept_runs import KeptRuns
from ..output import checked_files, output_folder
from ..progress import tell
from .cli import PARTS
from .periods import PeriodOptions, measure_periods, require_for_periods

# The beginning of a picture on a page, before the name of its file.
PICTURE = re.compile(r"(!\[[^\]]*\]\()")


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
    write_page: Callable[[], object]

    def measure(self) -> None:
        self.write_page()


def heartbeat(options: HeartbeatOptions) -> None:
    console, out, parts = Console(), output_folder(options.out), _parts(options)
    for name in options.parts:
        parts[name].require()
    kept = KeptRuns(console, out, {"quick": options.quick, "parts": options.parts})
    for name in options.parts:
        kept.run(name, parts[name].measure)
        with checked_files(out):
            write_whole(out / "heartbeat.md", joined_pages(out))  # what is there so far, if a later part fails
    kept.forget()
    tell(console, f"written: {out}/heartbeat.md")


def _parts(options: HeartbeatOptions) -> dict[str, Part]:
    root, out, quick = options.root, options.out, options.quick
    rates = DetectOptions(root, out / "detect", quick, tuple(PLAYERS))
    costs = OverheadOptions(root, out / "overhead", quick)
    periods = PeriodOptions(root, out / "periods", quick)
    return {
        "detect": Part(partial(require_for_detect, rates), partial(detect, rates)),
        "overhead": Part(partial(require_for_overhead, costs), partial(measure_overhead, costs)),
        "periods": Part(partial(require_for_periods, periods), partial(measure_periods, periods)),
    }


def joined_pages(out: Path) -> str:
    """Returns the pages of all parts that have been measured into this folder, now or before, with links to their pictures."""
    pages = {part: out / part / f"{part}.md" for part in PARTS}
    return "\n".join(PICTURE.sub(rf"\1{part}/", page.read_text()) for part, page in pages.items() if page.exists())
