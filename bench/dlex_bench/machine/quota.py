# SPDX-License-Identifier: LGPL-2.1-or-later
"""A part of a CPU for a whole process, all its threads and children together: the one constraint that every player
can be put under alike.

The group competes with what else runs on the CPU as one task of nice 0 would, however many threads it has, and runs no
more than its quota in each period.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import EXIT_SETUP, DemoError
from .cgroups import PREFIX, Hierarchy, hierarchy_of, keep_controller, require
from .domain import Domain, stay_on, threads_of
from .journal import Journal, journal, uninterrupted
from .policy import Policy

US_PER_MS = 1000
US_PER_S = 1_000_000
NS_PER_S = 1_000_000_000


@dataclass(frozen=True)
class Group:
    folder: Path
    accounts: Path | None  # where version 1 counts the CPU time; None: in `folder`, or nowhere
    cpu: int

    def enter(self) -> None:
        """For processes.child: the child, and so all that it starts, is a member from the beginning."""
        self._take(0)

    def _take(self, pid: int) -> None:
        for folder in filter(None, {self.folder, self.accounts}):
            with contextlib.suppress(ProcessLookupError):
                (folder / "cgroup.procs").write_text(str(pid))

    def add(self, pid: int) -> None:
        """A process with all its threads and children, those that they start later included, onto the CPU."""
        added: set[int] = set()
        while new := _family(pid) - added:
            for member in new:
                self._take(member)
                for tid in threads_of(member):
                    stay_on({self.cpu}, tid)
            added |= new

    def cpu_s(self) -> float | None:
        """CPU time that the group has taken so far; None: this kernel does not count it."""
        if self.accounts:
            return int((self.accounts / "cpuacct.usage").read_text()) / NS_PER_S
        used_us = self._statistics().get("usage_usec")
        return None if used_us is None else used_us / US_PER_S

    def throttled_periods(self) -> int:
        """In how many periods the quota was used up."""
        return self._statistics()["nr_throttled"]

    def _statistics(self) -> dict[str, int]:
        rows = (line.split() for line in (self.folder / "cpu.stat").read_text().splitlines())
        return {name: int(value) for name, value in rows}


def _family(pid: int) -> set[int]:
    """The process and its descendants."""
    family, new = set(), {pid}
    while new:
        family |= new
        new = {child for parent in new for child in _children(parent)} - family
    return family


def _children(pid: int) -> set[int]:
    children: set[int] = set()
    for tid in threads_of(pid):
        with contextlib.suppress(OSError):
            children |= {int(child) for child in Path(f"/proc/{pid}/task/{tid}/children").read_text().split()}
    return children


@contextlib.contextmanager
def quota_group(policy: Policy, cpu: int, domain: Domain | None = None) -> Iterator[Group]:
    """A group under `policy` (a quota) while the block runs. Who is in it at the end goes on without one.

    Where the CPU is a partition, `domain`, the group lies within: nobody else may run there.
    """
    if policy.kind != "quota" or policy.calibrated:
        raise ValueError(f"{policy} is no quota")
    hierarchy = require("cpu", "the policy quota")
    name = f"quota-{os.getpid()}-{time.monotonic_ns()}"
    with journal(name, f"the journal {name} is taken; try again") as steps:
        try:
            with uninterrupted():
                if hierarchy.version == 2:
                    group = Group(_make_v2(hierarchy.root, steps, f"{PREFIX}-{name}", domain), None, cpu)
                else:
                    group = _make_v1(hierarchy.root, steps, f"{PREFIX}-{name}", cpu)
                _limit(hierarchy, group.folder, policy)
        except OSError as cause:
            raise DemoError(
                f"{policy} cannot be set ({cause.filename}: {cause.strerror}); use another policy", EXIT_SETUP
            ) from cause
        yield group


def _make_v1(root: Path, steps: Journal, name: str, cpu: int) -> Group:
    steps.make_folder(root / name)
    accounting = hierarchy_of("cpuacct")
    if not accounting:
        return Group(root / name, None, cpu)
    accounts = accounting.root / name
    if not accounts.exists():  # else both are one hierarchy
        steps.make_folder(accounts)
    return Group(root / name, accounts, cpu)


def _make_v2(root: Path, steps: Journal, name: str, domain: Domain | None) -> Path:
    parent = domain.group if domain and domain.group else root
    for folder in (root, parent):
        steps.enable_controller(folder / "cgroup.subtree_control", "cpu")
    steps.make_folder(parent / name)
    if parent != root:
        (parent / name / "cgroup.type").write_text("threaded")
    keep_controller(parent / name, "cpu")
    return parent / name


def _limit(hierarchy: Hierarchy, folder: Path, policy: Policy) -> None:
    quota_us, period_us = round(policy.runtime_ms * US_PER_MS), round(policy.period_ms * US_PER_MS)
    if hierarchy.version == 2:
        (folder / "cpu.max").write_text(f"{quota_us} {period_us}")
        return
    (folder / "cpu.cfs_period_us").write_text(str(period_us))
    (folder / "cpu.cfs_quota_us").write_text(str(quota_us))
