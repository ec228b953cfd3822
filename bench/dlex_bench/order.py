# SPDX-License-Identifier: LGPL-2.1-or-later
"""The order in which settings that are compared take their turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Setting = TypeVar("Setting")


def interleaved(settings: Sequence[Setting], repetitions: int) -> list[tuple[int, Setting]]:
    """Every setting once a round, each round begun by another, so that slow changes of the machine hit all alike."""
    order = []
    for number in range(repetitions):
        turn = number % len(settings)
        order += [(number + 1, setting) for setting in (*settings[turn:], *settings[:turn])]
    return order
