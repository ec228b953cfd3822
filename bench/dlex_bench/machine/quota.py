# SPDX-License-Identifier: LGPL-2.1-or-later
"""Gives a part of a CPU to a whole process, with all its threads and children together.

A quota is the only constraint that applies to every player in the same way. The group competes with the other work on
the CPU like one task of nice 0, for any number of threads. In each period it runs no more than its quota.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import EXIT_SETUP, LabError
from ..schema import Count, Stored
from .cgroups import PREFIX, keep_controller, require_controller
from .domain import Domain
from .journal import Journal, journal, uninterrupted
from .policy import Policy

US_PER_MS = 1000


class Throttled(Stored):
    """In how many periods the quota was used up. `periods` are those in which something in the group wanted to run."""

    throttled_periods: Count
    periods: Count


@dataclass(frozen=True)
class Group:
    folder: Path

    def enter(self) -> None:
        """Makes the calling process a member; for `enter` of processes.child.

        The child is a member from the beginning, and so are all processes that it starts.
        """
        (self.folder / "cgroup.procs").write_text("0")

    def applied(self) -> Policy:
        """Returns the policy that the kernel reports now, no matter who set it."""
        quota_us, period_us = (int(number) for number in self._limit().replace("max", "-1").split())
        if quota_us < 0:
            return Policy("other")
        return Policy("quota", runtime_ms=quota_us / US_PER_MS, period_ms=period_us / US_PER_MS)

    def _limit(self) -> str:
        names = ("cpu.max",) if (self.folder / "cpu.max").exists() else ("cpu.cfs_quota_us", "cpu.cfs_period_us")
        return " ".join((self.folder / name).read_text() for name in names)

    def limit(self, policy: Policy) -> None:
        """Sets another quota, also while members run. Raises OSError if the kernel refuses it."""
        quota_us, period_us = round(policy.runtime_ms * US_PER_MS), round(policy.period_ms * US_PER_MS)
        if (self.folder / "cpu.max").exists():
            (self.folder / "cpu.max").write_text(f"{quota_us} {period_us}")
            return
        (self.folder / "cpu.cfs_period_us").write_text(str(period_us))
        (self.folder / "cpu.cfs_quota_us").write_text(str(quota_us))

    def throttled(self) -> Throttled:
        rows = (line.split() for line in (self.folder / "cpu.stat").read_text().splitlines())
        known = {name: int(value) for name, value in rows}
        return Throttled(throttled_periods=known["nr_throttled"], periods=known["nr_periods"])


@contextlib.contextmanager
def quota_group(policy: Policy, domain: Domain | None = None) -> Iterator[Group]:
    """Yields a group under `policy` (a quota) while the block runs.

    Members that are still alive afterwards are moved to the group above, without this quota. If the CPU is a partition
    (`domain`), the group lies inside it, because only its members may run there.
    """
    if policy.kind != "quota" or policy.is_open:
        raise ValueError(f"{policy} is not a quota")
    hierarchy = require_controller("cpu", "the policy quota")
    name = f"quota-{os.getpid()}-{time.monotonic_ns()}"
    with journal(name, f"the journal {name} is in use; try again") as steps:
        try:
            with uninterrupted():
                make = _make_v2 if hierarchy.version == 2 else _make_v1
                group = Group(make(hierarchy.root, steps, f"{PREFIX}-{name}", domain))
                group.limit(policy)
        except OSError as cause:
            raise LabError(
                f"{policy} cannot be set ({cause.filename}: {cause.strerror}); use another policy", EXIT_SETUP
            ) from cause
        yield group


def _make_v1(root: Path, steps: Journal, name: str, _domain: Domain | None) -> Path:
    steps.make_folder(root / name)
    return root / name


def _make_v2(root: Path, steps: Journal, name: str, domain: Domain | None) -> Path:
    parent = domain.group if domain and domain.group else root
    for folder in (root, parent):
        steps.enable_controller(folder / "cgroup.subtree_control", "cpu")
    steps.make_folder(parent / name)
    if parent != root:
        (parent / name / "cgroup.type").write_text("threaded")
    keep_controller(parent / name, "cpu")
    return parent / name
