# SPDX-License-Identifier: LGPL-2.1-or-later
"""Starts `dlex sched pman` with a graph of the experiment, alone or beside stress, and waits for its end."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ..errors import LabError
from ..files import write_whole
from ..output import checked_files
from ..processes import child, last_words, own_environment, wait_for
from ..rig.load.stress import HOG, require_running, stress

HZ = 30.0
SETTLE_S = 0.5


@dataclass(frozen=True)
class StartedGraph:
    process: subprocess.Popen[bytes]
    stress: subprocess.Popen[bytes] | None
    folder: Path
    ticks: int

    def wait(self) -> None:
        """Waits until it has ended by itself. Raises LabError if it failed, or if the load has ended."""
        wait_for(self.process, 60 + 3 * self.ticks / HZ, lambda: require_running(self.stress), "dlex sched pman")
        if self.process.returncode:
            raise LabError(f"dlex sched pman ended with status {self.process.returncode}: {last_words(self.folder / 'said.log')}")


@contextmanager
def kept_awake(cpu: int | None) -> Iterator[subprocess.Popen[bytes] | None]:
    """Lets a program of SCHED_IDLE compute on this CPU, so that the CPU never sleeps; None: does nothing."""
    if cpu is None:
        yield None
        return
    with child(["chrt", "--idle", "0", "sh", "-c", HOG], cpus={cpu}, env=own_environment()) as process:
        yield process
        if process.poll() is not None:
            raise LabError(f"the program that keeps CPU {cpu} awake has ended with status {process.returncode}")


@contextmanager
def started_graph(
    root: Path, folder: Path, graph: Mapping[str, Any], ticks: int, *, clip: Path | None, is_loaded: bool
) -> Iterator[StartedGraph]:
    """Writes its files, log.csv and pman.json among them, into `folder`."""
    cpus = os.sched_getaffinity(0)
    with checked_files(folder):
        folder.mkdir(exist_ok=True)
        write_whole(folder / "graph.yaml", yaml.safe_dump(dict(graph), sort_keys=False))
    program = [sys.executable, "-m", "dlex_sched", "pman"]
    argv = [*program, str(folder / "graph.yaml"), f"--ticks={ticks}", f"--out={folder}", "--plot"]
    path = os.pathsep.join(str(root / it) for it in ("bench", "sched"))
    environment = {**own_environment(), "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "CLIP": str(clip or "")}
    with (
        stress(2 * len(cpus) if is_loaded else 0, 0, cpus, SETTLE_S) as workers,
        (folder / "said.log").open("wb") as log,
        child(argv, cpus=cpus, stdout=log, stderr=log, env=environment) as process,
    ):
        yield StartedGraph(process, workers, folder, ticks)
