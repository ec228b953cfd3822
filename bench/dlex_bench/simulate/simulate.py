# SPDX-License-Identifier: LGPL-2.1-or-later
"""Implements `dlex bench simulate`: simulates every policy with every queue, and prints the medians."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from ..errors import EXIT_SETUP, LabError
from ..files import write_json
from ..machine.facts import commit
from ..output import output_file
from ..progress import tell, tell_table
from ..table import WIDE, short, titled_table
from .policies import POLICIES
from .program import SimulatedRun, Simulation, find_trace, simulated

CLAIRVOYANT = "clairvoyant"
# A clairvoyant run takes a second or two.
CLAIRVOYANT_RUNS = 5

Figure = Callable[[SimulatedRun], float | None]
Column = tuple[str, Figure, str]
DROPPED: Column = ("dropped", lambda run: run.dropped, "{:.0f}")
FIGURES: tuple[Column, ...] = (
    ("A-V ms\nmean", lambda run: run.skew_ms_mean, "{:.1f}"),
    ("\ns.d.", lambda run: run.skew_ms_sd, "{:.1f}"),
    ("\np99", lambda run: run.skew_ms_p99, "{:.0f}"),
    ("RMSE Q16\nsum", lambda run: run.rmse_q16_sum, "{:,.0f}"),
    ("freeze\nms", lambda run: run.longest_freeze_ms, "{:.0f}"),
)
BOUND: Column = ("bound", lambda run: run.at_least.drops if run.at_least else None, "{:.0f}")
# Where there is room.
MORE_FIGURES: tuple[Column, ...] = (
    ("aborted", lambda run: run.aborted, "{:.0f}"),
    ("skipped", lambda run: run.skipped, "{:.0f}"),
    ("late", lambda run: run.late, "{:.0f}"),
    ("cost\nerror", lambda run: run.cost_mape, "{:.0%}"),
    ("CPU\nwasted", lambda run: run.wasted_of_droppable, "{:.1%}"),
)


@dataclass(frozen=True)
class SimulateOptions:
    """The options of the command. `runs`: records or traces. `repeat`: simulated runs of each setting."""

    root: Path
    runs: Sequence[Path]
    unstamped: Path | None
    policies: Sequence[str]
    queues: Sequence[int]
    supply: str
    threads: str | None
    demand: str | None
    scale: str | None
    draw: str | None
    repeat: int
    seed: int
    out: Path

    def for_program(self, policy: str, queue: int) -> list[str]:
        """Returns the options of dlex-bench-sim."""
        repeat = min(self.repeat, CLAIRVOYANT_RUNS) if policy.startswith(CLAIRVOYANT) else self.repeat
        chosen = {"supply": self.supply, "threads": self.threads, "demand": self.demand, "scale": self.scale, "draw": self.draw}
        options = [f"--{name}={value}" for name, value in chosen.items() if value is not None]
        return [*POLICIES[policy], f"--queue={queue}", f"--runs={repeat}", f"--seed={self.seed}", *options]


@dataclass(frozen=True)
class SimulatedSetting:
    trace: Path
    policy: str
    queue: int
    simulation: Simulation

    @property
    def seeds(self) -> set[int]:
        return {run.seed for run in self.simulation.runs}

    def median(self, figure: Figure, seeds: Collection[int]) -> float | None:
        """Returns the median over the runs with these seeds, or None if any of them has no such figure."""
        values = [figure(run) for run in self.simulation.runs if run.seed in seeds]
        known = [value for value in values if value is not None]
        return statistics.median(known) if len(known) == len(values) else None


def simulate(options: SimulateOptions) -> None:
    console = Console()
    pairs = _pairs(options)
    output_file(options.out, read_files(options))
    traces = [find_trace(options.root, run, options.unstamped) for run in options.runs]
    settings = [_simulated(options, trace, policy, queue) for trace in traces for policy, queue in pairs]
    _write(options, settings)
    for trace in traces:
        _show(console, options, [setting for setting in settings if setting.trace == trace])
    tell(console, f"All figures: {options.out}", wrap=False)


def read_files(options: SimulateOptions) -> list[Path]:
    """Returns the files that the command reads: traces, or what is in the folders of records; and the film without stamps."""
    found = [file for run in options.runs for file in (run.rglob("*") if run.is_dir() else [run])]
    return [*found, options.unstamped] if options.unstamped else found


def _pairs(options: SimulateOptions) -> list[tuple[str, int]]:
    """Returns each policy with each queue. Policy vlc needs one, as in dlex-play."""
    pairs = [(policy, queue) for queue in options.queues for policy in options.policies if queue > 0 or policy != "vlc"]
    if not pairs:
        raise LabError("policy vlc needs a queue; name one with --queues", EXIT_SETUP)
    return pairs


def _simulated(options: SimulateOptions, trace: Path, policy: str, queue: int) -> SimulatedSetting:
    return SimulatedSetting(trace, policy, queue, simulated(options.root, trace, options.for_program(policy, queue)))


def _write(options: SimulateOptions, settings: Sequence[SimulatedSetting]) -> None:
    facts: dict[str, Any] = {
        "commit": commit(),
        "supply": options.supply,
        "settings": [
            {"trace": str(one.trace), "policy": one.policy, "queue": one.queue, **one.simulation.to_json()} for one in settings
        ],
    }
    try:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        write_json(options.out, facts)
    except OSError as cause:
        raise LabError(f"{options.out} cannot be written ({cause.strerror}); name another file with --out", EXIT_SETUP) from cause


def _show(console: Console, options: SimulateOptions, settings: Sequence[SimulatedSetting]) -> None:
    film = settings[0].simulation.film
    share = "" if film.droppable_cpu_part is None else f" ({film.droppable_cpu_part:.0%} of the CPU time)"
    tell(console, f"\n{settings[0].trace}: {film.pictures} pictures, {film.droppable} droppable{share}, "
         f"{film.decode_ms_mean:.1f} ms of {film.frame_ms:.1f} each; demand {film.demand:.0%} of {options.supply}")
    seeds = set.intersection(*(one.seeds for one in settings))
    table = titled_table(f"{_runs(len(seeds))}. A-V > 0: the video is late; freeze: longest time without a new picture;\n"
                         "bound: every schedule drops at least so many; ratio: drops / the clairvoyant's drops")
    columns = (DROPPED, *(MORE_FIGURES if console.width >= WIDE else ()), *FIGURES, BOUND)
    for heading in ("queue", "policy", *(heading for heading, _figure, _form in columns), "ratio"):
        table.add_column(heading, justify="left" if heading == "policy" else "right", no_wrap=True)
    for one in settings:
        cells = [_cell(one.median(figure, seeds), form) for _heading, figure, form in columns]
        table.add_row(str(one.queue), one.policy, *cells, _ratio(one, settings))
    tell_table(console, table)


def _runs(count: int) -> str:
    return f"Medians of {count} runs, with the same seeds in each row" if count > 1 else "One run each, with the same seed"


def _cell(value: float | None, form: str) -> str:
    return "-" if value is None else short(value, form)


def _ratio(one: SimulatedSetting, settings: Sequence[SimulatedSetting]) -> str:
    """Returns the drops divided by the clairvoyant's, over the seeds that both have."""
    best = next((other for other in settings if other.policy == CLAIRVOYANT and other.queue == one.queue), None)
    if best is None or one is best:
        return "-"
    drops = {run.seed: run.dropped for run in one.simulation.runs}
    pairs = [(drops[run.seed], run.dropped) for run in best.simulation.runs if run.seed in drops]
    fewest = sum(dropped for _own, dropped in pairs)
    return f"{sum(own for own, _dropped in pairs) / fewest:.2f}" if fewest else "-"
