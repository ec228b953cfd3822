# SPDX-License-Identifier: LGPL-2.1-or-later
"""Implements `report DIR`: writes report.html, report.csv and report.json, each completely or not at all.

The page is a template with its style, scripts, plotly and the records inlined, so that it needs no network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs
from rich.console import Console

from ..analysis.front import AXES
from ..analysis.results_frame import by_setting
from ..analysis.series import panels
from ..errors import EXIT_SETUP, LabError
from ..files import write_whole
from ..output import refuse_overwriting
from ..paper import PLAYERS, STANDS_FOR
from ..progress import tell
from .export import csv_text, json_content, json_text
from .facts import agenda_text, batch_facts, facts_by_machine
from .gather import Batch, gather
from .meaning import Meaning, meaning_of
from .metrics import DROPS_COUNT, FRONT, RUNS, number
from .sections import SectionSummary, section_summaries
from .timeline import Timelines, pack_all

TABLES = (".csv", ".json")
REPORTS = ("report.html", "report.csv", "report.json")
TEMPLATES = Path(__file__).parent / "templates"
# They run in this order.
SCRIPTS = ("theme.js", "tables.js", "plots.js", "front.js", "panels.js", "record.js", "timeline.js", "dialog.js")

ABOUT = "Playback beside other work: how many pictures were dropped, and how far the others were from the sound."
NAMES = {metric.key: metric.label for metric in (*FRONT, DROPS_COUNT)}


def report(folder: Path, out: Path | None) -> None:
    batch = gather(folder)
    target = out or folder / "report.html"
    if target.suffix in TABLES:
        other = target.with_suffix(".html")
        raise LabError(f"{target} would be one of the tables; name the page, for example {other}", EXIT_SETUP)
    outputs = [target, *(target.with_suffix(suffix) for suffix in TABLES)]
    refuse_overwriting(outputs, _inputs(batch))
    parts, found = section_summaries(batch), meaning_of(batch)
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
    for sentence in batch.replaced:
        tell(console, sentence)
    size_mb = target.stat().st_size / 1e6
    tell(console, f"{batch.counts}\npage: {target} ({size_mb:.1f} MB)", wrap=False)


def _inputs(batch: Batch) -> list[Path]:
    """Returns what a report must not overwrite: the files of the batch, and its films."""
    own = [*batch.folder.glob("*.json"), *batch.folder.glob("*/**/*")]
    films = [Path(row.result.job.clip.file) for row in batch.rows if row.result.job.clip.file]
    return [path for path in own if path.name not in REPORTS] + films


def page(
    batch: Batch, sections: Sequence[SectionSummary], meaning: Meaning, timelines: Timelines
) -> str:
    config = batch.agenda.config
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": number, "metric": lambda key: NAMES.get(key, key)}
    return environment.get_template("report.html.j2").render(
        batch=batch,
        sections=sections,
        meaning=meaning,
        timelines=timelines,
        title=config.name or batch.folder.resolve().name,
        about=config.about or ABOUT,
        facts=batch_facts(batch),
        machines=facts_by_machine(batch),
        agenda=agenda_text(batch),
        ratio_figures=list(AXES),
        run_metrics=RUNS,
        front_metrics=FRONT,
        settings=_settings(batch),
        sides=_sides(batch),
        data=Markup(_script_json(_data(batch, sections))),
        plotly=Markup(get_plotlyjs()),
        style=Markup((TEMPLATES / "report.css").read_text()),
        scripts=Markup("\n".join((TEMPLATES / name).read_text() for name in SCRIPTS)),
    )


def _sides(batch: Batch) -> dict[str, str]:
    """Chooses the two settings that the run-by-run panels show first: the paper's two if the batch has them."""
    there = _settings(batch)
    left, right = (STANDS_FOR[player] if STANDS_FOR[player] in there else None for player in PLAYERS)
    left = left or there[0]
    return {"left": left, "right": right or next((name for name in reversed(there) if name != left), left)}


def _script_json(content: Any) -> str:
    """Returns JSON for a script element. Only `<` could end the element, and JSON may escape it anywhere."""
    return json_text(content).replace("<", "\\u003c")


def _data(batch: Batch, sections: Sequence[SectionSummary]) -> dict[str, Any]:
    """Returns the data from which the plots are drawn; the tables are in the page itself."""
    named = [replace(one, section=f"{one.section}{where}") for where, rows in batch.apart.items() for one in rows]
    settings = by_setting(named)
    return {
        "sections": [
            {
                "name": part.title,
                "settings": [{"name": it.name, "player": it.player, "point": it.point} for it in part.settings],
            }
            for part in sections
        ],
        "axes": {metric.key: metric.heading for metric in FRONT},
        # The paper's Figures 7 and 8 for every setting.
        "figures": {name: [asdict(panel) for panel in panels(settings, name)] for name in _settings(batch)},
    }


def _settings(batch: Batch) -> list[str]:
    return list(dict.fromkeys(one.workload for one in batch.rows))
