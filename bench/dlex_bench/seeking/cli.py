# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command `seek`, and its options."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..parser import Parser, number_of, seconds_of
from ..paths import PROJECT


def seek_parser() -> Parser:
    parser = Parser(
        prog="dlex bench seek",
        description="Measures how soon a seek shows its picture and how soon q ends the player, for several depths of the queue "
        "of pictures, in turns. Screen and sound are ideal devices. Needs an otherwise idle machine.",
    )
    add = parser.add_argument
    add("--clip", action="append", default=[], dest="clips", metavar="CLIP",
        help="a file, or a recipe of media/; may be repeated (trailer_1080p)")
    add("--queues", type=_queues, default=("0", "auto"), metavar="LIST",
        help="arguments of --queue; all are compared with the first (0,auto)")
    add("--rounds", type=number_of("plays"), default=10, metavar="N", help="plays of each clip with each queue (10)")
    add("--seeks", type=number_of("seeks"), default=12, metavar="N", help="seeks in each play, fewer in short clips (12)")
    add("--between", type=seconds_of("from key to key"), default=0.7, metavar="S", dest="between_s",
        help="mean time from key to key in s (0.7); a seek counts only if it shows its picture before the next key")
    add("--wait", action="store_true", help="wait while another command measures on this machine")
    add("--out", "-o", type=Path, default=Path("build/seek.json"), metavar="FILE", help="the figures (build/seek.json)")
    return parser


def run_seek(arguments: argparse.Namespace) -> None:
    from .seek import SeekOptions, compare_seeks

    compare_seeks(SeekOptions(PROJECT, **vars(arguments)))


def _queues(text: str) -> tuple[str, ...]:
    queues = tuple(filter(None, text.split(",")))
    if not queues:
        raise argparse.ArgumentTypeError("at least one depth is needed, such as 0,auto")
    return queues
