# SPDX-License-Identifier: LGPL-2.1-or-later
"""Holds what the screen and the sound card share: both are servers that need a moment to start, and may die.

Neither they nor the players get anything of the user's session, so that all machines play alike.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..errors import EXIT_SETUP, LabError
from ..processes import last_words

START_LIMIT_S = 60.0
POLL_S = 0.02
NO_MESSAGE = "it left no message"
# These say where programs, libraries and clips are, and how a sanitizer behaves. What desktops set is left out.
KEPT = ("PATH", "LD_LIBRARY_PATH", "TZ", "TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS")


@dataclass(frozen=True)
class Device:
    """A server that the laboratory runs, and what a program needs to know to use it."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path
    environment: dict[str, str]

    def alive(self) -> bool:
        return self.process.poll() is None

    def obituary(self) -> str | None:
        """Returns one sentence about the server's death; None while it is alive."""
        if self.alive():
            return None
        status = self.process.returncode
        how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
        return f"{self.name} {how} while it was needed ({last_words(self.log) or NO_MESSAGE}); run the job again"


def wait_until_ready(name: str, process: subprocess.Popen[bytes], log: Path, ready: Callable[[], bool]) -> None:
    limit = time.monotonic() + START_LIMIT_S
    while not ready():
        if process.poll() is not None:
            raise LabError(f"{name} does not start ({last_words(log) or NO_MESSAGE}); try it by hand", EXIT_SETUP)
        if time.monotonic() > limit:
            raise LabError(f"{name} is not ready after {START_LIMIT_S:.0f} s; the machine is too busy", EXIT_SETUP)
        time.sleep(POLL_S)


def base_environment(home: Path) -> dict[str, str]:
    """Returns the basic environment, with an empty `home`.

    Players keep settings in their home, and these would change their behaviour.
    """
    kept = {name: value for name in KEPT if (value := os.environ.get(name)) is not None}
    # The status lines are parsed, so the decimal separator must be a point.
    return kept | {"HOME": str(home), "XDG_RUNTIME_DIR": str(home), "LC_ALL": "C.UTF-8"}
