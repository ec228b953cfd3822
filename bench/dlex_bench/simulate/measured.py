# SPDX-License-Identifier: LGPL-2.1-or-later
"""Simulates what a batch has measured, and shows both in one table.

The costs of a section come from its play without drops, under the same load. What a picture costs besides its decode is the
rest of the process's CPU time in that play.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from ..agenda.job import Job, JobLoad
from ..agenda.jobs import OURS
from ..batch.results import BATCH, Store
from ..clips import make_clip
from ..errors import EXIT_SETUP, LabError
from ..job.result import DONE, Figures, JobResult
from ..progress import tell, tell_table
from ..record import read_frames, read_run
from ..table import short, titled_table
from .policies import POLICIES
from .program import SimulatedRun, find_trace, simulated
from .simulate import SimulateOptions

# The aim of the model: the simulated median is so near the measured one, by a part of it or by pictures.
NEAR_PART, NEAR_PICTURES = 0.10, 5
# What rt-app's two tasks, 3 of 8 ms and 20 of 200, leave to an ordinary program beside them.
FAIR_PART = 1 - 3 / 8 - 20 / 200


def is_batch(folder: Path) -> bool:
    return (folder / BATCH).exists()


@dataclass(frozen=True)
class PlayedFilm:
    """What the play without drops of a section says. `draw_ns`: CPU time of a picture besides its decode."""

    trace: Path
    draw_ns: int


@dataclass(frozen=True)
class Compared:
    """One setting: the plays that were measured, and the simulated ones."""

    section: str
    policy: str
    queue: int
    measured: Sequence[Figures]
    simulated: Sequence[SimulatedRun]

    @property
    def drops(self) -> tuple[float, float]:
        """Returns the medians, measured and simulated."""
        return statistics.median(dropped_of(self.measured)), statistics.median(dropped_of(self.simulated))

    @property
    def is_near(self) -> bool:
        measured, model = self.drops
        return abs(model - measured) <= max(NEAR_PART * measured, NEAR_PICTURES)


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
        film = _film(folder, of_section, options)
        if film is None:
            tell(console, f"{section}: no play with drop: none, from which the costs would come; left out")
            continue
        compared += [one for results in of_section if (one := _compared(folder, results, film, options))]
    if not compared:
        raise LabError(f"{folder} has nothing to compare: play dlex-play with drop: none, and with another policy")
    _show(console, compared)


def _settings(results: Iterable[JobResult]) -> dict[tuple[str, str], list[JobResult]]:
    """Returns the plays of dlex-play that are done, by section and workload."""
    groups: dict[tuple[str, str], list[JobResult]] = {}
    for one in results:
        if one.status == DONE and one.job.player == OURS and simulated_policy(one.job):
            groups.setdefault((one.job.section, one.job.workload), []).append(one)
    return groups


def simulated_policy(job: Job) -> str | None:
    """Returns the name of the job's policy in the simulator; None if it cannot be simulated."""
    params = job.player_params
    options = set(params.options)
    if params.drop == "deadline":
        chosen = {"--strict": "strict", "--skip-to-key=never": "never-skip", "--degrade=auto": "degrade"}
        rule = params.rule or ""
        if rule == "plan" and len(options) == 1:
            rule, options = chosen.get(options.pop(), ""), set()
        return rule if rule in POLICIES and not options else None
    return params.drop if params.drop in POLICIES and not options else None


