# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command `latency`, and its options."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..errors import shown
from ..parser import Parser, number_of, some_of
from ..paths import PROJECT
from .plan import KINDS, LEAST_US, LOADS, MOST_US, POLICIES

LONGEST_US = 1_000_000


def latency_parser() -> Parser:
    parser = Parser(
        prog="dlex bench latency",
        description="Measures how late violations of deadlines and WCETs are noticed, depending on their duration, the "
        "scheduling policy and the background load, as in the paper behind libdlex. Needs an otherwise idle machine.",
    )
    add_latency_options(parser)
    return parser


def run_latency(arguments: argparse.Namespace) -> None:
    from .latency import LatencyOptions, latency

    latency(LatencyOptions(PROJECT, **vars(arguments)))


def add_latency_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--quick", action="store_true", help="under 2 minutes; 2 samples of durations 5 ms or more apart")
    add(
        "--out",
        type=Path,
        default=Path("build/latency"),
        metavar="DIR",
        help="folder for the results and the finished parts (build/latency)",
    )
    add("--policies", type=some_of(POLICIES), default=POLICIES, metavar="LIST", help=",".join(POLICIES))
    add("--loads", type=_loads, default=tuple(LOADS), metavar="LIST", help=",".join(map(str, LOADS)))
    add("--kinds", type=some_of(KINDS), default=KINDS, metavar="LIST", help=",".join(KINDS))
    add("--step", dest="step_us", type=_duration, metavar="MS", help="step between durations (0.5)")
    add("--longest", dest="most_us", type=_duration, metavar="MS", help="longest duration (100)")
    add("--wait", action="store_true", help="wait while another command measures on this machine")
    add("--samples", type=number_of("samples", most=1000), metavar="N", help="samples of each duration (10)")


def complete_latency_options(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Sets the defaults of options that were not given. --quick allows no choice of them."""
    for name, standard in (("step_us", LEAST_US), ("most_us", MOST_US), ("samples", 10)):
        if getattr(arguments, name) is None:
            setattr(arguments, name, standard)
        elif arguments.quick:
            parser.error("--quick chooses the durations and the samples itself")


def _loads(text: str) -> tuple[int, ...]:
    return tuple(map(int, some_of(tuple(map(str, LOADS)))(text)))


def _duration(text: str) -> int:
    try:
        duration_us = round(float(text) * 1e3)
    except (ValueError, OverflowError):
        duration_us = 0
    if not LEAST_US <= duration_us <= LONGEST_US:
        raise argparse.ArgumentTypeError(
            f"{shown(text)} is not a time from {LEAST_US / 1e3:g} to {LONGEST_US / 1e3:g} ms"
        )
    return duration_us
