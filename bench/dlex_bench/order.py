# SPDX-License-Identifier: LGPL-2.1-or-later
"""The order in which compared settings are run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Setting = TypeVar("Setting")


def interleaved(settings: Sequence[Setting], repetitions: int) -> list[tuple[int, Setting]]:
    """Returns the number of the round (from 1) with the setting: every setting once per round.

    Each round begins with another setting, so that slow changes of the machine affect all settings alike.
    """
    order = []
    for number in range(repetitions):
        turn = number % len(settings)
        order += [(number + 1, setting) for setting in (*settings[turn:], *settings[:turn])]
    return order
