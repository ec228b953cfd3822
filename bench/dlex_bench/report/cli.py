# SPDX-License-Identifier: LGPL-2.1-or-later
"""The commands `report` and `compare`."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..parser import Parser


def report_parser() -> Parser:
    parser = Parser(
        prog="dlex bench report",
        description="Makes one HTML page of a batch's results, finished or not, that needs nothing but a browser, and "
        "the same figures as .csv and .json beside it.",
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="what `dlex bench run -o DIR` has filled")
    parser.add_argument("-o", "--out", type=Path, metavar="FILE", help="the page (DIR/report.html)")
    return parser


def run_report(arguments: argparse.Namespace) -> None:
    from .report import report

    report(arguments.folder, arguments.out)


def compare_parser() -> Parser:
    parser = Parser(
        prog="dlex bench compare",
        description="Compares two batches setting by setting: the ratios of their medians B/A with bootstrap "
        "confidence intervals, and which differences are noise.",
    )
    parser.add_argument("a", type=Path, metavar="A", help="the results to compare with")
    parser.add_argument("b", type=Path, metavar="B", help="the results to judge")
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.add_argument("--mixed", action="store_true", help="compare although the machines differ")
    return parser


def run_compare(arguments: argparse.Namespace) -> None:
    from .compare import compare

    compare(arguments.a, arguments.b, as_json=arguments.json, mixed=arguments.mixed)
