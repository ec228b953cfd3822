# SPDX-License-Identifier: LGPL-2.1-or-later
"""The spectrum of events, each taken as a Dirac delta (seed 003, section IV), and what its peaks say. The functions are pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..analysis.claims import Share, is_never
from ..analysis.outcome import Outcome
from .findings import NAME, PAPER_STEP_HZ, SEED_HZ

# The seed's range and step, and K: a peak counts if it exceeds the mean by this factor.
FROM_HZ, TO_HZ, STEP_HZ = 10.0, 200.0, 1.0
MEAN_FACTOR = 2.5


@dataclass(frozen=True)
class Spectrum:
    """The modulus of the sum of the events' phasors, as a part of their number."""

    hz: tuple[float, ...]
    part: tuple[float, ...]

    def peaks(self) -> list[float]:
        """Returns the frequencies of the peaks that count, as the seed does; the ends may be peaks."""
        padded = (-1.0, *self.part, -1.0)
        least = MEAN_FACTOR * sum(self.part) / len(self.part)
        return [
            hz
            for hz, before, here, after in zip(self.hz, padded, padded[1:], padded[2:], strict=False)
            if here > least and before < here >= after
        ]


def spectrum_of(times_s: Sequence[float], step_hz: float = STEP_HZ) -> Spectrum:
    """Returns the spectrum of one event or more."""
    hz = np.arange(FROM_HZ, TO_HZ + step_hz / 2, step_hz)
    turns = np.exp(-2j * np.pi * np.outer(hz, np.asarray(times_s) - times_s[0]))
    part = np.abs(turns.sum(axis=1)) / len(times_s)
    return Spectrum(tuple(float(it) for it in hz), tuple(float(it) for it in part))


def peaks_finding(times_s: Sequence[float]) -> Outcome:
    """Judges the seed's Figure 7: the peaks in the spectrum of a film at 25 pictures/s are the multiples of 25 Hz."""
    peaks = spectrum_of(times_s).peaks() if times_s else []
    others = [hz for hz in peaks if abs(hz - SEED_HZ * round(hz / SEED_HZ)) > PAPER_STEP_HZ]
    names = ", ".join(f"{hz:g}" for hz in peaks)
    return Outcome(f"the peaks of the spectrum are multiples of {SEED_HZ:g} Hz", NAME, is_never(Share(len(others), len(peaks))),
                   f"{len(peaks)} peaks, {len(others)} of them others: {names} Hz" if peaks else "no peaks")
