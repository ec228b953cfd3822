# SPDX-License-Identifier: LGPL-2.1-or-later
"""Computes what the records of context switches cost programs that play: the cost of a record, times their number.

The paired runs of overhead.py check it; their difference is too small to be seen with certainty in a few runs.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from ..analysis.outcome import MET, MISSED, Outcome
from ..errors import LabError
from ..processes import child, own_environment
from ..table import titled_table
from .commands import ENVIRONMENT, PLAYERS

RECORD_COST = Path("build/release/bench/record-cost")
NS_PER_S = 1e9
NAME = "seed 003"
# Of the program's CPU time.
MOST_SHARE = 0.005
# They play at the film's own speed, as people do.
PROGRAMS: dict[str, list[str]] = {
    "mplayer": PLAYERS["mplayer"],
    "mpv": PLAYERS["mpv"],
    "ffmpeg": ["ffmpeg", "-nostdin", "-loglevel", "error", "-re", "-i"],
}
AFTER = {"ffmpeg": ["-c:v", "libx264", "-preset", "fast", "-f", "null", "-"]}


@dataclass(frozen=True)
class PlayedRun:
    """How often the threads of a program got or gave up the CPU while it played, and the CPU time that they used."""

    program: str
    switches: int
    cpu_s: float

    def share(self, record_ns: float) -> float:
        """Returns the part of the CPU time that the records cost. A switch is two records: one for each end of a pause."""
        return 2 * self.switches * record_ns / NS_PER_S / self.cpu_s


def record_cost(root: Path) -> dict[str, float]:
    """Returns ns of CPU time: `without_ns`, `with_ns` a switch, and `record_ns`. Raises LabError."""
    done = subprocess.run([root / RECORD_COST], capture_output=True, text=True, check=False)
    if done.returncode:
        raise LabError(f"record-cost ended with status {done.returncode}: {done.stderr.strip()}")
    found: dict[str, float] = json.loads(done.stdout)
    return found


def play_at_speed(program: str, film: Path) -> dict[str, Any]:
    """Returns what a PlayedRun is made of."""
    command = [*PROGRAMS[program], str(film), *AFTER.get(program, [])]
    with child(command, cpus=os.sched_getaffinity(0), env={**own_environment(), **ENVIRONMENT}) as process:
        _pid, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise LabError(f"{program} ended with status {process.returncode}; try it by hand")
    return {"program": program, "switches": used.ru_nvcsw + used.ru_nivcsw, "cpu_s": used.ru_utime + used.ru_stime}


def records_table(runs: Sequence[PlayedRun], cost: dict[str, float], film_s: float) -> Table:
    table = titled_table(f"A record costs the watched thread {cost['record_ns']:.0f} ns ({cost['without_ns']:.0f} ns of CPU time a "
                         f"switch without, {cost['with_ns']:.0f} ns with): the records of programs that play")
    for heading in ("", "switches a second", "CPU, %", "records cost, % of it"):
        table.add_column(heading, justify="right")
    for run in runs:
        share = run.share(cost["record_ns"])
        table.add_row(run.program, f"{run.switches / film_s:.0f}", f"{run.cpu_s / film_s:.1%}", f"{share:.3%}")
    return table


def records_findings(runs: Sequence[PlayedRun], cost: dict[str, float]) -> list[Outcome]:
    return [
        Outcome(f"the records of {run.program} cost at most {MOST_SHARE:.1%} of its CPU time", NAME,
                MET if run.share(cost["record_ns"]) <= MOST_SHARE else MISSED,
                f"{cost['record_ns']:.0f} ns times {2 * run.switches} records: {run.share(cost['record_ns']):.3%}")
        for run in runs
    ]
