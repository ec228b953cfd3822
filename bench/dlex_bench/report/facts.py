# SPDX-License-Identifier: LGPL-2.1-or-later
"""Lists what was run, when, and on which machine, as names and values that the batch has recorded. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import yaml

from ..analysis.results_frame import Row
from ..job.bisection import AIM
from ..job.budget import Calibration
from ..job.demand import Demands
from ..job.loops import LIGHT
from ..machine.steal import MUCH
from ..rig.players.threads import unknown_threads
from .gather import Batch

NamedFacts = list[tuple[str, str]]


def batch_facts(batch: Batch) -> NamedFacts:
    started = sorted(one.result.started for one in batch.rows if one.result.started)
    wall_s = sum(one.result.wall_s or 0 for one in batch.rows)
    commits = dict.fromkeys(one.result.commit for one in batch.rows if one.result.commit)
    facts = [
        ("jobs", batch.counts),
        ("played", _period(started[0], started[-1]) if started else ""),
        ("time in jobs", f"{wall_s / 3600:.1f} h" if wall_s >= 3600 else f"{wall_s / 60:.0f} min"),
        ("commit" if len(commits) < 2 else "commits", ", ".join(commits) or (batch.commit or "")),
        ("machine" if not batch.mixed else "machines", ", ".join(dict.fromkeys(one.machine for one in batch.rows))),
    ]
    done = [one for one in batch.rows if one.done]
    if light := sum(one.result.load_is_light for one in done):
        facts.append(("light load", f"in {light} of {len(done)} runs rt-app's jobs took less than {LIGHT:.0%} of 3 and 20 ms"))
    if vain := sum(one.result.is_tuned_in_vain for one in done):
        facts.append(("not tuned", f"in {vain} of {sum(one.result.tuned is not None for one in done)} runs under deadline:tuned "
                                   "nothing was ever reserved: the player showed no rate, or all reservations were refused"))
    facts += [("CPU supply", _supply(done)), ("much stolen", _stolen(done))]
    if unknown := _unknown_threads(done):
        facts.append(("unknown threads", unknown))
    for found in batch.calibrations:
        where = f" on {found.machine}" if batch.mixed else ""
        facts.append((f"calibration{where}", _calibration(found)))
    for demands in batch.demands:
        facts.append((f"demand on {demands.machine}" if batch.mixed else "demand", _demand(demands)))
    return [(name, text) for name, text in facts if text]


def _period(first: str, last: str) -> str:
    begin, end = _minute(first), _minute(last)
    return f"{begin} UTC" if begin == end else f"{begin} to {end[11:] if begin[:10] == end[:10] else end} UTC"


def _minute(stamp: str) -> str:
    """Shortens a time stamp to the minute: 2026-11-21T23:55:17.5Z becomes 2026-11-21 23:55."""
    return stamp[:16].replace("T", " ")


def _supply(done: Sequence[Row]) -> str:
    """Returns which part of the measured CPU's time the host left; "" if no run knows it."""
    left = [1 - one.result.steal.measured for one in done if one.result.steal and one.result.steal.measured is not None]
    if not left:
        return ""
    return f"the host left {median(left):.1%} of the measured CPU's time (median of {len(left)} runs; least {min(left):.1%})"


def _stolen(done: Sequence[Row]) -> str:
    """Counts the runs from which the host took much CPU time, and those that were repeated because of it. "" if none."""
    stolen = sum(one.much_is_stolen for one in done)
    again = sum((one.result.plays or 1) > 1 for one in done)
    if not stolen and not again:
        return ""
    return (
        f"from {stolen} of {len(done)} runs the host took more than {MUCH:.0%} of the measured CPU's time; {again} runs were "
        "played several times for that reason, and the play with the least is kept"
    )


def _unknown_threads(done: Sequence[Row]) -> str:
    """Names the threads of players that this laboratory does not know; a newer player may start them. "" if none."""
    names: dict[str, dict[str, None]] = {}
    for one in done:
        if found := unknown_threads(one.result.threads or []):
            names.setdefault(one.player, {}).update(dict.fromkeys(found))
    each = "; ".join(f"{player} {', '.join(of_player)}" for player, of_player in names.items())
    return f"{each}: the laboratory does not know these threads; they were held as if they decoded or presented" if each else ""


def _demand(found: Demands) -> str:
    return "; ".join(
        f"playing all of {film.clip.recipe or Path(film.clip.file or '').name} needs {film.rate:.1%} of a CPU "
        f"({min(film.plays):.1%} to {max(film.plays):.1%} in {len(film.plays)} plays)"
        for film in found.films
    )


def _calibration(found: Calibration) -> str:
    if found.budget_ms is None:
        return ""
    text = f"{found.budget_ms:g} ms every {found.period_ms:g} ms"
    if not found.baseline:
        return text
    fraction = found.spread.drops_fraction_mean if found.spread and not found.spread.within_tolerance else None
    if fraction is None:
        return f"{text}; with it, {found.baseline} drops as much as in the paper's cbs row"
    return f"{text}; with it, {found.baseline} drops {fraction:.1%} of the pictures, not {AIM:.1%} as in the paper's cbs row"


def facts_by_machine(batch: Batch) -> dict[str, NamedFacts]:
    """Returns the facts of each machine; nested facts get dotted names."""
    return {name: _flat("", facts.to_json()) for name, facts in batch.machines.items()}


def _flat(prefix: str, found: Mapping[str, Any]) -> NamedFacts:
    facts: NamedFacts = []
    for key, value in found.items():
        if isinstance(value, Mapping) and "version" in value:  # a program's path and age say less
            facts.append((prefix + key, str(value["version"] or "unknown version")))
        elif isinstance(value, Mapping):
            facts += _flat(f"{prefix}{key}.", value)
        elif value is not None and value != "":
            facts.append((prefix + key, ", ".join(map(str, value)) if isinstance(value, list) else str(value)))
    return facts


def agenda_text(batch: Batch) -> str:
    agenda = batch.agenda.to_json()
    return yaml.safe_dump(agenda, sort_keys=False, allow_unicode=True) if agenda else ""
