# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command `windows`, and its options."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..parser import CPU_MAX, Parser, number_of, some_of, whole_number
from ..paths import PROJECT
from ..progress import spoken_time
from .conditions import FULL, KINDS, QUICK


def windows_parser() -> Parser:
    full, quick = (spoken_time(plan.estimated_s(len(KINDS), 1)) for plan in (FULL, QUICK))
    parser = Parser(
        prog="dlex bench windows",
        description="Runs members that always compute under DWCS for 10 minutes. Then plays a film with 1 to 10 players on one "
        "CPU under DWCS, with event scheduling and without, and under SCHED_OTHER, SCHED_FIFO and SCHED_DEADLINE, as C. "
        "Poellabauer, K. Schwan and R. West do in Figures 5 to 8. Reports how long the players wait for the CPU after a wake-up, "
        "which windows have their service, and which pictures are lost. Needs root, and an otherwise idle machine with two CPUs; "
        f"{full}.",
    )
    add = parser.add_argument
    add("--quick", action="store_true", help=f"3 s of film and few settings, once each: {quick}")
    add("--reps", type=number_of("repetitions"), default=1, metavar="N",
        help=f"how often each setting is run (1), and {FULL.overloads} times as often that of Figure 8")
    add("--kinds", type=some_of(KINDS), default=KINDS, metavar="LIST", help=f"some of {','.join(KINDS)} (all)")
    add("--cpu", type=whole_number("a CPU", 0, CPU_MAX), metavar="N", help="the CPU of the players (the highest one allowed)")
    add("--out", "-o", type=Path, default=Path("build/windows"), metavar="DIR",
        help="folder for windows.md, windows.json and the pictures (build/windows)")
    return parser


def run_windows(arguments: argparse.Namespace) -> None:
    from .experiment import WindowsOptions, measure_windows

    measure_windows(WindowsOptions(PROJECT, **vars(arguments)))
