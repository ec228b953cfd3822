# SPDX-License-Identifier: LGPL-2.1-or-later
"""In what way the players of a section were held to the measured CPU, and whether it was alike. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from .results_frame import Row, values

# What a result says of a player that decodes in threads of its own, and of one that does not.
EVERY_THREAD, MAIN_THREAD = "each of the player's threads", "the player's main thread"
OUTSIDE = "cpu_ms_per_frame_outside"


def held(run: Row) -> str:
    """`deadline:8/40 for the player's main thread`. The ordinary policy gives and takes nothing: it has a CPU alone."""
    policy = run.result.get("policy") or {}
    applied = str(policy.get("applied") or policy.get("asked") or run.result["job"].get("sched") or "")
    whom = policy.get("constrains")
    if not whom:
        return applied
    return f"{applied}, {whom} on the measured CPU" if applied == "other" else f"{applied} for {whom}"


def fairness(runs: Sequence[Row]) -> str | None:
    """What to bear in mind where the players of a section are not held alike; None: they are, or there is but one."""
    return " ".join(filter(None, (_threads_held(runs), _work_outside(runs)))) or None


def _threads_held(runs: Sequence[Row]) -> str | None:
    """Where some players have all of their threads on the measured CPU and some only one."""
    players: dict[str, dict[str, None]] = {EVERY_THREAD: {}, MAIN_THREAD: {}}
    for run in runs:
        whom = (run.result.get("policy") or {}).get("constrains")
        if run.done and whom in players:
            players[whom][run.player] = None
    every, main = (", ".join(players[whom]) for whom in (EVERY_THREAD, MAIN_THREAD))
    if not every or not main:
        return None
    return (
        f"Not alike for all: every thread of {every} has to share the measured CPU, of {main} only the main one. "
        "A quota holds each player as a whole, so that its section is the fair one."
    )


def _work_outside(runs: Sequence[Row]) -> str | None:
    """What players did of a picture's work in threads that the policy does not hold, where another has to do it in its
    budget. Medians over all runs of a player."""
    told = {player: text for player, found in _by_player(runs).items() if (text := _outside(found))}
    if len(told) < 2 or not any(run.value(OUTSIDE) for run in runs):
        return None
    each = "; ".join(f"{player} {text}" for player, text in told.items())
    return f"CPU time of a picture that the policy does not hold, in other threads on other CPUs: {each}."


def _by_player(runs: Sequence[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for run in runs:
        if run.done:
            found.setdefault(run.player, []).append(run)
    return found


def _outside(runs: Sequence[Row]) -> str | None:
    """`0.52 of 7.10 ms (demuxes and decodes sound, sound)`; None: no run knows."""
    outside_ms, all_ms = values(runs, OUTSIDE), values(runs, "cpu_ms_per_frame")
    if not outside_ms or not all_ms:
        return None
    text = f"{median(outside_ms):.2f} of {median(all_ms):.2f} ms"
    works = dict.fromkeys(work for run in runs if run.value(OUTSIDE) for work in _works_outside(run))
    return f"{text} ({', '.join(works)})" if works else text


def _works_outside(run: Row) -> list[str]:
    """The main thread is the first."""
    return [thread["work"] for thread in (run.result.get("threads") or [])[1:]]
