# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command `throughput`, and its options."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..parser import Parser, number_of
from ..paths import PROJECT


def throughput_parser() -> Parser:
    parser = Parser(
        prog="dlex bench throughput",
        description="Decodes films as fast as possible with the patched FFmpeg, whose pictures could be given up but have an "
        "hour's time, and with an unpatched one, both with the same codec threads. They take turns, a group of pictures each. "
        "Goals: at least 0.98 of the unpatched one's speed, and the first picture at most 2 ms later. mpv's speed is reported "
        "beside them. 10 to 30 minutes. Without DLEX_MEDIA (see media/make --list) a made film is decoded.",
    )
    parser.add_argument("--quick", action="store_true", help="one film, few passes: a minute")
    parser.add_argument("--threads", type=number_of("threads", most=1024), metavar="N",
                        help="codec threads (as many as there are CPUs for it)")
    parser.add_argument("--out", "-o", type=Path, default=Path("build/throughput"), metavar="DIR",
                        help="folder for throughput.json (build/throughput)")
    return parser


def run_throughput(arguments: argparse.Namespace) -> None:
    from .experiment import ThroughputOptions, measure_throughput

    measure_throughput(ThroughputOptions(PROJECT, arguments.out, arguments.quick, arguments.threads))
