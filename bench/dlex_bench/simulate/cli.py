# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command `simulate`, and its options."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..errors import shown
from ..parser import SEED_MAX, Parser, number_of, some_of, whole_number
from ..paths import PROJECT
from .policies import POLICIES


def simulate_parser() -> Parser:
    parser = Parser(
        prog="dlex bench simulate",
        description="Simulates playing a film under each policy, in virtual time, with dlex-play's own decisions. The decode times "
        "come from a run that was recorded with dlex-play --drop=none. The machine need not be idle.",
    )
    add = parser.add_argument
    add("runs", nargs="+", type=Path, metavar="RUN",
        help="a record of a run with --drop=none, or a decode trace (a file of dlex-qoe --trace); or a folder of "
        "`dlex bench run`: each setting of dlex-play in it is simulated, and compared with what was measured")
    add("--unstamped", type=Path, metavar="FILE", help="the film without stamps, if a stamped clip was played")
    add("--policies", type=some_of(POLICIES), default=("heuristic", "slack", "vlc", "plan", "strict", "clairvoyant"),
        metavar="LIST", help=f"some of {', '.join(POLICIES)} (heuristic,slack,vlc,plan,strict,clairvoyant)")
    add("--queues", type=_queues, default=(0, 8, 50), metavar="LIST", help="pictures that may wait; 0: no queue (0,8,50)")
    add("--supply", default="quota:15/40", metavar="SUPPLY",
        help="CPU time of the player: cbs:15/40, cbs-divided:15/40, quota:15/40, fair:500ms, part:0.4, or fair:2/8 (2 CPUs, "
        "8 other programs); see dlex-bench-sim --help (quota:15/40)")
    add("--threads", metavar="N", help="codec threads, with a supply such as fair:2/8 (1)")
    add("--demand", metavar="PART", help="scale the decode times so that playing everything needs this part of the supply: 1.2")
    add("--scale", metavar="FACTOR", help="multiply the decode times, instead of --demand")
    add("--draw", metavar="TIME", help="CPU time of drawing a picture (2.9ms)")
    add("--repeat", type=number_of("runs", most=1000), default=20, metavar="N",
        help="simulated runs of each setting; of the clairvoyant at most 5 (20)")
    add("--seed", type=whole_number("a seed", 0, SEED_MAX), default=1, metavar="N", help="seed of the first run (1)")
    add("--out", "-o", type=Path, default=Path("build/simulate.json"), metavar="FILE", help="the figures (build/simulate.json)")
    return parser


def run_simulate(arguments: argparse.Namespace) -> None:
    from .measured import compare_with_measured, is_batch
    from .simulate import SimulateOptions, simulate

    options = SimulateOptions(PROJECT, **vars(arguments))
    if any(map(is_batch, options.runs)):
        compare_with_measured(options)
    else:
        simulate(options)


def _queues(text: str) -> tuple[int, ...]:
    try:
        return tuple(number_of("pictures", 0)(word) for word in text.split(","))
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(f"{shown(text)} is not a list of numbers such as 0,8,50") from None
