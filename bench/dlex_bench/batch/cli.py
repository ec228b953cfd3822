# SPDX-License-Identifier: LGPL-2.1-or-later
"""Provides the commands plan, run, run-job, calibrate and merge of dlex-bench."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import shown
from ..parser import Parser, number_of
from ..paths import PROJECT

if TYPE_CHECKING:
    from ..agenda.jobs import Extent
    from .runner import Options

DEFAULT_OUT = Path("build/batch")
LAUNCHER = Path("bench/dlex-bench")
MIXED = "DIR holds results of several machines; each machine runs all jobs, named JOB@MACHINE"


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"{shown(text)} is not a length in seconds")
    return value


def add_agenda_options(parser: Parser) -> None:
    """Adds the agenda and the options that choose its jobs: the same for every command that takes an agenda."""
    parser.add_argument("agenda", type=Path, metavar="AGENDA", help="a file such as bench/agendas/smoke.yaml")
    parser.add_argument("-o", "--out", type=Path, default=DEFAULT_OUT, metavar="DIR", help=f"results folder ({DEFAULT_OUT})")
    parser.add_argument("--reps", type=number_of("repetitions"), metavar="N", help="number of repetitions instead of the agenda's")
    parser.add_argument("--length", type=_seconds, metavar="SECONDS", help="play only this much of each clip")
    parser.add_argument("--quick", action="store_true", help="10 s of each clip, 2 repetitions")


def plan_parser() -> Parser:
    parser = Parser(
        prog="dlex bench plan",
        description="Lists the jobs of an agenda, which of them are finished in DIR, and how long the others will take.",
    )
    add_agenda_options(parser)
    _add_only(parser)
    parser.add_argument("--jobs", action="store_true", help="print a command for each job, for GNU parallel")
    parser.add_argument("--mixed", action="store_true", help=MIXED)
    parser.add_argument("--launcher", metavar="COMMAND", help=f"with --jobs: how the commands begin ({LAUNCHER})")
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
        description="Runs the jobs of an agenda one at a time. After any interruption, the same command continues the batch. At "
        "most the running job is lost.",
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
        description="Runs one job of an agenda. `plan --jobs` prints these commands. A job that is done or was skipped is not "
        "repeated.",
    )
    add_agenda_options(parser)
    parser.add_argument("job", metavar="JOB", help="the id of the job; `plan` lists the ids")
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
        description="Finds this machine's equivalent of the paper's budget. With it, mplayer -framedrop drops the same share of "
        "pictures as in the paper, beside both rt-app tasks. `run` does this by itself when an agenda uses a calibrated budget "
        "and DIR has none for this machine. After an interruption, the same command continues.",
    )
    add_agenda_options(parser)
    parser.add_argument("--again", action="store_true", help="discard earlier tries and their result")
    _add_wait(parser)
    parser.add_argument("--mixed", action="store_true", help=MIXED)
    return parser


def run_calibrate(arguments: argparse.Namespace) -> None:
    from rich.console import Console

    from .runner import calibrate_batch

    calibrate_batch(_options(arguments), arguments.again, arguments.wait, Console())


def merge_parser() -> Parser:
    parser = Parser(prog="dlex bench merge", description="Merges folders of results. Their jobs must come from one agenda.")
    parser.add_argument("sources", type=Path, nargs="+", metavar="DIR", help="folders of results")
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="DIR", help="the folder for all results")
    parser.add_argument("--mixed", action="store_true", help="allow results of several machines; each is named JOB@MACHINE")
    return parser


def run_merge(arguments: argparse.Namespace) -> None:
    from rich.console import Console

    from .merge import merge

    merge(arguments.sources, arguments.out, arguments.mixed, Console())


def _add_only(parser: Parser) -> None:
    parser.add_argument("--only", action="append", default=[], metavar="GLOB", help="only jobs that match; may be repeated")


def _add_wait(parser: Parser) -> None:
    parser.add_argument("--wait", action="store_true", help="wait while another command measures on this machine")


def _extent(arguments: argparse.Namespace) -> Extent:
    from ..agenda.jobs import Extent

    return Extent(arguments.reps, arguments.length, arguments.quick, tuple(getattr(arguments, "only", ())))


def _options(arguments: argparse.Namespace, retry_failed: bool = False) -> Options:
    from .runner import Options

    return Options(PROJECT, arguments.agenda, arguments.out, _extent(arguments), retry_failed, arguments.mixed)
