# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests of the programs share: terminals, and what killed tests have left."""

import fcntl
import os
import re
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


class OnTerminal:
    """A program whose output is a new terminal. `output` is what has been read of it."""

    def __init__(self, command, **options):
        self.controller, own = os.openpty()
        self.output = ""
        try:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=own, stderr=own, **options)
        finally:
            os.close(own)

    def read_until(self, pattern):
        """Reads until the output matches. Raises AssertionError if the program ends before."""
        while not re.search(pattern, self.output, re.DOTALL):
            try:
                self.output += os.read(self.controller, 65536).decode(errors="replace")
            except OSError:  # nobody has the terminal open any more
                raise AssertionError(f"{pattern} did not come: {self.output}") from None

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.controller)


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
