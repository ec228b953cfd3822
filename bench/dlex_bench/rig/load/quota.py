# SPDX-License-Identifier: LGPL-2.1-or-later
"""Limits the CPU time of the player's whole process over all CPUs, as a container or a power limit does; it may change."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ...machine.policy import Policy
from ...machine.quota import Group, quota_group

# The kernel's default, and that of systemd's CPUQuota=.
PERIOD_MS = 100.0


def quota_of(percent: float) -> Policy:
    """Returns the quota of so many per cent of one CPU; 150 are one and a half CPUs."""
    return Policy("quota", runtime_ms=PERIOD_MS * percent / 100, period_ms=PERIOD_MS)


@dataclass
class ChangingQuota:
    """A group whose quota takes the values of `percents` in turn, each for `every_s`."""

    group: Group
    percents: Sequence[float]
    every_s: float
    begun_s: float
    changes: list[tuple[int, float]] = field(default_factory=list)  # when, in ns of CLOCK_MONOTONIC, and to which percentage

    def follow(self) -> None:
        """Sets the quota whose turn it is. Called again and again; the change is as late as the call."""
        percent = self.percents[int((time.monotonic() - self.begun_s) / self.every_s) % len(self.percents)]
        if not self.changes or self.changes[-1][1] != percent:
            self.group.limit(quota_of(percent))
            self.changes.append((time.monotonic_ns(), percent))


@contextlib.contextmanager
def changing_quota(percents: Sequence[float], every_s: float) -> Iterator[ChangingQuota]:
    """Yields the quota while the block runs. It is the first one until `follow` is called."""
    with quota_group(quota_of(percents[0])) as group:
        yield ChangingQuota(group, percents, every_s, time.monotonic(), [(time.monotonic_ns(), percents[0])])
