# SPDX-License-Identifier: LGPL-2.1-or-later
"""Puts a player under the policy of its job, from outside.

The main thread decodes and presents, so it gets the policy and the measured CPU. The other threads stay SCHED_OTHER on the
other CPUs, no matter what they do: in mplayer they play the sound; in dlex-play they also demux and decode the sound. A
player that decodes in other threads has all its threads on the measured CPU, under the same priority where that makes
sense. A quota holds the whole process, with all its threads.
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
    """How one player is placed.

    `threads` names the threads that get the policy and the measured CPU: "main" or "all". None: the player does that
    itself.
    """

    policy: Policy
    threads: str | None
    cpu: int
    driver_cpus: frozenset[int]
    domain: Domain | None = None
    group: Group | None = None

    @property
    def enter(self) -> Callable[[], None] | None:
        """Returns the `enter` function for processes.child, or None."""
        if self.group:
            return self.group.enter
        return self.domain.enter if self.domain and self.threads else None

    @property
    def cpus(self) -> frozenset[int]:
        """Returns where the player starts. One that places itself must see the other CPUs, to send its helpers there."""
        by_itself = self.threads is None and not self.group
        return self.driver_cpus | {self.cpu} if by_itself else frozenset({self.cpu})

    @property
    def constrains(self) -> str:
        if self.group:
            return "the whole process"
        return "each of the player's threads" if self.threads == ALL else "the player's main thread"

    def place(self, pid: int) -> None:
        """Places the player's threads. The caller must handle a player that has ended.

        It is called once the player has started, and again as long as the player may start threads.
        """
        if self.group or self.threads is None:
            return  # it and all that it started began in the group, on the CPU; or it places itself
        for tid in threads_of(pid):
            try:
                self._place_thread(pid, tid)
            except ProcessLookupError:
                continue  # the thread has ended since it was listed
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
        """Returns the part of `cpu_s` that the player used in threads that are not held; None if it is unknown.

        Where only the main thread is held, these are all the others.
        """
        if self.group or self.threads == ALL:
            return 0.0
        return None if main_cpu_s is None else max(0.0, cpu_s - main_cpu_s)

    def throttled(self) -> Throttled | None:
        """Returns how often the quota was used up; None if there is no quota."""
        return self.group.throttled() if self.group else None

    def applied(self, pid: int) -> str | None:
        """Returns the policy that the kernel reports for the player; None if the player has ended."""
        if self.group:
            return str(self.group.applied())
        try:
            return str(policy_of(pid))
        except OSError:
            return None