def _film(folder: Path, groups: Sequence[Sequence[JobResult]], options: SimulateOptions) -> PlayedFilm | None:
    whole = [results for results in groups if simulated_policy(results[0].job) == "none"]
    if not whole:
        return None
    # Without a queue nothing else waits on the CPU meanwhile.
    results = min(whole, key=lambda it: it[0].job.player_params.queue != "0")
    # The play in the middle, so that neither a fast nor a slow one decides.
    plays = sorted((_film_of(folder / one.job.id, one.job, options) for one in results), key=lambda film: film.draw_ns)
    return plays[len(plays) // 2]


def _film_of(play: Path, job: Job, options: SimulateOptions) -> PlayedFilm:
    unstamped = make_clip(options.root, job.clip.unstamped) if job.clip.unstamped and job.observe != "inside" else None
    frames = read_frames(play / "own")
    process_ns = read_run(play / "own").process_cpu_ns or 0
    decode_ns = sum(frame.decode_cpu_ns for frame in frames)
    return PlayedFilm(find_trace(options.root, play, unstamped), max(0, process_ns - decode_ns) // len(frames))


def supply_of(result: JobResult, queue: int) -> list[str]:
    """Returns the options of dlex-bench-sim for the CPU time that the job's policy gives beside its load."""
    job = result.job
    alone = ["--alone"] if job.load.kind == "none" else []
    kind, _colon, budget = (result.policy.applied if result.policy and result.policy.applied else job.sched).partition(":")
    if kind == "quota":
        return [f"--supply=quota:{budget}", *alone]
    if kind == "deadline":
        return [f"--supply={'cbs-divided' if queue else 'cbs'}:{whole_budget(budget)}", *alone]
    return [f"--supply=part:{fair_part(job.load):g}"]


def fair_part(load: JobLoad) -> float:
    """Returns the part of the CPU that the load leaves to an ordinary program beside it."""
    if load.kind == "stress":
        return 1 / (1 + (load.cpu or 0) + (load.vm or 0))
    return 1 if load.kind == "none" else FAIR_PART


def whole_budget(applied: str) -> str:
    """Returns the sum of the budgets that the threads of one player have, as `15/40`."""
    parts = [part.removeprefix("deadline:").split("/") for part in applied.split(" + ")]
    runtime_ms = sum(float(runtime) * float(parts[0][1]) / float(period) for runtime, period in parts)
    return f"{runtime_ms:g}/{parts[0][1]}"


def _compared(folder: Path, results: Sequence[JobResult], film: PlayedFilm, options: SimulateOptions) -> Compared | None:
    job, policy = results[0].job, simulated_policy(results[0].job)
    figures = [found for one in results if (found := one.inside or one.figures)]
    if policy is None or not figures:
        return None
    facts = read_run(folder / job.id / "own").queue
    queue = (facts.pictures_max or 0) if facts else 0
    chosen = [f"--queue={queue}", f"--draw={film.draw_ns / 1e3:.1f}us", f"--runs={options.repeat}", f"--seed={options.seed}"]
    simulation = simulated(options.root, film.trace, [*POLICIES[policy], *chosen, *supply_of(results[0], queue)])
    return Compared(job.section, policy, queue, figures, simulation.runs)


def _show(console: Console, compared: Sequence[Compared]) -> None:
    for section in dict.fromkeys(one.section for one in compared):
        _show_section(console, section, [one for one in compared if one.section == section])
    count = sum(one.is_near for one in compared)
    tell(console, f"{count} of {len(compared)} are near: within {NEAR_PART:.0%} of the measured drops, or {NEAR_PICTURES} pictures")


def _show_section(console: Console, section: str, compared: Sequence[Compared]) -> None:
    table = titled_table(f"{section}: medians, drops with minimum and maximum; A-V and RMSE measured | simulated")
    for heading in ("policy", "queue", "dropped\nmeasured", "\nsimulated", "near", "A-V s.d.\nms", "RMSE Q16\nsum"):
        table.add_column(heading, justify="left" if heading == "policy" else "right", no_wrap=True)
    for one in compared:
        near = "yes" if one.is_near else f"{one.drops[1] - one.drops[0]:+.0f}"
        spreads = _spread(dropped_of(one.measured)), _spread(dropped_of(one.simulated))
        sums = _both(one, lambda it: it.rmse_q16_sum, "{:.0f}")
        table.add_row(one.policy, str(one.queue), *spreads, near, _both(one, lambda it: it.skew_ms_sd, "{:.1f}"), sums)
    tell_table(console, table)


def _spread(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.0f} {min(values):.0f}..{max(values):.0f}"


def _both(one: Compared, figure: Callable[[Figures | SimulatedRun], float | None], form: str) -> str:
    def median(runs: Sequence[Figures] | Sequence[SimulatedRun]) -> str:
        known = [value for it in runs if (value := figure(it)) is not None]
        return short(statistics.median(known), form) if known else "-"

    return f"{median(one.measured)} | {median(one.simulated)}"
