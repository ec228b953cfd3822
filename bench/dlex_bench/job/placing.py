# SPDX-License-Identifier: LGPL-2.1-or-later
"""Putting a player under the policy of its job, from outside.

Its main thread is the one that decodes and presents: it gets the policy and the measured CPU, and the other threads stay
SCHED_OTHER on the other CPUs, whatever they do: sound in mplayer; in dlex-play demuxing and decoding the sound as well. A
player that decodes in other threads has all of them on the measured CPU, under the same priority where that makes sense; a
quota holds the whole process, whatever it is made of.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from ..errors import LabError
from ..machine.domain import Domain, stay_on, threads_of
from ..machine.policy import Policy, apply, policy_of
from ..machine.quota import Group, Throttled

ALL = "all"


@dataclass
class Placing:
    """How one player is placed. `threads`: the main one, or all, gets the policy and the measured CPU; None: the player
    sees to that itself."""

    policy: Policy
    threads: str | None
    cpu: int
    driver_cpus: frozenset[int]
    domain: Domain | None = None
    group: Group | None = None

    @property
    def enter(self) -> Callable[[], None] | None:
        """For processes.child."""
        if self.group:
            return self.group.enter
        return self.domain.enter if self.domain and self.threads else None

    @property
    def cpus(self) -> frozenset[int]:
        """Where it starts. One that places itself must see the others, to send its helpers there."""
        by_itself = self.threads is None and not self.group
        return self.driver_cpus | {self.cpu} if by_itself else frozenset({self.cpu})

    @property
    def constrains(self) -> str:
        if self.group:
            return "the whole process"
        return "each of the player's threads" if self.threads == ALL else "the player's main thread"

    def place(self, pid: int) -> None:
        """Once it has started, and again as long as it may start threads. A player that has ended is left to its caller."""
        if self.group or self.threads is None:
            return  # it began in the group, on the CPU, and so did all that it started; or it does this itself
        for tid in threads_of(pid):
            try:
                self._place_thread(pid, tid)
            except ProcessLookupError:
                continue  # it has ended since it was listed
            except LabError as cause:
                if not isinstance(cause.__cause__, ProcessLookupError):
                    raise

    def _place_thread(self, pid: int, tid: int) -> None:
        if tid == pid or self.threads == ALL:
            if self.policy.kind != "other" and str(policy_of(tid)) != str(self.policy):
                apply(self.policy, tid)
        elif os.sched_getaffinity(tid) != self.driver_cpus:
            if self.domain:
                self.domain.leave_thread(tid)
            stay_on(self.driver_cpus, tid)

    def outside_s(self, cpu_s: float, main_cpu_s: float | None) -> float | None:
        """What the player took of `cpu_s` in threads that are not held, all but the main one where that alone is."""
        if self.group or self.threads == ALL:
            return 0.0
        return None if main_cpu_s is None else max(0.0, cpu_s - main_cpu_s)

    def throttled(self) -> Throttled | None:
        """None: under no quota."""
        return self.group.throttled() if self.group else None

    def applied(self, pid: int) -> str | None:
        """What the kernel says of it; None: it has ended."""
        if self.group:
            return str(self.group.applied())
        try:
            return str(policy_of(pid))
        except OSError:
            return None
