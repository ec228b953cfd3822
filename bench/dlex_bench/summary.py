# SPDX-License-Identifier: LGPL-2.1-or-later
"""summary.json: everything the demo found, with what is needed to judge it."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .runs import Policy, Run, figures

Spread = Mapping[str, Mapping[str, float | None]]


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
    write_whole(path, json.dumps(content, indent=2) + "\n")


def write_whole(path: Path, text: str) -> None:
    """Whole or not at all, and still there after the power has failed."""
    partial = path.with_name(f".{path.name}.partial")
    try:
        with partial.open("w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
