# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plays the clip once under one policy and one load, and summarises a set of such runs.

The load is how much CPU time the player needs for everything, divided by how much it may use. The player is limited as a
quota of the kernel would limit it (rig.load.throttle), which needs no privileges. What other programs do on the CPU
makes the load heavier; each run says what it really got.
"""

from __future__ import annotations

import contextlib
import math
import signal
import statistics
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..errors import EXIT_SETUP, LabError, TimedOut
from ..processes import child, last_words, wait_for
from ..qoe import comparing, limit_s, read_summary
from ..record import Frame, RunFacts, cpu_of_playing, frame_duration_s, read_frames, read_run
from ..rig.load.throttle import Supply, limited
from .findings import Figures

Tick = Callable[[], None]

# A play may take so much longer than the part it plays; then it is ended, and what it has shown counts. A player that drops
# nothing would need as many times its length as the load says.
LATE_FACTOR, START_S = 1.2, 1.5
ENDED_BY_SIGNAL = 4
# The player never gets the whole CPU, because the demo must be able to stop it; and with less than the least share it would
# stand still for several periods.
SHARE_MIN, SHARE_MAX = 0.01, 0.95
# Shares that differ by less are one load.
SAME_SHARE = 0.05
# After a play the player computes the checksum of the film, which takes long for a large one.
CHECKSUM_S = 300.0
PROBE_S = 0.2
FEWEST_PICTURES = 10
# More comparisons at once need more memory and are hardly faster.
COMPARISONS_MAX = 4


@dataclass(frozen=True)
class DropPolicy:
    name: str
    arguments: tuple[str, ...]


NONE = DropPolicy("none", ("--drop=none", "--queue=0"))
HEURISTIC = DropPolicy("heuristic", ("--drop=heuristic", "--queue=0"))
PAPER = DropPolicy("paper", ("--drop=deadline", "--deadline-rule=paper", "--queue=0"))
DEFAULT = DropPolicy("dlex-play", ())
DROP_POLICIES = (NONE, HEURISTIC, PAPER, DEFAULT)


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

    @property
    def comparisons_at_once(self) -> int:
        return min(COMPARISONS_MAX, len(self.all_cpus))

    def run_limit_s(self, load: Load) -> float:
        return LATE_FACTOR * self.length_s + START_S + load.demand.start_cpu_s / load.share


@dataclass(frozen=True)
class Demand:
    """What playing everything needs.

    `rate`: CPU time for each second of the film. `pictures`: how many there are, each `frame_s` long. `start_cpu_s`: CPU time
    before the first one.
    """

    rate: float
    pictures: int
    frame_s: float
    start_cpu_s: float = 0.0


@dataclass(frozen=True)
class Load:
    """`share`: the fraction of a CPU that the player may use."""

    demand: Demand
    share: float

    @property
    def ratio(self) -> float:
        return self.demand.rate / self.share

    @property
    def name(self) -> str:
        return f"{100 * self.ratio:.0f}%"


def loads_of(demand: Demand, ratios: Sequence[float]) -> list[Load]:
    """Returns the loads with these ratios, the lightest first. Those that the CPU cannot give are replaced by one."""
    shares: list[float] = []
    for share in sorted((min(max(demand.rate / ratio, SHARE_MIN), SHARE_MAX) for ratio in ratios), reverse=True):
        if not shares or share < (1 - SAME_SHARE) * shares[-1]:
            shares.append(share)
    return [Load(demand, share) for share in shares]


@dataclass
class Run:
    policy: DropPolicy
    load: Load
    directory: Path
    frames: list[Frame]
    supply: Supply
    summary: dict[str, float | None] = field(default_factory=dict)

    @property
    def got(self) -> float:
        """Returns what the player got of the CPU time that it wanted and could have, 0 to about 1."""
        return self.supply.rate / min(self.load.share, self.load.demand.rate)

    @property
    def passes_over(self) -> bool:
        """Returns whether some pictures were never given to the decoder. Such a play does not want all its CPU time."""
        return any(it.verdict == "skipped" and it.decode_end_ns is None for it in self.frames)

    @property
    def unreached(self) -> int:
        """Returns how many pictures there still were when the play was ended."""
        return max(0, self.load.demand.pictures - len(self.frames))

    @property
    def last_freeze_ms(self) -> float:
        """Returns the time from the last new picture to the end of the part, if the play was ended early; else 0."""
        if not self.unreached:
            return 0.0
        first_ns = self.frames[0].pts_ns if self.frames else 0
        shown_ns = max((it.pts_ns for it in self.frames if it.verdict == "shown"), default=first_ns)
        return 1e3 * (self.load.demand.pictures * self.load.demand.frame_s - (shown_ns - first_ns) / 1e9)


class Stopped(LabError):
    """The demo was stopped (Ctrl-Z) during a play, whose figures mean nothing now."""


def play_policy(setup: Setup, policy: DropPolicy, load: Load, directory: Path, tick: Tick) -> Run:
    """Plays beside whatever else the CPU does, with the load's share."""
    directory.mkdir(parents=True, exist_ok=True)
    record, log = directory / "record", directory / "player.log"
    with log.open("wb") as log_file, child(_argv(setup, policy.arguments, record), cpus={setup.cpu}, stderr=log_file) as player:
        limits = limited(player, load.share, setup.run_limit_s(load), tick)
        player.send_signal(signal.SIGTERM)
        wait_for(player, CHECKSUM_S, tick, f"dlex-play's record under {policy.name}")
    if limits.stopped_s > 0:
        raise Stopped("the demo was stopped during this play")
    if player.returncode not in (0, ENDED_BY_SIGNAL) or not (record / "run.json").exists():
        raise LabError(last_words(log) or f"dlex-play ended with status {player.returncode}; try it by hand")
    return Run(policy, load, record, read_frames(record), _supply(read_run(record), limits))


