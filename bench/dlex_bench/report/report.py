# SPDX-License-Identifier: LGPL-2.1-or-later
"""Implements `report DIR`: writes report.html, report.csv and report.json, each completely or not at all."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from ..errors import EXIT_SETUP, LabError
from ..files import write_whole
from ..progress import tell
from .gather import gather
from .html import page
from .json_text import json_text
from .meaning import meaning
from .sections import sections
from .tables import csv_text, json_content
from .timeline import pack_all

TABLES = (".csv", ".json")


def report(folder: Path, out: Path | None) -> None:
    batch = gather(folder)
    target = out or folder / "report.html"
    if target.suffix in TABLES:
        other = target.with_suffix(".html")
        raise LabError(f"{target} would be one of the tables; name the page, for example {other}", EXIT_SETUP)
    parts, found = sections(batch), meaning(batch)
    content = json_content(batch, parts, found)
    try:
        write_whole(target.with_suffix(".csv"), csv_text(batch))
        write_whole(target.with_suffix(".json"), json_text(content, indent=2) + "\n")
        write_whole(target, page(batch, parts, found, pack_all(folder, batch.rows)))
    except OSError as cause:
        raise LabError(f"{target} cannot be written ({cause.strerror}); choose another file with -o", EXIT_SETUP) from cause
    console = Console()
    for sentence in batch.torn:
        tell(console, f"left out: {sentence}")
    size_mb = target.stat().st_size / 1e6
    tell(console, f"{batch.counts}\npage: {target} ({size_mb:.1f} MB)", wrap=False)
