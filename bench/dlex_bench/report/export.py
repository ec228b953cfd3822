# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the report for programs: report.csv has a row for each job, report.json also has every setting's medians.

JSON cannot express infinity. A figure without a bound (a ratio to a value that may be zero) becomes null, and the
object that holds it gets `"unbounded": true`. An unknown figure, for example after too few runs, is also null, but
without that key. All JSON of `report` and `compare` is written here.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ..analysis.goals import Ratio
from ..analysis.results_frame import Row
from .gather import Batch
from .meaning import Meaning
from .sections import SectionSummary, SettingSummary
from .stolen import StolenRuns

JOB = ("id", "section", "workload", "player", "sched", "repetition", "observe")
RESULT = ("status", "reason", "machine", "commit", "started", "wall_s", "view")
LOAD = ("kind", "unit", "alone_per_s", "beside_per_s", "others", "late", "dropped")


def job_row(one: Row) -> dict[str, Any]:
    """Returns a job as a flat row: figures have their own names, rt-app's are named like `rtapp-1.slack_us.min`."""
    result = one.result
    flat = {key: getattr(result.job, key) for key in JOB}
    flat |= {key: getattr(result, key) for key in RESULT}
    if result.policy:
        flat |= {f"policy.{key}": value for key, value in result.policy.to_json().items()}
    if result.steal:
        flat |= {f"steal.{key}": value for key, value in result.steal.to_json().items()}
    if result.whole_machine:
        flat |= _flat("whole_machine.", result.whole_machine.to_json())
    if result.plays:
        flat["plays"] = result.plays
    flat |= one.figures.to_json()
    if result.load:
        flat |= {f"load.{key}": value for key in LOAD if (value := getattr(result.load, key)) is not None}
    for task, stats in (result.rtapp or {}).items():
        flat |= _flat(f"{task.replace('rt-app', 'rtapp')}.", stats.to_json())
    return flat


def _flat(prefix: str, found: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in found.items():
        flat |= _flat(f"{prefix}{key}.", value) if isinstance(value, Mapping) else {prefix + key: value}
    return flat


def csv_text(batch: Batch) -> str:
    rows = [job_row(one) for one in batch.rows]
    out = io.StringIO()
    writer = csv.DictWriter(out, list(dict.fromkeys(key for row in rows for key in row)), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def json_content(batch: Batch, sections: list[SectionSummary], meaning: Meaning) -> dict[str, Any]:
    calibrations = [it.to_json() for it in batch.calibrations]
    return {
        "version": 1,
        "agenda": batch.agenda.to_json(),
        "created": batch.created,
        "commit": batch.commit,
        "machines": {name: facts.to_json() for name, facts in batch.machines.items()},
        "calibration": calibrations[0] if calibrations else None,
        "calibrations": calibrations,
        "settings": [_setting(section, it) for section in sections for it in section.settings],
        "goals": [asdict(it) for it in meaning.outcomes],
        "worse": [
            {"section": it.section, "policy": ours, "peer": peer, "figures": it.worse_in[ours].get(peer, [])}
            for it in meaning.standings
            for ours in it.worse_in
            for peer in it.peers
        ],
        "stolen": [_stolen(section, it) for section in sections for it in section.stolen],
        "ratios": [_ratio(it) for it in meaning.ratios],
        "paper": {"tables": [asdict(it) for it in meaning.tables], "findings": [asdict(it) for it in meaning.findings]},
        "jobs": [job_row(one) for one in batch.rows],
        "waiting": batch.waiting,
        "torn": batch.torn,
    }


def _setting(section: SectionSummary, it: SettingSummary) -> dict[str, Any]:
    figures = {
        found.metric.key: {**asdict(found.interval), "least": min(found.runs), "greatest": max(found.runs)}
        for found in it.cells
        if found.interval
    }
    return {
        "section": section.name,
        "workload": it.name,
        "label": it.label,
        "player": it.player,
        "done": it.done,
        "planned": it.planned,
        "figures": figures,
    }


def _stolen(section: SectionSummary, it: StolenRuns) -> dict[str, Any]:
    """Returns the medians of a setting with and without the runs from which the host took much CPU time."""
    figures = {key: {"median": every, "without": others} for key, (every, others) in it.medians().items()}
    runs = [run.id for run in it.stolen]
    return {"section": section.name, "workload": it.workload, "runs": runs, "figures": figures}


def _ratio(it: Ratio) -> dict[str, Any]:
    return {**asdict(it), "verdict": it.found.verdict}


def json_text(content: Any, *, indent: int | None = None) -> str:
    """Returns `content` as JSON, as short as possible if `indent` is None. NaN (an unknown figure) becomes null."""
    separators = (",", ":") if indent is None else None
    return json.dumps(_finite(content), indent=indent, separators=separators, allow_nan=False)


def _finite(content: Any) -> Any:
    if isinstance(content, Mapping):
        marked = {"unbounded": True} if any(map(_unbounded, content.values())) else {}
        return {key: _finite(value) for key, value in content.items()} | marked
    if isinstance(content, list | tuple):
        return [_finite(it) for it in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


def _unbounded(value: Any) -> bool:
    """True for an infinite number. Also true for a list with one, because a list has no place for the key."""
    if isinstance(value, list | tuple):
        return any(map(_unbounded, value))
    return isinstance(value, float) and math.isinf(value)
