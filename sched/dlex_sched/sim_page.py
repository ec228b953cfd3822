# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes one page about the simulated experiments: tables, figures, and what the paper reports. It needs no other file."""

from __future__ import annotations

import base64
import importlib.resources
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from dlex_bench.analysis.outcome import FAILS, HOLDS
from dlex_bench.files import write_whole

from .program import Experiments, PaperClaim
from .sim_claims import RULE, claim_rows, figure
from .sim_settings import Setting, by_experiment, changes

TEMPLATES = Path(__file__).parent / "templates"

# Title and description by experiment. T, C and x/y are the paper's; the costs of the pictures are ours.
ABOUT = {
    "figure-5": ("Figure 5: players without events", "Work-conserving players, T = 100 ms, C = 20 ms, 1/5: the base."),
    "table-3": ("Table 3: rule 2", "Players that are not work-conserving, T = 100 ms, C = 20 ms, 1/5, beside an endless "
                "best-effort process. The paper has one player."),
    "table-4": ("Table 4 and Figure 6: rule 3", "Work-conserving players, T = 100 ms, C = 10 ms, 1/5."),
    "table-5": ("Table 5: rule 4", "Work-conserving players, T = 20 ms, C = 10 ms, 1/5. The paper has ten, which need four CPUs."),
    "table-6": ("Table 6 and Figure 7: rule 5", "Players as for rule 3, beside an endless best-effort process, with the task "
                "server. The paper has one to four."),
    "figure-8": ("Figure 8: all rules, in overload", "Players as for rule 3, beside an endless real-time process, T = 20 ms, "
                 "C = 10 ms, 1/5. The paper has ten players: a utilisation of 1.2. The figure shows the frames of one of them."),
}
# The costs of the pictures where they are not those of the other experiments. They do not hold with --cost.
COSTS = {"table-3": "A picture costs 10 to 28 ms here.", "figure-8": "A picture costs 15 to 25 ms here."}
CLASSES = {HOLDS: "holds", FAILS: "fails"}


@dataclass(frozen=True)
class SimulatedChapter:
    title: str
    about: str
    picture: str | None  # as a URL
    rows: Sequence[Sequence[str]]
    claims: Sequence[Sequence[str]]


def write_page(
    path: Path, experiments: Experiments, settings: Sequence[Setting], figures: Mapping[str, str], source: str | None
) -> None:
    """Writes the page, whole or not at all. `figures`: files in the same folder, by experiment. `source`: the commit, if known."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    costs = COSTS if experiments.cost_ms_min is None else {}
    chapters = [
        _chapter(experiment, costs.get(experiment), found, [it for it in experiments.claims if it.experiment == experiment],
                 path.parent / figures[experiment] if experiment in figures else None)
        for experiment, found in by_experiment(settings).items()
    ]
    style = importlib.resources.files("dlex_bench.report") / "templates" / "report.css"
    text = environment.get_template("sim.html.j2").render(
        chapters=chapters, changes=changes(experiments), rule=RULE, classes=CLASSES, seconds=experiments.seconds, source=source,
        runs=max((len(each.without) for each in settings), default=0), style=Markup(style.read_text()))
    write_whole(path, text)


def _chapter(
    experiment: str, cost: str | None, settings: Sequence[Setting], claims: Sequence[PaperClaim], picture: Path | None
) -> SimulatedChapter:
    title, about = ABOUT[experiment]
    url = _url(picture) if picture else None
    return SimulatedChapter(title, f"{about} {cost}" if cost else about, url, [_row(each) for each in settings], claim_rows(claims))


def _row(each: Setting) -> list[str]:
    """Returns players, utilisation, mean delays, by how much events reduce them, longest delays, swaps, mean response times."""
    found = (each.mean_without, each.mean_with, each.reduction, each.longest_without, each.longest_with, each.swaps,
             each.response_without, each.response_with)
    return [str(each.players), f"{each.utilisation:.2f}", *map(figure, found)]


def _url(picture: Path) -> str:
    return f"data:image/png;base64,{base64.b64encode(picture.read_bytes()).decode()}"
