# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a program that prints a line of JSON a second, and shows each: as a table on a terminal, elsewhere as a short line."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TypeVar

from pydantic import ValidationError
from rich.console import Console
from rich.live import Live
from rich.table import Table

from dlex_bench.errors import EXIT_SETUP, EXIT_UNFIT, LabError
from dlex_bench.paths import PROJECT, require_program
from dlex_bench.processes import ENDING_SIGNALS
from dlex_bench.progress import tell
from dlex_bench.schema import Stored, field_error
from dlex_bench.table import fitted

from .program import not_started

# Folders of programs that commands may name without a path.
TOOLS = [PROJECT / "build/release/sched/pictures", PROJECT / "build/release/player"]

State = TypeVar("State", bound=Stored)


@contextmanager
def _signals_for(program: subprocess.Popen[bytes]) -> Iterator[None]:
    """Ends the program by SIGINT when this one gets a signal that would end it, so that its results are still reported."""

    def pass_on(number: int, frame: FrameType | None) -> None:
        program.send_signal(signal.SIGINT)

    before = {number: signal.signal(number, pass_on) for number in ENDING_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _lines(program: subprocess.Popen[bytes]) -> Iterator[tuple[bool, str]]:
    """Yields the lines of the program as they come, and whether they are messages, until it ends.

    The commands that it has started write messages, too. They may outlive it, if it is killed.
    """
    assert program.stdout and program.stderr
    output, messages = program.stdout.fileno(), program.stderr.fileno()
    os.set_blocking(messages, False)
    rest = {output: b"", messages: b""}
    with selectors.DefaultSelector() as selector:
        for file in rest:
            selector.register(file, selectors.EVENT_READ)
        while output in {key.fd for key in selector.get_map().values()}:
            ready = [key.fd for key, _events in selector.select()]
            for file in sorted(ready, key=lambda each: each == output):  # messages first
                text = _read_some(file)
                if not text:
                    selector.unregister(file)
                *lines, rest[file] = (rest[file] + (text or b"\n")).split(b"\n")
                yield from ((file == messages, line.decode(errors="replace")) for line in lines if line)
    last = (rest[messages] + _read_some(messages)).decode(errors="replace")
    yield from ((True, line) for line in last.splitlines() if line)


def _read_some(file: int) -> bytes:
    try:
        return os.read(file, 65536)
    except BlockingIOError:
        return b""


def _start(program: Path, options: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    argv = [str(require_program(program)), *options]
    try:
        return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    except OSError as cause:
        raise not_started(program.name, cause) from cause


def count_in_line(name: str, count: int, others: Mapping[str, int], end: str | None = None) -> str:
    """Returns a part of a short line, such as "encoder 88 (2 missed, died)". Of the other counts, zeros are left out."""
    remarks = [f"{number} {text}" for text, number in others.items() if number] + ([end] if end else [])
    return f"{name} {count} ({', '.join(remarks)})" if remarks else f"{name} {count}"


def run_live(
    console: Console,
    program: Path,
    options: Sequence[str],
    kind: type[State],
    table: Callable[[State], Table],
    line: Callable[[State], str],
    seen: Callable[[State], None] = lambda _state: None,
) -> State | None:
    """Runs a program and shows what it prints. Returns its last line, or None if there is none. Raises LabError.

    `table` is shown on a terminal, in place of the one before. `line` is printed into a file or a pipe. `seen` is called for each
    line as it comes.
    """
    environment = {**os.environ, "PATH": os.pathsep.join([*map(str, TOOLS), os.environ.get("PATH", os.defpath)])}
    last: State | None = None
    said: list[str] = []
    with _start(program, options, environment) as running, _signals_for(running):
        with Live(console=console, auto_refresh=False, transient=True) as live:
            for is_message, text in _lines(running):
                if is_message:
                    said.append(text.removeprefix(f"{program.name}: "))
                else:
                    last = _state_of(kind, text, program.name)
                    seen(last)
                    if console.is_terminal:
                        live.update(fitted(console, table(last)), refresh=True)
                    else:
                        tell(console, line(last), wrap=False)
                    while said:
                        tell(console, said.pop(0), wrap=False)
    if running.returncode == EXIT_SETUP:  # argp adds where help is
        raise LabError(said[0] if said else f"{program.name} does not know these options", EXIT_SETUP)
    reason = said.pop() if running.returncode and said else f"{program.name} has ended with status {running.returncode}"
    for text in said:
        tell(console, text, wrap=False)
    if running.returncode:
        raise LabError(reason, EXIT_UNFIT)
    return last


def _state_of(kind: type[State], line: str, name: str) -> State:
    try:
        return kind.model_validate_json(line, strict=True)
    except ValidationError as cause:
        raise LabError(f"{name}: {field_error(cause)}; does it belong to this build?", EXIT_UNFIT) from cause
