# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes files that exist either whole or not at all."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    write_whole(path, json.dumps(content, indent=2) + "\n")


def save_figure(figure: Figure, path: Path) -> None:
    with whole_file(path) as partial:
        figure.savefig(partial, format="png")


def write_whole(path: Path, text: str) -> None:
    """Writes the whole file or nothing. After the return, the file survives a power failure."""
    with whole_file(path) as partial, partial.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def append_line(path: Path, line: str) -> None:
    """Appends a line to a file. After the return, it survives a power failure."""
    with path.open("a") as file:
        file.write(line)
        file.flush()
        os.fsync(file.fileno())


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yields the path of a partial file, which the block writes. It becomes `path` at the end; after an error it is removed."""
    partial = path.with_name(f".{path.name}.partial")
    try:
        yield partial
        partial.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise
