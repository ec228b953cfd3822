# SPDX-License-Identifier: LGPL-2.1-or-later
"""The commands `detect` and `overhead`, and their options."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..parser import Parser, some_of
from ..paths import PROJECT
from .commands import PLAYERS


def detect_parser() -> Parser:
    parser = Parser(
        prog="dlex bench detect",
        description="Finds the picture rates of mplayer, mpv and ffplay by watching them for 0.2 to 4 s, with our detector and "
        "with that of T. Cucinotta and others, and compares them with the true rates. As root, it also watches the system calls of "
        "mplayer, which is their experiment (Figures 6 to 9). The machine need not be idle.",
    )
    parser.add_argument("--quick", action="store_true", help="one film and fewer windows: a minute")
    parser.add_argument("--out", "-o", type=Path, default=Path("build/detect"), metavar="DIR",
                        help="folder for the films, detect.md, detect.json and detect.png (build/detect)")
    parser.add_argument("--players", type=some_of(PLAYERS), default=tuple(PLAYERS), metavar="LIST",
                        help=f"some of {','.join(PLAYERS)}")
    return parser


def run_detect(arguments: argparse.Namespace) -> None:
    from .experiment import DetectOptions, detect

    detect(DetectOptions(PROJECT, arguments.out, arguments.quick, arguments.players))


def overhead_parser() -> Parser:
    parser = Parser(
        prog="dlex bench overhead",
        description="Measures what it costs ffmpeg and mplayer to be watched by dlex-sched and, for comparison, by strace (Table I "
        "of T. Cucinotta and others); and what a record costs, times the records of mplayer, mpv and ffmpeg. Needs an otherwise "
        "idle machine.",
    )
    parser.add_argument("--quick", action="store_true", help="2 repetitions of 10 s of film instead of 10 of 60 s")
    parser.add_argument("--out", "-o", type=Path, default=Path("build/overhead"), metavar="DIR",
                        help="folder for the film, overhead.md and overhead.json (build/overhead)")
    return parser


def run_overhead(arguments: argparse.Namespace) -> None:
    from .overhead import OverheadOptions, measure_overhead

    measure_overhead(OverheadOptions(PROJECT, arguments.out, arguments.quick))
