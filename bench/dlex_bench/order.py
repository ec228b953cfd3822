# SPDX-License-Identifier: LGPL-2.1-or-later
"""The order in which compared settings are run.

Each round begins with another setting, so that slow changes of the machine affect all settings alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


def rotated(items: Sequence[Item], turn: int) -> list[Item]:
    """Returns the items, beginning with another one for each of `len(items)` turns."""
    first = turn % len(items)
    return [*items[first:], *items[:first]]


def interleaved(items: Sequence[Item], repetitions: int) -> list[tuple[int, Item]]:
    """Returns the number of the round (from 1) with the item: every item once per round, rotated for each round."""
    return [(number + 1, item) for number in range(repetitions) for item in rotated(items, number)]
