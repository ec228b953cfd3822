# SPDX-License-Identifier: LGPL-2.1-or-later
"""Holds what the tests of dlex-play's command line share: clips, runs, records.

Run a test file as: python3 test_X.py DLEX_PLAY MEDIA_MAKE
"""
import csv
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import termios
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from starting import await_that

PLAY, MAKE = sys.argv[1], sys.argv[2]
SANITIZER_EXIT = 99
TIME_LIMIT_S = 120


def clip(name: str) -> str:
    """Returns the path of a made clip. If the clip cannot be made, skips the test with the reason."""
    made = subprocess.run([MAKE, name], capture_output=True, text=True, check=False)
    if made.returncode:
        raise unittest.SkipTest(f"no clip {name}: {made.stderr.strip().splitlines()[-1:]}")
    return made.stdout.strip()


def environment() -> dict:
    clean = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY", "PULSE_SERVER")}
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
        clean[name] = f"{clean.get(name, '')}:exitcode={SANITIZER_EXIT}:halt_on_error=1".lstrip(":")
    return clean


def start(*arguments, extra=(), stdin=subprocess.DEVNULL, **options) -> subprocess.Popen:
    return subprocess.Popen([PLAY, *map(str, arguments)], env={**environment(), **dict(extra)}, text=True, stdin=stdin,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def play(*arguments, **options) -> subprocess.CompletedProcess:
    process = start(*arguments, **options)
    try:
        out, err = process.communicate(timeout=TIME_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError(f"dlex-play hangs: {arguments}") from None
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def sums_of(framemd5: str) -> dict[str, str]:
    """Returns the checksums of a --framemd5 file by time stamp."""
    lines = [line.split(",") for line in framemd5.splitlines() if not line.startswith("#")]
    return {fields[2].strip(): fields[-1].strip() for fields in lines}


NULL = ("--ao=null", "--vo=null", "--quiet")
UNTIMED = (*NULL, "--untimed")


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = Path(tempfile.mkdtemp(prefix="dlex-test-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def expect(self, run, code: int, *words: str):
        self.assertEqual(run.returncode, code, run.stderr)
        for word in words:
            self.assertIn(word, run.stderr)
        if code:
            self.assertLessEqual(len(run.stderr.strip().splitlines()), 2, run.stderr)

    def record(self, name="record") -> tuple:
        """Returns the contents of run.json and the rows of frames.csv."""
        run = json.loads((self.dir / name / "run.json").read_text())
        with open(self.dir / name / "frames.csv", newline="", encoding="ascii") as file:
            rows = list(csv.DictReader(file))
        for verdict in ("shown", "aborted", "skipped", "late"):
            self.assertEqual(run["totals"][verdict], sum(row["verdict"] == verdict for row in rows), verdict)
        return run, rows


class KeysCase(Case):
    """A test case that sends keys through a real terminal. self.output has what the player prints there."""

    STATUS = re.compile(r"[AV]: \d\d:\d\d:\d\d")

    KEY_STEP_S = 0.7

    def press(self, keys: list, *arguments, columns: int = 0) -> int:
        """Plays and presses each key in turn. An entry that is a function is called instead. Returns the exit code.

        The first step begins when the player prints its status, and so takes keys. A terminal of 0 columns does not know its size.
        """
        self.output = ""
        controller, terminal = pty.openpty()
        self.controller = controller
        termios.tcsetwinsize(terminal, (24, columns))
        process = subprocess.Popen([PLAY, "--ao=null", "--vo=null", *map(str, arguments)], env=environment(),
                                   stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True,
                                   preexec_fn=lambda: __import__("fcntl").ioctl(0, 0x540E, 0))  # TIOCSCTTY
        os.close(terminal)
        try:
            await_that(lambda: self.drain(controller) or self.STATUS.search(self.output), process, "print its status")
            for key in keys:
                time.sleep(self.KEY_STEP_S)
                if callable(key):
                    key()
                else:
                    os.write(controller, key)
                self.drain(controller)
            code = process.wait(timeout=60)
            self.drain(controller)
            return code
        finally:
            process.kill()
            os.close(controller)

    def resize(self, columns: int) -> int:
        """Changes the width of the terminal, which sends SIGWINCH. Returns how much had been printed before."""
        self.drain(self.controller)
        termios.tcsetwinsize(self.controller, (24, columns))
        return len(self.output)

    def drain(self, controller):
        os.set_blocking(controller, False)
        try:
            while data := os.read(controller, 65536):
                self.output += data.decode(errors="replace")
        except (BlockingIOError, OSError):
            pass


def main():
    unittest.main(argv=sys.argv[:1], verbosity=2)
