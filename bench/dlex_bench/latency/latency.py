# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs `./dlex bench latency`: how late violations are noticed by duration, policy and load (seed 000, section 7)."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.console import Console

from ..errors import LabError, TimedOut
from ..machine.lock import only_measurement
from ..machine.rights import OUTSIDE, scheduling_is_out_of_reach
from ..paths import require_program
from ..processes import child
from ..progress import Teller, spoken_time, tell, tell_table
from ..rig.load.stress import find_stress, require_running, stress
from .plan import LOADS, SETTLE_S, Cell, LatencyPlan, quick_plan, total_s
from .records import CellStore, is_record
from .report import LATENCY, Curves, latency_table, read_curves, write_latency_json

CELL_PROGRAM = "build/release/bench/latency/dlex-bench-cell"
EXIT_REFUSED = 3
POLL_S = 0.5
# All of --quick, including Python's start and the pictures, should end within two minutes, even on a machine that is
# not idle. Beside compilers (load average 10 to 15), a plan of 83 s took 159 s.
QUICK_S = 65


@dataclass(frozen=True)
class LatencyOptions:
    root: Path
    out: Path
    quick: bool
    step_us: int
    samples: int
    policies: tuple[str, ...]
    loads: tuple[int, ...]
    kinds: tuple[str, ...]
    most_us: int
    wait: bool = False


def latency(options: LatencyOptions) -> None:
    console = Console()
    program = require_program(options.root / CELL_PROGRAM)
    if any(options.loads):
        find_stress()
    plan = _plan(options)
    store = CellStore(options.out)
    with only_measurement(os.sched_getaffinity(0), partial(tell, console) if options.wait else None), store.opened(plan):
        refused = refusals(program, plan.policies)
        admitted = [policy for policy in plan.policies if policy not in refused]
        for sentence in refused.values():
            tell(console, sentence)
        if not admitted:
            raise LabError("this account may use none of these policies; add other to --policies=")
        Experiment(console, program, store, plan, admitted).run()
        curves = read_curves(store, plan)
        write_latency_json(options.out / LATENCY, plan, curves, refused)
        _tell_results(console, options.out, plan, curves, refused)


def _plan(options: LatencyOptions) -> LatencyPlan:
    if options.quick:
        return quick_plan(_cpu_count(), options.policies, options.loads, options.kinds, QUICK_S)
    return LatencyPlan(
        options.step_us, options.samples, options.policies, options.loads, options.kinds, options.most_us
    )


def _cpu_count() -> int:
    return len(os.sched_getaffinity(0))


def refusals(program: Path, policies: Sequence[str]) -> dict[str, str]:
    """Returns what is skipped and what helps, for each refused policy.

    A policy is refused if this account may not use it or the kernel does not admit it.
    """
    refused = {}
    for policy in policies:
        asked = subprocess.run(
            [program, "--probe", f"--policy={policy}", "--kind=deadline"],
            capture_output=True,
            text=True,
            check=False,
        )
        if asked.returncode == 0:
            continue
        words = asked.stderr.strip().removeprefix("dlex-bench-cell: ")
        if asked.returncode != EXIT_REFUSED:
            raise LabError(f"{program} fails ({words}); try it by hand")
        help_line = _what_permits(program) if "not permitted" in words else ""
        refused[policy] = f"skipped: policy {policy}, because {words}{help_line}"
    return refused


def _what_permits(program: Path) -> str:
    if scheduling_is_out_of_reach():
        return f"; {OUTSIDE}"
    return f"; to allow it: sudo setcap cap_sys_nice+ep {program}"


