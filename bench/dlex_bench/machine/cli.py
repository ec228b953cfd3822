# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command dlex-bench repair."""

from __future__ import annotations

import argparse

from ..parser import Parser


def repair_parser() -> Parser:
    return Parser(
        prog="dlex bench repair",
        description="Sets back what runs that were killed (kill -9) have changed on this machine: CPU sets and quotas. Every "
        "run does so itself before it starts. Run it as root.",
    )


def run_repair(_arguments: argparse.Namespace) -> None:
    from .journal import repair

    mended = repair()
    print(f"set back what was left by: {', '.join(mended)}" if mended else "nothing to repair")
