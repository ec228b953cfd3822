# SPDX-License-Identifier: LGPL-2.1-or-later
"""Defines the outcome of a goal, or of a paper's claim, as data."""

from __future__ import annotations

from dataclasses import dataclass

MET, UNCERTAIN, MISSED, UNMEASURED = "met", "not certain", "missed", "not measured"
# Of a claim of a paper.
HOLDS, FAILS, OPEN = "holds", "does not hold", "undecided"


@dataclass(frozen=True)
class Outcome:
    """Holds the outcome of one goal or claim. `sentence` says what was found and in how many runs."""

    name: str
    section: str
    word: str
    sentence: str
