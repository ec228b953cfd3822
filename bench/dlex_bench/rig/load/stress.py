# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs background load with Debian's `stress`, always under the ordinary policy (seed 000, section 7, Table 1)."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from ...errors import LabError
from ...paths import require_installed
from ...processes import child
from .running import RunningLoad, wait_until

# Each memory task of stress writes and frees this much repeatedly: stress's own default, or less if memory is scarce.
MEMORY_BYTES = 256 << 20
MEMORY_SHARE = 8
PROGRAM, PACKAGES = "stress", {"stress": "stress"}
# One process that always computes, as a command for the shell. `stress` would be two.
HOG = "while :; do :; done"


def find_stress() -> str:
    return require_installed(PROGRAM, PACKAGES[PROGRAM])


def available_bytes() -> int:
    """Returns the kernel's estimate of the memory that is available without swapping."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return MEMORY_BYTES


def stress_command(cpu: int, memory: int, free_bytes: int) -> list[str]:
    """Returns the command for `cpu` tasks that compute and `memory` tasks that write memory."""
    command = [find_stress()]
    if cpu:
        command += ["--cpu", str(cpu)]
    if memory:
        each = min(MEMORY_BYTES, free_bytes // (MEMORY_SHARE * memory))
        command += ["--vm", str(memory), "--vm-bytes", str(each)]
    return command


@contextlib.contextmanager
def stress(
    cpu: int,
    memory: int,
    cpus: Collection[int] | None,
    settle_s: float,
    enter: Callable[[], None] | None = None,
    nice: int = 0,
) -> Iterator[subprocess.Popen[bytes] | None]:
    """Runs the tasks while the block runs, and none of them longer. Yields None if there is no load.

    stress's own children end when stress ends, for any reason (since its release 1.0.6), and stress ends when we do.
    `enter` and `nice` are the same as for `child`.
    """
    if not cpu and not memory:
        time.sleep(settle_s)
        yield None
        return
    with child(stress_command(cpu, memory, available_bytes()), cpus=cpus, nice=nice, enter=enter) as process:
        time.sleep(settle_s)
        require_running(process)
        yield process


@contextlib.contextmanager
def stress_load(
    cpu: int, memory: int, nice: int, cpus: Collection[int] | None, enter: Callable[[], None] | None = None
) -> Iterator[RunningLoad]:
    """Runs the tasks while the block runs, and reports the CPU time that they get."""
    with stress(cpu, memory, cpus, 0.0, enter, nice) as process:
        assert process
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")

        def cpu_s() -> float:
            tasks = [Path(f"/proc/{pid}/schedstat") for pid in children.read_text().split()]
            return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9

        wait_until("stress", lambda: cpu_s() > 0, lambda: require_running(process))
        yield RunningLoad(lambda: require_running(process), cpu_s, "s of CPU time")


def require_running(process: subprocess.Popen[bytes] | None) -> None:
    if process and process.poll() is not None:
        raise LabError("stress ended by itself; try `stress --cpu 1 --vm 1 --timeout 1` by hand")
