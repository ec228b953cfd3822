# SPDX-License-Identifier: LGPL-2.1-or-later
"""The load beside the player: the seed's two rt-app tasks (seed 000, section 8) and a filler, all on one CPU.

The player runs at nice 19 and so receives what these leave. Fair scheduling would otherwise protect it: a player that
asks for a tenth of a CPU gets it, however many others want the rest.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .errors import EXIT_SETUP, DemoError
from .processes import child, cpu_clock_of, end

FILLER_PERIOD_US = 10_000
SETTLE_S = 0.3
# rt-app ends by itself after this long should everything else fail.
RTAPP_LIMIT_S = 120
# A first guess of rt-app's time per loop; the measured one replaces it.
NS_PER_LOOP_GUESS = 20


@dataclass(frozen=True)
class PeriodicTask:
    name: str
    work_us: int
    period_us: int

    @property
    def utilisation(self) -> float:
        return self.work_us / self.period_us


# A little interactive program and a larger, slower one.
SEED_TASKS = (PeriodicTask("fast", 3_000, 8_000), PeriodicTask("slow", 20_000, 200_000))
SEED_UTILISATION = sum(task.utilisation for task in SEED_TASKS)


@dataclass
class LoadReport:
    """What the load took while it ran, as parts of the CPU, and how rt-app's tasks fared."""

    elapsed_s: float = 0.0
    rtapp: float = 0.0
    filler: float = 0.0
    forgone: float = 0.0
    tasks: dict[str, dict[str, float]] = field(default_factory=dict)

    @property
    def left(self) -> float:
        return 1 - self.rtapp - self.filler


def find_rtapp() -> str:
    path = shutil.which("rt-app")
    if not path:
        raise DemoError("rt-app is not installed; install it with `apt install rt-app`", EXIT_SETUP)
    return path


def rtapp_config(cpu: int, ns_per_loop: int, log_dir: Path) -> dict[str, Any]:
    """`run` is a fixed amount of work, so that preemption cannot remove load as it does with `runtime`."""
    return {
        "global": {
            "duration": RTAPP_LIMIT_S,
            # An integer; "CPU0" would make rt-app measure for 5 to 28 s, and give another figure each time.
            "calibration": ns_per_loop,
            "default_policy": "SCHED_OTHER",
            "lock_pages": False,
            "ftrace": False,
            "gnuplot": False,
            "logdir": str(log_dir),
            "log_basename": "rt-app",
        },
        "tasks": {
            task.name: {
                "cpus": [cpu],
                "loop": -1,
                "run": task.work_us,
                "timer": {"ref": "unique", "period": task.period_us, "mode": "absolute"},
            }
            for task in SEED_TASKS
        },
    }


def read_task_log(path: Path) -> dict[str, float]:
    """Periods and misses of one rt-app task. Slack is the eighth column, in us; below zero the deadline was missed."""
    rows = [line.split() for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]
    slacks_us = sorted(int(row[7]) for row in rows if len(row) > 7)
    if not slacks_us:
        return {"periods": 0}
    missed = sum(slack < 0 for slack in slacks_us)
    return {
        "periods": len(slacks_us),
        "missed_fraction": missed / len(slacks_us),
        "slack_us_median": slacks_us[len(slacks_us) // 2],
        "slack_us_min": slacks_us[0],
    }


def read_task_logs(log_dir: Path) -> dict[str, dict[str, float]]:
    logs = {task.name: sorted(log_dir.glob(f"rt-app-{task.name}-*.log")) for task in SEED_TASKS}
    return {name: read_task_log(paths[0]) for name, paths in logs.items() if paths}


@contextlib.contextmanager
def load(cpu: int, share: float, ns_per_loop: int, log_dir: Path) -> Iterator[LoadReport]:
    """Leaves `share` of `cpu` to others while the block runs; the report is filled in at its end."""
    log_dir.mkdir(parents=True, exist_ok=True)
    config = log_dir / "rt-app.json"
    config.write_text(json.dumps(rtapp_config(cpu, ns_per_loop, log_dir), indent=1))
    report = LoadReport()
    with child([find_rtapp(), config], cpus={cpu}) as rtapp:
        with _filler(cpu, share, rtapp.pid) as filler:
            time.sleep(SETTLE_S)
            if rtapp.poll() is not None:
                raise DemoError(f"rt-app ended at once with status {rtapp.returncode}; try `rt-app` by hand")
            yield report
            _collect_filler(filler, report)
        end(rtapp, signal.SIGINT)
    report.tasks = read_task_logs(log_dir)


@contextlib.contextmanager
def _filler(cpu: int, share: float, rtapp_pid: int) -> Iterator[subprocess.Popen[bytes]]:
    """The third task, from when it has begun."""
    script = Path(__file__).with_name("filler.py")
    argv: list[str | Path] = [sys.executable, "-ISE", script, f"{share:.6f}", str(FILLER_PERIOD_US), str(rtapp_pid)]
    with child(argv, cpus={cpu}, stdout=subprocess.PIPE) as filler:
        assert filler.stdout is not None
        filler.stdout.readline()
        yield filler


def _collect_filler(filler: subprocess.Popen[bytes], report: LoadReport) -> None:
    filler.send_signal(signal.SIGTERM)
    text, _ = filler.communicate(timeout=5)
    if filler.returncode != 0:
        raise DemoError(f"the load's third task failed with status {filler.returncode}; see bench/dlex_bench/filler.py")
    for key, value in json.loads(text).items():
        setattr(report, key, value)


def measure_ns_per_loop(cpu: int, log_dir: Path, seconds: float = 1.5) -> int:
    """How long one of rt-app's loops takes on this CPU when it is busy (an idle one may be clocked down)."""
    log_dir.mkdir(parents=True, exist_ok=True)
    config = log_dir / "rt-app.json"
    config.write_text(json.dumps(rtapp_config(cpu, NS_PER_LOOP_GUESS, log_dir)))
    with child([find_rtapp(), config], cpus={cpu}) as rtapp, _filler(cpu, 0.0, rtapp.pid):
        time.sleep(SETTLE_S)
        cpu_start_ns, start_ns = _cpu_time_ns(rtapp.pid), time.monotonic_ns()
        time.sleep(seconds)
        used = (_cpu_time_ns(rtapp.pid) - cpu_start_ns) / (time.monotonic_ns() - start_ns)
    if used <= 0.01:
        raise DemoError("rt-app used no CPU time; try `rt-app` by hand")
    return max(1, round(NS_PER_LOOP_GUESS * used / SEED_UTILISATION))


def _cpu_time_ns(pid: int) -> int:
    try:
        return time.clock_gettime_ns(cpu_clock_of(pid))
    except OSError as cause:
        raise DemoError(f"rt-app ended early ({os.strerror(cause.errno or 0)}); try it by hand") from cause
