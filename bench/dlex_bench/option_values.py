# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads the values of options of several commands. A value that is not possible is refused before anything is built or run."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def number_of(what: str) -> Callable[[str], int]:
    """Returns the type of an option that takes a number of `what`, 1 or more."""

    def read(text: str) -> int:
        if not text.isascii() or not text.isdigit() or int(text) < 1:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number of {what}; give 1 or more")
        return int(text)

    return read
