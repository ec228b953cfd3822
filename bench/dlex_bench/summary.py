# SPDX-License-Identifier: LGPL-2.1-or-later
"""summary.json: everything the demo found, with what is needed to judge it."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .runs import Policy, Run, figures

Spread = Mapping[str, Mapping[str, float | None]]


def machine_facts() -> dict[str, Any]:
    return {
        "cpu": _cpu_model(),
        "cpus": os.cpu_count(),
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "autogroup": _first_line(Path("/proc/sys/kernel/sched_autogroup_enabled")),
        "governor": _first_line(Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")),
        "load_average": os.getloadavg(),
        "python": platform.python_version(),
    }


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _first_line(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None


def commit() -> str | None:
    asked = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    return asked.stdout.strip() or None


def policy_entry(policy: Policy, runs: Sequence[Run], spread: Spread) -> dict[str, Any]:
    """The medians stand beside the policy's name; the rest is their evidence."""
    return {
        "drop": policy.drop,
        "rule": policy.rule,
        **spread["median"],
        "min": spread["min"],
        "max": spread["max"],
        "repetitions": [_repetition(run) for run in runs],
    }


def _repetition(run: Run) -> dict[str, Any]:
    return {
        "record": str(run.directory),
        **figures(run),
        "player_cpu_s": run.player_cpu_s,
        "load": {**asdict(run.load), "left": run.load.left} if run.load else None,
    }


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Whole or not at all."""
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text(json.dumps(content, indent=2) + "\n")
    partial.replace(path)
