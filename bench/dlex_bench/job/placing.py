# SPDX-License-Identifier: LGPL-2.1-or-later
"""Puts a player under the policy of its job, from outside, by what its threads do.

The threads that decode or present get the policy and the measured CPU. The others (sound, demuxing, helpers) stay
SCHED_OTHER on the other CPUs. This is the same for all players. One reservation cannot hold two threads: under a
reservation only the main thread of a player gets it, and a player that decodes and presents in two threads is not played.
A quota holds the whole process, with all its threads.

Under `free` nothing is placed: the player runs on all CPUs as it starts by itself, and the laboratory only looks.

Under deadline:tuned nobody gets a policy here: dlex-sched gives each thread its reservation (job/tuning.py).

dlex-play places its own threads by the same rule. It divides a reservation or a priority between the thread that decodes
and the one that presents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from ..errors import LabError
from ..machine.domain import Domain, stay_on
from ..machine.policy import KINDS_OF_THREADS, Policy, apply, together
from ..machine.quota import Group, Throttled
from ..rig.players.playing import Playing
from ..rig.players.threads import Look, Roles
from .result import NOTHING, PLAYING_THREADS, WHOLE_PROCESS

OTHER = Policy("other")
# Before a reservation is divided, the threads must have used this much CPU time, so that their shares are known.
DIVIDED_AFTER_S = 0.5
# A thread that presents uses next to nothing, and still needs some.
DIVIDED_MS_MIN = 0.5


@dataclass
class Placing:
    """How one player is placed. `by_itself`: the player does it, and the laboratory only looks."""

    policy: Policy
    by_itself: bool
    cpu: int
    driver_cpus: frozenset[int]
    domain: Domain | None = None
    group: Group | None = None
    enter_otherwise: Callable[[], None] | None = None  # `enter` of a player that enters neither
    parts: dict[int, Policy] = field(default_factory=dict)  # of a divided reservation, by thread

    @property
    def enter(self) -> Callable[[], None] | None:
        """Returns the `enter` function for processes.child, or None."""
        if self.group:
            return self.group.enter
        return self.domain.enter if self.domain else self.enter_otherwise

    @property
    def cpus(self) -> frozenset[int] | None:
        """Returns where the player starts; None: on any CPU.

        A player that places itself must see the other CPUs, to send its helpers there.
        """
        if self.policy.is_free:
            return None
        return self.driver_cpus | {self.cpu} if self.by_itself and not self.group else frozenset({self.cpu})

    @property
    def constrains(self) -> str:
        if self.policy.is_free:
            return NOTHING
        return WHOLE_PROCESS if self.group else PLAYING_THREADS

    def cpus_for(self, roles: Roles) -> frozenset[int]:
        """Returns where a thread with these roles belongs."""
        return frozenset({self.cpu}) if roles or self.group else self.driver_cpus

    def kind_for(self, roles: Roles) -> str:
        """Returns the kind of policy under which a thread with these roles belongs. A quota is not one of a thread."""
        return self.policy.kind if roles and self.policy.kind in KINDS_OF_THREADS else OTHER.kind

    def _kinds_for(self, roles: Roles) -> tuple[str, ...]:
        """Returns what the kernel may report for such a thread."""
        return self.policy.seen_kinds if roles and self.policy.kind in KINDS_OF_THREADS else (OTHER.kind,)

    def holds(self, look: Look, roles: Roles) -> bool:
        """Returns whether the look saw a thread with these roles where it belongs.

        The numbers of the policy are not compared, because dlex-play divides them between its threads.
        """
        if look.cpus is None or look.policy is None:
            return False
        if self.policy.is_free:
            return True
        return look.cpus <= self.cpus_for(roles) and look.policy.kind in self._kinds_for(roles)

    def place(self, player: Playing) -> None:
        """Places the threads that the last look found. The caller must handle a player that has ended.

        It is called once the player has started, and again as long as the player may start threads.
        """
        if self.group or self.policy.is_free or (self.by_itself and self.policy.kind != "nice"):
            return  # all that began in the group is in the group, on the CPU; or nothing is placed; or the player places itself
        if self.policy.divided and not self.parts:
            self._divide(player)
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
        if self.by_itself:  # its CPUs are its own concern; a nice value is not an option of the player
            if roles:
                apply(self.policy, tid)
            return
        policy = self._policy_for(tid, roles, is_main)
        cpus = self.cpus_for(roles)
        if look.cpus != cpus:
            if self.domain:
                (self.domain.take_thread if roles else self.domain.leave_thread)(tid)
            stay_on(cpus, tid)
        if not self.policy.tuned and str(look.policy) != str(policy):
            apply(policy, tid)

    def _policy_for(self, tid: int, roles: Roles, is_main: bool) -> Policy:
        if self.policy.divided:
            return self.parts.get(tid, OTHER)
        return self.policy if roles and (is_main or self.policy.kind != "deadline") else OTHER

    def _divide(self, player: Playing) -> None:
        """Divides the reservation among the threads that decode or present, by the CPU time that each has used so far."""
        used_s = {
            tid: look.cpu_s
            for tid, look in player.present.items()
            if look.cpus is not None and player.work_of(tid, look.name).roles
        }
        total_s = sum(used_s.values())
        if total_s < DIVIDED_AFTER_S:
            return
        least = DIVIDED_MS_MIN / self.policy.runtime_ms
        shares = {tid: max(least, it / total_s) for tid, it in used_s.items()}
        for tid, share in shares.items():
            runtime_ms = round(self.policy.runtime_ms * share / sum(shares.values()), 6)
            self.parts[tid] = replace(self.policy, runtime_ms=runtime_ms, divided=False)

    def outside_s(self, cpu_s: float, held_s: float | None) -> float | None:
        """Returns the part of `cpu_s` that the player used in threads that are not held; None if it is unknown, or none is held.

        `held_s` is the CPU time of the threads that decode or present.
        """
        if self.group:
            return 0.0
        return None if held_s is None or self.policy.is_free else max(0.0, cpu_s - held_s)
    def throttled(self) -> Throttled | None:
        """Returns how often the quota was used up; None if there is no quota."""
        return self.group.throttled() if self.group else None

    def applied(self, policies: Iterable[str]) -> str | None:
        """Returns the policy that the kernel reports for the player, such as `fifo:5 + fifo:4`; None if it is unknown.

        `policies` are those of the threads that decode or present. How dlex-play divides a reservation changes while it plays, so
        its parts count together.
        """
        if self.group:
            return str(self.group.applied())
        if self.policy.tuned or self.policy.kind == "nice":
            return str(self.policy)
        if self.by_itself and self.policy.kind == "deadline":
            return together(" + ".join(policies)) or None
        return " + ".join(dict.fromkeys(policies)) or None
