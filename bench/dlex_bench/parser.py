# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command-line parser that all commands of dlex_bench use."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection
from typing import NoReturn

from .errors import EXIT_SETUP

EXIT_STATUS = "Exit status: 0 done, 1 bad option or set-up, 2 nothing could be measured, 4 ended by a signal."


class Parser(argparse.ArgumentParser):
    """An ArgumentParser with our exit status. An error prints one sentence in place of the usage."""

    def __init__(self, prog: str, description: str) -> None:
        super().__init__(prog=prog, description=description, epilog=EXIT_STATUS, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        self.exit(EXIT_SETUP, f"{self.prog}: {message}; see ./{self.prog} --help\n")


def some_of(names: Collection[str]) -> Callable[[str], tuple[str, ...]]:
    """Returns the type of an option that takes a list of these names, separated by commas. Repeated names count once."""

    def parse(text: str) -> tuple[str, ...]:
        asked = tuple(dict.fromkeys(text.split(",")))
        for name in asked:
            if name not in names:
                raise argparse.ArgumentTypeError(f"'{name}' is not one of {', '.join(names)}")
        return asked

    return parse


def number_of(what: str) -> Callable[[str], int]:
    """Returns the type of an option that takes a number of `what`, 1 or more."""

    def read(text: str) -> int:
        if not text.isascii() or not text.isdigit() or int(text) < 1:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number of {what}; give 1 or more")
        return int(text)

    return read


# The function that makes the parser, and the function that does the work. Importing the modules for the work takes a
# while. So this is not done for --help, and it happens under the signal handlers of main.
Command = tuple[Callable[[], Parser], Callable[[argparse.Namespace], None]]
