# SPDX-License-Identifier: LGPL-2.1-or-later
"""dlex-bench calibrate"""

from __future__ import annotations

import argparse

from ..batch.cli import MIXED, add_agenda_options
from ..parser import Parser
from ..place import PROJECT


def calibrate_parser() -> Parser:
    parser = Parser(
        prog="dlex bench calibrate",
        description="Finds the budget that stands for the paper's on this machine: the one at which mplayer -framedrop drops "
        "what it dropped there, beside both rt-app tasks. `run` does this by itself when an agenda asks for a calibrated "
        "budget and DIR has none of this machine. May be interrupted: the same command goes on.",
    )
    add_agenda_options(parser)
    parser.add_argument("--again", action="store_true", help="forget what was found and tried before")
    parser.add_argument("--wait", action="store_true", help="while another measures on this machine")
    parser.add_argument("--mixed", action="store_true", help=MIXED)
    return parser


def run_calibrate(arguments: argparse.Namespace) -> None:
    from rich.console import Console

    from ..agenda.jobs import Extent
    from ..batch.runner import Options, calibrate_batch

    extent = Extent(arguments.reps, arguments.length, arguments.quick)
    options = Options(PROJECT, arguments.agenda, arguments.out, extent, mixed=arguments.mixed)
    calibrate_batch(options, arguments.again, arguments.wait, Console())