class Experiment:
    """Runs the cells that are not done yet."""

    def __init__(
        self, console: Console, program: Path, store: CellStore, plan: LatencyPlan, policies: Sequence[str]
    ) -> None:
        self.console = console
        self.program = program
        self.store = store
        self.plan = plan
        self.policies = policies
        self.cpus = os.sched_getaffinity(0)

    def run(self) -> None:
        done = self.store.done()
        plan_s = total_s(self.plan, self.policies, len(self.cpus), done)
        self._announce(plan_s, done)
        with Teller(self.console, plan_s) as teller:
            for of_round in self.plan.rounds(self.policies):
                for of_load in of_round:
                    left = [cell for cell in of_load if cell.name not in done]
                    if left:
                        self._run_cells(left, teller)

    def _announce(self, plan_s: float, done: frozenset[str]) -> None:
        durations = self.plan.durations_us
        kinds = " and ".join("WCETs" if kind == "wcet" else "deadlines" for kind in self.plan.kinds)
        loads = ", ".join(map(str, self.plan.loads))
        resumed = f" {len(done)} parts are already done." if done else ""
        end = time.strftime("%H:%M", time.localtime(time.time() + plan_s))
        tell(
            self.console,
            f"{kinds} of {len(durations)} durations from {durations[0] / 1e3:g} to {durations[-1] / 1e3:g} ms, "
            f"{self.plan.samples} samples each, under {', '.join(self.policies)}, beside {loads} tasks of stress (at "
            f"the ordinary policy; nothing is pinned to a CPU).{resumed} This takes about {spoken_time(plan_s)}, until "
            f"{end}. If it is interrupted, the same command continues it.",
        )

    def _run_cells(self, cells: Sequence[Cell], teller: Teller) -> None:
        seconds = sum(self.plan.seconds(cell, len(self.cpus)) for cell in cells) + SETTLE_S
        teller.step(f"round {cells[0].round + 1} of {self.plan.samples}, {cells[0].load} load tasks", seconds)
        with background_load(cells[0].load, self.cpus) as load:
            for cell in cells:
                text = self._measure(cell, teller)
                require_running(load)
                self.store.keep(cell, text)

    def _measure(self, cell: Cell, teller: Teller) -> str:
        order = self.plan.order_us(cell)
        argv: list[str | Path] = [self.program, f"--policy={cell.policy}", f"--kind={cell.kind}", *map(str, order)]
        limit_s = 30 + 10 * self.plan.seconds(cell, len(self.cpus))
        with child(argv, cpus=self.cpus, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            said, errors = _communicate(process, limit_s, teller)
        if process.returncode != 0 or not is_record(said, len(order)):
            words = errors.strip().removeprefix("dlex-bench-cell: ") or f"status {process.returncode}"
            raise LabError(f"{cell.about}: {words}; repeat the command to continue from here")
        return said


def background_load(tasks: int, cpus: Collection[int]) -> AbstractContextManager[subprocess.Popen[bytes] | None]:
    """Runs the load of a row of the seed's Table 1 while the block runs."""
    level = LOADS[tasks]
    return stress(level.cpu, level.memory, cpus, SETTLE_S)


def _communicate(process: subprocess.Popen[bytes], limit_s: float, teller: Teller) -> tuple[str, str]:
    limit = time.monotonic() + limit_s
    while True:
        try:
            said, errors = process.communicate(timeout=POLL_S)
            return said.decode(), errors.decode()
        except subprocess.TimeoutExpired as cause:
            if time.monotonic() > limit:
                raise TimedOut("dlex-bench-cell", limit_s) from cause
            teller.tick()


def _tell_results(console: Console, out: Path, plan: LatencyPlan, curves: Curves, refused: dict[str, str]) -> None:
    # Imported late, because matplotlib takes a while to import and nothing before this may wait for it.
    from .figures import draw_all

    made = draw_all(curves, out)
    for kind in plan.kinds:
        tell_table(console, latency_table(curves, kind))
    for sentence in refused.values():
        tell(console, sentence)
    tell(
        console,
        f"\nfigures: {out / LATENCY}\npictures: {', '.join(str(out / name) for name in made)}",
        wrap=False,
    )
