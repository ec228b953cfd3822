# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the commands of dlex_bench have in common on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NoReturn

from .errors import EXIT_SETUP

EXIT_STATUS = "Exit status: 0 done, 1 bad option or set-up, 2 nothing could be measured, 4 ended by a signal."


class Parser(argparse.ArgumentParser):
    """argparse with our exit status, and one sentence in place of the usage."""

    def __init__(self, prog: str, description: str) -> None:
        super().__init__(prog=prog, description=description, epilog=EXIT_STATUS, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        self.exit(EXIT_SETUP, f"{self.prog}: {message}; see ./{self.prog} --help\n")


# How the command line is read, and what is done then. Importing what does the work takes a while: not for --help, and
# under the handlers of main.
Command = tuple[Callable[[], Parser], Callable[[argparse.Namespace], None]]
