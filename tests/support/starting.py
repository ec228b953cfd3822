# SPDX-License-Identifier: LGPL-2.1-or-later
"""Waits for a dlex-play that was just started. A busy machine may need seconds until it plays."""

import contextlib
import signal
import time
from pathlib import Path

LIMIT_S = 60
WAKING_SIGNAL = signal.SIGUSR2


def await_that(is_so, process, what):
    """Waits until `is_so()`, or until the process has ended: then its test says how."""
    limit = time.monotonic() + LIMIT_S
    while not is_so() and process.poll() is None:
        if time.monotonic() > limit:
            raise AssertionError(f"dlex-play does not {what}")
        time.sleep(0.005)


def catches(pid, number):
    with contextlib.suppress(OSError):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        caught = next(line for line in lines if line.startswith("SigCgt"))
        return int(caught.split()[1], 16) >> (number - 1) & 1
    return False


def await_catching(process):
    """Waits until the player catches SIGTERM. It opens its file afterwards."""
    await_that(lambda: catches(process.pid, signal.SIGTERM), process, "catch SIGTERM")


def names_of_threads(pid):
    with contextlib.suppress(OSError):
        return [(task / "comm").read_text().strip() for task in Path(f"/proc/{pid}/task").iterdir()]
    return []


def await_limits_watch(process):
    """Waits until the player follows the limits of CPU time. Its thread for that starts when the film is open."""
    await_that(lambda: "limits" in names_of_threads(process.pid), process, "follow the limits of CPU time")


def await_reading(process):
    """Waits until the player reads its film: it catches signals, and the decoder, the screen and the sound card are open.

    The thread that reads may end soon. The signal that wakes it stays caught.
    """
    await_that(lambda: catches(process.pid, WAKING_SIGNAL), process, "read its film")
