# SPDX-License-Identifier: LGPL-2.1-or-later
"""Judges the findings of seed 004, section 5, by the laxities that were measured here. The functions are pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..analysis.claims import Share, is_never
from ..analysis.outcome import FAILS, HOLDS, UNMEASURED, Outcome

# The seed's film: 15 pictures per second of 28 ms each on average, 42 % of its CPU. With a priority its laxities lay within 16 ms.
RATE_HZ, COST_MS = 15.0, 28.0
PERIOD_MS = 1000 / RATE_HZ
SPREAD_MS = 16.0
WITHOUT, WITH = "other", "fifo"
LOADED = 3
NAME = "seed 004"


@dataclass(frozen=True)
class Laxities:
    """The laxities of one cell, in ms, in their order."""

    values_ms: tuple[float, ...]

    @property
    def least_ms(self) -> float:
        return min(self.values_ms)

    @property
    def most_ms(self) -> float:
        return max(self.values_ms)

    @property
    def spread_ms(self) -> float:
        """Returns the jitter: the largest minus the smallest laxity."""
        return self.most_ms - self.least_ms

    @property
    def violations(self) -> int:
        return sum(value < 0 for value in self.values_ms)


    @property
    def share(self) -> Share:
        """Returns the share of missed deadlines."""
        return Share(self.violations, len(self.values_ms))


Cells = Mapping[tuple[str, int], Laxities]


def laxity_findings(cells: Cells) -> list[Outcome]:
    """Returns the outcome of each of the seed's findings. `cells`: laxities by kind of policy and number of loads."""
    with_priority = {load: found for (policy, load), found in cells.items() if policy == WITH}
    loaded = {load: found for (policy, load), found in cells.items() if policy == WITHOUT and load >= LOADED}
    alone = {load: found for (policy, load), found in cells.items() if policy == WITHOUT and load == 0}
    spread_ms = max((found.spread_ms for found in with_priority.values()), default=None)
    return [
        Outcome("alone, no deadline is missed without a priority", NAME, is_never(share_of(alone.values())), _missed(alone)),
        Outcome(f"beside {LOADED} and more programs, deadlines are missed without a priority", NAME,
                _word(all(found.violations for found in loaded.values()) if loaded else None), _missed(loaded)),
        Outcome("with a priority, no deadline is missed beside any number", NAME, is_never(share_of(with_priority.values())),
                _missed(with_priority)),
        Outcome(f"with a priority, the laxities lie within {SPREAD_MS:g} ms", NAME,
                _word(None if spread_ms is None else spread_ms <= SPREAD_MS),
                f"{spread_ms or 0:.1f} ms at most; {_range(with_priority)}"),
    ]


def share_of(found: Iterable[Laxities]) -> Share:
    """Returns the share of missed deadlines in all of these."""
    shares = [it.share for it in found]
    return Share(sum(it.hits for it in shares), sum(it.n for it in shares))


def _word(holds: bool | None) -> str:
    return UNMEASURED if holds is None else HOLDS if holds else FAILS


def _missed(cells: Mapping[int, Laxities]) -> str:
    parts = [f"{found.share} beside {load}" for load, found in sorted(cells.items())]
    return f"missed: {', '.join(parts)}" if parts else "not measured"


def _range(cells: Mapping[int, Laxities]) -> str:
    if not cells:
        return "not measured"
    least, most = min(it.least_ms for it in cells.values()), max(it.most_ms for it in cells.values())
    rest_ms = PERIOD_MS - COST_MS
    return f"{least:.1f} to {most:.1f} ms, where {rest_ms:.1f} ms is the period minus the cost (26 to 42 ms in the paper)"
