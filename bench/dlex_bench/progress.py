# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows people what is happening and how long it will take: a bar on a terminal, plain lines elsewhere.

Nothing here runs in a thread of its own: forking a child beside one is not safe, and a spinner would cost the machine
that is being measured.
"""

from __future__ import annotations

import textwrap
import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table

from .table import fitted


def spoken_time(seconds: float) -> str:
    if seconds < 90:
        return f"{max(5, round(seconds / 5) * 5)} s"
    minutes, half = divmod(round(seconds / 30), 2)
    return f"{minutes}½ min" if half else f"{minutes} min"


def tell(console: Console, text: str, *, wrap: bool = True) -> None:
    """Prints the text: wrapped on a terminal, without trailing blanks; in one line for a file or a pipe."""
    if wrap and console.is_terminal:
        text = textwrap.fill(text, console.width)
    console.print(text, highlight=False, markup=False, soft_wrap=True)


def tell_table(console: Console, table: Table) -> None:
    """Prints a table, or a list if the console is too narrow, without trailing blanks, with which Rich fills every line."""
    with console.capture() as captured:
        console.print(fitted(console, table))
    lines = [line.rstrip() for line in captured.get().splitlines()]
    console.out("\n".join(lines), highlight=False)


class Teller:
    """Reports the progress of a plan of `plan_s` seconds. Each step has a label and the time that it should take."""

    def __init__(self, console: Console, plan_s: float) -> None:
        self.console = console
        self.plan_s = plan_s
        self.done_s = 0.0
        self.step_s = 0.0
        self.step_begun = time.monotonic()
        self.bar: Progress | None = None
        if console.is_terminal and not console.is_dumb_terminal:
            self.bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[left]}"),
                console=console,
                auto_refresh=False,
                transient=True,
            )
            self.task = self.bar.add_task("", total=plan_s, left="")

    def __enter__(self) -> Teller:
        if self.bar:
            self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar:
            self.bar.stop()

    def say(self, text: str) -> None:
        self.console.print(text, highlight=False, markup=False, soft_wrap=not self.console.is_terminal)

    def step(self, label: str, seconds: float, *, aloud: bool = True) -> None:
        """Begins the next step. With `aloud`, the label is also printed where there is no bar."""
        self.done_s += self.step_s
        self.step_s = seconds
        self.step_begun = time.monotonic()
        if self.bar:
            self.bar.update(self.task, description=label)
            self.tick()
        elif aloud:
            self.say(f"  {label} (about {spoken_time(self.left_s())} left)")

    def skip(self, seconds: float) -> None:
        """Counts as done a part of the plan that was not needed."""
        self.done_s += seconds

    def expect(self, left_s: float) -> None:
        """Ends the step. `left_s` is a better estimate of the time that is left."""
        self.done_s += self.step_s
        self.step_s = 0.0
        self.plan_s = self.done_s + left_s
        if self.bar:
            self.bar.update(self.task, total=self.plan_s)

    def left_text(self) -> str:
        """Returns the time left for the end of a line; empty if there is a bar, which shows it anyway."""
        return "" if self.bar else f" (about {spoken_time(self.left_s())} left)"

    def left_s(self) -> float:
        in_step_s = min(time.monotonic() - self.step_begun, self.step_s)
        return max(0.0, self.plan_s - self.done_s - in_step_s)

    def tick(self) -> None:
        if self.bar:
            left_s = self.left_s()
            self.bar.update(self.task, completed=self.plan_s - left_s, left=f"about {spoken_time(left_s)} left")
            self.bar.refresh()
