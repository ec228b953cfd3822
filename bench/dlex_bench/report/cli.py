# SPDX-License-Identifier: LGPL-2.1-or-later
"""The commands `report`, `compare` and `peers`.

`peers` is `run` with bench/agendas/peers.yaml, then the tables and goals, and `report`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ..parser import Parser
from ..paths import PROJECT

PEERS_AGENDA = PROJECT / "bench/agendas/peers.yaml"
PEERS_OUT = Path("build/peers")


def report_parser() -> Parser:
    parser = Parser(
        prog="dlex bench report",
        description="Makes one HTML page of a batch's results, finished or not, that needs nothing but a browser, and "
        "the same figures as .csv and .json beside it.",
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="what `dlex bench run -o DIR` has filled")
    parser.add_argument("-o", "--out", type=Path, metavar="FILE", help="the page (DIR/report.html)")
    return parser


def run_report(arguments: argparse.Namespace) -> None:
    from .report import report

    report(arguments.folder, arguments.out)


def compare_parser() -> Parser:
    parser = Parser(
        prog="dlex bench compare",
        description="Compares two batches setting by setting: the ratios of their medians B/A with bootstrap "
        "confidence intervals, and which differences are noise.",
    )
    parser.add_argument("a", type=Path, metavar="A", help="the results to compare with")
    parser.add_argument("b", type=Path, metavar="B", help="the results to judge")
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.add_argument("--mixed", action="store_true", help="compare although the machines differ")
    return parser


def run_compare(arguments: argparse.Namespace) -> None:
    from .compare import compare_batches

    compare_batches(arguments.a, arguments.b, as_json=arguments.json, mixed=arguments.mixed)


def peers_parser() -> Parser:
    parser = Parser(
        prog="dlex bench peers",
        description="Measures dlex-play, mplayer, mpv and ffplay from outside: the same clip beside the same load, "
        "under a reservation, under a CPU quota and under ordinary scheduling. Shows a table of each, what the goals "
        "are and which hold, and makes the report. Wants an otherwise idle machine, for hours; goes on where it was "
        "interrupted.",
    )
    parser.add_argument("--quick", action="store_true", help="10 s of the clip, 2 repetitions: to see that it works")
    parser.add_argument("--reps", metavar="N", help="repetitions, in place of 5")
    parser.add_argument("--only", action="append", default=[], metavar="GLOB", help="jobs so named; may be repeated")
    parser.add_argument("-o", "--out", type=Path, default=PEERS_OUT, metavar="DIR", help=f"results ({PEERS_OUT})")
    return parser


def run_peers(arguments: argparse.Namespace) -> None:
    from rich.console import Console

    from ..batch.cli import run_parser, run_run
    from .standings import show_goals, show_standings

    run_run(run_parser().parse_args([str(PEERS_AGENDA), "-o", str(arguments.out), *_run_options(arguments)]))
    console = Console()
    rows = show_standings(console, arguments.out)
    run_report(report_parser().parse_args([str(arguments.out)]))
    show_goals(console, rows)


def _run_options(arguments: argparse.Namespace) -> list[str]:
    options = [f"--only={pattern}" for pattern in arguments.only]
    options += [f"--reps={arguments.reps}"] if arguments.reps else []
    return options + (["--quick"] if arguments.quick else [])
