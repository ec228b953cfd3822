# SPDX-License-Identifier: LGPL-2.1-or-later
"""Implements `dlex-bench peers`: `run` with bench/agendas/peers.yaml, then the tables and goals, and `report`."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..parser import Parser
from ..paths import PROJECT

AGENDA = PROJECT / "bench/agendas/peers.yaml"
DEFAULT_OUT = Path("build/peers")


def peers_parser() -> Parser:
    parser = Parser(
        prog="dlex bench peers",
        description="Measures dlex-play, mplayer, mpv and ffplay from outside, with the same clip beside the same load: "
        "under a reservation, under a CPU quota and under ordinary scheduling. Shows a table for each, then the goals and "
        "which of them hold, and makes the report. Needs an otherwise idle machine for hours. After an interruption, the "
        "same command continues.",
    )
    parser.add_argument("--quick", action="store_true", help="10 s of the clip, 2 repetitions, to check that it works")
    parser.add_argument("--reps", metavar="N", help="number of repetitions instead of 5")
    parser.add_argument("--only", action="append", default=[], metavar="GLOB", help="only jobs that match; may be repeated")
    parser.add_argument("-o", "--out", type=Path, default=DEFAULT_OUT, metavar="DIR", help=f"results folder ({DEFAULT_OUT})")
    return parser


def run_peers(arguments: argparse.Namespace) -> None:
    from rich.console import Console

    from ..batch.cli import run_parser, run_run
    from .cli import report_parser, run_report
    from .standings import show_goals, show_standings

    run_run(run_parser().parse_args([str(AGENDA), "-o", str(arguments.out), *_options(arguments)]))
    console = Console()
    rows = show_standings(console, arguments.out)
    run_report(report_parser().parse_args([str(arguments.out)]))
    show_goals(console, rows)


def _options(arguments: argparse.Namespace) -> list[str]:
    options = [f"--only={pattern}" for pattern in arguments.only]
    options += [f"--reps={arguments.reps}"] if arguments.reps else []
    return options + (["--quick"] if arguments.quick else [])
