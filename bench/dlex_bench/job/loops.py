# SPDX-License-Identifier: LGPL-2.1-or-later
"""rt-app-MACHINE.json of a batch: how long rt-app's loops take here, measured once and verified by every job.

The same loops take longer or shorter as the machine is clocked and shared. Measured before every job, the load would vary
with the errors of the measuring; measured once, a machine that changed would go unnoticed. The paper's 3 and 20 ms are
what a job takes at the worst, all CPUs being busy: its budgets are 5 % above them, and what two CPUs of one core take
from each other is more than that.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..files import write_json
from ..paper import TASKS
from ..rig.load.rtapp import measure_ns_per_loop
from .context import loops_file
from .setting import Setting

# The mean of rt-app's jobs, of the paper's 3 and 20 ms. More would leave nothing of the budgets to spare; less is what a
# core makes that is not shared and clocked up, and misses nothing. Alone, one of two hyperthreads does up to twice as much:
# were LEAST any higher, such a machine would never hold the load. What is LIGHT is told instead.
LEAST, LIGHT, MOST = 0.5, 0.8, 1.02
TRIES = 3


@dataclass(frozen=True)
class Loops:
    cpu: int
    ns_per_loop: float
    tries: list[float]


def loops_of(setting: Setting) -> Loops:
    """Of this batch; measured anew when there is no figure, or a job has shown that it no longer holds."""
    path = loops_file(setting.context.batch, setting.context.machine)
    known = _read(path)
    if known and known.cpu == setting.cpu:
        return known
    found = _measure(setting)
    write_json(path, asdict(found))
    return found


def _read(path: Path) -> Loops | None:
    try:
        return Loops(**json.loads(path.read_text()))
    except (OSError, ValueError, TypeError):
        return None  # it is only a cache


def _measure(setting: Setting) -> Loops:
    tries: list[float] = []
    while len(tries) < TRIES:
        tries.append(measure_ns_per_loop(setting.cpu, setting.directory / "rt-app"))
        setting.context.tick()
    return Loops(setting.cpu, max(tries), tries)


def verify(setting: Setting, fares: dict[str, Any]) -> dict[str, Any]:
    """Returns what is known of how long rt-app's jobs were, as parts of the paper's 3 and 20 ms.

    `work_held`: whether each was 0.5 to 1.02 of it (shorter is normal when the sibling hyperthread idles); if not, the next
    job measures the loops again. `work_part`: the least of them. `work_light`: whether that is under 0.8, which a report
    has to mention. All three are null where no task has a figure."""
    parts = [1e3 * work_ms / task.work_us for task in TASKS if (work_ms := fares[task.name].get("work_ms")) is not None]
    if not parts:
        return {"work_held": None, "work_part": None, "work_light": None}
    held = all(LEAST <= part <= MOST for part in parts)
    if not held:
        loops_file(setting.context.batch, setting.context.machine).unlink(missing_ok=True)
    return {"work_held": held, "work_part": round(min(parts), 3), "work_light": min(parts) < LIGHT}
