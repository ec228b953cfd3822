# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds where this machine has a controller: in a hierarchy of its own (version 1) or the unified one (version 2)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..errors import EXIT_SETUP, LabError

MOUNTS = Path("/proc/self/mounts")
# The names of all groups that we make begin with this, and no other names do.
PREFIX = "dlex-bench"


@dataclass(frozen=True)
class Hierarchy:
    root: Path
    version: int


def _mounts() -> Iterable[tuple[Path, str, list[str]]]:
    for line in MOUNTS.read_text().splitlines():
        _device, folder, kind, options, *_ = line.split()
        if kind in ("cgroup", "cgroup2"):
            yield Path(folder.replace("\\040", " ")), kind, options.split(",")


def hierarchy_of(controller: str) -> Hierarchy | None:
    """Returns the controller's hierarchy, or None if it has none.

    Version 1 comes first: a controller that is mounted there is not available in the unified hierarchy.
    """
    for folder, kind, options in _mounts():
        if kind == "cgroup" and controller in options:
            return Hierarchy(folder, 1)
    for folder, kind, _options in _mounts():
        if kind == "cgroup2" and controller in (folder / "cgroup.controllers").read_text().split():
            return Hierarchy(folder, 2)
    return None


def may_change(controller: str) -> bool:
    hierarchy = hierarchy_of(controller)
    return hierarchy is not None and os.access(hierarchy.root, os.W_OK)


def require_controller(controller: str, purpose: str) -> Hierarchy:
    hierarchy = hierarchy_of(controller)
    if hierarchy is None:
        raise LabError(
            f"{purpose} needs the cgroup controller {controller}, which is not mounted; mount it, or use the policies "
            "other, fifo and rr",
            EXIT_SETUP,
        )
    if not os.access(hierarchy.root, os.W_OK):
        who = "only root may; run it with sudo" if os.geteuid() else "root may not here, as in a container; run it outside"
        raise LabError(f"{purpose} changes {hierarchy.root}, which {who}", EXIT_SETUP)
    return hierarchy


def keep_controller(group: Path, controller: str) -> None:
    """Hands the controller down from `group` (version 2). As long as a group does so, nobody can take it from above.

    Whenever one of its units starts or ends, systemd switches off at the root the controllers that none of its units
    uses. Our settings would be lost with the controller.
    """
    (group / "cgroup.subtree_control").write_text(f"+{controller}")


def parse_cpus(text: str) -> set[int]:
    """Parses a CPU list as the kernel writes it, for example "0-3,7"."""
    cpus: set[int] = set()
    for part in text.strip().split(","):
        if part:
            first, _, last = part.partition("-")
            cpus |= set(range(int(first), int(last or first) + 1))
    return cpus


def spell_cpus(cpus: Iterable[int]) -> str:
    return ",".join(str(cpu) for cpu in sorted(cpus))


def online_cpus() -> set[int]:
    return parse_cpus(Path("/sys/devices/system/cpu/online").read_text())