def _supply(run: RunFacts, limits: Supply) -> Supply:
    """Returns what the player got while it played, without what it did before and afterwards."""
    wall_s = ((run.ended_ns or 0) - (run.started_ns or 0)) / 1e9
    return replace(limits, cpu_s=(run.process_cpu_ns or 0) / 1e9, wall_s=wall_s, ended=run.ended == "end")


def measure_demand(setup: Setup, directory: Path, tick: Tick) -> tuple[Demand, float]:
    """Returns what decoding and showing everything needs, and the length in s of the part that there is to play."""
    start_cpu_s = 0.0
    with contextlib.suppress(LabError):  # then it counts as nothing
        start_cpu_s, _frames = _untimed(replace(setup, length_s=PROBE_S), directory / "start", tick)
    cpu_s, frames = _untimed_whole(setup, directory, tick)
    if len(frames) < FEWEST_PICTURES:
        raise LabError(f"there are only {len(frames)} pictures to play; give a longer film or an earlier --start", EXIT_SETUP)
    frame_s = frame_duration_s(frames)
    length_s = (frames[-1].pts_ns - frames[0].pts_ns) / 1e9 + frame_s
    rate = cpu_s / length_s
    demand = Demand(rate, len(frames), length_s / len(frames), max(0.0, start_cpu_s - PROBE_S * rate))
    return demand, min(length_s, setup.length_s)


def _untimed_whole(setup: Setup, directory: Path, tick: Tick) -> tuple[float, list[Frame]]:
    """Tries it again once if the player fails. A film that cannot be played fails twice."""
    try:
        return _untimed(setup, directory / "whole", tick)
    except TimedOut:
        raise
    except LabError:
        return _untimed(setup, directory / "again", tick)


def _untimed(setup: Setup, directory: Path, tick: Tick) -> tuple[float, list[Frame]]:
    """Plays as fast as possible. Returns the CPU time and the pictures; fails with the player's own message."""
    directory.mkdir(parents=True, exist_ok=True)
    record, log = directory / "record", directory / "player.log"
    argv = _argv(setup, (*NONE.arguments, "--untimed"), record)
    with log.open("wb") as log_file, child(argv, cpus={setup.cpu}, stderr=log_file) as player:
        wait_for(player, 10 * setup.length_s + CHECKSUM_S, tick, "decoding the clip")
    cpu = cpu_of_playing(record) if player.returncode == 0 else None
    if cpu is None:
        raise LabError(last_words(log) or f"dlex-play ended with status {player.returncode}; try it by hand")
    return cpu.process_s, read_frames(record)


def _argv(setup: Setup, arguments: Sequence[str], record: Path) -> list[str | Path]:
    extent = [f"--start={setup.start_s:.3f}", f"--length={setup.length_s:.3f}"]
    sinks = ["--vo=null", "--ao=null", "--quiet", f"--record={record}"]
    return [setup.player, *sinks, *arguments, *extent, setup.clip]


def assess(setup: Setup, runs: Sequence[Run], tick: Tick) -> list[tuple[Run, LabError]]:
    """Lets dlex-qoe compare each run with the ideal pictures. Returns the runs for which that failed; they have no summary."""
    failed: list[tuple[Run, LabError]] = []
    at_once = setup.comparisons_at_once
    for first in range(0, len(runs), at_once):
        batch = runs[first : first + at_once]
        with ExitStack() as stack:
            starts = [comparing(setup.qoe, run.directory, _qoe_json(run), setup.all_cpus) for run in batch]
            started = [stack.enter_context(start) for start in starts]
            for run, process in zip(batch, started, strict=True):
                try:
                    wait_for(process, limit_s(setup.length_s), tick, "dlex-qoe")
                    run.summary = read_summary(_qoe_json(run), process.returncode).to_json()
                except LabError as error:
                    failed.append((run, error))
    return failed


def _qoe_json(run: Run) -> Path:
    return run.directory.parent / "qoe.json"


def figures(run: Run) -> Figures:
    """Returns one run in numbers: dlex-qoe's summary, and what follows from the load.

    `unreached` are the pictures whose turn did not come before the play was ended. They are lost as well, and the freeze
    lasts to the end of the part. Their RMSE is not known. `got` does not apply to a play that passes pictures over.
    """
    pictures = run.load.demand.pictures
    shown = run.summary.get("shown") or 0.0
    mean, sd = (run.summary.get(f"skew_ms_{key}") or 0.0 for key in ("mean", "sd"))
    return {
        **run.summary,
        "longest_freeze_ms": max(run.summary.get("longest_freeze_ms") or 0.0, run.last_freeze_ms),
        "unreached": run.unreached,
        "lost_fraction": max(0.0, 1 - shown / pictures),
        "skew_ms_rms": math.hypot(mean, sd),
        "got": None if run.passes_over else run.got,
        "waited": run.supply.waited,
    }


def ranges(runs: Sequence[Run]) -> dict[str, Figures]:
    """Returns median, minimum and maximum of each figure over the repetitions. Without any run there are no figures."""
    rows = [figures(run) for run in runs]
    keys = rows[0] if rows else ()
    columns = {key: [value for row in rows if (value := row.get(key)) is not None] for key in keys}
    return {
        "median": {key: statistics.median(values) if values else None for key, values in columns.items()},
        "min": {key: min(values, default=None) for key, values in columns.items()},
        "max": {key: max(values, default=None) for key, values in columns.items()},
    }
