# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command `laxity`, and its options."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..parser import CPU_MAX, Parser, whole_number
from ..paths import PROJECT


def laxity_parser() -> Parser:
    parser = Parser(
        prog="dlex bench laxity",
        description="Measures how long before its deadline each of 200 packets is done, with and without a priority, beside 0 to "
        "16 programs that compute, on one CPU: the experiment of R. Steinmetz and L. C. Wolf (Figure 4). Then two and three "
        "programs of different rates. Needs root and an otherwise idle machine; 15 minutes.",
    )
    parser.add_argument("--quick", action="store_true", help="20 packets, and fewer loads: under 2 minutes")
    parser.add_argument("--out", "-o", type=Path, default=Path("build/laxity"), metavar="DIR",
                        help="folder for laxity.md, laxity.json and the pictures (build/laxity)")
    parser.add_argument("--cpu", type=whole_number("a CPU", 0, CPU_MAX), metavar="N",
                        help="the CPU for all programs (the highest one allowed)")
    return parser


def run_laxity(arguments: argparse.Namespace) -> None:
    from .experiment import LaxityOptions, measure_laxity

    measure_laxity(LaxityOptions(PROJECT, arguments.out, arguments.quick, arguments.cpu))
