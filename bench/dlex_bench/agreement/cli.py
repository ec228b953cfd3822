# SPDX-License-Identifier: LGPL-2.1-or-later
"""Defines the command `dlex-bench observe-check`."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..parser import Parser
from ..paths import PROJECT


def observe_check_parser() -> Parser:
    parser = Parser(
        prog="dlex bench observe-check",
        description="Plays a stamped clip in dlex-play and observes it from outside. Reports whether both records have the same "
        "shown pictures, and how far their times and A-V differ. Needs an otherwise idle machine.",
    )
    parser.add_argument("--out", "-o", type=Path, default=Path("build/observe-check"), metavar="DIR",
                        help="a new folder for the records (build/observe-check)")
    parser.add_argument("--clip", default="stamped_small", metavar="RECIPE", help="a stamped clip of media/ (stamped_small)")
    parser.add_argument("--reps", type=int, default=3, metavar="N", help="number of runs (3)")
    return parser


def run_observe_check(arguments: argparse.Namespace) -> None:
    from .check import Options, check

    check(Options(PROJECT, arguments.out, arguments.clip, arguments.reps))
