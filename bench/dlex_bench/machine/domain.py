# SPDX-License-Identifier: LGPL-2.1-or-later
"""Gives one CPU a root domain of its own. SCHED_DEADLINE requires this to reserve a part of only that CPU.

Version 1 of cgroups: the cpusets stop balancing over all CPUs. Two new cpusets, without members, state which CPUs still
belong together. No thread is moved, and a thread's affinity decides where it is admitted. Version 2: the CPU becomes a
partition, and only the partition's members may run there. The partition is a threaded group, so that the main thread of
a process can be a member while the other threads stay outside.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import EXIT_SETUP, LabError
from .cgroups import PREFIX, Hierarchy, keep_controller, online_cpus, parse_cpus, require_controller, spell_cpus
from .journal import Journal, journal, uninterrupted
from .policy import Policy
from .thread_policy import set_policy

# 0.1 ms of 100 ms. The kernel can refuse so little for two reasons. EPERM: the CPU is not a domain of its own (or the
# privilege is missing). EBUSY: with it the reservations would exceed what the CPU admits, because those of others fill the
# CPU, or because the domain's sum is below 0 (see LINGERING_PERIODS). Both may pass: _refusal asks again for ADMISSION_S,
# and _admitting makes the domain again.
PROBE = Policy("deadline", runtime_ms=0.1, period_ms=100)
ADMISSION_S = 1.0
ATTEMPTS = 4
# A reservation outlives its thread by up to one period. At its end, the kernel subtracts it from the domain that exists
# at that time. If that domain was made in the meantime, it never had the reservation: its sum falls below 0, and it
# refuses all reservations.
LINGERING_PERIODS = 1.25
LONGEST_PERIOD_MS = 200.0


@dataclass(frozen=True)
class Domain:
    cpu: int
    others: frozenset[int]
    group: Path | None = None  # a partition: only its members may run on the CPU; None: affinity is enough

    def enter(self) -> None:
        """Makes the calling process a member of the partition; for `enter` of processes.child.

        The child is a member before its affinity is set, and so are all processes that it starts.
        """
        if self.group:
            (self.group / "cgroup.procs").write_text("0")

    def take_thread(self, tid: int) -> None:
        """Makes one thread a member of the partition again. The caller sets its affinity."""
        if self.group:
            with contextlib.suppress(ProcessLookupError):
                (self.group / "cgroup.threads").write_text(str(tid))

    def leave_thread(self, tid: int) -> None:
        """Moves one thread to the other CPUs."""
        if self.group:
            with contextlib.suppress(ProcessLookupError):
                (self.group.parent / "cgroup.threads").write_text(str(tid))
        if self.others:
            stay_on(self.others, tid)


def threads_of(pid: int) -> list[int]:
    try:
        return sorted(int(name) for name in os.listdir(f"/proc/{pid}/task"))
    except FileNotFoundError:
        return []


def stay_on(cpus: frozenset[int] | set[int], tid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.sched_setaffinity(tid, cpus)


@contextlib.contextmanager
def own_cpu(cpu: int, period_ms: float = 0) -> Iterator[Domain]:
    """Keeps `cpu` in a domain of its own while the block runs.

    Every thread under a deadline must have ended before the block is left. `period_ms` is the longest period of their
    reservations, if that is more than LONGEST_PERIOD_MS.
    """
    online = online_cpus()
    if cpu not in online:
        raise LabError(f"there is no CPU {cpu}; choose one of {spell_cpus(online)}", EXIT_SETUP)
    others = frozenset(online - {cpu})
    if not others:
        yield Domain(cpu, others)  # the whole machine is the domain
        return
    hierarchy = require_controller("cpuset", "the policy deadline")
    taken = "another run has given a CPU its own domain; wait until that run has ended"
    with journal("domain", taken) as steps:
        settle_s = LINGERING_PERIODS * max(period_ms, LONGEST_PERIOD_MS) / 1000
        yield _admitting(hierarchy, steps, settle_s, cpu, others)


def _admitting(hierarchy: Hierarchy, steps: Journal, settle_s: float, cpu: int, others: frozenset[int]) -> Domain:
    """Returns a domain that admits reservations.

    A domain from which an ended reservation was wrongly subtracted never admits any, so it is made again. In a
    container the files may show success while the machine's own root still balances over the CPU.
    """
    for _attempt in range(ATTEMPTS):
        try:
            with uninterrupted():
                steps.begin()
                domain = _split(hierarchy, steps, cpu, others)
                steps.settle(settle_s)
        except OSError as cause:
            raise LabError(
                f"CPU {cpu} cannot get its own domain ({cause.filename}: {cause.strerror}); use the policies other, "
                "fifo and rr",
                EXIT_SETUP,
            ) from cause
        code = _refusal(domain)
        if not code:
            return domain
    raise LabError(
        f"CPU {cpu} did not get its own domain ({os.strerror(code)}): this is a container, or another program "
        "divides the CPUs; use the policies other, fifo and rr",
        EXIT_SETUP,
    )


def _split(hierarchy: Hierarchy, steps: Journal, cpu: int, others: frozenset[int]) -> Domain:
    if hierarchy.version == 1:
        _split_v1(hierarchy.root, steps, cpu, others)
        return Domain(cpu, others)
    return Domain(cpu, others, _split_v2(hierarchy.root, steps, cpu))


def _split_v1(root: Path, steps: Journal, cpu: int, others: frozenset[int]) -> None:
    for name, cpus in (("others", others), (f"cpu{cpu}", {cpu})):
        folder = root / f"{PREFIX}-{name}"
        steps.make_folder(folder)
        (folder / "cpuset.mems").write_text((root / "cpuset.mems").read_text())
        (folder / "cpuset.cpus").write_text(spell_cpus(cpus))
        # So that nobody makes a cpuset that reaches over both. If there is one already, its balancing is switched off
        # below.
        with contextlib.suppress(OSError):
            (folder / "cpuset.cpu_exclusive").write_text("1")
    for file in sorted(root.rglob("cpuset.sched_load_balance")):
        reach = parse_cpus((file.parent / "cpuset.cpus").read_text())
        if cpu in reach and len(reach) > 1:
            steps.set_value(file, "0")


def _split_v2(root: Path, steps: Journal, cpu: int) -> Path:
    steps.enable_controller(root / "cgroup.subtree_control", "cpuset")
    group = root / f"{PREFIX}-cpu{cpu}"
    steps.make_folder(group)
    (group / "cgroup.type").write_text("threaded")
    (group / "cpuset.cpus").write_text(str(cpu))
    (group / "cpuset.cpus.partition").write_text("root")
    state = (group / "cpuset.cpus.partition").read_text().strip()
    if state != "root":
        raise LabError(f"CPU {cpu} cannot become a partition ({state}); choose another CPU", EXIT_SETUP)
    keep_controller(group, "cpuset")
    return group


def _refusal(domain: Domain) -> int:
    """Returns the errno of a refusal, or 0.

    Two refusals may be temporary: the CPU is full, or somebody's affinity still reaches further.
    """
    limit = time.monotonic() + ADMISSION_S
    while code := _probe(domain):
        if code not in (errno.EPERM, errno.EBUSY) or time.monotonic() > limit:
            break
        time.sleep(0.05)
    return code


def _probe(domain: Domain) -> int:
    """Asks for a small reservation; returns the errno, or 0.

    This happens in a process of its own, because a member cannot come back from a partition.
    """
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    code = errno.EPERM
    try:
        domain.enter()
        os.sched_setaffinity(0, {domain.cpu})
        set_policy(0, str(PROBE))
        code = 0
    except OSError as cause:
        code = cause.errno or code
    finally:
        os._exit(code)
