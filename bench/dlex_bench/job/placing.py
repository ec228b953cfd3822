# SPDX-License-Identifier: LGPL-2.1-or-later
"""Puts a player under the policy of its job, from outside, by what its threads do.

The threads that decode or present get the policy and the measured CPU. The others (sound, demuxing, helpers) stay
SCHED_OTHER on the other CPUs. This is the same for all players. One reservation cannot hold two threads: under a
reservation only the main thread of a player gets it, and a player that decodes and presents in two threads is not played.
A quota holds the whole process, with all its threads.

dlex-play places its own threads by the same rule. It divides a reservation or a priority between the thread that decodes
and the one that presents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..errors import LabError
from ..machine.domain import Domain, stay_on
from ..machine.policy import KINDS_OF_THREADS, Policy, apply
from ..machine.quota import Group, Throttled
from ..rig.players.playing import Playing
from ..rig.players.threads import Look, Roles
from .result import PLAYING_THREADS, WHOLE_PROCESS

OTHER = Policy("other")


@dataclass
class Placing:
    """How one player is placed. `by_itself`: the player does it, and the laboratory only looks."""

    policy: Policy
    by_itself: bool
    cpu: int
    driver_cpus: frozenset[int]
    domain: Domain | None = None
    group: Group | None = None

    @property
    def enter(self) -> Callable[[], None] | None:
        """Returns the `enter` function for processes.child, or None."""
        if self.group:
            return self.group.enter
        return self.domain.enter if self.domain else None

    @property
    def cpus(self) -> frozenset[int]:
        """Returns where the player starts. One that places itself must see the other CPUs, to send its helpers there."""
        return self.driver_cpus | {self.cpu} if self.by_itself and not self.group else frozenset({self.cpu})

    @property
    def constrains(self) -> str:
        return WHOLE_PROCESS if self.group else PLAYING_THREADS

    def cpus_for(self, roles: Roles) -> frozenset[int]:
        """Returns where a thread with these roles belongs."""
        return frozenset({self.cpu}) if roles or self.group else self.driver_cpus

    def kind_for(self, roles: Roles) -> str:
        """Returns the kind of policy under which a thread with these roles belongs. A quota is not one of a thread."""
        return self.policy.kind if roles and self.policy.kind in KINDS_OF_THREADS else OTHER.kind

    def holds(self, look: Look, roles: Roles) -> bool:
        """Returns whether the look saw a thread with these roles where it belongs.

        The numbers of the policy are not compared, because dlex-play divides them between its threads.
        """
        if look.cpus is None or look.policy is None:
            return False
        return look.cpus <= self.cpus_for(roles) and look.policy.kind == self.kind_for(roles)

    def place(self, player: Playing) -> None:
        """Places the threads that the last look found. The caller must handle a player that has ended.

        It is called once the player has started, and again as long as the player may start threads.
        """
        if self.group or self.by_itself:
            return  # all that began in the group is in the group, on the CPU; or the player places itself
        for tid, look in player.present.items():
            try:
                self._place_thread(tid, look, player.work_of(tid, look.name).roles, tid == player.process.pid)
            except ProcessLookupError:
                continue  # the thread has ended since it was seen
            except LabError as cause:
                if not isinstance(cause.__cause__, ProcessLookupError):
                    raise

    def _place_thread(self, tid: int, look: Look, roles: Roles, is_main: bool) -> None:
        if look.cpus is None or look.policy is None:
            return  # it has ended
        policy = self.policy if roles and (is_main or self.policy.kind != "deadline") else OTHER
        cpus = self.cpus_for(roles)
        if look.cpus != cpus:
            if self.domain:
                (self.domain.take_thread if roles else self.domain.leave_thread)(tid)
            stay_on(cpus, tid)
        if str(look.policy) != str(policy):
            apply(policy, tid)

    def outside_s(self, cpu_s: float, held_s: float | None) -> float | None:
        """Returns the part of `cpu_s` that the player used in threads that are not held; None if it is unknown.

        `held_s` is the CPU time of the threads that decode or present.
        """
        if self.group:
            return 0.0
        return None if held_s is None else max(0.0, cpu_s - held_s)

    def throttled(self) -> Throttled | None:
        """Returns how often the quota was used up; None if there is no quota."""
        return self.group.throttled() if self.group else None

    def applied(self, policies: Iterable[str]) -> str | None:
        """Returns the policy that the kernel reports for the player, such as `fifo:5 + fifo:4`; None if it is unknown.

        `policies` are those of the threads that decode or present.
        """
        if self.group:
            return str(self.group.applied())
        return " + ".join(dict.fromkeys(policies)) or None
