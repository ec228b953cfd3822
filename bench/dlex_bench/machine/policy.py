# SPDX-License-Identifier: LGPL-2.1-or-later
"""The scheduling policies of an experiment (seed 000, section 8, Table 2, and the quota) and their text form.

The forms are `other`, `free`, `nice:-11`, `fifo:5`, `rr:5`, `deadline:15/40` and `quota:15/40`. The numbers of the last two are
runtime and period in ms; the deadline is the period. In an agenda the runtime may be the word `calibrated`, or a percentage: a
budget that is found on the machine that plays. With 120%, playing the whole film needs 120 % of it. `deadline:tuned` lets
`dlex-sched tune` find and follow the reservation of each thread while the player plays. `deadline:15/40/divided` divides a
fixed one among the player's threads, by the CPU time that each has used. Under `free` nothing is placed: all programs run on
all CPUs as they start by themselves.
"""

from __future__ import annotations

import errno
import os
import re
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import EXIT_SETUP, LabError, shown
from . import cgroups
from .rights import OUTSIDE, scheduling_is_out_of_reach
from .thread_policy import policy_text, set_policy

CALIBRATED = "calibrated"
TUNED = "tuned"
DIVIDED = "/divided"
OTHER_KIND, FREE = "other", "free"
FORMS = (
    "other, free, nice:-11, fifo:5, rr:5, deadline:15/40, deadline:15/40/divided, deadline:tuned or quota:15/40 (runtime/period in "
    "ms)"
)
# The kernel refuses a reservation's runtime below 1024 ns and, by default, a period outside these limits.
PERIOD_MS_MIN, PERIOD_MS_MAX = 0.1, 4194.0
RUNTIME_MS_MIN = 0.001024
# The CPU controller takes quotas and periods from 1 ms to 1 s.
QUOTA_MS_MIN, QUOTA_PERIOD_MS_MAX = 1.0, 1000.0
DEMAND_PERCENT_MIN = 10
KINDS_OF_THREADS = ("other", "nice", "fifo", "rr", "deadline")
NICE_MIN, NICE_MAX = -20, 19
# A thread that works at a 16th of 24 pictures per second.
TUNED_PERIOD_MS_MAX = 667.0
# A sleeping thread still counts for the CPU on which it last ran. It moves when it wakes.
MOVING_S = 20.0


