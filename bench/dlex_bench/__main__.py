# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs one of the commands; the first argument names it."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from .agreement.cli import observe_check_parser, run_observe_check
from .batch.cli import (
    calibrate_parser,
    merge_parser,
    plan_parser,
    run_calibrate,
    run_job_parser,
    run_merge,
    run_parser,
    run_plan,
    run_run,
    run_run_job,
)
from .errors import EXIT_SETUP, EXIT_SIGNAL, Interrupted, LabError
from .latency.options import add_latency_options, complete_latency_options
from .machine.cli import repair_parser, run_repair
from .parser import Command, Parser
from .paths import PROJECT
from .processes import signals_as_exceptions
from .report.cli import compare_parser, report_parser, run_compare, run_report
from .report.peers import peers_parser, run_peers


def demo_parser() -> Parser:
    parser = Parser(
        prog="dlex demo",
        description="Plays a film with each drop policy on one busy CPU and compares them. Needs an otherwise idle "
        "machine.",
    )
    parser.add_argument("--quick", action="store_true", help="shorter plays: under 2 minutes instead of 6")
    parser.add_argument("--out", type=Path, default=Path("build/demo"), metavar="DIR", help="folder for the results (build/demo)")
    parser.add_argument("--clip", type=Path, metavar="FILE", help="play this film")
    parser.add_argument("--start", type=float, metavar="SECONDS", help="position in the film at which to begin")
    return parser


def latency_parser() -> Parser:
    parser = Parser(
        prog="dlex bench latency",
        description="Measures how late violations of deadlines and WCETs are noticed, depending on their duration, the "
        "scheduling policy and the background load, as in the paper behind libdlex. Needs an otherwise idle machine.",
    )
    add_latency_options(parser)
    return parser


def run_demo(arguments: argparse.Namespace) -> None:
    from .demo.demo import Options, demo

    demo(Options(PROJECT, arguments.out, arguments.quick, arguments.clip, arguments.start))


def run_latency(arguments: argparse.Namespace) -> None:
    from .latency.latency import Options, latency

    latency(Options(PROJECT, **vars(arguments)))


COMMANDS: dict[str, Command] = {
    "demo": (demo_parser, run_demo),
    "latency": (latency_parser, run_latency),
    "plan": (plan_parser, run_plan),
    "run": (run_parser, run_run),
    "run-job": (run_job_parser, run_run_job),
    "calibrate": (calibrate_parser, run_calibrate),
    "merge": (merge_parser, run_merge),
    "peers": (peers_parser, run_peers),
    "repair": (repair_parser, run_repair),
    "observe-check": (observe_check_parser, run_observe_check),
    "report": (report_parser, run_report),
    "compare": (compare_parser, run_compare),
}


def main(argv: list[str]) -> int:
    if not argv or argv[0] not in COMMANDS:
        print(f"dlex_bench: the first argument must be one of {', '.join(COMMANDS)}", file=sys.stderr)
        return EXIT_SETUP
    make_parser, run = COMMANDS[argv[0]]
    parser = make_parser()
    arguments = parser.parse_args(argv[1:])
    if argv[0] == "latency":
        complete_latency_options(parser, arguments)
    if os.environ.get("DLEX_BENCH_CHECK_ONLY"):  # the launcher checks the arguments before it builds for minutes
        return 0
    try:
        with signals_as_exceptions():
            # matplotlib stores a list of the machine's fonts; it would complain about a home that cannot be written.
            if sys.prefix != sys.base_prefix:  # the environment that the launcher made
                os.environ.setdefault("MPLCONFIGDIR", str(Path(sys.prefix) / "matplotlib"))
            # numpy's linear algebra would start threads. Nothing here needs them, and children are forked.
            os.environ["OPENBLAS_NUM_THREADS"] = "1"
            run(arguments)
    except LabError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return error.code
    except Interrupted:
        print(f"{parser.prog}: ended by a signal; all processes that it had started have ended too", file=sys.stderr)
        return EXIT_SIGNAL
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
