# SPDX-License-Identifier: LGPL-2.1-or-later
"""Implements `dlex sched sim`: prints schedules, and the paper's experiments beside what the paper says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from dlex_bench.analysis.statistics import Interval
from dlex_bench.errors import EXIT_SETUP, LabError
from dlex_bench.files import write_json
from dlex_bench.machine.facts import commit
from dlex_bench.progress import tell, tell_table
from dlex_bench.table import fits, titled_table

from .program import Experiments, PaperClaim, Schedule, run_program
from .results import make_results_folder
from .scenario import read_scenario
from .sim_claims import RULE, claim_rows
from .sim_settings import Setting, changes, settings_of, shown_settings

SLOTS_IN_ROW = (20, 10, 5, 2, 1)
# Frames of the first player whose delays Figure 8 shows.
TRACED = 100


@dataclass(frozen=True)
class ExperimentOptions:
    experiment: str | None
    players: int | None
    reading: str | None
    cost: str | None
    sleep: float | None
    runs: int
    seed: int
    seconds: int
    out: Path

    def for_program(self) -> list[str]:
        chosen = {"experiment": self.experiment, "players": self.players, "reading": self.reading, "cost": self.cost,
                  "sleep": self.sleep, "runs": self.runs, "seed": self.seed, "seconds": self.seconds, "delays": TRACED}
        return [f"--{name}={value}" for name, value in chosen.items() if value is not None]


def simulate_scenario(path: Path) -> None:
    schedule = run_program(Schedule, read_scenario(path).options())
    console = Console()
    tell(console, f"{path}: utilisation {schedule.utilisation:.2f}, {schedule.events} events delivered, {schedule.swaps} of them "
         "made another process run")
    tell_table(console, _slots_table(schedule, console))
    table = titled_table("Periods")
    for heading in ("task", "served", "missed", "violations"):
        table.add_column(heading, justify="left" if heading == "task" else "right")
    for task in schedule.tasks:
        table.add_row(task.name, str(task.served), str(task.missed), str(task.violations))
    tell_table(console, table)


def _slots_table(schedule: Schedule, console: Console) -> Table:
    """Returns a table with as many slots in a row as fit, 20 at most."""
    tables = (_slots_in_rows(schedule, width) for width in SLOTS_IN_ROW)
    return next((table for table in tables if fits(console, table)), _slots_in_rows(schedule, 1))


def _slots_in_rows(schedule: Schedule, width: int) -> Table:
    table = titled_table("Who runs in each slot (-: no task)")
    table.add_column("slot", justify="right")
    for _ in range(min(width, len(schedule.slots))):
        table.add_column("", no_wrap=True)
    for first in range(0, len(schedule.slots), width):
        table.add_row(str(first), *(name or "-" for name in schedule.slots[first : first + width]))
    return table


def simulate_experiments(options: ExperimentOptions) -> None:
    make_results_folder(options.out)
    experiments = run_program(Experiments, options.for_program())
    settings = settings_of(experiments.runs)
    console = Console()
    for change in changes(experiments):
        tell(console, change)
    tell_table(console, _settings_table(shown_settings(settings), experiments.seconds))
    if experiments.claims:
        tell_table(console, _claims_table(experiments.claims))
        tell(console, RULE)
    names = _save(options.out, experiments, settings)
    tell(console, f"Page, figures and all numbers: {', '.join(str(options.out / name) for name in names)}", wrap=False)


def _settings_table(settings: Sequence[Setting], seconds: int) -> Table:
    table = titled_table(f"Run-queue delays in {seconds} simulated seconds without events and with them, medians of the runs. The\n"
                         "costs of the frames are ours, because the paper does not give them: compare changes, not delays.")
    for heading in ("experiment", "players", "utilisation", "mean ms\nwithout", "\nwith", "max ms\nwithout", "\nwith", "swaps %"):
        table.add_column(heading, justify="left" if heading == "experiment" else "right", no_wrap=True)
    for each in settings:
        means, longest = (each.mean_without, each.mean_with), (each.longest_without, each.longest_with)
        table.add_row(each.experiment, str(each.players), f"{each.utilisation:.2f}", *(_cell(it, "{:.1f}") for it in means),
                      *(_cell(it, "{:.0f}") for it in longest), _cell(each.swaps, "{:.1f}"))
    return table


def _cell(found: Interval | None, form: str) -> str:
    return "-" if found is None else form.format(found.value)


def _claims_table(claims: Sequence[PaperClaim]) -> Table:
    table = titled_table("What the paper reports, and the median of our runs with its interval")
    for heading in ("in", "players", "figure", "paper", "simulated", "grade"):
        table.add_column(heading, justify="left" if heading in ("in", "figure", "grade") else "right", no_wrap=True)
    for row in claim_rows(claims):
        table.add_row(*row)
    return table


def _save(folder: Path, experiments: Experiments, settings: Sequence[Setting]) -> list[str]:
    """Writes the numbers, the figures and the page. Returns the names of the files."""
    from .figures import draw_all
    from .sim_page import write_page

    source = commit()
    try:
        write_json(folder / "sim.json", {"commit": source, **experiments.to_json()})
        figures = draw_all(settings, folder)
        write_page(folder / "sim.html", experiments, settings, figures, source)
        return ["sim.html", "sim.json", *figures.values()]
    except OSError as cause:
        raise LabError(f"{folder} cannot be written ({cause.strerror}); name another folder with --out", EXIT_SETUP) from cause
