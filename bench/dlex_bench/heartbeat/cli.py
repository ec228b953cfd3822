# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command `heartbeat`, and its options."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..parser import Parser, some_of
from ..paths import PROJECT

# In the paper: how soon a rate is found, what watching costs, and which period a reservation should have.
PARTS = ("detect", "overhead", "periods")


def heartbeat_parser() -> Parser:
    parser = Parser(
        prog="dlex bench heartbeat",
        description="Repeats the experiments of T. Cucinotta and others, The Wizard of OS: Figures 3, 4 and 6 to 11, Tables I and "
        "II. Needs root and an otherwise idle machine; 2 hours.",
    )
    parser.add_argument("--quick", action="store_true", help="5 minutes, with uncertain figures")
    parser.add_argument("--out", "-o", type=Path, default=Path("build/heartbeat"), metavar="DIR",
                        help="folder for heartbeat.md, and a folder for the page, JSON and pictures of each part (build/heartbeat)")
    parser.add_argument("--parts", type=some_of(PARTS), default=PARTS, metavar="LIST", help=f"some of {','.join(PARTS)}")
    return parser


def run_heartbeat(arguments: argparse.Namespace) -> None:
    from .heartbeat import HeartbeatOptions, heartbeat

    heartbeat(HeartbeatOptions(PROJECT, arguments.out, arguments.quick, arguments.parts))
