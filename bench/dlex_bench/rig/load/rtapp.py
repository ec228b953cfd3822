# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the paper's two rt-app tasks under a policy, on one CPU or on all, and measures the length of their loops.

rt-app applies the policies itself. Under SCHED_DEADLINE, the CPU needs a root domain of its own.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...errors import LabError
from ...paper import TASKS, PeriodicTask
from ...paths import require_installed
from ...processes import child, end, last_words
from .filling import filler
from .rtapp_log import Sample, TaskStats, read_activations, task_stats, work_us

SETTLE_S = 0.3
# rt-app ends by itself after this time, in case everything else fails.
RTAPP_LIMIT_S = 600.0
# The duration of one loop that rt-app is configured with. It is an integer of about ten to forty, so one step is several
# per cent. Therefore `run` sets the number of loops instead, where one step is 50 loops of about 150,000.
TOLD_NS_PER_LOOP = 20
CALIBRATION_S = 2.5
SAMPLE_S = 0.02
CONFIG, LOG = "rt-app.json", "rt-app.log"
PROGRAM, PACKAGES = "rt-app", {"rt-app": "rt-app"}


@dataclass(frozen=True)
class TaskPolicy:
    """The tasks' policy: other, fifo, rr (with a priority) or deadline (each task with its own budget and period)."""

    kind: str = "other"
    priority: int = 0

    def config_of(self, task: PeriodicTask) -> dict[str, Any]:
        keys: dict[str, Any] = {"policy": f"SCHED_{self.kind.upper()}"}
        if self.kind in ("fifo", "rr"):
            keys["priority"] = self.priority
        if self.kind == "deadline":
            # Without dl-deadline, rt-app requests a deadline of 0, which the kernel refuses.
            keys |= {"dl-runtime": task.budget_us, "dl-period": task.period_us, "dl-deadline": task.period_us}
        return keys


OTHER = TaskPolicy()


def find_rtapp() -> str:
    return require_installed(PROGRAM, PACKAGES[PROGRAM])


def rtapp_config(
    cpu: int | None, ns_per_loop: float, log_dir: Path, policy: TaskPolicy = OTHER, limit_s: float = RTAPP_LIMIT_S
) -> dict[str, Any]:
    """Returns the configuration of both tasks. `cpu` None: they run on any CPU.

    `run` is a fixed amount of work, so that preemption cannot remove load as it does with `runtime`.
    """
    return {
        "global": {
            "duration": math.ceil(limit_s),
            # This is an integer. "CPU0" would make rt-app measure for 5 to 28 s, with a different result each time.
            "calibration": TOLD_NS_PER_LOOP,
            "default_policy": "SCHED_OTHER",
            "lock_pages": False,
            "ftrace": False,
            "gnuplot": False,
            "logdir": str(log_dir),
            "log_basename": "log",
        },
        "tasks": {
            task.name: {
                **policy.config_of(task),
                **({} if cpu is None else {"cpus": [cpu]}),
                "loop": -1,
                "run": round(task.work_us * TOLD_NS_PER_LOOP / ns_per_loop),
                "timer": {"ref": "unique", "period": task.period_us, "mode": "absolute"},
            }
            for task in TASKS
        },
    }


@dataclass
class RtApp:
    process: subprocess.Popen[bytes]
    folder: Path
    samples: dict[str, list[Sample]] = field(default_factory=dict)

    def check(self) -> None:
        if self.process.poll() is not None:
            words = last_words(self.folder / LOG) or "no message"
            raise LabError(f"rt-app ended by itself with status {self.process.returncode} ({words}); try it by hand")

    def sample(self) -> None:
        """Records the CPU time of each task until now. `task_stats` uses it to find how long the jobs really were."""
        self.check()
        for folder in Path(f"/proc/{self.process.pid}/task").iterdir():
            with contextlib.suppress(OSError):  # the task has ended meanwhile: the next check reports it
                name = (folder / "comm").read_text().strip()
                cpu_ns = int((folder / "schedstat").read_text().split()[0])
                self.samples.setdefault(name, []).append(Sample(time.monotonic_ns() / 1e3, cpu_ns / 1e3))

    def task_stats(self, window_us: tuple[float, float] | None = None) -> dict[str, TaskStats]:
        """Returns what became of the jobs of each task, once rt-app has ended.

        `work_ms` should be near the task's work; otherwise the load was a different one.
        """
        found = {}
        for task in TASKS:
            activations = read_activations(self._log(task))
            work = work_us(activations, self.samples.get(task.name, []))
            found[task.name] = task_stats(activations, window_us, None if work is None else work / 1e3)
        return found

    def _log(self, task: PeriodicTask) -> Path:
        found = sorted(self.folder.glob(f"log-{task.name}-*.log"))
        return found[0] if found else self.folder / f"log-{task.name}-0.log"


@contextlib.contextmanager
def rtapp(
    cpu: int | None,
    ns_per_loop: float,
    folder: Path,
    policy: TaskPolicy = OTHER,
    enter: Callable[[], None] | None = None,
    limit_s: float = RTAPP_LIMIT_S,
) -> Iterator[RtApp]:
    """Runs both tasks while the block runs. The block must take less than `limit_s`.

    `task_stats` can be called after the block. `enter` is the same as for `child`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("log-*.log"):
        old.unlink()
    config = folder / CONFIG
    config.write_text(json.dumps(rtapp_config(cpu, ns_per_loop, folder, policy, limit_s), indent=1))
    with (folder / LOG).open("wb") as log:
        cpus = None if cpu is None else {cpu}
        with child([find_rtapp(), config], cpus=cpus, stdout=log, stderr=subprocess.STDOUT, enter=enter) as process:
            running = RtApp(process, folder)
            time.sleep(SETTLE_S)
            running.check()
            yield running
            end(process, signal.SIGINT)  # on SIGINT it writes its logs


@contextlib.contextmanager
def _others_busy(cpu: int) -> Iterator[None]:
    with contextlib.ExitStack() as spinners:
        for other in os.sched_getaffinity(0) - {cpu}:
            spinners.enter_context(child([sys.executable, "-ISc", "while True: pass"], cpus={other}))
        yield


def measure_ns_per_loop(cpu: int, folder: Path, seconds: float = CALIBRATION_S) -> float:
    """Returns how long one of rt-app's loops takes, in ns, while this CPU and all others are busy.

    An idle CPU may be clocked down. The others are busy because a CPU that shares its core with a busy one takes up to a
    quarter more time, and 3 ms are a job's worst case.
    """
    with _others_busy(cpu), rtapp(cpu, TOLD_NS_PER_LOOP, folder) as running, filler(cpu, 0.0, running.process.pid):
        begun = time.monotonic()
        while time.monotonic() - begun < seconds:
            running.sample()
            time.sleep(SAMPLE_S)
    stats = running.task_stats()
    works_us = {task: 1e3 * work_ms for task in TASKS if (work_ms := stats[task.name].work_ms)}
    if not works_us:
        raise LabError("rt-app did not finish a single job; try `rt-app` by hand")
    # Both tasks together, so that each counts by the time for which it was seen.
    taken = sum(work / task.period_us for task, work in works_us.items())
    return TOLD_NS_PER_LOOP * taken / sum(task.utilisation for task in works_us)
