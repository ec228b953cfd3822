# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command dlex-bench repair."""

from __future__ import annotations

import argparse

from ..parser import Parser


def repair_parser() -> Parser:
    return Parser(
        prog="dlex bench repair",
        description="Restores what killed runs (kill -9) have changed on this machine: CPU sets and quotas. Every run also does "
        "this before it starts. Run this command as root.",
    )


def run_repair(_arguments: argparse.Namespace) -> None:
    from .journal import repair

    mended = repair()
    print(f"restored what these runs had changed: {', '.join(mended)}" if mended else "nothing to repair")
