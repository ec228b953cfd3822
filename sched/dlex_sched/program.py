# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs dlex-sched-sim, and checks what it prints."""

from __future__ import annotations

import errno
import subprocess
from collections.abc import Sequence
from typing import Literal, TypeVar

from pydantic import ValidationError

from dlex_bench.errors import EXIT_SETUP, EXIT_UNFIT, LabError
from dlex_bench.paths import PROJECT, require_program
from dlex_bench.schema import Amount, Count, Stored, field_error

PROGRAM = PROJECT / "build/release/sched/sim/dlex-sched-sim"

Reading = Literal["first-event", "by-deadline", "together"]
Metric = Literal["swaps_percent", "mean_without_ms", "mean_with_ms", "max_without_ms", "max_with_ms", "reduction_percent"]


class ScheduledTask(Stored):
    """Counts periods: those with the wanted service, those with less, and of the latter those that the window did not allow."""

    name: str
    served: Count
    missed: Count
    violations: Count


class Schedule(Stored):
    format: Literal[1]
    utilisation: Amount
    slots: list[str | None]  # who ran; None: nobody
    tasks: list[ScheduledTask]
    events: Count  # delivered
    swaps: Count  # of them, those that made another process run


class ExperimentRun(Stored):
    """Run-queue delays are those of all frames of all players."""

    experiment: str
    players: Count
    is_papers: bool  # the paper has this number of players
    seed: Count
    has_events: bool
    utilisation: Amount
    frames: Count
    delay_ms_mean: Amount
    delay_ms_max: Amount
    response_ms_mean: Amount  # from when a frame could begin until it was finished
    events: Count
    swaps: Count
    delays_ms: list[Amount]  # of the first player's first frames


class PaperClaim(Stored):
    """What the paper reports, between low and high (None: no bound), and the same figure of each of our runs."""

    where: str
    experiment: str
    players: Count
    metric: Metric
    low: float
    high: float | None
    simulated: list[float | None]


class Experiments(Stored):
    """`readings`, and the costs and the sleep of the players if they are not those of the experiments."""

    format: Literal[1]
    seconds: Count
    readings: list[Reading]
    cost_ms_min: Amount | None
    cost_ms_max: Amount | None
    sleep_ms: Amount | None
    runs: list[ExperimentRun]
    claims: list[PaperClaim]


Printed = TypeVar("Printed", Schedule, Experiments)


def not_started(name: str, cause: OSError) -> LabError:
    if cause.errno == errno.E2BIG:
        return LabError(f"{name} cannot be started: all options together are too long; put commands into scripts", EXIT_SETUP)
    return LabError(f"{name} cannot be started ({cause.strerror})", EXIT_SETUP)


def run_program(kind: type[Printed], options: Sequence[str]) -> Printed:
    try:
        done = subprocess.run([require_program(PROGRAM), *options], capture_output=True, text=True, check=False)
    except OSError as cause:
        raise not_started(PROGRAM.name, cause) from cause
    if done.returncode:
        words = (done.stderr.strip().splitlines() or [f"it ended with status {done.returncode}"])[0]
        name = PROGRAM.name
        raise LabError(f"{name}: {words.removeprefix(f'{name}: ')}", EXIT_SETUP if done.returncode == EXIT_SETUP else EXIT_UNFIT)
    try:
        return kind.model_validate_json(done.stdout, strict=True)
    except ValidationError as cause:
        raise LabError(f"dlex-sched-sim: {field_error(cause)}; does it belong to this build?", EXIT_UNFIT) from cause
