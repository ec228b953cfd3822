# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows the comparison with other players on the terminal: a table of each section, ratios, and the goals last."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from ..analysis.front import AXIS_NAMES, Goal
from ..analysis.goals import ALL_REFERENCES, Ratio, outcomes, ratios, seed_ratios, standing
from ..analysis.held import fairness, held
from ..analysis.outcome import MET, UNMEASURED, Outcome
from ..analysis.results_frame import (
    Row,
    Settings,
    by_setting,
    machines_apart,
    of_section,
    rows,
    sections,
    values,
)
from ..analysis.seed_findings import four_digits
from ..analysis.statistics import Comparison, spread
from ..batch.results import open_results
from ..errors import LabError
from ..job.result import FAILED
from ..progress import tell, tell_table
from ..table import Column, Ranges, medians_table, short, titled_table
from .stolen import stolen_runs

COLUMNS: tuple[Column, ...] = (
    ("shown", "shown", "{:.0f}"),
    ("dropped", "dropped", "{:.0f}"),
    ("A-V ms\nmean", "skew_ms_mean", "{:.1f}"),
    ("\ns.d.", "skew_ms_sd", "{:.1f}"),
    ("RMSE Q16\nsum", "rmse_q16_sum", "{:,.0f}"),
    ("freeze\nms", "longest_freeze_ms", "{:.0f}"),
    ("torn", "torn", "{:.0f}"),
    ("CPU ms\na picture", "cpu_ms_per_frame", "{:.2f}"),
    ("\noutside", "cpu_ms_per_frame_outside", "{:.2f}"),
    ("rt-app\nmissed", "rtapp-1.missed", "{:.0f}"),
)
# `shown` counts the pictures that were not dropped, and nearly all of them are `torn`.
LESS_TELLING = ("shown", "torn")
# A sentence below the table reports `cpu_ms_per_frame_outside` for each player, and a goal has the longest freezes.
TOLD_ELSEWHERE = (*LESS_TELLING, "cpu_ms_per_frame_outside", "longest_freeze_ms")


def show_standings(console: Console, out: Path) -> list[Row]:
    found = rows(open_results(out).results().values())
    if not any(row.done for row in found):
        raise LabError(f"no job in {out} was done; `plan` shows the reasons")
    for where, of_one in machines_apart(found).items():
        settings = by_setting(of_one)
        for section in sections(of_one):
            _show_section(console, settings, section, where, [row for row in of_one if row.section == section])
    return found


def show_goals(console: Console, found: Sequence[Row]) -> None:
    goals = [
        replace(outcome, section=f"{outcome.section}{where}")
        for where, of_one in machines_apart(found).items()
        for outcome in outcomes(by_setting(of_one), sections(of_one), [row for row in of_one if row.status == FAILED])
    ]
    for outcome in goals:
        tell(console, f"{outcome.word}: {outcome.section}, {outcome.name}: {outcome.sentence}", wrap=False)
    if goals:
        tell(console, goals_line(goals))


def goals_line(goals: Sequence[Outcome]) -> str:
    measured = [outcome for outcome in goals if outcome.word != UNMEASURED]
    held = sum(outcome.word == MET for outcome in measured)
    left_out = f", {len(goals) - len(measured)} not measured" if len(measured) < len(goals) else ""
    return f"{held} of {len(measured)} goals hold{left_out}"


def _show_section(console: Console, settings: Settings, section: str, where: str, found: Sequence[Row]) -> None:
    runs = of_section(settings, section)
    tell(console, f"\n{section}{where}{_held_by(found)}")
    if runs:
        spreads = {workload: _spread(of_one) for workload, of_one in runs.items()}
        known = [it for it in COLUMNS if any(found["median"][it[1]] is not None for found in spreads.values())]
        tell_table(console, _medians(console, spreads, max(map(len, runs.values())), known))
        if against := ratios(settings, section):
            tell_table(console, ratio_table(f"{section}{where}", against))
        if lacking := standing(settings, section):
            tell_table(console, worse_table(f"{section}{where}", lacking))
    for sentence in [*filter(None, [fairness(found)]), *(it.sentence() for it in stolen_runs(found)), *_left_out(found)]:
        tell(console, sentence)