@dataclass(frozen=True)
class Policy:
    kind: str
    priority: int = 0
    runtime_ms: float = 0
    period_ms: float = 0
    calibrated: bool = False
    demand_percent: float = 0
    tuned: bool = False
    divided: bool = False
    nice: int = 0

    @classmethod
    def parse(cls, text: str) -> Policy:
        kind, colon, rest = text.partition(":")
        if text in (OTHER_KIND, FREE):
            policy = cls(text)
        elif text == f"deadline:{TUNED}":
            policy = cls("deadline", tuned=True)
        elif kind == "nice" and re.fullmatch(r"-?[0-9]{1,2}", rest) and NICE_MIN <= int(rest) <= NICE_MAX:
            policy = cls("nice", nice=int(rest))
        elif kind in ("fifo", "rr") and re.fullmatch(r"[0-9]{1,2}", rest) and int(rest) >= 1:
            policy = cls(kind, priority=int(rest))
        elif kind == "deadline" and rest.endswith(DIVIDED):
            policy = replace(cls._budget(text, kind, rest.removesuffix(DIVIDED)), divided=True)
        elif kind in ("deadline", "quota") and colon:
            policy = cls._budget(text, kind, rest)
        elif kind in ("fifo", "rr") and rest.isdecimal():
            raise LabError(f"{shown(text)} has an invalid priority; write one from 1 to 99, for example {kind}:5", EXIT_SETUP)
        else:
            raise LabError(f"{shown(text)} is not a scheduling policy; write {FORMS}", EXIT_SETUP)
        return policy

    @classmethod
    def _budget(cls, text: str, kind: str, rest: str) -> Policy:
        number = r"[0-9]{1,6}(?:\.[0-9]{1,6})?"
        parts = re.fullmatch(rf"({number}%?|{CALIBRATED})/({number})", rest)
        if not parts:
            raise LabError(f"{shown(text)} is not a {kind}; write {kind}:15/40, runtime and period in ms", EXIT_SETUP)
        period_ms = float(parts[2])
        if parts[1] == CALIBRATED:
            policy = cls(kind, period_ms=period_ms, calibrated=True)
        elif parts[1].endswith("%"):
            policy = cls(kind, period_ms=period_ms, demand_percent=float(parts[1][:-1]))
            if policy.demand_percent < DEMAND_PERCENT_MIN:
                raise LabError(f"{text!r}: the demand must be at least {DEMAND_PERCENT_MIN}%", EXIT_SETUP)
        else:
            policy = cls(kind, runtime_ms=float(parts[1]), period_ms=period_ms)
        least_ms, period_min_ms, period_max_ms = (
            (RUNTIME_MS_MIN, PERIOD_MS_MIN, PERIOD_MS_MAX)
            if kind == "deadline"
            else (QUOTA_MS_MIN, QUOTA_MS_MIN, QUOTA_PERIOD_MS_MAX)
        )
        if not period_min_ms <= period_ms <= period_max_ms:
            raise LabError(f"{text!r}: the period must be {period_min_ms:g} to {period_max_ms:g} ms", EXIT_SETUP)
        if not policy.is_open and not least_ms <= policy.runtime_ms <= period_ms:
            raise LabError(f"{text!r}: the runtime must be from {least_ms:g} ms to the period", EXIT_SETUP)
        return policy

    def with_runtime(self, runtime_ms: float) -> Policy:
        """Returns the policy with `runtime_ms`, the budget that was found, in place of what stood for it."""
        return Policy.parse(str(replace(self, runtime_ms=runtime_ms, calibrated=False, demand_percent=0)))

    @property
    def is_open(self) -> bool:
        """Whether the budget has to be found on this machine."""
        return self.calibrated or self.demand_percent > 0

    @property
    def is_free(self) -> bool:
        """Returns whether nothing is placed: no program gets a CPU or a policy."""
        return self.kind == FREE

    @property
    def seen_kinds(self) -> tuple[str, ...]:
        """Returns what the kernel may report for a thread under this policy.

        A thread whose reservation is found while it plays begins as an ordinary one.
        """
        if self.kind == "nice":
            return ("other",)
        return ("other", "deadline") if self.tuned or self.divided else (self.kind,)

    @property
    def is_of_several_threads(self) -> bool:
        """Returns whether each thread of a player gets a reservation of its own."""
        return self.tuned or self.divided

    @property
    def longest_period_ms(self) -> float:
        """Returns the longest period that a thread under this policy may have."""
        return TUNED_PERIOD_MS_MAX if self.tuned else self.period_ms

    @property
    def utilisation(self) -> float:
        """The part of a CPU that is reserved; 0 for the kinds that reserve none."""
        return self.runtime_ms / self.period_ms if self.period_ms else 0.0

    def __str__(self) -> str:
        if self.kind in (OTHER_KIND, FREE):
            return self.kind
        if self.kind in ("fifo", "rr"):
            return f"{self.kind}:{self.priority}"
        if self.kind == "nice":
            return f"nice:{self.nice}"
        if self.tuned:
            return f"{self.kind}:{TUNED}"
        demand = f"{_decimal(self.demand_percent)}%" if self.demand_percent else ""
        runtime = CALIBRATED if self.calibrated else demand or _decimal(self.runtime_ms)
        return f"{self.kind}:{runtime}/{_decimal(self.period_ms)}{DIVIDED if self.divided else ''}"


def _decimal(value_ms: float) -> str:
    return f"{value_ms:.6f}".rstrip("0").rstrip(".")


def together(applied: str) -> str:
    """Returns the sum of reservations, such as `deadline:10/40` for `deadline:2/40 + deadline:8/40`; it has the first one's period.

    Other policies stay side by side.
    """
    parts = [Policy.parse(text) for text in applied.split(" + ")] if " + " in applied else []
    if not parts or any(part.kind != "deadline" for part in parts):
        return applied
    return str(replace(parts[0], runtime_ms=round(parts[0].period_ms * sum(part.utilisation for part in parts), 6)))


