# SPDX-License-Identifier: LGPL-2.1-or-later
"""The commands `report` and `compare`."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..parser import Parser


def report_parser() -> Parser:
    parser = Parser(
        prog="dlex bench report",
        description="Makes one HTML page from the results of a batch, even if the batch is not finished. The page needs only a "
        "browser. The same figures are written beside it as .csv and .json.",
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="the folder that was given to `dlex bench run -o`")
    parser.add_argument("-o", "--out", type=Path, metavar="FILE", help="the page (DIR/report.html)")
    return parser


def run_report(arguments: argparse.Namespace) -> None:
    from .report import report

    report(arguments.folder, arguments.out)


def compare_parser() -> Parser:
    parser = Parser(
        prog="dlex bench compare",
        description="Compares two batches setting by setting. Shows the ratios of their medians, B/A, with bootstrap "
        "confidence intervals, and which differences are noise.",
    )
    parser.add_argument("a", type=Path, metavar="A", help="the results to compare with")
    parser.add_argument("b", type=Path, metavar="B", help="the results to judge")
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")
    parser.add_argument("--mixed", action="store_true", help="compare even if the machines differ")
    return parser


def run_compare(arguments: argparse.Namespace) -> None:
    from .compare import compare

    compare(arguments.a, arguments.b, as_json=arguments.json, mixed=arguments.mixed)
