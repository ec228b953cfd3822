# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command `detect`, and its options."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..parser import Parser
from ..paths import PROJECT


def detect_parser() -> Parser:
    parser = Parser(
        prog="dlex bench detect",
        description="Finds the picture rates of mplayer, mpv and ffplay by watching them for 0.2 to 4 s, with our detector and "
        "with that of T. Cucinotta and others (Figures 8 and 9), and compares them with the true rates. The machine need not be "
        "idle.",
    )
    parser.add_argument("--quick", action="store_true", help="one film and fewer windows: a minute")
    parser.add_argument("--out", "-o", type=Path, default=Path("build/detect"), metavar="DIR",
                        help="folder for the films and detect.json (build/detect)")
    parser.add_argument("--players", type=_players, default=("mplayer", "mpv", "ffplay"), metavar="LIST",
                        help="some of mplayer,mpv,ffplay")
    return parser


def run_detect(arguments: argparse.Namespace) -> None:
    from .experiment import DetectOptions, detect

    detect(DetectOptions(PROJECT, arguments.out, arguments.quick, arguments.players))


def _players(text: str) -> tuple[str, ...]:
    from .commands import PLAYERS

    names = tuple(dict.fromkeys(text.split(",")))
    for name in names:
        if name not in PLAYERS:
            raise argparse.ArgumentTypeError(f"'{name}' is not one of {', '.join(PLAYERS)}")
    return names
