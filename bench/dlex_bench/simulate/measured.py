# SPDX-License-Identifier: LGPL-2.1-or-later
"""Simulates what a batch has measured, and shows both in one table.

Under a quota, and with many pictures waiting, decodes cost more than in the play without drops from which the costs of the
model come (played.py). So each setting is simulated twice: with those costs, and with the costs of the measured plays.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from ..agenda.job import JobLoad
from ..agenda.jobs import OURS
from ..batch.results import BATCH, Store
from ..errors import EXIT_SETUP, LabError
from ..job.result import DONE, Figures, JobResult
from ..machine.policy import FREE, together
from ..progress import tell, tell_table
from ..record import read_run
from ..table import WIDE, short, titled_table
from .played import PlayedFilm, played_film
from .policies import POLICIES, simulated_policy
from .program import SimulatedRun, simulated
from .simulate import SimulateOptions

# The aim of the model: the simulated median is so near the measured one, by a part of it or by pictures.
NEAR_PART, NEAR_PICTURES = 0.10, 5
# What rt-app's two tasks, 3 of 8 ms and 20 of 200, leave to an ordinary program beside them.
FAIR_PART = 1 - 3 / 8 - 20 / 200


def is_batch(folder: Path) -> bool:
    return (folder / BATCH).exists()


@dataclass(frozen=True)
class Compared:
    """One setting: the plays that were measured, and the simulated ones."""

    section: str
    policy: str
    queue: int
    measured: Sequence[Figures]
    simulated: Sequence[SimulatedRun]
    cost_part: float  # CPU time of decoding a shown picture, in relation to the play without drops: the median of the plays
    at_their_costs: Sequence[SimulatedRun]  # simulated with decode times multiplied by this


def away(measured: Sequence[Figures], model: Sequence[SimulatedRun]) -> float | None:
    """Returns how many pictures more the model drops, by the medians; None if it is near."""
    expected = statistics.median(dropped_of(measured))
    difference = statistics.median(dropped_of(model)) - expected
    return None if abs(difference) <= max(NEAR_PART * expected, NEAR_PICTURES) else difference


def dropped_of(runs: Sequence[Figures] | Sequence[SimulatedRun]) -> list[float]:
    return [float(run.dropped or 0) for run in runs]


def compare_with_measured(options: SimulateOptions) -> None:
    if len(options.runs) > 1:
        raise LabError("name one folder of `dlex bench run`, or records and traces", EXIT_SETUP)
    folder, console = options.runs[0], Console()
    groups = _settings(Store(folder).results().values())
    compared: list[Compared] = []
    for section in dict.fromkeys(results[0].job.section for results in groups.values()):
        of_section = [results for results in groups.values() if results[0].job.section == section]
        film = played_film(folder, of_section, options.root)
        if film is None:
            tell(console, f"{section}: no play with drop: none, from which the costs would come; left out")
            continue
        compared += [one for results in of_section if (one := _compared(folder, results, film, options))]
    if not compared:
        raise LabError(f"{folder} has nothing to compare: play dlex-play with drop: none, and with another policy")
    _show(console, compared)


def _settings(results: Iterable[JobResult]) -> dict[tuple[str, str], list[JobResult]]:
    """Returns the plays of dlex-play that are done, by section and workload.

    The simulated machine has one CPU. Plays on all CPUs (`free`) are not among them.
    """
    groups: dict[tuple[str, str], list[JobResult]] = {}
    for one in results:
        if one.status == DONE and one.job.player == OURS and one.job.sched != FREE and simulated_policy(one.job):
            groups.setdefault((one.job.section, one.job.workload), []).append(one)
    return groups


def supply_of(result: JobResult, queue: int) -> list[str]:
    """Returns the options of dlex-bench-sim for the CPU time that the job's policy gives beside its load."""
    job = result.job
    alone = ["--alone"] if job.load.kind == "none" else []
    applied = result.policy.applied if result.policy and result.policy.applied else job.sched
    kind, _colon, budget = together(applied).partition(":")
    if kind == "quota":
        return [f"--supply=quota:{budget}", *alone]
    if kind == "deadline":
        return [f"--supply={'cbs-divided' if queue else 'cbs'}:{budget}", *alone]
    return [f"--supply=part:{fair_part(job.load):g}"]


