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
        description="Makes one HTML page from the results of a batch, even if the batch is not finished. The page needs only a "
        "browser. The same figures are written beside it as .csv and .json.",
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="the folder that was given to `dlex bench run -o`")
    parser.add_argument("-o", "--out", type=Path, metavar="FILE", help="the page (DIR/report.html)")
    return parser


def run_report(arguments: argparse.Namespace) -> None:
    from .report import report

    report(arguments.folder, arguments.out)


def compare_parser() -> Parser:
    parser = Parser(
        prog="dlex bench compare",
        description="Compares two batches setting by setting. Shows the ratios of their medians, B/A, with bootstrap "
        "confidence intervals, and which differences are noise.",
    )
    parser.add_argument("a", type=Path, metavar="A", help="the results to compare with")
    parser.add_argument("b", type=Path, metavar="B", help="the results to judge")
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")
    parser.add_argument("--mixed", action="store_true", help="compare even if the machines differ")
    return parser


def run_compare(arguments: argparse.Namespace) -> None:
    from .compare import compare_batches

    compare_batches(arguments.a, arguments.b, as_json=arguments.json, mixed=arguments.mixed)


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
    parser.add_argument("-o", "--out", type=Path, default=PEERS_OUT, metavar="DIR", help=f"results folder ({PEERS_OUT})")
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
