# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes tables that fit into narrow terminals, and the table of medians."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.measure import Measurement
from rich.table import Column as TableColumn
from rich.table import Table

# heading, key, format. A-V > 0: the video is late.
Column = tuple[str, str, str]
COLUMNS: tuple[Column, ...] = (
    ("shown", "shown", "{:.0f}"),
    ("aborted", "aborted", "{:.0f}"),
    ("skipped", "skipped", "{:.0f}"),
    ("late", "late", "{:.0f}"),
    ("A-V ms\nmean", "skew_ms_mean", "{:.0f}"),
    ("\ns.d.", "skew_ms_sd", "{:.0f}"),
    ("\nat end", "skew_end_ms", "{:.0f}"),
    ("RMSE Q16\nsum", "rmse_q16_sum", "{:,.0f}"),
)

# The table has this width with the least and the greatest value below each median.
WIDE = 110

# No table is as wide.
UNBOUNDED = 10_000

# "median", "min" and "max", each with the figures by key.
Ranges = Mapping[str, Mapping[str, float | None]]


def titled_table(title: str) -> Table:
    """Returns an empty table in the style of all tables here."""
    return Table(
        box=SIMPLE_HEAD,
        title=title,
        title_justify="left",
        title_style="",
        padding=(0, 0, 0, 1),
        pad_edge=False,
    )


def fits(console: Console, table: Table) -> bool:
    """Returns whether the console is wide enough for all words of the table. Rich would cut them off ("served" to "s…")."""
    return Measurement.get(console, console.options.update(width=UNBOUNDED), table).minimum <= console.width


def fitted(console: Console, table: Table) -> Table:
    """Returns the table, or if the console is too narrow, a list with a line for each cell: its heading and its content."""
    if fits(console, table):
        return table
    listed = Table(
        TableColumn(ratio=2, overflow="fold"),
        TableColumn(ratio=3, overflow="fold"),
        box=None,
        show_header=False,
        title=table.title,
        title_justify="left",
        title_style="",
        padding=(0, 2, 0, 0),
        pad_edge=False,
    )
    cells = [list(column.cells) for column in table.columns]
    for row in range(table.row_count):
        if row:
            listed.add_row("", "")
        for name, column in zip(_full_headings(table), cells, strict=True):
            listed.add_row(name, column[row])
    return listed


def _full_headings(table: Table) -> list[str]:
    """Returns the headings in one line each. "\\nlost" after "windows\\nkept" is "windows lost"."""
    names, group = [], ""
    for column in table.columns:
        first, *rest = str(column.header).split("\n")
        group = first or group
        names.append(" ".join([group, *rest]).strip())
    return names


def medians_table(
    spreads: Mapping[str, Ranges],
    repetitions: int,
    width: int,
    *,
    subject: str = "policy",
    columns: Sequence[Column] = COLUMNS,
) -> Table:
    wide = width >= WIDE
    below = ", minimum and maximum below" if wide and repetitions > 1 else ""
    table = titled_table(f"{_runs(repetitions)}{below}; A-V > 0: the video is late")
    table.add_column(subject, no_wrap=True)
    for heading, _key, _form in columns:
        table.add_column(heading, justify="right", no_wrap=True, vertical="top")
    for name, ranges in spreads.items():
        table.add_row(name, *(_cell(ranges, key, form, wide) for _heading, key, form in columns))
    return table


def _runs(repetitions: int) -> str:
    return f"Medians of {repetitions} runs" if repetitions > 1 else "One run each"


def _cell(ranges: Ranges, key: str, form: str, wide: bool) -> str:
    median, least, greatest = (ranges[measure].get(key) for measure in ("median", "min", "max"))
    if median is None or least is None or greatest is None:
        return "-"
    if not wide or least == greatest:
        return form.format(median)
    return f"{form.format(median)}\n{short(least, form)}..{short(greatest, form)}"


def short(value: float, form: str) -> str:
    """Formats a value by `form`; a value of five digits or more by its first three, with the unit k or M."""
    for limit, unit in ((1e6, "M"), (1e4, "k")):
        if abs(value) >= limit:
            sign = "+" if "+" in form else ""
            return f"{value / (1e6 if unit == 'M' else 1e3):{sign}.3g}{unit}"
    return form.format(value)
