# SPDX-License-Identifier: LGPL-2.1-or-later
"""Holds what the tests share that run dlex_bench's commands, or other programs, as separate processes."""

import contextlib
import glob
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

PACKAGES = "import matplotlib, rich"
SKIPPED = 77


def cache():
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get("DLEX_CACHE") or base / "dlex")


def python_with_packages(packages=PACKAGES):
    candidates = [sys.executable, *glob.glob(str(cache() / "venv-*/bin/python"))]
    for python in candidates:
        if subprocess.run([python, "-c", packages], stderr=subprocess.DEVNULL).returncode == 0:
            return python
    print("no Python with the packages of bench/requirements.lock was found; ./dlex setup makes one")
    sys.exit(SKIPPED)


def with_packages(names):
    """Restarts this program under a Python that has the packages, unless this Python has them. For tests that import them."""
    found = python_with_packages(f"import {names}")
    if found != sys.executable:
        os.execv(found, [found, *sys.argv])


class Folder(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)


def wait_until(condition, limit_s=60):
    """Waits until the condition is true and returns its value, or the last one when the time is over."""
    limit = time.monotonic() + limit_s
    while not (found := condition()) and time.monotonic() < limit:
        time.sleep(0.01)
    return found


def state_of(pid):
    """Returns a letter as of ps(1), or X if there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):  # the latter: it ended after the file was opened
        return "X"


def is_running(pid):
    """Returns whether the process runs. A process that has ended may be a zombie of its present parent."""
    return state_of(pid) not in "ZX"


def children_of(pid):
    found = {}
    for stat in glob.glob("/proc/[0-9]*/stat"):
        try:
            name, rest = Path(stat).read_text().split("(", 1)[1].rsplit(")", 1)
        except (OSError, IndexError):
            continue
        if int(rest.split()[1]) == pid:
            found[int(stat.split("/")[2])] = name
    return found


@contextlib.contextmanager
def program(text, *, new_group=False):
    """Runs a Python program that prints a line when it is ready."""
    process = subprocess.Popen([sys.executable, "-uc", text], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               start_new_session=new_group)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()
