# SPDX-License-Identifier: LGPL-2.1-or-later
"""Defines the outcome of a goal, as data."""

from __future__ import annotations

from dataclasses import dataclass

MET, UNCERTAIN, MISSED, UNMEASURED = "met", "not certain", "missed", "not measured"


@dataclass(frozen=True)
class Outcome:
    """Holds the outcome of one goal. `sentence` says what was found and in how many runs."""

    name: str
    section: str
    word: str
    sentence: str
