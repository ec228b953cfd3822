# SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds a tree with ninja, again and again, until SIGTERM.

    python builder.py FOLDER

Writes the count of compiled files. If this program is killed, ninja gets a signal and ends its compilers.
"""

import os
import signal
import subprocess
import sys
from types import FrameType

# The rest of the line is a file. ninja prints it when the compiler has ended.
COMPILED = b"compiled "
# In a message of a compiler, or of ninja.
ERROR = b"error: "
NINJA = ["setpriv", "--pdeathsig=TERM", "--", "ninja"]


def stop(_signum: int, _frame: FrameType | None) -> None:
    sys.exit(0)


def build(folder: str, compiled: int) -> int:
    """Builds the tree once. Returns `compiled` and the number of files that were compiled."""
    environment = {**os.environ, "NINJA_STATUS": ""}
    with subprocess.Popen(NINJA, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment) as ninja:
        assert ninja.stdout is not None
        error = b"ninja failed"
        try:
            for said in ninja.stdout:
                compiled += said.startswith(COMPILED)
                error = said if ERROR in said else error
                os.pwrite(1, b"%12d" % compiled, 0)
        finally:
            ninja.terminate()  # nothing happens if it has ended
            ninja.wait()
    if ninja.returncode != 0:
        sys.exit(error.decode(errors="replace").strip())
    return compiled


def main() -> None:
    signal.signal(signal.SIGTERM, stop)
    folder, compiled = sys.argv[1], 0
    while True:
        compiled = build(folder, compiled)
        subprocess.run(["ninja", "-t", "clean"], cwd=folder, stdout=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    main()
