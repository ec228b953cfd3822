# SPDX-License-Identifier: LGPL-2.1-or-later
"""Keeps the runs of an experiment while it lasts, so that one that was interrupted or failed continues where it ended."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from ..files import append_line, write_whole
from ..output import checked_files
from ..progress import tell
from .facts import commit, machine_facts, machine_id

FILE = ".runs.jsonl"


class KeptRuns:
    """Keeps the runs of one experiment in a file of its folder: the first line names the experiment, each other line is a run.

    Runs with other options, of another commit or machine belong to another experiment. They are removed.
    """

    def __init__(self, console: Console, folder: Path, experiment: Mapping[str, Any]) -> None:
        self._path = folder / FILE
        self._head = _line({"experiment": experiment, "commit": commit(), "machine": machine_id(machine_facts())})
        with checked_files(folder):
            self._found = dict(self._read())
            # Whole again, if the end was cut off.
            write_whole(self._path, "".join([self._head, *(_line([key, it]) for key, it in self._found.items())]))
        if self._found:
            tell(console, f"continuing; {len(self._found)} runs were measured before")

    def run(self, name: str, measure: Callable[[], Any]) -> Any:
        """Returns what `measure` returned in this run, now or before, as JSON has it. Each run has a name of its own."""
        if name not in self._found:
            line = _line([name, measure()])
            with checked_files(self._path.parent):
                append_line(self._path, line)
            self._found[name] = json.loads(line)[1]
        return self._found[name]

    def forget(self) -> None:
        """Removes the file. Call it when the results are written."""
        self._path.unlink(missing_ok=True)

    def _read(self) -> Iterator[tuple[str, Any]]:
        text = self._path.read_text(errors="replace") if self._path.exists() else ""
        head, *lines = text.splitlines(keepends=True) or [""]
        if head == self._head:
            with contextlib.suppress(ValueError, TypeError):  # the last line, if it was cut off
                for line in lines:
                    name, found = json.loads(line)
                    yield name, found


def _line(content: Any) -> str:
    return json.dumps(content) + "\n"
