# SPDX-License-Identifier: LGPL-2.1-or-later
"""dlex-bench plan"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..parser import Parser

if TYPE_CHECKING:
    from ..agenda.jobs import Extent

DEFAULT_OUT = Path("build/batch")
LAUNCHER = "bench/dlex-bench"


def _times(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of repetitions")
    return int(text)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is no length in seconds")
    return value


def add_agenda_options(parser: Parser) -> None:
    """Which jobs: the same for every command that takes an agenda."""
    parser.add_argument("agenda", type=Path, metavar="AGENDA", help="a file such as bench/agendas/smoke.yaml")
    parser.add_argument("-o", "--out", type=Path, default=DEFAULT_OUT, metavar="DIR", help=f"results ({DEFAULT_OUT})")
    parser.add_argument("--reps", type=_times, metavar="N", help="repetitions, in place of the agenda's")
    parser.add_argument("--length", type=_seconds, metavar="SECONDS", help="play that much of each clip")
    parser.add_argument("--quick", action="store_true", help="10 s of each clip, 2 repetitions")


def plan_parser() -> Parser:
    parser = Parser(
        prog="dlex bench plan",
        description="Lists the jobs of an agenda and how long they will take; what is over in DIR is told.",
    )
    add_agenda_options(parser)
    parser.add_argument("--only", action="append", default=[], metavar="GLOB", help="jobs so named; may be repeated")
    parser.add_argument("--jobs", action="store_true", help="print a command for each, for GNU parallel")
    parser.add_argument("--mixed", action="store_true", help="with --jobs: several machines may write to one DIR")
    parser.add_argument("--launcher", default=LAUNCHER, metavar="COMMAND", help=f"with --jobs: how ({LAUNCHER})")
    return parser


def run_plan(arguments: argparse.Namespace) -> None:
    from rich.console import Console

    from .plan import command_lines, read_plan, show_plan
    from .results import Store

    extent = extent_of(arguments)
    plan = read_plan(arguments.agenda, extent)
    if arguments.jobs:
        print("\n".join(command_lines(plan, extent, arguments.out, arguments.launcher, arguments.mixed)))
    else:
        show_plan(Console(), Path.cwd(), plan, Store(arguments.out))


def extent_of(arguments: argparse.Namespace) -> Extent:
    from ..agenda.jobs import Extent

    return Extent(arguments.reps, arguments.length, arguments.quick, tuple(getattr(arguments, "only", ())))
