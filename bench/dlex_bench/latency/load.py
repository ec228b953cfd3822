# SPDX-License-Identifier: LGPL-2.1-or-later
"""The background load of the latency experiment: a row of the seed's Table 1."""

from __future__ import annotations

import subprocess
from collections.abc import Collection
from contextlib import AbstractContextManager

from ..rig.load.stress import stress
from .plan import LOADS, SETTLE_S


def background_load(tasks: int, cpus: Collection[int]) -> AbstractContextManager[subprocess.Popen[bytes] | None]:
    level = LOADS[tasks]
    return stress(level.cpu, level.memory, cpus, SETTLE_S)
