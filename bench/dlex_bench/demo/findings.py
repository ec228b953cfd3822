# SPDX-License-Identifier: LGPL-2.1-or-later
"""Explains the figures, in sentences that are computed from them. Pure.

Drops and skew trade against each other, so one policy is called better than another only if it is better at both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# Figures of a run, or their medians, by the keys of summary.json.
Figures = Mapping[str, float | None]

# Differences of at most this much do not count: 5 ms of skew is an eighth of a picture of 40 ms, and from run to run 1 %
# of the pictures more or less is dropped.
SAME_SKEW_MS = 5.0
SAME_DROPPED = 0.01
# Below this part of its share, other work on the machine has made the load heavier than it is called.
MUCH_TAKEN = 0.85
# Under lighter loads a player waits for pictures to be due, and does not use what it may.
OVERLOAD = 1.3
# Then it shows how long its threads waited for the CPU. They wait for each other as well (up to 29 % on a quiet machine), so less
# than this says nothing.
MUCH_WAITED = 0.4


@dataclass(frozen=True)
class LoadFigures:
    """The medians of all policies under one load, by the policies' names."""

    name: str
    ratio: float
    medians: Mapping[str, Figures]


def sentences(loads: Sequence[LoadFigures], ours: str, others: Sequence[str]) -> list[str]:
    """Returns the findings, one or two sentences each. `ours` is compared with each of the others under each load."""
    return [
        *_taken(loads),
        *(_under(load, ours, others) for load in loads),
    ]


def _taken(loads: Sequence[LoadFigures]) -> list[str]:
    """Says so if other work took CPU time: the policies are then compared under heavier loads than they are called."""
    all_got = (it.get("got") for load in loads if load.ratio >= OVERLOAD for it in load.medians.values())
    got = [part for part in all_got if part is not None]
    if not got or min(got) >= MUCH_TAKEN:
        return _waited(loads)
    return [
        f"Other work on this machine took CPU time from the player: it got {min(got):.0%} to {max(got):.0%} of what it was meant "
        "to have. So the loads were heavier than they are called, and not the same for all rows; close other programs "
        "for better figures."
    ]


def _waited(loads: Sequence[LoadFigures]) -> list[str]:
    """Says so if other work delayed the player under light loads."""
    waited = [_value(it, "waited") for load in loads if load.ratio < OVERLOAD for it in load.medians.values()]
    if not waited or max(waited) < MUCH_WAITED:
        return []
    return [
        f"Under the light loads, up to {max(waited):.0%} of the CPU time that the player was ready to use went to other work "
        "on this machine; close other programs for better figures."
    ]


def _under(load: LoadFigures, ours: str, others: Sequence[str]) -> str:
    it = load.medians.get(ours)
    if it is None:
        return f"Load {load.name}: {ours} has no figures, so nothing is compared."
    compared = "; ".join(_against(it, name, load.medians.get(name)) for name in others)
    return f"Load {load.name}: {ours} {_facts(it)}. {compared[0].upper()}{compared[1:]}."


def _facts(it: Figures) -> str:
    dropped, freeze_ms = _value(it, "lost_fraction"), it.get("longest_freeze_ms")
    freeze = "" if freeze_ms is None or not dropped else f", at longest {freeze_ms / 1e3:.1f} s without a new one"
    lost = f"loses {dropped:.1%} of the pictures{freeze}" if dropped else "loses no picture"
    return f"{lost}, and is {_value(it, 'skew_ms_rms'):.0f} ms from the sound"


def _against(it: Figures, name: str, other: Figures | None) -> str:
    if other is None:
        return f"{name} has no figures"
    skew = _compare(_value(it, "skew_ms_rms"), _value(other, "skew_ms_rms"), SAME_SKEW_MS)
    drops = _compare(_value(it, "lost_fraction"), _value(other, "lost_fraction"), SAME_DROPPED)
    facts = f"{_value(other, 'lost_fraction'):.1%} lost, {_value(other, 'skew_ms_rms'):.0f} ms"
    return f"compared with {name} ({facts}) it {_judgement(skew, drops)}"


def _value(figures: Figures, key: str) -> float:
    """Returns a figure. One that does not apply (the RMSE of a run without drops) counts as zero."""
    return figures.get(key) or 0.0


def _compare(a: float, b: float, same: float) -> int:
    """Returns -1 if a is less, 1 if a is more, and 0 if the difference is at most `same`."""
    return 0 if abs(a - b) <= same else -1 if a < b else 1


def _judgement(skew: int, drops: int) -> str:
    words = {
        (-1, -1): "is closer to the sound and loses less: better on both counts",
        (-1, 0): "is closer to the sound and loses as much",
        (-1, 1): "is closer to the sound but loses more: a trade-off",
        (0, -1): "loses less and stays as close to the sound",
        (0, 0): "makes no difference",
        (0, 1): "loses more without being closer to the sound: it is worse here",
        (1, -1): "loses less but is further from the sound: a trade-off",
        (1, 0): "is further from the sound and loses as much: it is worse here",
        (1, 1): "is further from the sound and loses more: worse on both counts",
    }
    return words[skew, drops]
