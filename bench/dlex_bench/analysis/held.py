# SPDX-License-Identifier: LGPL-2.1-or-later
"""In what way the players of a section were held to the measured CPU, and whether it was alike. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from .results_frame import Row

# What a result says of a player that decodes in threads of its own, and of one that does not.
EVERY_THREAD, MAIN_THREAD = "each of the player's threads", "the player's main thread"


def held(run: Row) -> str:
    """`deadline:8/40 for the player's main thread`. The ordinary policy gives and takes nothing: it has a CPU alone."""
    policy = run.result.get("policy") or {}
    applied = str(policy.get("applied") or policy.get("asked") or run.result["job"].get("sched") or "")
    whom = policy.get("constrains")
    if not whom:
        return applied
    return f"{applied}, {whom} on the measured CPU" if applied == "other" else f"{applied} for {whom}"


def fairness(runs: Sequence[Row]) -> str | None:
    """What to bear in mind where some players have all of their threads on the measured CPU and some only one."""
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
