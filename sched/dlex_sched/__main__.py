# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs one of the commands; the first argument names it."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from dlex_bench.errors import EXIT_SETUP, EXIT_SIGNAL, LabError, brief, os_error_text
from dlex_bench.output import checked_output
from dlex_bench.parser import CPU_MAX, SEED_MAX, Command, Parser, number_of, seconds_of, whole_number


def sim_parser() -> Parser:
    parser = Parser(
        prog="dlex sched sim",
        description="Simulates one CPU under DWCS (Dynamic Window-Constrained Scheduling), with events, in virtual time. With FILE "
        "it shows who runs in each slot. Without, it plays the paper's experiments with 1 to 10 video players, with events and "
        "without, compares them with what the paper says, and makes a page with tables and pictures. Needs no privileges and no "
        "idle machine.",
    )
    add = parser.add_argument
    add("file", nargs="?", type=Path, metavar="FILE", help="a scenario, such as sched/scenarios/figure-4a.yaml")
    add("--experiment", metavar="NAME", help="only this one: figure-5, table-3, table-4, table-5, table-6 or figure-8")
    add("--players", type=number_of("players", most=30), metavar="N", help="number of players (each from 1 to 10)")
    add("--reading", metavar="LIST", help="read the paper like this: some of first-event,by-deadline,together; "
        "docs/window-constraints.md explains them (none)")
    add("--cost", metavar="LOW-HIGH", help="CPU time of a picture in ms (the experiment's)")
    add("--sleep", type=float, metavar="MS", help="how long a player sleeps after each picture (100)")
    add("--runs", type=number_of("runs", most=1000), default=10, metavar="N",
        help="number of runs of each setting; intervals need at least 4 (10)")
    add("--seed", type=whole_number("a seed", 0, SEED_MAX - 1000), default=1, metavar="N", help="seed of the first run (1)")
    add("--seconds", type=number_of("seconds", most=36_000), default=60, metavar="N", help="virtual time of each run (60)")
    add("--out", "-o", type=Path, default=Path("build/sched-sim"), metavar="DIR",
        help="folder for the page, the figures and the numbers of the experiments (build/sched-sim)")
    return parser


def run_sim(arguments: argparse.Namespace) -> None:
    from .sim import ExperimentOptions, simulate_experiments, simulate_scenario

    options = vars(arguments)
    file = options.pop("file")
    if file:
        _refuse_options(options, file)
        simulate_scenario(file)
    else:
        simulate_experiments(ExperimentOptions(**options))


def _refuse_options(options: dict[str, Any], file: Path) -> None:
    parser = sim_parser()
    for option in [it for it, value in options.items() if value != parser.get_default(it)]:
        raise LabError(f"--{option} is for the experiments, not for a scenario; leave it out, or {file}", EXIT_SETUP)


def pman_parser() -> Parser:
    parser = Parser(
        prog="dlex sched pman",
        description="Runs a graph of processes: activates them at ticks of a timer, of a camera or of a player, in order of "
        "precedence, with delays, deadlines and recovery processes. FILE describes the graph. Shows each second what the processes "
        "do, and at the end how late they were. Ends after --seconds or --ticks, or by ^C. Priorities need a right; `dlex-sched "
        "doctor` says which.",
    )
    add = parser.add_argument
    add("file", type=Path, metavar="FILE", help="a graph, such as sched/graphs/recorder.yaml")
    add("--seconds", type=seconds_of("until the end"), metavar="S", help="end after so many seconds")
    add("--ticks", type=number_of("ticks", most=10**12), metavar="N", help="end after so many ticks")
    add("--plot", action="store_true", help="draw a timeline")
    add("--take-over", action="store_true", help="continue with the processes of this graph, whose manager was killed")
    add("--end", action="store_true", help="end the processes of this graph, whose manager was killed")
    add("--out", "-o", type=Path, default=Path("build/sched-pman"), metavar="DIR",
        help="folder for the log and the results (build/sched-pman)")
    return parser


def run_pman(arguments: argparse.Namespace) -> None:
    from .pman import GraphOptions, run_graph

    run_graph(GraphOptions(**vars(arguments)))


def dwcs_parser() -> Parser:
    parser = Parser(
        prog="dlex sched dwcs",
        description="Schedules processes on one CPU by DWCS (Dynamic Window-Constrained Scheduling): each may miss x of y periods. "
        "FILE names the processes. Shows each second how many periods and windows were kept, and at the end, as root, how long "
        "the processes waited for the CPU after their wake-ups. Ends after --seconds, when no process is left, or by ^C. Needs a "
        "right to real-time priorities; `dlex-sched doctor` says which.",
    )
    add = parser.add_argument
    add("file", type=Path, metavar="FILE", help="the processes, such as sched/players/films.yaml")
    add("--backend", choices=("fifo", "sim"), default="fifo", help="fifo: real processes (default); sim: a simulation of the file")
    add("--seconds", type=number_of("seconds", most=1_000_000), metavar="S", help="end after so many seconds")
    add("--cpu", type=whole_number("a CPU", 0, CPU_MAX), metavar="N", help="the CPU (0)")
    add("--priority", type=whole_number("a priority", 1, 97), metavar="N", help="of the chosen process, 1 to 97 (17)")
    add("--no-record", dest="record", action="store_false", help="do not record the processes' wake-ups and context switches")
    add("--out", "-o", type=Path, default=Path("build/sched-dwcs"), metavar="DIR", help="folder for the results (build/sched-dwcs)")
    return parser


def run_dwcs(arguments: argparse.Namespace) -> None:
    from .dwcs import DispatchOptions, schedule

    schedule(DispatchOptions(**vars(arguments)))


COMMANDS: dict[str, Command] = {"sim": (sim_parser, run_sim), "pman": (pman_parser, run_pman), "dwcs": (dwcs_parser, run_dwcs)}


def main(argv: list[str]) -> int:
    if not argv or argv[0] not in COMMANDS:
        print(f"dlex_sched: the first argument must be one of {', '.join(COMMANDS)}", file=sys.stderr)
        return EXIT_SETUP
    make_parser, run = COMMANDS[argv[0]]
    parser = make_parser()
    try:
        with checked_output():
            arguments = parser.parse_args(argv[1:])
        if os.environ.get("DLEX_BENCH_CHECK_ONLY"):  # the launcher checks the arguments before it builds for minutes
            return 0
        # matplotlib stores a list of the machine's fonts; it would complain about a home that cannot be written.
        if sys.prefix != sys.base_prefix:  # the environment that the launcher made
            os.environ.setdefault("MPLCONFIGDIR", str(Path(sys.prefix) / "matplotlib"))
        with checked_output():
            run(arguments)
    except LabError as error:
        print(f"{parser.prog}: {brief(str(error))}", file=sys.stderr)
        return error.code
    except OSError as cause:  # such as a path that is too long
        print(f"{parser.prog}: {brief(os_error_text(cause))}", file=sys.stderr)
        return EXIT_SETUP
    except KeyboardInterrupt:
        return EXIT_SIGNAL
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
