# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests of `dlex sched pman` share: the programs, names of tables that no other test has, and what a run printed.

A test file is run as: test_NAME.py PROGRAM GRAPHS TOOLS [MEDIA_MAKE]
"""
import json
import os
import subprocess
import sys
from pathlib import Path

from programs import end_left_tables

PROGRAM, GRAPHS, TOOLS = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
ENVIRONMENT = {**os.environ, "PATH": f"{TOOLS}{os.pathsep}{os.environ['PATH']}"}
# A process that needs no library: it stops itself when it is ready, and after each instance.
STOPS = "while kill -STOP $$; do :; done"
WORKS = "exec dlex-pictures work --work=0.1"


def names():
    """Yields names of tables that no other test has."""
    number = 0
    while True:
        number += 1
        yield f"test-{os.getpid()}-{number}"


NAMES = names()


end_left_tables(PROGRAM)  # of killed tests


def may_be_real_time():
    """Returns whether this process may give priorities of SCHED_FIFO."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(5))
    except OSError:
        return False
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    return True


def ended(*options, **variables):
    """Runs the program with more variables of the environment. Returns what subprocess.run does."""
    environment = {**ENVIRONMENT, **variables}
    return subprocess.run([PROGRAM, *options], capture_output=True, text=True, timeout=120, env=environment)


def last_state(output):
    return json.loads(output.strip().splitlines()[-1])


def by_name(state):
    return {process["name"]: process for process in state["processes"]}
