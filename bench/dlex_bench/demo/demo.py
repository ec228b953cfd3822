# SPDX-License-Identifier: LGPL-2.1-or-later
"""`./dlex demo`: four ways of dropping pictures, under loads from light to hopeless, side by side."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from rich.console import Console

from ..clips import film_is_here, make_clip
from ..errors import EXIT_SETUP, LabError
from ..files import write_json
from ..machine.facts import commit, machine_facts
from ..machine.lock import only_one
from ..order import interleaved
from ..paths import require_program
from ..processes import choose_cpus
from ..progress import Teller, spoken_time, tell, tell_table
from ..table import medians_table
from .findings import Figures, LoadFigures, sentences
from .output import COLUMNS, DEMAND, RUNS, SUMMARY, TIMELINE, group_entry, publish, workshop
from .plot import Picture, draw
from .runs import (
    DEFAULT,
    DROP_POLICIES,
    NONE,
    Demand,
    DropPolicy,
    Load,
    Run,
    Setup,
    Stopped,
    assess,
    loads_of,
    measure_demand,
    play_policy,
    ranges,
)

# Comparing a lost picture with the ideal one takes about so many times the CPU time of decoding it.
ASSESS_FACTOR = 6.0
# A play during which the demo is stopped (Ctrl-Z) is repeated, up to so many times.
PLAY_ATTEMPTS = 3
# The part is not made shorter than this.
LENGTH_MIN_S, LENGTH_STEP_S = 3.0, 0.5
# The load whose pictures are drawn one by one is the nearest one to this.
DRAWN_RATIO = 1.4


@dataclass(frozen=True)
class DemoSize:
    """How much the demo measures, in `most_s` at most. `ratios`: the loads, as what playing needs divided by what it may use."""

    most_s: float
    length_s: float
    repetitions: int
    ratios: tuple[float, ...]

    def run_s(self, setup: Setup, policy: DropPolicy, load: Load) -> float:
        """Returns how long a play should take. Under an overload, those without a queue take longer than the part."""
        start_s = 0.5 + load.demand.start_cpu_s / load.share
        stretch = 1.0 if policy is DEFAULT else max(1.0, load.ratio)
        return min(setup.run_limit_s(load), stretch * setup.length_s + start_s)


FULL = DemoSize(most_s=280, length_s=6, repetitions=2, ratios=(0.7, 1.0, 1.4, 2.2))
QUICK = DemoSize(most_s=110, length_s=5, repetitions=1, ratios=(0.8, 1.3, 2.2))


@dataclass(frozen=True)
class Film:
    """A recipe of media/, and where the part to play begins: at a key frame, so that no run decodes what is not shown."""

    name: str
    about: str
    start_s: float


TRAILER = Film("trailer_1080p", "the Big Buck Bunny trailer in 1080p", 19.08)
MADE_CLIP = Film(
    "hard_1080p", "a made clip (set DLEX_MEDIA to a folder with bbb_trailer_720p.mp4 for the real film)", 4
)

Case = tuple[Load, DropPolicy]
Runs = dict[Case, list[Run]]


@dataclass(frozen=True)
class DemoOptions:
    root: Path
    out: Path
    quick: bool
    clip: Path | None
    start_s: float | None


def demo(options: DemoOptions) -> None:
    console = Console()
    size = QUICK if options.quick else FULL
    with only_one("demo"), workshop(options.out) as folder:
        setup = _setup(options, size, console)
        os.sched_setaffinity(0, setup.driver_cpus)
        setup, demand = _measure(setup, size, folder / RUNS / DEMAND)
        loads = loads_of(demand, size.ratios)
        cases = _cases(demand, size)
        plan_s = _plan_s(setup, size, cases)
        _announce(console, setup, size, loads, plan_s)
        with Teller(console, plan_s) as teller:
            runs, failures = _play_all(setup, folder, size, cases, teller)
            failures += _assess_all(setup, runs, teller)
        if not any(runs.values()):
            raise LabError(f"no play has any figures: {failures[0]}")
        results = Results(setup, size, runs, failures)
        out = options.out.resolve()
        results.write(folder, out)
        publish(folder, out)
        results.tell(console, out)


def _setup(options: DemoOptions, size: DemoSize, console: Console) -> Setup:
    clip, start_s = _clip(options, console)
    cpu, driver_cpus = choose_cpus()
    return Setup(
        player=require_program(options.root / "build/release/player/dlex-play"),
        qoe=require_program(options.root / "build/release/qoe/dlex-qoe"),
        clip=clip,
        start_s=start_s if options.start_s is None else options.start_s,
        length_s=size.length_s,
        cpu=cpu,
        driver_cpus=driver_cpus,
    )


def _clip(options: DemoOptions, console: Console) -> tuple[Path, float]:
    if options.clip:
        if not options.clip.is_file():
            raise LabError(f"there is no file {options.clip}; name a film with --clip=FILE", EXIT_SETUP)
        return options.clip.resolve(), 0.0
    film = TRAILER if film_is_here() else MADE_CLIP
    tell(console, f"clip: {film.about}")
    return make_clip(options.root, film.name), film.start_s


def _cases(demand: Demand, size: DemoSize) -> list[Case]:
    return list(itertools.product(loads_of(demand, size.ratios), DROP_POLICIES))


def _measure(setup: Setup, size: DemoSize, directory: Path) -> tuple[Setup, Demand]:
    """Measures the demand. Shortens the part, and measures again, if the demo would take too long."""
    demand, length_s = measure_demand(setup, directory, tick=lambda: None)
    whole = setup = replace(setup, length_s=length_s)
    while _plan_s(setup, size, _cases(demand, size)) > size.most_s and setup.length_s - LENGTH_STEP_S >= LENGTH_MIN_S:
        setup = replace(setup, length_s=setup.length_s - LENGTH_STEP_S)
    if setup != whole:
        demand, length_s = measure_demand(setup, directory / "shorter", tick=lambda: None)
    return replace(setup, length_s=length_s), demand


def _assess_s(setup: Setup, policy: DropPolicy, load: Load) -> float:
    """Returns how long comparing one run should take, with others at the same time."""
    lost = 0.0 if policy is NONE else max(0.0, 1 - 0.6 / load.ratio)  # seen in demos
    return (1 + ASSESS_FACTOR * lost) * load.demand.rate * setup.length_s / setup.comparisons_at_once


def _plan_s(setup: Setup, size: DemoSize, cases: Iterable[Case]) -> float:
    plays_s = [size.run_s(setup, policy, load) + _assess_s(setup, policy, load) for load, policy in cases]
    return size.repetitions * sum(plays_s) + 3


def _announce(console: Console, setup: Setup, size: DemoSize, loads: Sequence[Load], plan_s: float) -> None:
    times = "once" if size.repetitions == 1 else f"{size.repetitions} times"
    shares = ", ".join(f"{load.share:.0%}" for load in loads)
    tell(
        console,
        f"{setup.length_s:g} s of it need {loads[0].demand.rate:.0%} of CPU {setup.cpu}. They are played {times} with each of "
        f"{len(DROP_POLICIES)} ways of dropping, in each case with {shares} of the CPU: loads of "
        f"{', '.join(load.name for load in loads)}. Null sinks (an ideal screen and sound card without output), no privileges. "
        f"This takes about {spoken_time(plan_s)}.",
    )
    if setup.cpu in setup.driver_cpus:
        tell(console, "There is only one CPU, so this program shares it with the measured player.")


def _play_all(
    setup: Setup, folder: Path, size: DemoSize, cases: Sequence[Case], teller: Teller
) -> tuple[Runs, list[str]]:
    """Returns the runs, and a sentence for each play that failed."""
    runs: Runs = {case: [] for case in cases}
    failures: list[str] = []
    order = interleaved(cases, size.repetitions)
    for number, (repetition, (load, policy)) in enumerate(order, 1):
        label = f"[{number:2}/{len(order)}] load {load.name}, {policy.name}"
        teller.step(label, size.run_s(setup, policy, load))
        directory = folder / RUNS / f"{load.name.rstrip('%')}-{policy.name}-{repetition}"
        try:
            runs[load, policy].append(_played(setup, policy, load, directory, teller))
        except LabError as error:
            failures.append(_left_out(load, policy, error, teller))
    return runs, failures


def _played(setup: Setup, policy: DropPolicy, load: Load, directory: Path, teller: Teller) -> Run:
    for _attempt in range(PLAY_ATTEMPTS - 1):
        try:
            return play_policy(setup, policy, load, directory, teller.tick)
        except Stopped:
            teller.say("  the demo was stopped in the middle of this play; it is repeated")
            shutil.rmtree(directory)
    return play_policy(setup, policy, load, directory, teller.tick)


def _assess_all(setup: Setup, runs: Runs, teller: Teller) -> list[str]:
    """Removes the runs for which dlex-qoe fails. Returns a sentence for each."""
    every_run = list(itertools.chain.from_iterable(runs.values()))
    if not every_run:
        return []
    teller.step("comparing with the ideal pictures", sum(_assess_s(setup, run.policy, run.load) for run in every_run))
    failures = []
    for run, error in assess(setup, every_run, teller.tick):
        runs[run.load, run.policy].remove(run)
        failures.append(_left_out(run.load, run.policy, error, teller))
    return failures


def _left_out(load: Load, policy: DropPolicy, error: LabError, teller: Teller) -> str:
    sentence = f"A play of {policy.name} at load {load.name} is left out: {error}."
    teller.say(f"  {sentence}")
    return sentence


@dataclass(frozen=True)
class Results:
    setup: Setup
    size: DemoSize
    runs: Runs
    failures: list[str]

    @cached_property
    def spreads(self) -> dict[Case, dict[str, Figures]]:
        return {case: ranges(of_case) for case, of_case in self.runs.items()}

    @property
    def loads(self) -> list[Load]:
        return list(dict.fromkeys(load for load, _policy in self.runs))

    @cached_property
    def findings(self) -> list[str]:
        def medians(load: Load) -> dict[str, Figures]:
            return {policy.name: self.spreads[load, policy]["median"] for policy in DROP_POLICIES if self.runs[load, policy]}

        figures = [LoadFigures(load.name, load.ratio, medians(load)) for load in self.loads]
        others = [it.name for it in DROP_POLICIES if it not in (DEFAULT, NONE)]
        return [*self.failures, *sentences(figures, DEFAULT.name, others)]

    def write(self, folder: Path, out: Path) -> None:
        """Writes the results into `folder`, with the records' paths as they will be in `out`."""
        for run in itertools.chain.from_iterable(self.runs.values()):
            run.directory = out / run.directory.relative_to(folder)
        write_json(folder / SUMMARY, self._summary())
        draw(self._picture(), folder / TIMELINE)

    def _summary(self) -> dict[str, Any]:
        setup = self.setup
        return {
            "runs": [group_entry(load, policy, found, self.spreads[load, policy]) for (load, policy), found in self.runs.items()],
            "findings": self.findings,
            "clip": {"path": str(setup.clip), "start_s": setup.start_s, "length_s": setup.length_s},
            "sinks": {"video": "null", "audio": "null"},
            "cpu": setup.cpu,
            "demand": vars(self.loads[0].demand),
            "machine": machine_facts().to_json(),
            "commit": commit(),
        }

    def _picture(self) -> Picture:
        played = [load for load in self.loads if any(self.runs[load, policy] for policy in DROP_POLICIES)]
        drawn = min(played, key=lambda load: abs(load.ratio - DRAWN_RATIO))
        return Picture(
            title=f"{self.setup.clip.stem.split('-')[0]}: what is lost when the film needs more CPU time than it gets",
            loads=self.loads,
            spreads={(load, policy.name): it for (load, policy), it in self.spreads.items()},
            drawn=drawn,
            runs={policy.name: self.runs[drawn, policy][0] for policy in DROP_POLICIES if self.runs[drawn, policy]},
        )

    def _row_name(self, load: Load, policy: DropPolicy) -> str:
        return policy.name if self.runs[load, policy] else f"{policy.name} (failed)"

    def tell(self, console: Console, out: Path) -> None:
        for load in self.loads:
            tell(console, f"\nload {load.name}: the player may use {load.share:.1%} of the CPU")
            spreads = {self._row_name(load, policy): self.spreads[load, policy] for policy in DROP_POLICIES}
            tell_table(console, medians_table(spreads, self.size.repetitions, console.width, columns=COLUMNS))
        for sentence in self.findings:
            tell(console, f"- {sentence}")
        tell(console, f"\nfigures: {out / SUMMARY}\npicture: {out / TIMELINE}", wrap=False)
