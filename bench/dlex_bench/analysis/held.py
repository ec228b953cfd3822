# SPDX-License-Identifier: LGPL-2.1-or-later
"""Describes how the players of a section were held to the measured CPU, and whether all were held alike.

The functions are pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from ..job.result import NOTHING, PLAYING_THREADS
from ..rig.players.threads import Thread
from .results_frame import Row, values

# How results of older versions describe a player that decodes in threads of its own, and a player that does not.
EVERY_THREAD, MAIN_THREAD = "each of the player's threads", "the player's main thread"
# What the players other than those of EVERY_THREAD have on the measured CPU.
ONLY = {MAIN_THREAD: "the main thread of {}", PLAYING_THREADS: "those threads of {} that decode or present"}
OUTSIDE = "cpu_ms_per_frame_outside"


def held(run: Row) -> str:
    """Returns words such as `deadline:8/40 for the player's main thread`.

    The ordinary policy neither grants nor limits CPU time: there only the CPU is named.
    """
    policy = run.result.policy
    applied = (policy and (policy.applied or policy.asked)) or run.result.job.sched
    whom = run.result.constrains
    if not whom:
        return applied
    if whom == NOTHING:
        return f"nothing is placed: all programs on all CPUs, the player's threads under {applied}"
    return f"{applied}, {whom} on the measured CPU" if applied == "other" else f"{applied} for {whom}"


def fairness(runs: Sequence[Row]) -> str | None:
    """Returns what to consider if the players of a section are not held alike. None: they are, or there is only one."""
    return " ".join(filter(None, (_threads_held(runs), _work_outside(runs)))) or None


def _threads_held(runs: Sequence[Row]) -> str | None:
    """Returns a warning if some players have all their threads on the measured CPU and others do not, or else None.

    This happens only in results of older versions, alone or beside newer ones.
    """
    players: dict[str, dict[str, None]] = {EVERY_THREAD: {}, MAIN_THREAD: {}, PLAYING_THREADS: {}}
    for run in runs:
        whom = run.result.constrains
        if run.done and whom and whom in players:
            players[whom][run.player] = None
    every = ", ".join(players[EVERY_THREAD])
    only = " and ".join(text.format(", ".join(players[whom])) for whom, text in ONLY.items() if players[whom])
    if not every or not only:
        return None
    return (
        f"The conditions differ: all threads of {every} share the measured CPU, but only {only}. "
        "A quota holds every player as a whole, so the section with the quota is the fair comparison."
    )


def _work_outside(runs: Sequence[Row]) -> str | None:
    """Reports the CPU time per picture that each player spent in threads that the policy does not hold.

    Another player may have to do the same work in its budget. The numbers are medians over all runs of a player.
    """
    parts = {player: text for player, found in _by_player(runs).items() if (text := _outside(found))}
    if len(parts) < 2 or not any(run.value(OUTSIDE) for run in runs):
        return None
    each = "; ".join(f"{player} {text}" for player, text in parts.items())
    return f"CPU time per picture that the policy does not hold, in other threads on other CPUs: {each}."


def _by_player(runs: Sequence[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for run in runs:
        if run.done:
            found.setdefault(run.player, []).append(run)
    return found


def _outside(runs: Sequence[Row]) -> str | None:
    """Returns words such as `0.52 of 7.10 ms (demuxes and decodes sound, sound)`, or None if no run knows."""
    outside_ms, all_ms = values(runs, OUTSIDE), values(runs, "cpu_ms_per_frame")
    if not outside_ms or not all_ms:
        return None
    text = f"{median(outside_ms):.2f} of {median(all_ms):.2f} ms"
    works = dict.fromkeys(work for run in runs if run.value(OUTSIDE) for work in _works_outside(run))
    return f"{text} ({', '.join(works)})" if works else text


def _works_outside(run: Row) -> list[str]:
    """Returns the work of the threads that the policy does not hold."""
    threads = run.result.threads or []
    return [thread.work for number, thread in enumerate(threads) if not _is_held(thread, number)]


def _is_held(thread: Thread, number: int) -> bool:
    """Returns whether a thread decodes or presents. Results of older versions do not say it; the first thread does."""
    return number == 0 if thread.roles is None else bool(thread.roles)
