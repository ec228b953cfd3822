# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests of the programs share: terminals, whether processes run, and what killed tests have left."""

import contextlib
import fcntl
import os
import subprocess
import termios
import time
from pathlib import Path


def run_on_terminal(*command, **options):
    """Runs a program in the foreground of a new terminal, which is its standard input. Returns what subprocess.run does."""
    terminal, own = os.openpty()
    try:
        return subprocess.run(
            command, stdin=own, capture_output=True, text=True, timeout=60, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0), **options,
        )
    finally:
        os.close(terminal)
        os.close(own)


def state_of(pid):
    """Returns a letter as of ps(1), or X if there is no such process."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return "X"


def is_running(pid):
    """Whether the process runs; our own test does not reap it, so it may be a zombie of its present parent."""
    return state_of(pid) not in "ZX"


def soon(condition):
    for _ in range(3000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it did not become true within 30 s")


def end_left_tables(program):
    """Ends the tables of PMan that killed tests have left: their names are test-PID, and perhaps more."""
    prefix = f"dlex-pman-{os.geteuid()}-"
    for path in Path("/dev/shm").glob(f"{prefix}test-*"):
        name = path.name.removeprefix(prefix)
        if name.split("-")[1].isdigit() and not Path("/proc", name.split("-")[1]).exists():
            subprocess.run([program, "--end", f"--name={name}"], capture_output=True, timeout=60)
            path.unlink(missing_ok=True)
