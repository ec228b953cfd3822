# SPDX-License-Identifier: LGPL-2.1-or-later
"""Computes what a batch says about the goals and about the paper, for the page and for report.json. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .. import paper
from ..agenda.jobs import OURS
from ..analysis.front import Goal
from ..analysis.goals import Ratio, outcomes, outcomes_without_peers, ratios, standing
from ..analysis.outcome import Outcome
from ..analysis.results_frame import Row, Settings, by_setting, is_control, sections, values
from ..analysis.seed_findings import Finding, findings
from ..analysis.statistics import Comparison, Spread, spread
from ..analysis.whole_machine_goals import is_free
from ..job.result import FAILED, SKIPPED
from .gather import Batch
from .metrics import number


@dataclass(frozen=True)
class PaperTable:
    title: str
    key: str
    head: list[str]
    rows: list[list[str]]


@dataclass(frozen=True)
class Meaning:
    """What a batch says, with separate entries for each machine.

    `standings` has the sections in which our policies can be compared with peers, point by point. `tables` and
    `findings` are empty unless the batch has rows of the paper's Table 2 with its players. `frames` is how many
    pictures a run has.
    """

    outcomes: list[Outcome]
    standings: list[Goal]
    ratios: list[Ratio]
    tables: list[PaperTable]
    findings: list[Finding]
    frames: list[int]

    @property
    def other_frames(self) -> str:
        """Returns how many pictures a run has here, or an empty string if it is the paper's number."""
        return "" if self.frames == [paper.FRAMES] else " or ".join(map(str, self.frames))

    @property
    def ratio_rows(self) -> dict[tuple[str, str, str], dict[str, Comparison]]:
        """Maps (section, policy, reference) to its figures."""
        found: dict[tuple[str, str, str], dict[str, Comparison]] = {}
        for it in self.ratios:
            found.setdefault((it.section, it.workload, it.against), {})[it.figure] = it.found
        return found


def meaning_of(batch: Batch) -> Meaning:
    apart = [_of_machine(where, rows) for where, rows in batch.apart.items()]
    return Meaning(
        [it for one in apart for it in one.outcomes],
        [it for one in apart for it in one.standings],
        [it for one in apart for it in one.ratios],
        [it for one in apart for it in one.tables],
        [it for one in apart for it in one.findings],
        _lengths(batch.rows),
    )


def _lengths(rows: Sequence[Row]) -> list[int]:
    """Returns the lengths of the runs in pictures, without the control's: it plays another film."""
    return sorted({round(frames) for frames in values([row for row in rows if not is_control(row.section)], "frames")})


def _of_machine(where: str, rows: Sequence[Row]) -> Meaning:
    settings, names = by_setting(rows), sections(rows)
    # The other goals need both a peer, which sets them, and our own player, which is to reach them.
    both = {one.player == OURS for one in rows} == {True, False}
    failed = [one for one in rows if one.status == FAILED or (one.status == SKIPPED and is_free(one))]
    goals = outcomes(settings, names, failed) if both else outcomes_without_peers(settings, names)
    standings = [it for name in names if (it := standing(settings, name))]
    experiments = _experiments(settings)
    shown = paper.TABLES.items() if experiments else ()
    return Meaning(
        [replace(it, section=f"{it.section}{where}") for it in goals],
        [replace(it, section=f"{it.section}{where}") for it in standings],
        [replace(it, section=f"{it.section}{where}") for name in names for it in ratios(settings, name)],
        [_table(f"{title}{where}", key, table, experiments, settings) for key, (title, table) in shown],
        [replace(it, section=f"{it.section}{where}") for it in findings(settings) if it.section in experiments],
        [],
    )


def _experiments(settings: Settings) -> list[str]:
    """Returns the sections that stand for rows of the paper's Table 2 and have a stand-in for one of its players."""
    ours = paper.STANDS_FOR.values()
    return [name for name in paper.PLAYED_AS if any((name, it) in settings for it in ours)]


def _table(
    title: str, key: str, table: dict[tuple[str, str], paper.MeanSd], experiments: list[str], settings: Settings
) -> PaperTable:
    head = ["experiment"]
    for player, ours in paper.STANDS_FOR.items():
        head += [f"{player}, the paper", f"{ours}, here"]
    rows = []
    for name in experiments:
        line = [name]
        for player, ours in paper.STANDS_FOR.items():
            theirs = table[paper.PLAYED_AS[name], player]
            here = spread(values(settings.get((name, ours), []), key))
            line += [_mean_and_sd(theirs), _mean_and_sd(here) if here else "–"]
        rows.append(line)
    return PaperTable(title, key, head, rows)


def _mean_and_sd(found: paper.MeanSd | Spread) -> str:
    return f"{number(found.mean, 1)} ± {number(found.sd, 1)}"