def fair_part(load: JobLoad) -> float:
    """Returns the part of the CPU that the load leaves to an ordinary program beside it."""
    if load.kind == "stress":
        return 1 / (1 + (load.cpu or 0) + (load.vm or 0))
    return 1 if load.kind == "none" else FAIR_PART


def _compared(folder: Path, results: Sequence[JobResult], film: PlayedFilm, options: SimulateOptions) -> Compared | None:
    job, policy = results[0].job, simulated_policy(results[0].job)
    figures = [found for one in results if (found := one.inside or one.figures)]
    if policy is None or not figures:
        return None
    facts = [read_run(folder / one.job.id / "own").queue for one in results]
    queue = max((of_run.pictures_max or 0) if of_run else 0 for of_run in facts)
    chosen = [f"--queue={queue}", f"--draw={film.draw_ns / 1e3:.1f}us", f"--runs={options.repeat}", f"--seed={options.seed}"]
    chosen = [*POLICIES[policy], *chosen, *supply_of(results[0], queue)]
    part = statistics.median(film.cost_part(folder / one.job.id) for one in results)
    runs = simulated(options.root, film.trace, chosen).runs
    at_their_costs = simulated(options.root, film.trace, [*chosen, f"--scale={part:.4f}"]).runs
    return Compared(job.section, policy, queue, figures, runs, part, at_their_costs)


def _show(console: Console, compared: Sequence[Compared]) -> None:
    for section in dict.fromkeys(one.section for one in compared):
        _show_section(console, section, [one for one in compared if one.section == section])
    near = sum(away(one.measured, one.simulated) is None for one in compared)
    too = sum(away(one.measured, one.at_their_costs) is None for one in compared)
    tell(
        console,
        f"{near} of {len(compared)} are near: within {NEAR_PART:.0%} of the measured drops, or {NEAR_PICTURES} pictures; "
        f"with the costs of the plays themselves (then) {too}. Costs: CPU time of decoding a shown picture, in relation to the "
        "play without drops",
    )


def _show_section(console: Console, section: str, compared: Sequence[Compared]) -> None:
    table = titled_table(f"{section}: medians; A-V and RMSE: measured | model, with the costs of the plays")
    drops = ("dropped\nmeasured", "\nmodel", "\nnear", "costs", "\nthen", "\nnear")
    more = ("RMSE Q16\nsum",) if console.width >= WIDE else ()
    for heading in ("policy", "queue", *drops, "A-V s.d.\nms", *more):
        table.add_column(heading, justify="left" if heading == "policy" else "right", no_wrap=True)
    for one in compared:
        table.add_row(*_cells(one)[: len(table.columns)])
    tell_table(console, table)


def _cells(one: Compared) -> list[str]:
    return [
        one.policy, str(one.queue), f"{_dropped(one.measured)} {_range(one.measured)}",
        _dropped(one.simulated), _near(one.measured, one.simulated),
        f"{one.cost_part:.2f}", _dropped(one.at_their_costs), _near(one.measured, one.at_their_costs),
        _both(one, lambda it: it.skew_ms_sd, "{:.0f}"), _both(one, lambda it: it.rmse_q16_sum, "{:.0f}"),
    ]


def _dropped(runs: Sequence[Figures] | Sequence[SimulatedRun]) -> str:
    return f"{statistics.median(dropped_of(runs)):.0f}"


def _range(runs: Sequence[Figures]) -> str:
    return f"{min(dropped_of(runs)):.0f}..{max(dropped_of(runs)):.0f}"


def _near(measured: Sequence[Figures], model: Sequence[SimulatedRun]) -> str:
    difference = away(measured, model)
    return "yes" if difference is None else f"{difference:+.0f}"


def _both(one: Compared, figure: Callable[[Figures | SimulatedRun], float | None], form: str) -> str:
    def median(runs: Sequence[Figures] | Sequence[SimulatedRun]) -> str:
        known = [value for it in runs if (value := figure(it)) is not None]
        return short(statistics.median(known), form) if known else "-"

    return f"{median(one.measured)} | {median(one.at_their_costs)}"
