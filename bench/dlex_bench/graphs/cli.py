# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command `graphs`, and its options."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..parser import Parser, number_of
from ..paths import PROJECT


def graphs_parser() -> Parser:
    parser = Parser(
        prog="dlex bench graphs",
        description="Runs the twelve processes of the robot of P. Pedreiras and L. Almeida (Table 3) at 30 pictures a second: the "
        "last two at once or with a delay of 20 ms, under SCHED_OTHER and SCHED_FIFO, alone and beside programs that compute. "
        "Then changes precedences and times of one of them while they run. Reports when they start (Tables 4 and 5), and which "
        "findings of the paper hold here. Needs root; half an hour.",
    )
    parser.add_argument("--quick", action="store_true", help="90 ticks, once each: a minute")
    parser.add_argument("--reps", type=number_of("repetitions"), default=4, metavar="N", help="how often each condition is run (4)")
    parser.add_argument("--out", "-o", type=Path, default=Path("build/graphs"), metavar="DIR",
                        help="folder for graphs.md and graphs.json (build/graphs)")
    parser.add_argument("--clip", type=Path, metavar="FILE",
                        help="the film of the camera (the trailer in DLEX_MEDIA; without it a test picture)")
    return parser


def run_graphs(arguments: argparse.Namespace) -> None:
    from ..clips import film_file
    from .experiment import GraphsOptions, measure_graphs

    clip = arguments.clip or film_file()
    measure_graphs(GraphsOptions(PROJECT, arguments.out, arguments.quick, arguments.reps, clip))
