# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a batch says about the goals and about the paper, for the page and for report.json. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from ..analysis import seed
from ..analysis.goals import Outcome, Ratio, outcomes, ratios
from ..analysis.results_frame import Settings, by_setting, sections, values
from ..analysis.seed_findings import Finding, findings
from ..analysis.statistics import Comparison, Spread, spread
from ..batch.results import FAILED
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
    """`tables` and `findings` are empty unless the batch has rows of the paper's Table 2 with its players.
    `frames`: of how many pictures a run consists."""

    outcomes: list[Outcome]
    ratios: list[Ratio]
    tables: list[PaperTable]
    findings: list[Finding]
    frames: list[int]

    @property
    def other_frames(self) -> str:
        """How many pictures a run has here, where that is not the paper's number."""
        return "" if self.frames == [seed.FRAMES] else " or ".join(map(str, self.frames))

    @property
    def ratio_rows(self) -> dict[tuple[str, str, str], dict[str, Comparison]]:
        """(section, policy, reference) -> its figures."""
        found: dict[tuple[str, str, str], dict[str, Comparison]] = {}
        for it in self.ratios:
            found.setdefault((it.section, it.workload, it.against), {})[it.figure] = it.found
        return found


def meaning(batch: Batch) -> Meaning:
    settings = by_setting(batch.rows)
    names = sections(batch.rows)
    found = [ratio for name in names for ratio in ratios(settings, name)]
    # Without any peer there is nothing to reach.
    peers = any(one.player != "dlex-play" for one in batch.rows)
    experiments = _experiments(settings)
    shown = seed.TABLES.items() if experiments else ()
    return Meaning(
        outcomes(settings, names, batch.of_status(FAILED)) if peers else [],
        found,
        [_table(title, key, table, experiments, settings) for key, (title, table) in shown],
        [it for it in findings(settings) if it.section in experiments],
        sorted({round(frames) for frames in values(batch.rows, "frames")}),
    )


def _experiments(settings: Settings) -> list[str]:
    """The rows of the paper's Table 2 in which something that stands for one of its players was played."""
    ours = seed.STANDS_FOR.values()
    return [name for name in seed.EXPERIMENTS if any((name, it) in settings for it in ours)]


def _table(
    title: str, key: str, table: dict[tuple[str, str], seed.MeanSd], experiments: list[str], settings: Settings
) -> PaperTable:
    head = ["experiment"]
    for player, ours in seed.STANDS_FOR.items():
        head += [f"{player}, the paper", f"{ours}, here"]
    rows = []
    for name in experiments:
        line = [name]
        for player, ours in seed.STANDS_FOR.items():
            theirs = table[name, player]
            here = spread(values(settings.get((name, ours), []), key))
            line += [_mean_and_sd(theirs), _mean_and_sd(here) if here else "–"]
        rows.append(line)
    return PaperTable(title, key, head, rows)


def _mean_and_sd(found: seed.MeanSd | Spread) -> str:
    return f"{number(found.mean, 1)} ± {number(found.sd, 1)}"
