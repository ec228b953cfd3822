# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads a run record (run.json, frames.csv) as dlex-play writes it."""

from __future__ import annotations

import csv
import itertools
import statistics
from dataclasses import dataclass
from pathlib import Path

from .errors import LabError
from .schema import Stored

# unseen: the verdict of an observer of the screen, who does not know the reason.
DROPPED = ("aborted", "skipped", "late", "unseen")
PLAYED = ("shown", *DROPPED)


class ScreenFacts(Stored):
    pictures_torn: int | None = None  # pictures that were never whole on the screen, or only late
    look_late_us_p99: float | None = None  # how late the observer looked
    look_late_us_worst: float | None = None


class SoundFacts(Stored):
    breaks: int | None = None


class ObserverFacts(Stored):
    """What an observer recorded about its own work."""

    screen: ScreenFacts = ScreenFacts()
    sound: SoundFacts = SoundFacts()
    sched: str | None = None  # under which policy it looked at the screen
    cpu_fraction: float | None = None  # of one CPU


class RunOptions(Stored):
    rate_hz: float | None = None  # an observer's: how often it looks


class ThreadFacts(Stored):
    roles: str = ""  # such as "decode, present"


class SchedulingFacts(Stored):
    threads: tuple[ThreadFacts, ...] = ()


class QueueFacts(Stored):
    pictures_max: int | None = None  # the most pictures that waited


class RunFacts(Stored):
    """What run.json says of a run, as far as the laboratory needs it."""

    process_cpu_ns: int | None = None  # CPU time until playing ended; absent: of an older player, or of an observer
    held_cpu_ns: int | None = None
    started_ns: int | None = None  # CLOCK_MONOTONIC
    ended_ns: int | None = None
    ended: str | None = None  # how: "end", "quit", "signal"
    scheduling: SchedulingFacts | None = None
    options: RunOptions = RunOptions()
    queue: QueueFacts | None = None  # null: it did not decode ahead
    observer: ObserverFacts | None = None


@dataclass(frozen=True)
class Frame:
    pts_ns: int
    type: str
    droppable: bool
    decode_cpu_ns: int
    verdict: str
    shown_ns: int | None
    skew_ns: int | None
    decode_end_ns: int | None = None


def _number(text: str) -> int | None:
    return int(text) if text else None


def read_frames(run_dir: Path) -> list[Frame]:
    """Returns the pictures of the part that was played, in presentation order. Raises LabError if none was shown."""
    frames = read_frames_of_any_play(run_dir)
    if not any(frame.verdict == "shown" for frame in frames):
        raise LabError("no picture was shown; play the clip by hand to see why")
    return frames


def read_frames_of_any_play(run_dir: Path) -> list[Frame]:
    """Returns the same of a play that may have ended before it showed a picture (`none` rows are pre-roll)."""
    path = run_dir / "frames.csv"
    try:
        with path.open(newline="") as lines:
            return [_frame(row) for row in csv.DictReader(lines) if row["verdict"] in PLAYED]
    except (OSError, KeyError, ValueError) as cause:
        raise LabError(f"{path} cannot be read ({cause}); is dlex-play of this build?") from cause


def _frame(row: dict[str, str]) -> Frame:
    return Frame(
        pts_ns=int(row["pts_ns"]),
        type=row["type"],
        droppable=row["droppable"] == "1",
        decode_cpu_ns=_number(row["decode_cpu_ns"]) or 0,
        verdict=row["verdict"],
        shown_ns=_number(row["shown_ns"]),
        skew_ns=_number(row["skew_ns"]),
        decode_end_ns=_number(row["decode_end_ns"]),
    )


def read_run(run_dir: Path) -> RunFacts:
    return RunFacts.read(run_dir / "run.json", "is dlex-play of this build?")


@dataclass(frozen=True)
class CpuTime:
    """CPU time that a player used, in s: all its threads, and those that decode or present (None: unknown)."""

    process_s: float
    held_s: float | None


def cpu_of_playing(run_dir: Path) -> CpuTime | None:
    """Returns the CPU time of dlex-play until playing ended; None for a record of an older version, which lacks it.

    The work after that, above all reading the whole file for its checksum, is not part of playing."""
    run = read_run(run_dir)
    if run.process_cpu_ns is None:
        return None
    return CpuTime(run.process_cpu_ns / 1e9, None if run.held_cpu_ns is None else run.held_cpu_ns / 1e9)


@dataclass(frozen=True)
class TimeOfPlaying:
    """When playing began and ended, in ns of CLOCK_MONOTONIC."""

    began_ns: int
    ended_ns: int


def time_of_playing(run_dir: Path) -> TimeOfPlaying | None:
    """Returns when dlex-play began and ended to play; None if the record does not say it."""
    run = read_run(run_dir)
    return None if run.started_ns is None or run.ended_ns is None else TimeOfPlaying(run.started_ns, run.ended_ns)


def decoded_ahead(run_dir: Path) -> bool:
    """Returns whether the record says that a thread of dlex-play only decoded, and another one presented."""
    scheduling = read_run(run_dir).scheduling
    return scheduling is not None and any(thread.roles == "decode" for thread in scheduling.threads)


def end_skew_ms(frames: list[Frame]) -> float:
    """Returns how late the last shown picture was: the lag that playing has built up. (An untimed run has none.)"""
    return next((frame.skew_ns for frame in reversed(frames) if frame.skew_ns is not None), 0) / 1e6


def frame_duration_s(frames: list[Frame]) -> float:
    steps = [after.pts_ns - before.pts_ns for before, after in itertools.pairwise(frames)]
    if not steps or statistics.median(steps) <= 0:
        raise LabError("the clip has too few pictures to measure; choose a longer one")
    return statistics.median(steps) / 1e9
