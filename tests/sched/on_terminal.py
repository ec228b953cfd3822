# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs programs as a shell would on a terminal of their own."""

import fcntl
import os
import subprocess
import termios


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
