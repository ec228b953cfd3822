# SPDX-License-Identifier: LGPL-2.1-or-later
"""Keeps a batch's rt-app-MACHINE.json: how long rt-app's loops take here, measured once and verified by every job.

The same loops take longer or shorter, depending on how the machine is clocked and shared. If every job measured them
anew, the load would vary with the measurement errors. If they were measured once and never verified, a machine that
changed would go unnoticed. The paper's 3 and 20 ms are a job's worst case, when all CPUs are busy: the paper's budgets
are 5 % above them, and two CPUs of one core slow each other down by more than that.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..files import write_json
from ..paper import TASKS
from ..rig.load.rtapp import measure_ns_per_loop
from ..rig.load.rtapp_log import TaskStats
from ..schema import Count, Positive, Stored
from .context import loops_file
from .result import LoadReport
from .setting import Setting

# Limits for the mean of rt-app's jobs, as parts of the paper's 3 and 20 ms. More than MOST would leave nothing of the
# budgets to spare. Less is normal on a core that is clocked up and not shared, and misses nothing. A hyperthread whose
# sibling idles does up to twice as much work: if LEAST were higher, such a machine would never hold the load. Instead, a
# part below LIGHT is reported.
LEAST, LIGHT, MOST = 0.5, 0.8, 1.02
TRIES = 3


class Loops(Stored):
    """What rt-app-MACHINE.json holds. machines/MACHINE.json has a copy of it."""

    cpu: Count
    ns_per_loop: Positive
    tries: list[float]


def loops_of(setting: Setting) -> Loops:
    """Returns this batch's figure for the loops.

    Measures it anew if there is none, or if a job has shown that it no longer holds.
    """
    path = loops_file(setting.context.batch, setting.context.machine)
    known = read_loops(path)
    if known and known.cpu == setting.cpu:
        return known
    found = _measure(setting)
    write_json(path, found.to_json())
    return found


def read_loops(path: Path) -> Loops | None:
    """Returns None if the file cannot be read: it is only a cache."""
    try:
        return Loops.model_validate_json(path.read_text())
    except (OSError, ValueError):
        return None


def _measure(setting: Setting) -> Loops:
    tries: list[float] = []
    while len(tries) < TRIES:
        tries.append(measure_ns_per_loop(setting.cpu, setting.directory / "rt-app"))
        setting.context.tick()
    return Loops(cpu=setting.cpu, ns_per_loop=max(tries), tries=tries)


def verified(setting: Setting, load: LoadReport, stats: Mapping[str, TaskStats]) -> LoadReport:
    """Returns the report with what is known about the length of rt-app's jobs, as parts of the paper's 3 and 20 ms.

    `work_held`: whether each part is 0.5 to 1.02 (shorter is normal when the sibling hyperthread idles); if not, the next
    job measures the loops again. `work_part`: the smallest part. `work_light`: whether the smallest part is under 0.8,
    which a report has to mention. All three are null if no task has a figure.
    """
    parts = [1e3 * work_ms / task.work_us for task in TASKS if (work_ms := stats[task.name].work_ms) is not None]
    if not parts:
        return load.model_copy(update={"work_held": None, "work_part": None, "work_light": None})
    held = all(LEAST <= part <= MOST for part in parts)
    if not held:
        loops_file(setting.context.batch, setting.context.machine).unlink(missing_ok=True)
    part = min(parts)
    return load.model_copy(update={"work_held": held, "work_part": round(part, 3), "work_light": part < LIGHT})
