# SPDX-License-Identifier: LGPL-2.1-or-later
"""Judges detections by the true rates, and the findings of seed 003, section V. The functions are pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..analysis.outcome import MET, MISSED, UNMEASURED, Outcome

# The seed's steps are 1 Hz: 24 is as near to 23.976 as it gets. Ours names one of the usual rates, or measures.
PAPER_STEP_HZ = 1.0
OURS_PART = 2e-3
SEED_PLAYER, SEED_HZ = "mplayer", 25.0
ENOUGH_S, NAMED_S = 0.4, 4.0
NAME = "seed 003"
MOST = 0.9


@dataclass(frozen=True)
class Detection:
    """One observation of a player. A rate is None if none was found."""

    player: str
    true_hz: float
    seconds: float
    hz: float | None
    standard_hz: float | None
    paper_hz: float | None

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


def share(detections: Sequence[Detection], name: str) -> float | None:
    """Returns the share of the detections that have this property, or None if there are no detections."""
    return sum(getattr(it, name) for it in detections) / len(detections) if detections else None


def detect_findings(detections: Iterable[Detection]) -> list[Outcome]:
    known = list(detections)
    seeds = [it for it in known if it.player == SEED_PLAYER and it.true_hz == SEED_HZ]
    longest = [it for it in known if it.seconds >= NAMED_S]
    shorter = share([it for it in seeds if it.seconds < ENOUGH_S], "is_found_by_paper")
    enough = share([it for it in seeds if it.seconds >= ENOUGH_S], "is_found_by_paper")
    named = share(longest, "is_named")
    return [
        _outcome(f"the paper's detector finds {SEED_HZ:g} Hz of {SEED_PLAYER} from {ENOUGH_S:g} s on", enough,
                 f"in {_percent(enough)} of the windows; in {_percent(shorter)} of shorter ones"),
        _outcome(f"our detector distinguishes all usual rates within {NAMED_S:g} s, in every player", named,
                 f"in {_percent(named)} of {len(longest)} windows"),
    ]


def _outcome(name: str, part: float | None, sentence: str) -> Outcome:
    return Outcome(name, NAME, UNMEASURED if part is None else MET if part >= MOST else MISSED, sentence)


def _percent(part: float | None) -> str:
    return "none" if part is None else f"{part:.0%}"
