# SPDX-License-Identifier: LGPL-2.1-or-later
"""The background load of the latency experiment, by Debian's `stress`, always under the ordinary policy."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import time
from collections.abc import Collection, Iterator
from pathlib import Path

from .errors import EXIT_SETUP, DemoError
from .latency_plan import LOADS, SETTLE_S
from .processes import child

# stress writes and frees this much over and over in each memory task: its own size, or less where memory is scarce.
MEMORY_BYTES = 256 << 20
MEMORY_SHARE = 8


def find_stress() -> str:
    path = shutil.which("stress")
    if not path:
        raise DemoError("stress is not installed; install it with `apt install stress`", EXIT_SETUP)
    return path


def available_bytes() -> int:
    """What can be had without swapping, as the kernel estimates it."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return MEMORY_BYTES


def stress_command(tasks: int, free_bytes: int) -> list[str]:
    """Of a row of Table 1."""
    level = LOADS[tasks]
    each = min(MEMORY_BYTES, free_bytes // (MEMORY_SHARE * level.memory))
    return [find_stress(), "--cpu", str(level.cpu), "--vm", str(level.memory), "--vm-bytes", str(each)]


@contextlib.contextmanager
def background_load(tasks: int, cpus: Collection[int]) -> Iterator[subprocess.Popen[bytes] | None]:
    """So many tasks while the block runs, none of them longer: stress's own children end when it does, whatever ends
    it (since its release 1.0.6), and it ends when we do. None for no load."""
    if not tasks:
        time.sleep(SETTLE_S)
        yield None
        return
    with child(stress_command(tasks, available_bytes()), cpus=cpus) as process:
        time.sleep(SETTLE_S)
        check(process)
        yield process


def check(process: subprocess.Popen[bytes] | None) -> None:
    if process and process.poll() is not None:
        raise DemoError("stress ended by itself; try `stress --cpu 1 --vm 1 --timeout 1` by hand")
