# SPDX-License-Identifier: LGPL-2.1-or-later
"""The errors that a user can meet. Each has one sentence and an exit code."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Sequence

EXIT_SETUP = 1
EXIT_UNFIT = 2
EXIT_SIGNAL = 4


SHOWN_MAX = 60  # characters of a value that is refused
# Paths and lists of names may be longer than a value, and are shown whole.
WORD_MAX = 256
MESSAGE_MAX = 2000


class LabError(Exception):
    """An error for the user. `sentence` has the form "cause; what to do"."""

    def __init__(self, sentence: str, code: int = EXIT_UNFIT) -> None:
        super().__init__(sentence)
        self.code = code


class JobUnsupported(LabError):
    """A job cannot be done on this machine or by this player, and repeating it will not help. It is skipped; others go on."""


class NotInstalled(JobUnsupported):
    """A program, or a part of one, is not installed; `package` is the Debian package that has it."""

    def __init__(self, what: str, package: str) -> None:
        super().__init__(f"{what} is not installed; install it with `apt install {package}`", EXIT_SETUP)


class TimedOut(LabError):
    """A program did not end within the time that even a slow machine needs."""

    def __init__(self, what: str, limit_s: float) -> None:
        super().__init__(
            f"{what} did not end within {limit_s:.0f} s: the CPU is busy with other work (load average "
            f"{load_average()}); close other programs and try again"
        )
        self.limit_s = limit_s


def shown(value: object) -> str:
    """Returns a refused value for a message: as Python writes it, but no more than its beginning and its length."""
    try:
        text = repr(value)
    except ValueError:  # Python refuses to write whole numbers of more than 4300 digits
        return "a number of more than 4300 digits"
    return text if len(text) <= SHOWN_MAX else f"{text[:SHOWN_MAX]}... ({len(text)} characters)"


def brief(message: str) -> str:
    """Returns a message in which nothing is so long that it hides the rest: a refused value may have megabytes."""
    short = re.sub(rf"\S{{{WORD_MAX},}}", lambda word: f"{word[0][:SHOWN_MAX]}... ({len(word[0])} characters)", message)
    return short if len(short) <= MESSAGE_MAX else f"{short[:MESSAGE_MAX]}... ({len(message)} characters)"


def printable(message: str) -> str:
    """Returns a message in one line, brief, without what a terminal would obey: a program that ends may say anything."""
    return brief("".join(char if char.isprintable() else "?" for char in message))


def os_error_text(cause: OSError) -> str:
    """Returns what an error of the operating system means for a message: the file, if there is one, and the reason."""
    reason = cause.strerror or str(cause)
    return f"{cause.filename}: {reason}" if cause.filename else reason


def nearest(word: str, known: Sequence[str]) -> str:
    """Returns a suggestion as the end of an error's sentence; empty if no known word is near."""
    close = difflib.get_close_matches(word, [other for other in known if other != word], 1)
    return f"; did you mean {close[0]}?" if close else ""


def load_average() -> str:
    return f"{os.getloadavg()[0]:.1f}"


class Interrupted(BaseException):
    """A signal asked us to end. This is not an Exception, so that no handler for failures swallows it."""

    def __init__(self, signum: int) -> None:
        super().__init__(signum)
        self.signum = signum
