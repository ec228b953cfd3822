# SPDX-License-Identifier: LGPL-2.1-or-later
"""Implements `dlex sched sim`: prints schedules, and the paper's experiments beside what the paper says."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from dlex_bench.errors import EXIT_SETUP, LabError
from dlex_bench.files import write_json
from dlex_bench.machine.facts import commit
from dlex_bench.progress import tell, tell_table
from dlex_bench.table import titled_table

from .program import ExperimentRun, Experiments, PaperClaim, Schedule, run_program
from .results import make_results_folder
from .scenario import read_scenario

METRICS = {
    "swaps_percent": "swaps, % of the events",
    "mean_without_ms": "mean delay without events, ms",
    "mean_with_ms": "mean delay with events, ms",
    "max_without_ms": "longest delay without events, ms",
    "max_with_ms": "longest delay with events, ms",
    "reduction_percent": "reduction of the mean delay, %",
}
# Percentage points by which a simulated share may differ from the paper's.
TOLERANCE = 5
# Frames of the first player whose delays Figure 8 shows.
TRACED = 100


@dataclass(frozen=True)
class ExperimentOptions:
    experiment: str | None
    players: int | None
    runs: int
    seed: int
    seconds: int
    out: Path

    def for_program(self) -> list[str]:
        chosen = {"experiment": self.experiment, "players": self.players, "runs": self.runs, "seed": self.seed,
                  "seconds": self.seconds, "delays": TRACED}
        return [f"--{name}={value}" for name, value in chosen.items() if value is not None]


def simulate_scenario(path: Path) -> None:
    schedule = run_program(Schedule, read_scenario(path).options())
    console = Console()
    tell(console, f"{path}: utilisation {schedule.utilisation:.2f}, {schedule.events} events delivered, {schedule.swaps} of them "
         "made another process run")
    tell_table(console, _slots_table(schedule))
    table = titled_table("Periods")
    for heading in ("task", "served", "missed", "violations"):
        table.add_column(heading, justify="left" if heading == "task" else "right")
    for task in schedule.tasks:
        table.add_row(task.name, str(task.served), str(task.missed), str(task.violations))
    tell_table(console, table)


def _slots_table(schedule: Schedule, width: int = 20) -> Table:
    """Returns a row for each `width` slots."""
    table = titled_table("Who runs in each slot (-: no task)")
    table.add_column("slot", justify="right")
    for _ in range(min(width, len(schedule.slots))):
        table.add_column("")
    for first in range(0, len(schedule.slots), width):
        table.add_row(str(first), *(name or "-" for name in schedule.slots[first : first + width]))
    return table


def simulate_experiments(options: ExperimentOptions) -> None:
    make_results_folder(options.out)
    experiments = run_program(Experiments, options.for_program())
    console = Console()
    _show_runs(console, experiments)
    _show_claims(console, experiments.claims)
    names = _save(options.out, experiments)
    tell(console, f"Figures and all numbers: {', '.join(str(options.out / name) for name in names)}", wrap=False)


def settings_of(runs: Iterable[ExperimentRun]) -> dict[tuple[str, int, bool], list[ExperimentRun]]:
    """Returns the runs by experiment, number of players and whether there were events."""
    found: dict[tuple[str, int, bool], list[ExperimentRun]] = {}
    for run in runs:
        found.setdefault((run.experiment, run.players, run.has_events), []).append(run)
    return found


def _show_runs(console: Console, experiments: Experiments) -> None:
    settings = settings_of(experiments.runs)
    table = titled_table(f"Run-queue delays in {experiments.seconds} simulated seconds, medians of the runs. The costs of the "
                         "frames are ours:\nthe paper does not give them, so compare changes, not delays.")
    for heading in ("experiment", "players", "utilisation", "mean ms\nwithout", "\nwith", "longest ms\nwithout", "\nwith", "swaps"):
        table.add_column(heading, justify="left" if heading == "experiment" else "right", no_wrap=True)
    for (experiment, players, has_events), with_events in settings.items():
        if not has_events:
            continue
        without = settings[experiment, players, False]
        table.add_row(
            experiment, str(players), f"{with_events[0].utilisation:.2f}",
            *(f"{_median(run.delay_ms_mean for run in runs):.1f}" for runs in (without, with_events)),
            *(f"{_median(run.delay_ms_max for run in runs):.0f}" for runs in (without, with_events)),
            _swaps(with_events),
        )
    tell_table(console, table)


def _swaps(runs: Sequence[ExperimentRun]) -> str:
    events = sum(run.events for run in runs)
    return f"{sum(run.swaps for run in runs) / events:.1%}" if events else "-"


def _median(values: Iterable[float]) -> float:
    return statistics.median(list(values))


def _show_claims(console: Console, claims: Sequence[PaperClaim]) -> None:
    if not claims:
        return
    table = titled_table(f"What the paper reports, and the median of our runs. It holds if both differ by at most {TOLERANCE:g} "
                         "points;\nms are not compared, because they follow from costs that are ours.")
    for heading in ("in", "players", "figure", "paper", "simulated", "holds"):
        table.add_column(heading, justify="left" if heading in ("in", "figure") else "right", no_wrap=True)
    for claim in claims:
        known = [value for value in claim.simulated if value is not None]
        simulated = f"{_median(known):.1f}" if known else "-"
        table.add_row(claim.where, str(claim.players), METRICS[claim.metric], _reported(claim), simulated, _grade(claim, known))
    tell_table(console, table)


def _grade(claim: PaperClaim, known: Sequence[float]) -> str:
    if claim.metric.endswith("_ms"):
        return "-"
    if not known or claim.high is None:
        return "no"
    return "yes" if claim.low - TOLERANCE <= _median(known) <= claim.high + TOLERANCE else "no"


def _reported(claim: PaperClaim) -> str:
    if claim.high is None:
        return f"> {claim.low:g}"
    return f"{claim.low:g}" if claim.low == claim.high else f"{claim.low:g} to {claim.high:g}"


def _save(folder: Path, experiments: Experiments) -> list[str]:
    """Writes the numbers and the figures. Returns the names of the files."""
    from .figures import draw_all

    try:
        write_json(folder / "sim.json", {"commit": commit(), **experiments.to_json()})
        return ["sim.json", *draw_all(settings_of(experiments.runs), folder)]
    except OSError as cause:
        raise LabError(f"{folder} cannot be written ({cause.strerror}); name another folder with --out", EXIT_SETUP) from cause
