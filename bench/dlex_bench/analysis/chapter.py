# SPDX-License-Identifier: LGPL-2.1-or-later
"""What an experiment reports: tables and findings, for a terminal and for a page of Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from ..files import write_whole
from ..progress import tell, tell_table
from .outcome import Outcome


@dataclass(frozen=True)
class Chapter:
    """`about` says what was done, for readers who were not there."""

    title: str
    about: str
    tables: Sequence[Table]
    findings: Sequence[Outcome]


def tell_chapter(console: Console, chapter: Chapter) -> None:
    for table in chapter.tables:
        tell_table(console, table)
    for finding in chapter.findings:
        tell(console, f"{finding.word}: {finding.name}: {finding.sentence}")


def write_chapters(path: Path, chapters: Sequence[Chapter], pictures: Sequence[str] = ()) -> None:
    """Writes the page, whole or not at all. It ends with the pictures, whose names are relative to its folder."""
    shown = [f"![{name.rpartition('.')[0]}]({name})" for name in pictures]
    write_whole(path, "\n\n".join([*(_markdown(chapter) for chapter in chapters), *shown]) + "\n")


def _markdown(chapter: Chapter) -> str:
    blocks = [f"## {chapter.title}", chapter.about, *(_table_markdown(table) for table in chapter.tables)]
    if chapter.findings:
        lines = [f"| {it.name} | {it.word} | {it.sentence} |" for it in chapter.findings]
        blocks.append("\n".join(["| finding | here | |", "|---|---|---|", *lines]))
    return "\n\n".join(blocks)


def _table_markdown(table: Table) -> str:
    headings = [" ".join(str(column.header).split()) for column in table.columns]
    rows = zip(*(column.cells for column in table.columns), strict=True)
    marks = ["---:" if column.justify == "right" else "---" for column in table.columns]
    lines = [headings, marks, *([str(cell) for cell in row] for row in rows)]
    text = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    return f"{table.title}:\n\n{text}" if table.title else text