def apply(policy: Policy, tid: int) -> None:
    """Puts a thread (0: the caller) under a policy.

    All that it starts later is SCHED_OTHER; without this, a thread with a reservation could not clone. A deadline needs
    a thread whose affinity is a CPU that has a root domain of its own (see domain.py).
    """
    if policy.kind not in KINDS_OF_THREADS or policy.is_open or policy.is_of_several_threads:
        raise ValueError(f"{policy} is not a policy for a thread")
    if policy.kind == "nice":
        _renice(policy, tid)
        return
    limit = time.monotonic() + MOVING_S
    while True:
        stands = _runs_where_it_may(tid)  # asked before: it may wake there after it was refused
        try:
            set_policy(tid, str(policy))
            return
        except OSError as cause:
            sleeps_elsewhere = policy.kind == "deadline" and cause.errno == errno.EPERM and not stands
            if not sleeps_elsewhere or time.monotonic() > limit:
                raise LabError(_refusal(policy, tid, cause), EXIT_SETUP) from cause
        time.sleep(0.005)


def _renice(policy: Policy, tid: int) -> None:
    try:
        os.setpriority(os.PRIO_PROCESS, tid, policy.nice)
    except OSError as cause:
        raise LabError(f"{policy} was refused ({cause.strerror}); {privilege_sentence()}", EXIT_SETUP) from cause


def _runs_where_it_may(tid: int) -> bool:
    try:
        fields = Path(f"/proc/{tid or threading.get_native_id()}/stat").read_text().rsplit(")", 1)[1].split()
        return int(fields[36]) in os.sched_getaffinity(tid)
    except OSError:
        return True


def _refusal(policy: Policy, tid: int, cause: OSError) -> str:
    if cause.errno == errno.ESRCH:
        return f"thread {tid} ended before it could be put under {policy}; see the output of its program"
    if cause.errno == errno.EBUSY:
        return f"the kernel does not admit {policy}: together with other reservations it exceeds the CPU; reserve less"
    if cause.errno != errno.EPERM:
        return f"the kernel refuses {policy} ({cause.strerror}); choose another policy"
    if policy.kind == "deadline" and is_granted(Policy("fifo", priority=1)):
        return f"the kernel refuses {policy}: the thread's CPU has no scheduling domain of its own, or the thread may leave it"
    return f"{policy} was refused; {privilege_sentence()}"


def policy_of(tid: int) -> Policy:
    """Returns the policy that the kernel reports for a thread (0: the caller).

    Batch and idle, which are never set here, count as other. Raises OSError with the kernel's errno.
    """
    kind, _, values = policy_text(tid).partition(":")
    if kind == "deadline":
        runtime_ms, period_ms = (float(value) for value in values.split("/"))
        return Policy(kind, runtime_ms=runtime_ms, period_ms=period_ms)
    return Policy(kind, priority=int(values or 0))


def is_granted(policy: Policy) -> bool:
    """Returns whether the kernel lets us use a policy: other, nice, fifo or rr, with its priority.

    Only an attempt takes capabilities, limits and control groups all into account.
    """
    granted = []

    def ask() -> None:
        try:
            if policy.kind == "nice":
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), policy.nice)
            else:
                set_policy(0, str(policy))
            granted.append(True)
        except OSError:
            pass

    asking = threading.Thread(target=ask)
    asking.start()
    asking.join()
    return bool(granted)


def allowed_kinds() -> set[str]:
    """Returns the kinds of policy that are available here and now."""
    kinds = {OTHER_KIND, FREE}
    if is_granted(Policy("nice", nice=-1)):
        kinds.add("nice")
    if is_granted(Policy("fifo", priority=1)):
        kinds |= {"fifo", "rr"}
        # A reservation needs the privilege itself; no resource limit grants it.
        if os.geteuid() == 0 and cgroups.may_change("cpuset"):
            kinds.add("deadline")
    if cgroups.may_change("cpu"):
        kinds.add("quota")
    return kinds


def privilege_sentence() -> str:
    """Returns why there is only `other`, and the lines that grant more to this program and all that it starts.

    A capability on the file of one player (setcap) would hold for that player only. It would not hold for rt-app, nor
    for this program, which puts others under a policy.
    """
    if scheduling_is_out_of_reach():
        return f"only the policy other is allowed: {OUTSIDE}"
    return (
        "without privileges only the policy other is allowed: run as root, which deadline and quota need; or, for fifo and rr, "
        "put `@audio - rtprio 95` into /etc/security/limits.conf, or `LimitRTPRIO=95` into the systemd unit in which this "
        "program runs"
    )
