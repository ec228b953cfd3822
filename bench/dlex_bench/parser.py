# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command-line parser that all commands of dlex_bench use."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection
from typing import NoReturn

from .errors import EXIT_SETUP, brief, shown

EXIT_STATUS = "Exit status: 0 done, 1 bad option or set-up, 2 nothing could be measured, 4 ended by a signal."


# What an option may ask for at most, unless it says otherwise: more would be a typing error, and take years or all memory.
NUMBER_MAX = 10_000
SEED_MAX = 2**31 - 1
CPU_MAX = 4095
SECONDS_MAX = 1e6
DIGITS_MAX = 18


class Parser(argparse.ArgumentParser):
    """An ArgumentParser with our exit status. An error prints one sentence in place of the usage."""

    def __init__(self, prog: str, description: str) -> None:
        super().__init__(prog=prog, description=description, epilog=EXIT_STATUS, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        self.exit(EXIT_SETUP, f"{self.prog}: {brief(message)}; see ./{self.prog} --help\n")


def some_of(names: Collection[str]) -> Callable[[str], tuple[str, ...]]:
    """Returns the type of an option that takes a list of these names, separated by commas. Repeated names count once."""

    def parse(text: str) -> tuple[str, ...]:
        asked = tuple(dict.fromkeys(text.split(",")))
        for name in asked:
            if name not in names:
                raise argparse.ArgumentTypeError(f"{shown(name)} is not one of {', '.join(names)}")
        return asked

    return parse


def number_of(what: str, least: int = 1, most: int = NUMBER_MAX) -> Callable[[str], int]:
    """Returns the type of an option that takes a number of `what`."""
    return whole_number(f"a number of {what}", least, most)


def whole_number(what: str, least: int, most: int) -> Callable[[str], int]:
    """Returns the type of an option that takes a whole number from `least` to `most`; `what` is it, such as "a seed"."""

    def read(text: str) -> int:
        is_number = text.isascii() and text.isdigit() and len(text) <= DIGITS_MAX
        if not is_number or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{shown(text)} is not {what}; give {least} to {most}")
        return int(text)

    return read


def seconds_of(what: str, most: float = SECONDS_MAX) -> Callable[[str], float]:
    """Returns the type of an option that takes a time in seconds, from 0 to `most`."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = -1
        if not 0 <= value <= most:
            raise argparse.ArgumentTypeError(f"{shown(text)} is not a time ({what}); give 0 to {most:.0f} s")
        return value

    return read


# The function that makes the parser, and the function that does the work. Importing the modules for the work takes a
# while. So this is not done for --help, and it happens under the signal handlers of main.
Command = tuple[Callable[[], Parser], Callable[[argparse.Namespace], None]]
