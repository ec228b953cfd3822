# SPDX-License-Identifier: LGPL-2.1-or-later
"""Implements `dlex sched pman`: runs a graph of processes, shows what they do, and says at the end how well it went."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from pydantic import ValidationError
from rich.console import Console
from rich.live import Live
from rich.table import Table

from dlex_bench.errors import EXIT_SETUP, EXIT_UNFIT, LabError
from dlex_bench.files import write_json
from dlex_bench.machine.facts import commit
from dlex_bench.paths import PROJECT, require_program
from dlex_bench.progress import tell, tell_table
from dlex_bench.schema import Amount, Count, Stored, field_error
from dlex_bench.table import titled_table

from .graph import Graph, read_graph
from .graph_log import GraphStatistics, Spread, read_log, statistics_of

PROGRAM = PROJECT / "build/release/sched/pman/dlex-sched-pman"
# Programs that the commands of a graph may name without a path.
TOOLS = PROJECT / "build/release/sched/pictures"


class ProcessState(Stored):
    name: str
    status: str
    pid: Count
    priority: Count
    activations: Count
    misses: Count
    skips: Count


class GraphState(Stored):
    """A line of dlex-sched-pman."""

    seconds: Amount
    ticks: Count
    lost_ticks: Count
    lost_records: Count
    processes: list[ProcessState]


@dataclass(frozen=True)
class GraphOptions:
    file: Path
    seconds: float | None
    ticks: int | None
    plot: bool
    take_over: bool
    end: bool
    out: Path

    def for_program(self, graph: Graph) -> list[str]:
        if self.end:
            return ["--end", f"--name={graph.name}"]
        what = ["--take-over", f"--name={graph.name}", *graph.tick_options()] if self.take_over else graph.options()
        limits = [f"--{name}={value}" for name, value in (("seconds", self.seconds), ("ticks", self.ticks)) if value is not None]
        return [*what, *limits, f"--log={self.out / 'log.csv'}"]


def run_graph(options: GraphOptions) -> None:
    graph = read_graph(options.file)
    console = Console()
    if not options.end:
        _make_folder(options.out)
    last = _run(console, options.for_program(graph))
    if last is None:
        return
    log = read_log(options.out / "log.csv")
    names = [process.name for process in last.processes]
    found = statistics_of(log, names)
    tell_table(console, _statistics_table(found))
    _tell_losses(console, last)
    made = ["log.csv", *_save(options, found, last)]
    if options.plot:
        from .timeline import draw_timeline

        if draw_timeline(log, names, options.out / "timeline.png"):
            made.append("timeline.png")
        else:
            tell(console, "There are too few ticks for a timeline.")
    tell(console, f"Results: {', '.join(str(options.out / name) for name in made)}", wrap=False)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as cause:
        raise LabError(f"{folder} cannot be made ({cause.strerror}); name another folder with --out", EXIT_SETUP) from cause


def _save(options: GraphOptions, found: GraphStatistics, last: GraphState) -> list[str]:
    content = {"commit": commit(), "file": str(options.file), "statistics": found.to_json(), "state": last.to_json()}
    try:
        write_json(options.out / "pman.json", content)
    except OSError as cause:
        raise LabError(f"{options.out} cannot be written ({cause.strerror}); name another folder with --out", EXIT_SETUP) from cause
    return ["pman.json"]


@contextmanager
def _signals_for(program: subprocess.Popen[bytes]) -> Iterator[None]:
    """SIGTERM and SIGINT end the program, and then we report."""

    def pass_on(number: int, frame: FrameType | None) -> None:
        program.send_signal(signal.SIGINT)

    before = {number: signal.signal(number, pass_on) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _lines(program: subprocess.Popen[bytes]) -> Iterator[tuple[bool, str]]:
    """Yields the lines of the program as they come, and whether they are messages, until it ends.

    Its commands write messages, too; if it was killed, they live on.
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


def _run(console: Console, options: Sequence[str]) -> GraphState | None:
    """Runs dlex-sched-pman and shows its lines. Returns the last state; None if it has none to show. Raises LabError."""
    environment = {**os.environ, "PATH": f"{TOOLS}{os.pathsep}{os.environ.get('PATH', os.defpath)}"}
    last, said = None, ""
    with subprocess.Popen([require_program(PROGRAM), *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=environment) as program, _signals_for(program):
        with Live(console=console, auto_refresh=False, transient=True) as live:
            for is_message, line in _lines(program):
                if is_message:
                    if said:
                        tell(console, said, wrap=False)
                    said = line.removeprefix(f"{PROGRAM.name}: ")
                else:
                    last = _state_of(line)
                    if console.is_terminal:
                        live.update(_state_table(last), refresh=True)
    if program.returncode:
        reason = said or f"{PROGRAM.name} has ended with status {program.returncode}"
        raise LabError(reason, EXIT_SETUP if program.returncode == EXIT_SETUP else EXIT_UNFIT)
    if said:
        tell(console, said, wrap=False)
    return last


def _state_of(line: str) -> GraphState:
    try:
        return GraphState.model_validate_json(line, strict=True)
    except ValidationError as cause:
        raise LabError(f"dlex-sched-pman: {field_error(cause)}; is it of this build?", EXIT_UNFIT) from cause


def _state_table(state: GraphState) -> Table:
    table = titled_table(f"{state.seconds:.0f} s, {state.ticks} ticks")
    for heading in ("process", "status", "pid", "priority", "activations", "misses", "skips"):
        table.add_column(heading, justify="left" if heading in ("process", "status") else "right", no_wrap=True)
    for each in state.processes:
        table.add_row(each.name, each.status, str(each.pid or "-"), str(each.priority or "-"), str(each.activations),
                      str(each.misses), str(each.skips))
    return table


def _statistics_table(found: GraphStatistics) -> Table:
    cost = f"; a tick took {found.tick_us.mean:.1f} µs on average, {found.tick_us.max:.1f} at most" if found.tick_us else ""
    table = titled_table(f"{found.ticks} ticks{cost}")
    table.add_column("process", no_wrap=True)
    for heading in ("runs", "misses", "ms from tick\nto start: min", "\nmean", "\nmax", "\ns.d.", "late µs\np50", "\np99", "\nmax",
                    "work ms\nmean", "\nmax"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, process in found.processes.items():
        table.add_row(
            name, str(process.instances), str(process.misses),
            *_cells(process.delay_ms, ("min", "mean", "max", "sd"), "{:.2f}"),
            *_cells(process.lateness_us, ("p50", "p99", "max"), "{:.0f}"),
            *_cells(process.work_ms, ("mean", "max"), "{:.2f}"),
        )
    return table


def _cells(figures: Spread | None, keys: Sequence[str], form: str) -> list[str]:
    return ["-" if figures is None else form.format(getattr(figures, key)) for key in keys]


def _tell_losses(console: Console, state: GraphState) -> None:
    if state.lost_ticks:
        tell(console, f"{state.lost_ticks} ticks were left out, because the machine was too late for them.")
    if state.lost_records:
        tell(console, f"{state.lost_records} records of the log are missing; the statistics are of the others.")
