# SPDX-License-Identifier: LGPL-2.1-or-later
"""`./dlex demo`: four drop policies on one busy CPU, side by side."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from rich.console import Console

from .. import paper
from ..clips import film_is_here, make_clip
from ..errors import EXIT_SETUP, LabError
from ..files import write_json
from ..machine.facts import commit, machine_facts
from ..machine.lock import only_one
from ..order import interleaved
from ..paths import require_program
from ..processes import choose_cpus
from ..progress import Teller, spoken_time, tell, tell_table
from ..rig.load.rtapp import find_rtapp
from ..table import medians_table
from .calibration import LoadCalibration, calibrate_load
from .findings import Figures, sentences
from .output import CALIBRATION, RUNS, SUMMARY, TIMELINE, policy_entry, publish, workshop
from .plot import draw
from .runs import DROP_POLICIES, DropPolicy, Run, Setup, assess, play_loaded, probe, ranges, run_limit_s, typical

# Seconds that a run takes beyond those played: start-up at a small share of a CPU, and ending late.
OVERHEAD_S = 1.2


@dataclass(frozen=True)
class DemoSize:
    """How much the demo measures."""

    length_s: float
    repetitions: int
    max_tries: int

    @property
    def run_s(self) -> float:
        return self.length_s * 1.05 + OVERHEAD_S

    @property
    def try_s(self) -> float:
        return self.length_s * 1.15 + OVERHEAD_S

    @property
    def calibration_s(self) -> float:
        return 0.3 * self.length_s + 3 + self.max_tries * self.try_s

    @property
    def calibration_limit_s(self) -> float:
        """Returns the latest start of a try beyond those planned, in s from the start of the calibration.

        A try that starts then makes the demo a tenth longer than announced.
        """
        return self.calibration_s - self.try_s + 0.1 * self.plan_s

    @property
    def assess_s(self) -> float:
        return 0.15 * self.length_s * len(DROP_POLICIES) * self.repetitions

    @property
    def plan_s(self) -> float:
        return self.calibration_s + len(DROP_POLICIES) * self.repetitions * self.run_s + self.assess_s + 2


FULL = DemoSize(length_s=11, repetitions=3, max_tries=3)
QUICK = DemoSize(length_s=5, repetitions=3, max_tries=2)


@dataclass(frozen=True)
class Film:
    """A recipe of media/, and where the part to play begins.

    The part begins at a key frame, so that no run begins by decoding pictures that are not shown. In the trailer's
    part, busy and calm scenes alternate so that a demand of 115 % of the share goes with an end 15 % late. Other parts
    are either calm at the end or overloaded only there.
    """

    name: str
    about: str
    start_s: float


TRAILER = Film("trailer_1080p", "the Big Buck Bunny trailer in 1080p", 19.08)
MADE_CLIP = Film(
    "hard_1080p", "a made clip (set DLEX_MEDIA to a folder with bbb_trailer_720p.mp4 for the real film)", 4
)


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
    find_rtapp()
    with only_one("demo"), workshop(options.out) as folder:
        setup = _setup(options, size, console)
        probe(setup, folder / "probe")
        os.sched_setaffinity(0, setup.driver_cpus)
        _announce(console, setup, size)
        with Teller(console, size.plan_s) as teller:
            calibration = _calibrate(setup, folder, size, teller)
            runs = _play_all(setup, folder, size, calibration, teller)
            teller.step("comparing with the ideal pictures", size.assess_s)
            assess(setup, [run for of_policy in runs.values() for run in of_policy], teller.tick)
        results = Results(setup, size, calibration, runs)
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


def _announce(console: Console, setup: Setup, size: DemoSize) -> None:
    tasks = " and ".join(f"{task.work_us / 1e3:g} of {task.period_us / 1e3:g} ms" for task in paper.TASKS)
    policies = ", ".join(policy.name for policy in DROP_POLICIES)
    tell(
        console,
        f"{setup.length_s:g} s of it {size.repetitions} times each with {policies}: CPU {setup.cpu}, player at nice "
        f"19 beside rt-app ({tasks}) and a third task; null sinks (an ideal screen and sound card without output), "
        f"no privileges. This takes about {spoken_time(size.plan_s)}.",
    )
    if setup.cpu in setup.driver_cpus:
        tell(console, "There is only one CPU, so this program shares it with the measured player.")


def _calibrate(setup: Setup, folder: Path, size: DemoSize, teller: Teller) -> LoadCalibration:
    teller.step("calibrating the load", size.calibration_s)
    limit_s = size.calibration_limit_s
    directory = folder / RUNS / CALIBRATION
    found = calibrate_load(setup, directory, size.max_tries, limit_s, say=teller.say, tick=teller.tick)
    # `none` ends this much later, and the rule `paper` nearly as much.
    later_s = 2 * size.repetitions * size.length_s * max(0.0, found.missed_by or 0.0)
    teller.expect(size.plan_s - size.calibration_s + later_s)
    return found


def _play_all(
    setup: Setup, folder: Path, size: DemoSize, calibration: LoadCalibration, teller: Teller
) -> dict[DropPolicy, list[Run]]:
    runs: dict[DropPolicy, list[Run]] = {policy: [] for policy in DROP_POLICIES}
    # On a busy machine a play can take much longer than the try that was nearest to the aim.
    limit_s = run_limit_s(setup.length_s) * (1 + max(0.0, calibration.missed_by or 0.0))
    order = interleaved(DROP_POLICIES, size.repetitions)
    for number, (repetition, policy) in enumerate(order, 1):
        teller.step(f"[{number:2}/{len(order)}] {policy.name}, repetition {repetition}", size.run_s)
        directory = folder / RUNS / f"{repetition}-{policy.name.replace(' ', '-')}"
        run = play_loaded(
            setup,
            policy,
            directory,
            calibration.share,
            calibration.ns_per_loop,
            tick=teller.tick,
            nice=calibration.nice,
            limit_s=limit_s,
        )
        runs[policy].append(run)
    return runs


@dataclass(frozen=True)
class Results:
    setup: Setup
    size: DemoSize
    calibration: LoadCalibration
    runs: dict[DropPolicy, list[Run]]

    @cached_property
    def spreads(self) -> dict[str, dict[str, Figures]]:
        return {policy.name: ranges(of_policy) for policy, of_policy in self.runs.items()}

    @cached_property
    def findings(self) -> list[str]:
        medians = {name: found["median"] for name, found in self.spreads.items()}
        return sentences(medians, self.setup.length_s, self.calibration.missed)

    def write(self, folder: Path, out: Path) -> None:
        """Writes the results into `folder`, with the records' paths as they will be in `out`."""
        for run in itertools.chain.from_iterable(self.runs.values()):
            run.directory = out / run.directory.relative_to(folder)
        write_json(folder / SUMMARY, self._summary())
        shown = [typical(found, self.spreads[policy.name]["median"]) for policy, found in self.runs.items()]
        draw(shown, self.calibration.frame_s, self._title(shown), folder / TIMELINE)

    def _summary(self) -> dict[str, Any]:
        setup = self.setup
        return {
            "runs": [policy_entry(policy, found, self.spreads[policy.name]) for policy, found in self.runs.items()],
            "findings": self.findings,
            "clip": {"path": str(setup.clip), "start_s": setup.start_s, "length_s": setup.length_s},
            "sinks": {"video": "null", "audio": "null"},
            "cpu": setup.cpu,
            "calibration": self.calibration.as_json(),
            "machine": machine_facts().to_json(),
            "commit": commit(),
        }

    def _title(self, shown: Sequence[Run]) -> str:
        clip = self.setup.clip.stem.split("-")[0]
        drawn = [found.index(run) + 1 for found, run in zip(self.runs.values(), shown, strict=True)]
        share = f"with {self.calibration.share:.1%} of a CPU left for the player"
        if self.calibration.missed:
            share = "on a CPU whose load did not reach its aim"
        return (
            f"{clip}: every picture, {share}; {drawn_repetitions(drawn, self.size.repetitions)}"
        )

    def tell(self, console: Console, out: Path) -> None:
        tell_table(console, medians_table(self.spreads, self.size.repetitions, console.width))
        for sentence in self.findings:
            tell(console, f"- {sentence}")
        tell(console, f"\nfigures: {out / SUMMARY}\npicture: {out / TIMELINE}", wrap=False)


def drawn_repetitions(drawn: Sequence[int], of: int) -> str:
    """Names the drawn repetition of each policy, from the uppermost policy to the lowest.

    For each policy, the repetition that is nearest to the median was chosen.
    """
    if len(set(drawn)) == 1:
        return f"repetition {drawn[0]} of {of}"
    return f"repetitions {', '.join(map(str, drawn[:-1]))} and {drawn[-1]} of {of}"
