# SPDX-License-Identifier: LGPL-2.1-or-later
"""Keeps a batch's rt-app-MACHINE.json: how long rt-app's loops take here, measured once and verified by every job.

The same loops take longer or shorter, depending on how the machine is clocked and shared. If every job measured them
anew, the load would vary with the measurement errors. If they were measured once and never verified, a machine that
changed would go unnoticed. The paper's 3 and 20 ms are a job's worst case, when all CPUs are busy: the paper's budgets
are 5 % above them, and two CPUs of one core slow each other down by more than that.
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

# Limits for the mean of rt-app's jobs, as parts of the paper's 3 and 20 ms. More than MOST would leave nothing of the
# budgets to spare. Less is normal on a core that is clocked up and not shared, and misses nothing. A hyperthread whose
# sibling idles does up to twice as much work: if LEAST were higher, such a machine would never hold the load. Instead, a
# part below LIGHT is reported.
LEAST, LIGHT, MOST = 0.5, 0.8, 1.02
TRIES = 3


@dataclass(frozen=True)
class Loops:
    cpu: int
    ns_per_loop: float
    tries: list[float]


def loops_of(setting: Setting) -> Loops:
    """Returns this batch's figure for the loops.

    Measures it anew if there is none, or if a job has shown that it no longer holds.
    """
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
    """Returns what is known about the length of rt-app's jobs, as parts of the paper's 3 and 20 ms.

    `work_held`: whether each part is 0.5 to 1.02 (shorter is normal when the sibling hyperthread idles); if not, the next
    job measures the loops again. `work_part`: the smallest part. `work_light`: whether the smallest part is under 0.8,
    which a report has to mention. All three are null if no task has a figure.
    """
    parts = [1e3 * work_ms / task.work_us for task in TASKS if (work_ms := fares[task.name].get("work_ms")) is not None]
    if not parts:
        return {"work_held": None, "work_part": None, "work_light": None}
    held = all(LEAST <= part <= MOST for part in parts)
    if not held:
        loops_file(setting.context.batch, setting.context.machine).unlink(missing_ok=True)
    return {"work_held": held, "work_part": round(min(parts), 3), "work_light": min(parts) < LIGHT}
