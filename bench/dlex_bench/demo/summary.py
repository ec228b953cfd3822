# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes summary.json: everything the demo found, with what is needed to judge it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .load import LoadReport
from .runs import Policy, Run, figures

Spread = Mapping[str, Mapping[str, float | None]]


def policy_entry(policy: Policy, runs: Sequence[Run], spread: Spread) -> dict[str, Any]:
    """Returns a policy's entry: the medians are beside the policy's name, and the rest is their evidence."""
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
        "load": _load(run.load) if run.load else None,
    }


def _load(report: LoadReport) -> dict[str, Any]:
    tasks = {name: stats.to_json() for name, stats in report.tasks.items()}
    return {**vars(report), "tasks": tasks, "left": report.left}
