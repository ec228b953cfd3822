# SPDX-License-Identifier: LGPL-2.1-or-later
"""Judges from the looks at a player's threads whether those that decode or present were held where they belong.

A look sees on which CPUs a thread may run, its policy, and how much CPU time it has used. The CPU time between two looks
counts as outside if the later look saw the thread where it does not belong. A thread that leaves its place and returns
between two looks is not noticed. Not judged are:

- The start: the time until the thread was first seen in its place, at most START_S from the first look at it or from the
  beginning of playing. A thread starts where its parent is, before anybody can place it.
- The looks after playing has ended, if the player reports when that was. dlex-play gives its policy back then.
- What is not more than GRAIN_SHARE of the thread's CPU time or GRAIN_S: a look may come a little late.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..errors import LabError
from ..machine.cgroups import spell_cpus
from ..record import TimeOfPlaying
from ..rig.players.threads import Look, SeenThread, Thread, Work
from .placing import Placing

START_S = 2.0
GRAIN_S = 0.03
GRAIN_SHARE = 0.05


class NotHeld(LabError):
    """A thread that decodes or presents was not where the policy holds it. `threads` are all the player's threads."""

    def __init__(self, sentence: str, threads: list[Thread]) -> None:
        super().__init__(sentence)
        self.threads = threads


@dataclass(frozen=True)
class JudgedThread:
    """A thread as the result has it, and what was found about its place.

    `was_held`: at least one look saw it where it belongs. `astray`: the last look that saw it elsewhere after its start;
    None: it used no more CPU time there than may be.
    """

    thread: Thread
    was_held: bool
    astray: Look | None


def judge(seen: SeenThread, work: Work, placing: Placing, times: TimeOfPlaying | None) -> JudgedThread:
    """Returns what the looks say of a thread with this work. `times` is None if the player does not report them."""
    looks = [look for look in seen.looks if times is None or look.time_ns <= times.ended_ns]
    held = _held(looks, lambda look: placing.holds(look, work.roles))
    outside_s, astray = 0.0, None
    settled = _settled(looks, held, times)
    for (before, after), is_held in zip(pairwise(looks[settled:]), held[settled + 1 :], strict=True):
        if not is_held:
            outside_s += after.cpu_s - before.cpu_s
            astray = after if after.cpus is not None else astray
    last = next((look for look in reversed(looks) if look.cpus is not None), None)
    thread = Thread(
        tid=seen.tid,
        name=seen.name,
        work=work.text,
        cpu_s=seen.cpu_s,
        roles=work.roles,
        cpus=spell_cpus(last.cpus) if last and last.cpus is not None else None,
        policy=str(last.policy) if last else None,
        outside_s=outside_s,
        wait_s=seen.wait_s,
        slices=seen.slices,
        ran_on=spell_cpus(set(seen.places)) if seen.places else None,
        moves_seen=sum(one != other for one, other in pairwise(seen.places)),
        moves=seen.moves,
    )
    may_be_s = max(GRAIN_S, GRAIN_SHARE * looks[-1].cpu_s) if looks else GRAIN_S
    return JudgedThread(thread, any(held), astray if outside_s > may_be_s else None)


def _held(looks: Sequence[Look], holds: Callable[[Look], bool]) -> list[bool]:
    """Returns whether each look saw the thread in its place. A thread that has ended is where it was before."""
    held: list[bool] = []
    for look in looks:
        held.append(holds(look) if look.cpus is not None else bool(held and held[-1]))
    return held


def _settled(looks: Sequence[Look], held: Sequence[bool], times: TimeOfPlaying | None) -> int:
    """Returns the number of the look from which on the thread is judged."""
    if not looks:
        return 0
    limit_ns = max(looks[0].time_ns, times.began_ns if times else 0) + START_S * 1e9
    found = (number for number, look in enumerate(looks) if held[number] or look.time_ns >= limit_ns)
    return next(found, len(looks) - 1)


def require_held(judged: Sequence[JudgedThread], player: str, placing: Placing) -> None:
    """Raises NotHeld if a thread that decodes or presents used CPU time where the policy does not hold it."""
    for one in judged:
        if one.thread.roles and one.astray:
            raise NotHeld(_sentence(one.thread, one.astray, player, placing), [it.thread for it in judged])


def _sentence(thread: Thread, astray: Look, player: str, placing: Placing) -> str:
    found = f"CPU {spell_cpus(astray.cpus or ())} under {astray.policy}"
    wanted = f"CPU {placing.cpu} under {placing.kind_for(thread.roles or ())}"
    return (
        f"{player}'s thread {thread.name} ({thread.work}) used {thread.outside_s:.2f} s of CPU time on {found}, and not on "
        f"{wanted} as the job wants; see who moved it, and run the job again"
    )


def policies_of(judged: Sequence[JudgedThread]) -> list[str]:
    """Returns the policies of the threads that decode or present, the main thread's first.

    Another thread than the main one counts only if it was ever seen in its place: there are threads that live for a moment.
    """
    main, *others = judged
    playing = [main, *(one for one in others if one.thread.roles and one.was_held)]
    return [one.thread.policy for one in playing if one.thread.policy]


def held_cpu_s(threads: Sequence[Thread], process_s: float) -> float:
    """Returns the CPU time that a player with these threads used in those that decode or present; the main one is first.

    Of the main thread, all is known. What the others used after the last look at them is a part of the process's time
    that no look saw. It is divided between those that are held and those that are not, as the time that was seen is.
    """
    main, others = threads[0], threads[1:]
    seen_s = sum(thread.cpu_s for thread in others)
    of_held_s = sum(thread.cpu_s for thread in others if thread.roles)
    share = of_held_s / seen_s if seen_s else 0.0
    rest_s = max(0.0, process_s - main.cpu_s)
    return (main.cpu_s if main.roles else 0.0) + share * rest_s
