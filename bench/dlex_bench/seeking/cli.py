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
        "of pictures, in turns. Screen and sound are ideal devices. With --players, measures players in windows instead: how soon "
        "the screen shows the first picture and that of a key, and how much memory they take. Needs an otherwise idle machine.",
    )
    add = parser.add_argument
    add("--clip", action="append", default=[], dest="clips", metavar="CLIP",
        help="a file, or a recipe of media/; may be repeated (trailer_1080p)")
    add("--queues", type=_queues, default=("0", "auto"), metavar="LIST",
        help="arguments of --queue; all are compared with the first (0,auto)")
    add("--rounds", type=number_of("plays"), default=10, metavar="N", help="plays of each clip with each queue (10)")
    add("--seeks", type=number_of("seeks", least=0), default=12, metavar="N", help="seeks in each play, fewer in short clips (12)")
    add("--between", type=seconds_of("from key to key"), default=0.7, metavar="S", dest="between_s",
        help="mean time from key to key in s (0.7); a seek counts only if it shows its picture before the next key")
    add("--players", type=_names, default=(), metavar="LIST",
        help="compare these with the first, on all CPUs with their own numbers of threads: dlex-play, mpv (x11, fast profile; "
        "its keys go to key pictures), mpv-exact (to the very picture, as dlex-play does), mpv-queue (exact, with a queue of "
        "50 pictures), mpv-plain (as it comes)")
    add("--load", type=number_of("programs", least=0), default=0, metavar="N",
        help="with --players: programs that compute at the same time (0)")
    add("--playing", type=seconds_of("of playing"), default=3.0, metavar="S", dest="play_s",
        help="with --players: time from the start to the first key in s (3)")
    add("--wait", action="store_true", help="wait while another command measures on this machine")
    add("--out", "-o", type=Path, default=Path("build/seek.json"), metavar="FILE", help="the figures (build/seek.json)")
    return parser


def run_seek(arguments: argparse.Namespace) -> None:
    values = vars(arguments)
    of_windows = {name: values.pop(name) for name in ("players", "load", "play_s")}
    if of_windows["players"]:
        from .compare_windows import WindowOptions, compare_windows

        del values["queues"]
        compare_windows(WindowOptions(PROJECT, **values, **of_windows))
        return
    from .seek import SeekOptions, compare_seeks

    compare_seeks(SeekOptions(PROJECT, **values))


def _names(text: str) -> tuple[str, ...]:
    return tuple(filter(None, text.split(",")))


def _queues(text: str) -> tuple[str, ...]:
    queues = _names(text)
    if not queues:
        raise argparse.ArgumentTypeError("at least one depth is needed, such as 0,auto")
    return queues
