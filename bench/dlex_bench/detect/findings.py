# SPDX-License-Identifier: LGPL-2.1-or-later
"""Judges detections by the true rates, and the findings of seed 003, section V. The functions are pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..analysis.claims import Share, is_at_least
from ..analysis.outcome import FAILS, HOLDS, MET, MISSED, OPEN, UNCERTAIN, UNMEASURED, Outcome

# The seed's steps are 1 Hz: 24 is as near to 23.976 as it gets. Ours names one of the usual rates, or measures.
PAPER_STEP_HZ = 1.0
OURS_PART = 2e-3
SEED_PLAYER, SEED_HZ = "mplayer", 25.0
ENOUGH_S, NAMED_S = 0.4, 4.0
NAME = "seed 003"
MOST = 0.9
JOBS, SYSCALLS = "jobs", "syscalls"
# Which events were watched: those of the seed, or those of dlex.
EVENT_NAMES = {SYSCALLS: "entries and exits of system calls", JOBS: "jobs of all threads, where system calls cannot be watched"}
# A goal of dlex has other words than a claim of a paper.
GOAL_WORDS = {HOLDS: MET, FAILS: MISSED, OPEN: UNCERTAIN, UNMEASURED: UNMEASURED}


@dataclass(frozen=True)
class Detection:
    """One observation of a player. A rate is None if none was found."""

    player: str
    true_hz: float
    seconds: float
    hz: float | None  # by our detector; only with JOBS
    standard_hz: float | None
    paper_hz: float | None
    events: str = JOBS

    @property
    def is_found(self) -> bool:
        """Returns whether our detector found the rate, to two parts in a thousand."""
        return self.hz is not None and abs(self.hz - self.true_hz) <= OURS_PART * self.true_hz

    @property
    def is_named(self) -> bool:
        """Returns whether our detector also distinguished the rate from all other usual ones."""
        return self.standard_hz is not None and abs(self.standard_hz - self.true_hz) < 1e-3

    @property
    def is_found_by_paper(self) -> bool:
        return self.paper_hz is not None and abs(self.paper_hz - self.true_hz) < PAPER_STEP_HZ


def share(detections: Sequence[Detection], name: str) -> Share:
    """Returns the share of the detections that have this property."""
    return Share(sum(getattr(it, name) for it in detections), len(detections))


def seeds_own(detections: Sequence[Detection]) -> tuple[str, list[Detection]]:
    """Returns the detections of the seed's experiment, by its own events if there are such, and these events' kind."""
    of_film = [it for it in detections if it.player == SEED_PLAYER and it.true_hz == SEED_HZ]
    by_syscalls = [it for it in of_film if it.events == SYSCALLS]
    return (SYSCALLS, by_syscalls) if by_syscalls else (JOBS, of_film)


def detect_findings(detections: Iterable[Detection]) -> list[Outcome]:
    known = list(detections)
    events, seeds = seeds_own(known)
    shorter = share([it for it in seeds if it.seconds < ENOUGH_S], "is_found_by_paper")
    enough = share([it for it in seeds if it.seconds >= ENOUGH_S], "is_found_by_paper")
    return [
        Outcome(f"the paper's detector finds {SEED_HZ:g} Hz of {SEED_PLAYER} from {ENOUGH_S:g} s on", NAME,
                is_at_least(enough, MOST), f"in {enough} windows; by {EVENT_NAMES[events]}"),
        Outcome("shorter observations are less certain", NAME, _is_less(shorter, enough),
                f"in {shorter} shorter windows, and in {enough} of the others"),
        _named_outcome([it for it in known if it.seconds >= NAMED_S and it.events == JOBS]),
    ]


def _named_outcome(longest: Sequence[Detection]) -> Outcome:
    """Judges each rate in each player. All windows together would hide one rate at which one player is always wrong."""
    name = f"our detector distinguishes all usual rates within {NAMED_S:g} s, in every player"
    cells: dict[str, list[Detection]] = {}
    for it in longest:
        cells.setdefault(f"{it.player} at {it.true_hz:.5g} Hz", []).append(it)
    shares = {cell: share(found, "is_named") for cell, found in cells.items()}
    low = [f"{cell} {it}" for cell, it in shares.items() if it.hits < MOST * it.n]
    together = share(longest, "is_named")
    word = is_at_least(together, MOST)
    if low and word == HOLDS:
        word = OPEN
    if FAILS in {is_at_least(it, MOST) for it in shares.values()}:
        word = FAILS
    text = f"in {together} windows" + (f"; under {MOST:.0%}: {', '.join(low)}" if low else "")
    return Outcome(name, NAME, GOAL_WORDS[word], text)


def _is_less(one: Share, other: Share) -> str:
    """Returns the word for: `one` is smaller than `other`."""
    if not one.n or not other.n:
        return UNMEASURED
    return HOLDS if one.interval[1] < other.interval[0] else FAILS if one.interval[0] > other.interval[1] else OPEN