def _medians(console: Console, spreads: Mapping[str, Ranges], runs: int, columns: Sequence[Column]) -> Table:
    """Returns the fullest table that fits the console, so that no figure is cut off.

    The choices are: with minimum and maximum, without them, and with the most informative columns only.
    """
    few, fewest = ([it for it in columns if it[1] not in left_out] for left_out in (LESS_TELLING, TOLD_ELSEWHERE))
    choices = [(sys.maxsize, columns), (0, columns), (0, few), (0, fewest)]
    tables = [medians_table(spreads, runs, width, subject="player", columns=some) for width, some in choices]
    endless = console.options.update(width=1000)
    return next((it for it in tables if console.measure(it, options=endless).maximum <= console.width), tables[-1])


def _held_by(found: Sequence[Row]) -> str:
    """Returns what the row constrained if it is the same for all players, else how it constrained each of them."""
    players_of: dict[str, list[str]] = {}
    for row in found:
        if row.done and (text := held(row)):
            players_of.setdefault(text, []).append(row.player)
    if len(players_of) == 1:
        return f": {next(iter(players_of))}"
    return "".join(f"; {text}: {', '.join(dict.fromkeys(players))}" for text, players in players_of.items())


def _left_out(found: Sequence[Row]) -> list[str]:
    """Returns a sentence for each reason why jobs were not done."""
    workloads_of: dict[str, list[str]] = {}
    for row in found:
        if not row.done:
            workloads_of.setdefault(f"{row.status}: {row.reason}", []).append(row.workload)
    return [f"{reason} ({', '.join(dict.fromkeys(workloads))})" for reason, workloads in workloads_of.items()]


def _spread(runs: Sequence[Row]) -> Ranges:
    columns = {key: spread(values(runs, key)) for _heading, key, _form in COLUMNS}
    return {
        "median": {key: it.median if it else None for key, it in columns.items()},
        "min": {key: it.low if it else None for key, it in columns.items()},
        "max": {key: it.high if it else None for key, it in columns.items()},
    }


def ratio_table(section: str, found: Sequence[Ratio]) -> Table:
    """Makes the table of ratios: below 1 our policy is better. The heading shows the paper's own ratios."""
    paper = seed_ratios()
    known = any(it.found.difference.known for it in found)
    note = "95 % intervals below; ~: noise" if known else "too few runs for intervals"
    table = titled_table(f"{section}: ratios of medians, below 1 is better; {note}; + or -: a difference")
    table.add_column("policy / reference", no_wrap=True)
    for key, name in AXIS_NAMES.items():
        heading = f"{name}\npaper {paper[key]:.3f}" if key in paper else name
        table.add_column(heading, justify="right", no_wrap=True, vertical="top")
    cells = {(it.workload, it.against, it.figure): ratio_cell(it.found) for it in found}
    for workload in dict.fromkeys(it.workload for it in found):
        for against in ALL_REFERENCES:
            line = [cells.get((workload, against, key), "-") for key in AXIS_NAMES]
            if any(cell != "-" for cell in line):
                table.add_row(f"{workload}\n/ {against}", *line)
    return table


def worse_table(section: str, found: Goal) -> Table:
    """Makes the table of the figures in which our policies are worse than each peer."""
    table = titled_table(f"{section}: medians in which our policies are worse than each player by more than the margins")
    table.add_column("player", no_wrap=True)
    for ours in found.worse_in:
        table.add_column(ours)
    for peer in found.peers:
        table.add_row(peer, *(found.worse_words(ours, peer) or "-" for ours in found.worse_in))
    return table


def ratio_cell(found: Comparison) -> str:
    """Returns the ratio, or the difference if the reference's figure is 0 and there is no ratio."""
    shown, text = (found.ratio, _ratio_text) if found.ratio else (found.difference, _difference_text)
    noise = "~" if found.verdict == "noise" else ""
    value = noise + text(shown.value)
    if shown.low is None or shown.high is None or shown.low == shown.high:
        return value
    return f"{value}\n{text(shown.low)}..{text(shown.high)}"


def _ratio_text(value: float) -> str:
    """Formats a ratio to three digits. From 0.01 to 1, thousandths are fine enough."""
    if value >= 999.5:
        return four_digits(value)
    return short(round(value, 3) if 0.01 <= value < 1 else value, "{:.3g}")


def _difference_text(value: float) -> str:
    return f"{value:+}" if math.isinf(value) else short(value, "{:+.4g}")
