# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the load beside the player: the seed's two rt-app tasks (seed 000, section 8) and a filler, all on one CPU.

The player runs at nice 19 and so receives what this load leaves. At an equal nice value, fair scheduling would protect
the player: if it asks for a tenth of a CPU it gets that, however many others want the rest.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..rig.load.filling import filler, what_it_ate
from ..rig.load.rtapp import rtapp
from ..rig.load.rtapp_log import TaskStats


@dataclass
class LoadReport:
    """What the load took while it ran, as fractions of the CPU, and the results of rt-app's tasks."""

    elapsed_s: float = 0.0
    rtapp: float = 0.0
    filler: float = 0.0
    forgone: float = 0.0
    tasks: dict[str, TaskStats] = field(default_factory=dict)

    @property
    def left(self) -> float:
        return 1 - self.rtapp - self.filler


@contextlib.contextmanager
def load(cpu: int, share: float, ns_per_loop: float, log_dir: Path) -> Iterator[LoadReport]:
    """Leaves `share` of `cpu` to others while the block runs; the report is filled in when the block ends."""
    report = LoadReport()
    with rtapp(cpu, ns_per_loop, log_dir) as running:
        with filler(cpu, share, running.process.pid) as third:
            yield report
            for key, part in what_it_ate(third).items():
                setattr(report, key, part)
    report.tasks = running.task_stats()
