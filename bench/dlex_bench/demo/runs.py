# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plays the clip once under one policy, alone or beside the load, and summarises a set of such runs.

The load is the seed's two rt-app tasks (seed 000, section 8) and a filler, all on one CPU. The player runs at nice 19
and so receives what this load leaves. At an equal nice value, fair scheduling would protect the player: if it asks for
a tenth of a CPU it gets that, however many others want the rest.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..errors import LabError
from ..processes import child, last_words, wait_for
from ..qoe import comparing, limit_s, read_summary
from ..record import Frame, cpu_of_playing, end_skew_ms, read_frames
from ..rig.load.filling import filler, what_it_ate
from ..rig.load.rtapp import rtapp
from ..rig.load.rtapp_log import TaskStats
from .findings import Figures

# Beside the load, at nice 19, the player receives what the load leaves. If other programs compute on the CPU, it gets a
# hundredth of what they get and cannot end in time. At an equal nice value it gets as much as each of them.
NICE, NICE_BESIDE_OTHERS = 19, 0

Tick = Callable[[], None]


@dataclass(frozen=True)
class DropPolicy:
    drop: str
    rule: str | None = None

    @property
    def name(self) -> str:
        return f"{self.drop} {self.rule}" if self.rule else self.drop

    @property
    def arguments(self) -> list[str]:
        return [f"--drop={self.drop}", "--queue=0"] + ([f"--deadline-rule={self.rule}"] if self.rule else [])


NONE = DropPolicy("none")
HEURISTIC = DropPolicy("heuristic")
PAPER = DropPolicy("deadline", "paper")
SLACK = DropPolicy("deadline", "slack")
DROP_POLICIES = (NONE, HEURISTIC, PAPER, SLACK)


@dataclass(frozen=True)
class Setup:
    """Holds what stays the same from run to run: the programs, the part of the clip, and the CPUs."""

    player: Path
    qoe: Path
    clip: Path
    start_s: float
    length_s: float
    cpu: int
    driver_cpus: frozenset[int]

    @property
    def all_cpus(self) -> frozenset[int]:
        return self.driver_cpus | {self.cpu}


@dataclass
class LoadUsage:
    """What the load took while it ran, as fractions of the CPU, and the results of rt-app's tasks."""

    elapsed_s: float = 0.0
    rtapp: float = 0.0
    filler: float = 0.0
    forgone: float = 0.0
    tasks: dict[str, TaskStats] = field(default_factory=dict)

    @property
    def left(self) -> float:
        return 1 - self.rtapp - self.filler


@dataclass
class Run:
    policy: DropPolicy
    directory: Path
    frames: list[Frame]
    player_cpu_s: float | None
    load: LoadUsage | None = None
    summary: dict[str, float] = field(default_factory=dict)

    @property
    def end_skew_ms(self) -> float:
        return end_skew_ms(self.frames)

    @property
    def aborted_begun(self) -> int:
        return sum(frame.verdict == "aborted" and frame.begun for frame in self.frames)


def run_limit_s(length_s: float) -> float:
    """Returns how long a play of `length_s` may take unless it is known to take longer."""
    return 3 * length_s + 20


def play_once(
    setup: Setup,
    policy: DropPolicy,
    directory: Path,
    *,
    tick: Tick,
    options: Sequence[str] = (),
    nice: int = 0,
    limit_s: float | None = None,
) -> Run:
    """Runs the player once on the measured CPU, beside everything else that runs there.

    Raises TimedOut after `limit_s`, by default after three times the length plus 20 s.
    """
    directory.mkdir(parents=True, exist_ok=True)
    record = directory / "record"
    extent = [f"--start={setup.start_s:.3f}", f"--length={setup.length_s:.3f}"]
    sinks = ["--vo=null", "--ao=null", "--quiet", f"--record={record}"]
    argv: list[str | Path] = [setup.player, *sinks, *policy.arguments, *options, *extent, setup.clip]
    log = directory / "player.log"
    with log.open("wb") as log_file, child(argv, cpus={setup.cpu}, nice=nice, stderr=log_file) as player:
        wait_for(player, limit_s or run_limit_s(setup.length_s), tick, f"dlex-play under {policy.name}")
    if player.returncode != 0:
        raise LabError(last_words(log) or f"dlex-play ended with status {player.returncode}; try it by hand")
    cpu = cpu_of_playing(record)
    return Run(policy, record, read_frames(record), cpu.process_s if cpu else None)


def probe(setup: Setup, directory: Path) -> None:
    """Fails with the player's own message if it cannot play the clip or there is nothing to play."""
    play_once(replace(setup, length_s=0.2), NONE, directory, tick=lambda: None, options=["--untimed"])


@contextmanager
def load(cpu: int, share: float, ns_per_loop: float, log_dir: Path) -> Iterator[LoadUsage]:
    """Leaves `share` of `cpu` to others while the block runs; the result is filled in when the block ends."""
    usage = LoadUsage()
    with rtapp(cpu, ns_per_loop, log_dir) as running:
        with filler(cpu, share, running.process.pid) as third:
            yield usage
            for key, part in what_it_ate(third).items():
                setattr(usage, key, part)
    usage.tasks = running.task_stats()


def play_loaded(
    setup: Setup,
    policy: DropPolicy,
    directory: Path,
    share: float,
    ns_per_loop: float,
    *,
    tick: Tick,
    nice: int = NICE,
    limit_s: float | None = None,
) -> Run:
    """Runs the player beside the load, which leaves it `share` of the CPU."""
    with load(setup.cpu, share, ns_per_loop, directory / "load") as report:
        run = play_once(setup, policy, directory, tick=tick, nice=nice, limit_s=limit_s)
    run.load = report
    return run


def assess(setup: Setup, runs: Sequence[Run], tick: Tick) -> None:
    """Lets dlex-qoe compare each run with the ideal pictures, as many at once as there are CPUs."""
    at_once = len(setup.all_cpus)
    for first in range(0, len(runs), at_once):
        batch = runs[first : first + at_once]
        with ExitStack() as stack:
            starts = [comparing(setup.qoe, run.directory, _qoe_json(run), setup.all_cpus) for run in batch]
            started = [stack.enter_context(start) for start in starts]
            for run, process in zip(batch, started, strict=True):
                wait_for(process, limit_s(setup.length_s), tick, "dlex-qoe")
                run.summary = read_summary(_qoe_json(run), process.returncode).to_json()


def _qoe_json(run: Run) -> Path:
    return run.directory.parent / "qoe.json"


def figures(run: Run) -> Figures:
    """Returns one run in numbers: dlex-qoe's summary, how late its last picture was, how many were aborted midway."""
    return {**run.summary, "skew_end_ms": run.end_skew_ms, "aborted_begun": run.aborted_begun}


def ranges(runs: Sequence[Run]) -> dict[str, Figures]:
    """Returns median, minimum and maximum of each figure over the repetitions."""
    rows = [figures(run) for run in runs]
    columns = {key: [value for row in rows if (value := row[key]) is not None] for key in rows[0]}
    return {
        "median": {key: statistics.median(values) if values else None for key, values in columns.items()},
        "min": {key: min(values, default=None) for key, values in columns.items()},
        "max": {key: max(values, default=None) for key, values in columns.items()},
    }


def typical(runs: Sequence[Run], median: Figures) -> Run:
    """Returns the repetition whose mean skew is nearest to the median one: the run that the plot should show."""
    return min(runs, key=lambda run: abs(run.summary["skew_ms_mean"] - (median["skew_ms_mean"] or 0)))
