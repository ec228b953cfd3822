# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a real compiler: ninja builds a tree of C files again and again, with as many jobs as it takes by itself."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from .c_tree import write_c_tree
from .running import RunningLoad, script

COMPILER, PACKAGES = "gcc", {"gcc": "gcc", "ninja": "ninja-build"}


@contextlib.contextmanager
def building(folder: Path, cpus: Collection[int] | None, enter: Callable[[], None] | None = None) -> Iterator[RunningLoad]:
    """Builds in `folder` while the block runs, which begins when the first file has been compiled."""
    tree = folder / "tree"
    tree.mkdir()
    write_c_tree(tree, COMPILER)
    with script("build", "builder.py", [tree], folder, cpus, enter) as running:
        running.wait_for_count()
        yield RunningLoad(running.check, lambda: running.counts()[0], "compiled files")
