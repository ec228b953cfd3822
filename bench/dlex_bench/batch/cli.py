# SPDX-License-Identifier: LGPL-2.1-or-later
"""Provides the commands plan, run, run-job, calibrate and merge of dlex-bench."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..parser import Parser
from ..paths import PROJECT

if TYPE_CHECKING:
    from ..agenda.jobs import Extent
    from .runner import Options

DEFAULT_OUT = Path("build/batch")
LAUNCHER = Path("bench/dlex-bench")
MIXED = "DIR is of several machines; each does all the jobs, as JOB@MACHINE"


def _times(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of repetitions")
    return int(text)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is no length in seconds")
    return value


def add_agenda_options(parser: Parser) -> None:
    """Adds the agenda and the options that choose its jobs: the same for every command that takes an agenda."""
    parser.add_argument("agenda", type=Path, metavar="AGENDA", help="a file such as bench/agendas/smoke.yaml")
    parser.add_argument("-o", "--out", type=Path, default=DEFAULT_OUT, metavar="DIR", help=f"results ({DEFAULT_OUT})")
    parser.add_argument("--reps", type=_times, metavar="N", help="repetitions, in place of the agenda's")
    parser.add_argument("--length", type=_seconds, metavar="SECONDS", help="play that much of each clip")
    parser.add_argument("--quick", action="store_true", help="10 s of each clip, 2 repetitions")


def plan_parser() -> Parser:
    parser = Parser(
        prog="dlex bench plan",
        description="Lists the jobs of an agenda, how long they will take, and which of them are over in DIR.",
    )
    add_agenda_options(parser)
    _add_only(parser)
    parser.add_argument("--jobs", action="store_true", help="print a command for each, for GNU parallel")
    parser.add_argument("--mixed", action="store_true", help=MIXED)
    parser.add_argument("--launcher", metavar="COMMAND", help=f"with --jobs: how ({LAUNCHER})")
    return parser


def run_plan(arguments: argparse.Namespace) -> None:
    from rich.console import Console

    from ..machine.facts import machine_facts, machine_id
    from .plan import command_lines, read_plan, show_plan
    from .results import Store

    extent = _extent(arguments)
    store = Store(arguments.out)
    plan = read_plan(arguments.agenda, extent, store.settings())
    if arguments.jobs:
        launcher = arguments.launcher or str(LAUNCHER if LAUNCHER.exists() else PROJECT / LAUNCHER)
        print("\n".join(command_lines(plan, extent, arguments.out, launcher, arguments.mixed)))
    else:
        show_plan(Console(), PROJECT, plan.on(machine_id(machine_facts())) if arguments.mixed else plan, store)


def run_parser() -> Parser:
    parser = Parser(
        prog="dlex bench run",
        description="Runs the jobs of an agenda one at a time. May be interrupted by anything: the same command goes on, and "
        "at most the job that ran is lost.",
    )
    add_agenda_options(parser)
    _add_only(parser)
    _add_wait(parser)
    parser.add_argument("--retry-failed", action="store_true", help="repeat jobs that failed or were skipped")
    parser.add_argument("--mixed", action="store_true", help=MIXED)
    return parser


def run_run(arguments: argparse.Namespace) -> None:
    from rich.console import Console

    from .runner import run

    run(_options(arguments, arguments.retry_failed), arguments.wait, Console())


def run_job_parser() -> Parser:
    parser = Parser(
        prog="dlex bench run-job",
        description="Runs one job of an agenda, as `plan --jobs` prints them; one that is done or was skipped is not repeated.",
    )
    add_agenda_options(parser)
    parser.add_argument("job", metavar="JOB", help="its id; `plan` lists them")
    _add_wait(parser)
    parser.add_argument("--mixed", action="store_true", help=MIXED)
    return parser


def run_run_job(arguments: argparse.Namespace) -> None:
    from rich.console import Console

    from .runner import run_job

    run_job(_options(arguments), arguments.job, arguments.wait, Console())


def calibrate_parser() -> Parser:
    parser = Parser(
        prog="dlex bench calibrate",
        description="Finds the budget that stands for the paper's on this machine: the one at which mplayer -framedrop drops "
        "what it dropped there, beside both rt-app tasks. `run` does this by itself when an agenda asks for a calibrated "
        "budget and DIR has none of this machine. May be interrupted: the same command goes on.",
    )
    add_agenda_options(parser)
    parser.add_argument("--again", action="store_true", help="forget what was found and tried before")
    _add_wait(parser)
    parser.add_argument("--mixed", action="store_true", help=MIXED)
    return parser


def run_calibrate(arguments: argparse.Namespace) -> None:
    from rich.console import Console

    from .runner import calibrate_batch

    calibrate_batch(_options(arguments), arguments.again, arguments.wait, Console())


def merge_parser() -> Parser:
    parser = Parser(prog="dlex bench merge", description="Unites folders of results, whose jobs must be of one agenda.")
    parser.add_argument("sources", type=Path, nargs="+", metavar="DIR", help="folders of results")
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="DIR", help="where all of them go")
    parser.add_argument("--mixed", action="store_true", help="of several machines; each result is named JOB@MACHINE")
    return parser


def run_merge(arguments: argparse.Namespace) -> None:
    from rich.console import Console

    from .merge import merge

    merge(arguments.sources, arguments.out, arguments.mixed, Console())


def _add_only(parser: Parser) -> None:
    parser.add_argument("--only", action="append", default=[], metavar="GLOB", help="jobs so named; may be repeated")


def _add_wait(parser: Parser) -> None:
    parser.add_argument("--wait", action="store_true", help="while another measures on this machine")


def _extent(arguments: argparse.Namespace) -> Extent:
    from ..agenda.jobs import Extent

    return Extent(arguments.reps, arguments.length, arguments.quick, tuple(getattr(arguments, "only", ())))


def _options(arguments: argparse.Namespace, retry_failed: bool = False) -> Options:
    from .runner import Options

    return Options(PROJECT, arguments.agenda, arguments.out, _extent(arguments), retry_failed, arguments.mixed)
