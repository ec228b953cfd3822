# SPDX-License-Identifier: LGPL-2.1-or-later
"""Judges the runs of players by their windows, and of members that always compute. The functions are pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..analysis.claims import Share, goal_at_least, goal_at_most, is_below, with_interval
from ..analysis.outcome import MET, MISSED, UNMEASURED, Outcome
from ..analysis.statistics import Interval, median_interval
from .conditions import ALONE, BEST_EFFORT, DEADLINE, DISTURBED, DWCS, DWCS_WAYS, EVENTS, FIFO, OTHER, WindowSetting

NAME = "seed 001"
# Of the windows, where the players need at most so much of the CPU.
LEAST_KEPT, EASY = 0.99, 0.9
# Figure 8: the mean delay with events, of that without (the paper: 100 of 250 ms).
MOST_RATIO = 0.4
# Of the time that the dispatcher counts as service, what the members have used.
LEAST_USED = 0.95
ROUNDING = 1e-9


@dataclass(frozen=True)
class MembersRun:
    """The run of members that always compute."""

    seconds: float
    kept: int  # windows, as the dispatcher counts them
    windows: int
    used: float  # CPU time of the worst member, of the service that the dispatcher counts for it
    slots: int
    lost_slots: int
    late_us_max: float  # of a decision


@dataclass(frozen=True)
class WindowRun:
    """One run. A delay is from the wake-up of a thread to the CPU, in ms, over all players.

    The first four are of the threads that decode and present, the main ones. The players may have sound threads besides.
    """

    wake_ups: int
    mean_ms: float
    p99_ms: float
    max_ms: float
    all_wake_ups: int  # of all threads of the players
    all_mean_ms: float
    all_p99_ms: float
    all_max_ms: float
    unfinished: int  # waits that were not over at the end; they count as long as they had lasted
    lost_records: int  # of the kernel: lost, or never made (run_delay.py)
    first_ms: tuple[float, ...]  # the first delays of the first player
    kept: int | None  # windows of y periods with service, as the dispatcher counts them; null: it was not there
    windows: int | None
    events: int | None  # delivered; and those of them that made another process run
    swaps: int | None
    late_us_max: float | None  # of a decision of the dispatcher
    pictures: int | None  # null: no player said it
    lost: int | None
    picture_windows: int | None  # of y pictures, one after the other; null: the player does not say it
    picture_windows_kept: int | None  # of them, those with x lost pictures at most
    skew_ms: float | None  # mean of A-V over the players; > 0: the video is late


Runs = Mapping[WindowSetting, Sequence[WindowRun]]


def members_findings(run: MembersRun) -> list[Outcome]:
    kept = "members that always compute have their service in every window, at a utilisation of 0.9"
    used = f"members have used at least {LEAST_USED:.0%} of the time that counts as their service"
    if not run.windows:
        return [Outcome(kept, NAME, UNMEASURED, "no windows"), Outcome(used, NAME, UNMEASURED, "no windows")]
    return [
        Outcome(kept, NAME, MET if run.kept == run.windows else MISSED, f"{run.kept} of {run.windows} windows"),
        Outcome(used, NAME, MET if run.used >= LEAST_USED else MISSED, f"the worst one {run.used:.1%}"),
    ]


def windows_findings(runs: Runs, utilisations: Mapping[WindowSetting, float], kinds: Collection[str]) -> list[Outcome]:
    found = [_records(runs)]
    for kind in kinds:
        own = {setting: some for setting, some in runs.items() if setting.kind == kind}
        found += [_service(kind, own, utilisations, way) for way in DWCS_WAYS]
        found += [
            _events(f"{kind}: events shorten the mean delay (Figure 6)", own, ALONE, "the paper: by about 10 %"),
            _events(f"{kind}: events shorten the mean delay beside a best-effort program (Figure 7)", own, BEST_EFFORT,
                    "the paper: by 9 to 36 %"),
            _overload(kind, own),
            *(_policy(kind, own, way) for way in (OTHER, FIFO, DEADLINE)),
        ]
    return found


def _records(runs: Runs) -> Outcome:
    lost = [run.lost_records for some in runs.values() for run in some]
    word = UNMEASURED if not lost else MISSED if any(lost) else MET
    return Outcome("no record of a wake-up or context switch is lost", NAME, word, f"{sum(lost)} lost in {len(lost)} runs")


def _service(kind: str, runs: Runs, utilisations: Mapping[WindowSetting, float], way: str) -> Outcome:
    """Judges the service over all runs in which the CPU is enough."""
    easy = [run for setting, some in runs.items() if setting.way == way and utilisations[setting] <= EASY + ROUNDING
            for run in some]
    share = Share(sum(run.kept or 0 for run in easy), sum(run.windows or 0 for run in easy))
    name = f"{kind}, {way}: at least {LEAST_KEPT:.0%} of the windows have service where at most {EASY:.0%} of the CPU is needed"
    found = Interval(share.hits / share.n, *share.interval, share.n) if share.n else None
    return Outcome(name, NAME, goal_at_least(found, LEAST_KEPT), f"{share.hits} of {share.n} windows")


def _events(name: str, runs: Runs, beside: str, paper: str) -> Outcome:
    ratio = delay_ratio(runs, EVENTS, DWCS, beside)
    return Outcome(name, NAME, is_below(ratio, 1), f"mean delay with events, of that without: {with_interval(ratio)} ({paper})")


def _overload(kind: str, runs: Runs) -> Outcome:
    ratio = delay_ratio(runs, EVENTS, DWCS, DISTURBED)
    name = f"{kind}: in overload beside a disturber, events reduce the mean delay to at most {MOST_RATIO:g} of it (Figure 8)"
    return Outcome(name, NAME, goal_at_most(ratio, MOST_RATIO), f"{with_interval(ratio)} (the paper: 0.4)")


def _policy(kind: str, runs: Runs, way: str) -> Outcome:
    ratio = delay_ratio(runs, EVENTS, way, ALONE)
    name = f"{kind}: the mean delay under DWCS with events is below that under {way}"
    return Outcome(name, NAME, is_below(ratio, 1), f"ratio {with_interval(ratio)}")


def delay_ratio(runs: Runs, way: str, reference: str, beside: str) -> Interval | None:
    """Returns the median ratio of mean delays: of runs of the same players in the same round, each pair one ratio."""
    return median_interval(list(_ratios(runs, way, reference, beside)))


def _ratios(runs: Runs, way: str, reference: str, beside: str) -> Iterator[float]:
    for setting, some in runs.items():
        others = runs.get(WindowSetting(setting.kind, setting.players, reference, beside), ())
        if (setting.way, setting.beside) == (way, beside):
            yield from (run.mean_ms / other.mean_ms for run, other in zip(some, others, strict=False) if other.mean_ms)
