# SPDX-License-Identifier: LGPL-2.1-or-later
"""Provides what making a clip needs: running programs, files that appear whole, a line of progress."""

import contextlib
import fcntl
import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

EXIT_FAILED, EXIT_NOT_HERE = 2, 3


class CannotMake(Exception):
    """An error, with one sentence for the user and the exit code."""

    def __init__(self, sentence, code=EXIT_FAILED):
        super().__init__(sentence)
        self.code = code


class Progress:
    """Shows one line on a terminal and overwrites it; in a log, writes two lines: at the beginning and at the end."""

    def __init__(self, what):
        self.what, self.begin, self.tty = what, time.monotonic(), sys.stderr.isatty()
        self._say("…")

    def _say(self, rest, end=""):
        line = f"media/make: {self.what} {rest}"
        print(
            f"\r\033[K{line}{end}" if self.tty else line,
            end="" if self.tty else "\n",
            file=sys.stderr,
            flush=True,
        )

    def fraction(self, done):
        if self.tty:
            self._say(f"{min(done, 1):4.0%}")

    def finished(self):
        self._say(f"made and checked in {time.monotonic() - self.begin:.0f} s", "\n")


def cache_folder():
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dlex"
    return Path(os.environ.get("DLEX_CACHE") or default) / "clips"


def make_folder(path):
    """Makes the folder if there is none, with the mark by which ./dlex clean --cache recognises it (patches/cache.sh)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        path.mkdir()
    except FileExistsError:
        return
    sentence = "dlex made this folder; ./dlex clean --cache deletes it."
    (path / ".made-by-dlex").write_text(f"{sentence}\n{path.name}\n")


def sha256_of(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextlib.contextmanager
def locked(path):
    """Locks the file for one process at a time; the kernel releases the lock if that process dies."""
    with open(path, "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def written_whole(path):
    """Yields a temporary name beside path; the file is renamed to path unless something failed.

    The file is made inside the try: otherwise an interruption between the two would leave the file there.
    """
    name = path.with_name(f".{path.stem}-{os.getpid()}{path.suffix}")
    try:
        yield name
        os.chmod(name, 0o644)
        os.replace(name, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)


def run(command):
    try:
        done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL)
    except FileNotFoundError as error:
        raise CannotMake(
            f"the program {command[0]} is missing; install Debian's package ffmpeg", EXIT_NOT_HERE
        ) from error
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip().splitlines()
        raise CannotMake(f"{command[0]} failed: {reason[-1] if reason else done.returncode}")
    return done.stdout
