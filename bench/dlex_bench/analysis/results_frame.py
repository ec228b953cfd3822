# SPDX-License-Identifier: LGPL-2.1-or-later
"""Turns results into rows: one per job that is over, with the figures that statistics, tables and plots need.

The functions are pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..agenda.jobs import section_ids
from ..job.films import film_name
from ..job.result import DONE, Figures, JobResult
from ..schema import Stored

SHOWN_DIGITS = 18  # of a SHA-256
WHOLE_MACHINE = "whole_machine"
LOAD = "load"


@dataclass(frozen=True)
class Row:
    """Holds one job. `figures` are those of the view that counts: the view from outside, if there is one."""

    id: str
    section: str
    workload: str
    player: str
    repetition: int
    status: str
    reason: str | None
    machine: str
    view: str
    figures: Figures
    result: JobResult

    @property
    def done(self) -> bool:
        return self.status == DONE

    @property
    def load_held(self) -> bool:
        """Returns whether the load did as much work as planned. True if this was not checked."""
        return not self.result.load or self.result.load.work_held is not False

    @property
    def much_is_stolen(self) -> bool:
        return self.result.much_is_stolen

    @property
    def film(self) -> str | None:
        """Returns the SHA-256 of the film that was played; None: not known."""
        return (self.result.films or {}).get(film_name(self.result.job))

    @property
    def setting(self) -> tuple[str, str]:
        return self.section, self.workload

    def value(self, key: str) -> float | None:
        """Returns a figure by its name.

        A name such as `rtapp-1.slack_us.min` leads to a figure of rt-app's task 1. One such as `whole_machine.idle` or
        `load.others` leads to a field of the result.
        """
        task, _, path = key.partition(".")
        if task in (WHOLE_MACHINE, LOAD):
            return _descend(self.result, key)
        if path:
            return _descend((self.result.rtapp or {}).get(task.replace("rtapp", "rt-app")), path)
        return _descend(self.figures, key)


def row(result: JobResult) -> Row:
    job = result.job
    return Row(
        id=job.id,
        section=job.section,
        workload=job.workload,
        player=job.player,
        repetition=job.repetition,
        status=result.status,
        reason=result.reason,
        machine=result.machine or "",
        view=result.view or "",
        figures=result.figures or Figures(),
        result=result,
    )


def rows(results: Iterable[JobResult]) -> list[Row]:
    return [row(result) for result in results]


def machines_apart(some: Iterable[Row]) -> dict[str, list[Row]]:
    """Returns the rows that may be combined. The key is the text to append to section names; with one group it is empty.

    The rows of two machines share nothing but names, and so do those of two films, one of which has replaced the other.
    """
    rows = list(some)
    several = len({one.machine for one in rows}) > 1
    replaced = replaced_films(rows)
    found: dict[str, list[Row]] = {}
    for one in rows:
        machine = f" on {one.machine or 'an unknown machine'}" if several else ""
        found.setdefault(machine + _film_text(one, replaced), []).append(one)
    return found


def replaced_films(some: Iterable[Row]) -> dict[str, list[str]]:
    """Returns the films that had several contents under one name, with the SHA-256 of each in the order of the rows."""
    found: dict[str, dict[str, None]] = {}
    for one in some:
        if one.film:
            found.setdefault(film_name(one.result.job), {})[one.film] = None
    return {name: list(contents) for name, contents in found.items() if len(contents) > 1}


def _film_text(one: Row, replaced: Mapping[str, Sequence[str]]) -> str:
    name = film_name(one.result.job)
    return f" with {Path(name).name} {(one.film or 'of unknown content')[:SHOWN_DIGITS]}" if name in replaced else ""


Settings = dict[tuple[str, str], list[Row]]


def by_setting(some: Iterable[Row], *, done: bool = True) -> Settings:
    """Returns (section, workload) -> its runs by repetition, in the order in which the settings first appear."""
    found: Settings = {}
    for one in some:
        if one.done or not done:
            found.setdefault(one.setting, []).append(one)
    return {setting: sorted(runs, key=lambda run: run.repetition) for setting, runs in found.items()}


def sections(some: Iterable[Row]) -> list[str]:
    return list(dict.fromkeys(one.section for one in some))


def of_section(settings: Settings, section: str) -> dict[str, list[Row]]:
    return {workload: runs for (where, workload), runs in settings.items() if where == section}


# The id of a control section, whose film costs almost nothing: rt-app's misses there are not the fault of a player. It
# may also be one of several crossed section ids.
CONTROL = "control"


def is_control(section: str) -> bool:
    return CONTROL in section_ids(section)


def control_of(settings: Settings, section: str) -> list[Row]:
    """Returns the runs of the section's control.

    Where groups are crossed, that is the control in which everything else is the same: `a-control` for `a-cbs`, and not
    `b-control`.
    """
    here = section_ids(section) | {CONTROL}
    found = [runs for (name, _), runs in settings.items() if is_control(name) and section_ids(name) <= here]
    return [run for runs in found for run in runs]


def values(runs: Iterable[Row], key: str) -> list[float]:
    """Returns the figure of each run that knows it."""
    return [value for run in runs if (value := run.value(key)) is not None]


def paired_values(a: Sequence[Row], b: Sequence[Row], key: str) -> tuple[list[float], list[float]]:
    """Returns the figure in the repetitions that both `a` and `b` have.

    Such runs are neighbours in time, because the settings are interleaved.
    """
    of_b = {(run.machine, run.repetition): run.value(key) for run in b}
    pairs = [(run.value(key), of_b.get((run.machine, run.repetition))) for run in a]
    both = [(one, other) for one, other in pairs if one is not None and other is not None]
    return [one for one, _ in both], [other for _, other in both]


def _descend(found: object, path: str) -> float | None:
    for name in path.split("."):
        found = getattr(found, name, None) if isinstance(found, Stored) else None
    return float(found) if isinstance(found, int | float) else None
