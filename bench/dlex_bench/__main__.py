# SPDX-License-Identifier: LGPL-2.1-or-later
"""Exit status: 0 done, 1 bad option or set-up, 2 nothing could be measured, 4 ended by a signal."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import NoReturn

from .cache import cache_folder
from .errors import EXIT_SETUP, EXIT_SIGNAL, DemoError, Interrupted
from .processes import signals_as_exceptions

COMMAND = "demo"


class Parser(argparse.ArgumentParser):
    """argparse with our exit status, and one sentence in place of the usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(EXIT_SETUP, f"{self.prog}: {message}; see ./{self.prog} --help\n")


def parse(argv: list[str]) -> argparse.Namespace:
    parser = Parser(
        prog="dlex demo",
        description="Plays a film with each drop policy on one busy CPU and compares them. Wants an otherwise idle "
        "machine.",
        epilog=__doc__,
        allow_abbrev=False,
    )
    parser.add_argument("--quick", action="store_true", help="under 2 minutes in place of 6; shorter plays")
    parser.add_argument("--out", type=Path, default=Path("build/demo"), metavar="DIR", help="results (build/demo)")
    parser.add_argument("--clip", type=Path, metavar="FILE", help="play this film")
    parser.add_argument("--start", type=float, metavar="SECONDS", help="begin there")
    return parser.parse_args(argv)


def main(argv: list[str]) -> int:
    if argv[:1] != [COMMAND]:
        print(f"dlex_bench: the first argument must be {COMMAND}; see ./dlex {COMMAND} --help", file=sys.stderr)
        return EXIT_SETUP
    arguments = parse(argv[1:])
    try:
        with signals_as_exceptions():
            # matplotlib keeps a list of the machine's fonts; a home that cannot be written would make it complain.
            os.environ.setdefault("MPLCONFIGDIR", str(cache_folder() / "matplotlib"))
            # numpy's linear algebra would start threads, and nothing here needs any: children are forked.
            os.environ["OPENBLAS_NUM_THREADS"] = "1"
            # Importing it takes a while: not for --help, and under our handlers.
            from .demo import Options, demo

            demo(Options(Path.cwd(), arguments.out, arguments.quick, arguments.clip, arguments.start))
    except DemoError as error:
        print(f"dlex demo: {error}", file=sys.stderr)
        return error.code
    except Interrupted:
        print("dlex demo: ended by a signal; everything that it had started is ended too", file=sys.stderr)
        return EXIT_SIGNAL
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
