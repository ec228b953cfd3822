# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs one of the commands; the first argument names it."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

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
from .detect.cli import detect_parser, overhead_parser, run_detect, run_overhead
from .errors import EXIT_SETUP, EXIT_SIGNAL, Interrupted, LabError, brief, os_error_text
from .graphs.cli import graphs_parser, run_graphs
from .heartbeat.cli import heartbeat_parser, run_heartbeat
from .latency.cli import complete_latency_options, latency_parser, run_latency
from .laxity.cli import laxity_parser, run_laxity
from .output import checked_output
from .parser import Command, Parser, number_of, seconds_of
from .paths import PROJECT
from .processes import signals_as_exceptions
from .report.cli import compare_parser, peers_parser, report_parser, run_compare, run_peers, run_report
from .seeking.cli import run_seek, seek_parser
from .simulate.cli import run_simulate, simulate_parser
from .throughput.cli import run_throughput, throughput_parser
from .windows.cli import run_windows, windows_parser


def demo_parser() -> Parser:
    parser = Parser(
        prog="dlex demo",
        description="Compares four ways of dropping pictures: plays a few seconds of a film with each of them, under loads from "
        "light to hopeless.",
    )
    parser.add_argument("--quick", action="store_true", help="fewer and shorter plays: under 2 minutes instead of 5")
    parser.add_argument("--out", type=Path, default=Path("build/demo"), metavar="DIR", help="folder for the results (build/demo)")
    parser.add_argument("--clip", type=Path, metavar="FILE", help="play this film")
    parser.add_argument("--start", type=seconds_of("position in the film"), metavar="SECONDS",
                        help="position in the film at which to begin")
    return parser


def repair_parser() -> Parser:
    return Parser(
        prog="dlex bench repair",
        description="Restores what killed runs (kill -9) have changed on this machine: CPU sets, quotas, and instances of the "
        "kernel's tracer. Every run also does this before it starts. Run this command as root.",
    )


def observe_check_parser() -> Parser:
    parser = Parser(
        prog="dlex bench observe-check",
        description="Plays a stamped clip in dlex-play and observes it from outside. Reports whether both records have the same "
        "shown pictures, and how far their times and A-V differ. Needs an otherwise idle machine.",
    )
    parser.add_argument("--out", "-o", type=Path, default=Path("build/observe-check"), metavar="DIR",
                        help="a new folder for the records (build/observe-check)")
    parser.add_argument("--clip", default="stamped_small", metavar="RECIPE", help="a stamped clip of media/ (stamped_small)")
    parser.add_argument("--reps", type=number_of("runs"), default=3, metavar="N", help="number of runs (3)")
    return parser


def run_demo(arguments: argparse.Namespace) -> None:
    from .demo.demo import DemoOptions, demo

    demo(DemoOptions(PROJECT, arguments.out, arguments.quick, arguments.clip, arguments.start))


def run_repair(_arguments: argparse.Namespace) -> None:
    from .machine.journal import repair

    mended = repair()
    print(f"restored what these runs had changed: {', '.join(mended)}" if mended else "nothing to repair")


def run_observe_check(arguments: argparse.Namespace) -> None:
    from .agreement.check import CheckOptions, check_agreement

    check_agreement(CheckOptions(PROJECT, arguments.out, arguments.clip, arguments.reps))


COMMANDS: dict[str, Command] = {
    "demo": (demo_parser, run_demo),
    "latency": (latency_parser, run_latency),
    "laxity": (laxity_parser, run_laxity),
    "detect": (detect_parser, run_detect),
    "overhead": (overhead_parser, run_overhead),
    "heartbeat": (heartbeat_parser, run_heartbeat),
    "graphs": (graphs_parser, run_graphs),
    "windows": (windows_parser, run_windows),
    "throughput": (throughput_parser, run_throughput),
    "plan": (plan_parser, run_plan),
    "run": (run_parser, run_run),
    "run-job": (run_job_parser, run_run_job),
    "calibrate": (calibrate_parser, run_calibrate),
    "merge": (merge_parser, run_merge),
    "peers": (peers_parser, run_peers),
    "seek": (seek_parser, run_seek),
    "simulate": (simulate_parser, run_simulate),
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
    try:
        with checked_output():
            arguments = parser.parse_args(argv[1:])
        if argv[0] == "latency":
            complete_latency_options(parser, arguments)
        if os.environ.get("DLEX_BENCH_CHECK_ONLY"):  # the launcher checks the arguments before it builds for minutes
            return 0
        with signals_as_exceptions(), checked_output():
            # matplotlib stores a list of the machine's fonts; it would complain about a home that cannot be written.
            if sys.prefix != sys.base_prefix:  # the environment that the launcher made
                os.environ.setdefault("MPLCONFIGDIR", str(Path(sys.prefix) / "matplotlib"))
            # numpy's linear algebra would start threads. Nothing here needs them, and children are forked.
            os.environ["OPENBLAS_NUM_THREADS"] = "1"
            run(arguments)
    except LabError as error:
        print(f"{parser.prog}: {brief(str(error))}", file=sys.stderr)
        return error.code
    except OSError as cause:  # such as a path that is too long
        print(f"{parser.prog}: {brief(os_error_text(cause))}", file=sys.stderr)
        return EXIT_SETUP
    except Interrupted:
        print(f"{parser.prog}: ended by a signal; all processes that it had started have ended too", file=sys.stderr)
        return EXIT_SIGNAL
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
