# SPDX-License-Identifier: LGPL-2.1-or-later
"""Defines a load that runs, and starts the loads that are scripts of this folder.

A script does not import the package, so that it starts within milliseconds. It writes its counts as decimal numbers to the
beginning of its standard output, again and again, and its last words to its standard error.
"""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...errors import LabError
from ...processes import child, last_words

START_LIMIT_S = 20.0
POLL_S = 0.02


# Begin and end, in us of CLOCK_MONOTONIC.
Window = tuple[float, float]


@dataclass(frozen=True)
class Due:
    """How much of what a load had to do at its times it did, and how much it left out."""

    done: int
    lost: int


@dataclass(frozen=True)
class RunningLoad:
    """A load that runs.

    `check` raises LabError when it has died. `done` returns how much it has done since its start, in `unit`; None: only its records
    say it, and `due` reads them when the load has ended. `late` returns how many of its activations were late; None: it has no
    deadlines. It takes `settle_s` to settle.
    """

    check: Callable[[], None]
    done: Callable[[], float] | None
    unit: str
    late: Callable[[], int] | None = None
    settle_s: float = 0.5
    due: Callable[[Window], Due] | None = None


@dataclass(frozen=True)
class Script:
    name: str  # of the load, for messages
    process: subprocess.Popen[bytes]
    counts_file: Path
    log: Path

    def counts(self) -> list[int]:
        """Returns what the script has counted so far; empty before its first count."""
        return [int(word) for word in self.counts_file.read_text().split()]

    def check(self) -> None:
        if self.process.poll() is not None:
            raise LabError(ended_by_itself(self.name, self.process, self.log))

    def wait_for_count(self) -> None:
        """Waits until the script has counted something. Raises LabError when it has ended, or takes too long."""
        wait_until(self.name, lambda: any(self.counts()), self.check)


def ended_by_itself(name: str, process: subprocess.Popen[bytes], log: Path) -> str:
    return f"the load {name} ended by itself with status {process.returncode} ({last_words(log) or 'no message'}); try it by hand"


def wait_until(name: str, ready: Callable[[], bool], check: Callable[[], None]) -> None:
    """Waits until the load `name` is `ready`. Raises what `check` raises, or LabError after START_LIMIT_S."""
    limit = time.monotonic() + START_LIMIT_S
    while not ready():
        check()
        if time.monotonic() > limit:
            raise LabError(f"the load {name} did nothing for {START_LIMIT_S:.0f} s; try it by hand")
        time.sleep(POLL_S)


@contextlib.contextmanager
def script(
    name: str,
    file: str,
    arguments: Sequence[str | Path],
    folder: Path,
    cpus: Collection[int] | None,
    enter: Callable[[], None] | None = None,
) -> Iterator[Script]:
    """Runs the script `file` of this folder while the block runs. Its counts and its log are files in `folder`.

    It is asked to end with SIGTERM, also if we are killed.
    """
    counts_file, log = folder / f"{name}.counts", folder / f"{name}.log"
    argv: list[str | Path] = [sys.executable, "-ISE", Path(__file__).with_name(file), *arguments]
    with (
        counts_file.open("wb") as counts,
        log.open("wb") as words,
        child(argv, cpus=cpus, stdout=counts, stderr=words, enter=enter, orphaned=signal.SIGTERM) as process,
    ):
        yield Script(name, process, counts_file, log)
