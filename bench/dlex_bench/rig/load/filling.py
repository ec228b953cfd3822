# SPDX-License-Identifier: LGPL-2.1-or-later
"""Keeps a CPU busy: the third task of the demo's load, and of rt-app's calibration."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from ...errors import LabError
from ...processes import child

SCRIPT = Path(__file__).with_name("filler.py")
FILLER_PERIOD_US = 10_000


@contextlib.contextmanager
def filler(cpu: int, share: float, rtapp_pid: int) -> Iterator[subprocess.Popen[bytes]]:
    """Runs the task that uses what rt-app leaves of `cpu`, except `share` of the CPU.

    The block begins when the task has begun.
    """
    argv: list[str | Path] = [sys.executable, "-ISE", SCRIPT, f"{share:.6f}", str(FILLER_PERIOD_US), str(rtapp_pid)]
    with child(argv, cpus={cpu}, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process


def what_it_ate(process: subprocess.Popen[bytes]) -> dict[str, float]:
    """Ends the task, and returns the parts of the CPU that it and rt-app used."""
    process.send_signal(signal.SIGTERM)
    text, _ = process.communicate(timeout=30)
    if process.returncode != 0:
        raise LabError(f"the load's third task failed with status {process.returncode}; see {SCRIPT.name}")
    eaten: dict[str, float] = json.loads(text)
    return eaten
