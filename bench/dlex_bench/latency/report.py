# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reports the latency experiment in numbers: the table, and latency.json."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from ..files import write_json
from ..machine.facts import commit, machine_facts
from ..table import titled_table
from .plan import LatencyPlan
from .records import CellStore, Samples

LATENCY = "latency.json"
STATISTICS = ("mean", "sd", "p50", "p99", "max")

Curves = dict[tuple[str, int, str], dict[str, Samples]]


def read_curves(store: CellStore, plan: LatencyPlan) -> Curves:
    """Returns the curves that have samples, by policy, load and kind."""
    keys = [(policy, load, kind) for kind in plan.kinds for policy in plan.policies for load in plan.loads]
    found = {(policy, load, kind): store.read(load, policy, kind) for policy, load, kind in keys}
    return {key: columns for key, columns in found.items() if columns is not None}


def statistics_us(values_ns: Samples) -> dict[str, float]:
    """Returns the statistics in us. The s.d. is the sample's, as in the seed; it is 0 for a single value."""
    sd_ns = values_ns.std(ddof=1) if len(values_ns) > 1 else 0.0
    figures = (values_ns.mean(), sd_ns, *np.percentile(values_ns, (50, 99)), values_ns.max())
    return {name: float(value) / 1e3 for name, value in zip(STATISTICS, figures, strict=True)}


def by_duration(columns: Mapping[str, Samples]) -> dict[str, Samples]:
    """Returns the mean and s.d., in us, of the samples of each duration (Figures 3 and 4)."""
    durations_us = np.unique(columns["duration_us"])
    of_each = [columns["caught_ns"][columns["duration_us"] == duration] / 1e3 for duration in durations_us]
    return {
        "duration_ms": durations_us / 1e3,
        "mean_us": np.array([values.mean() for values in of_each]),
        "sd_us": np.array([values.std(ddof=1) if len(values) > 1 else 0.0 for values in of_each]),
    }


def latency_table(curves: Curves, kind: str) -> Table:
    name = "WCET" if kind == "wcet" else "Deadline"
    clock = "CPU-time timer" if kind == "wcet" else "timer"
    table = titled_table(
        f"{name} to handler, us (raw: the kernel's own {clock} in the same runs, set to 2 ms at most)"
    )
    table.add_column("\npolicy", no_wrap=True)
    for heading in ("\nload", "\nn", "\nmean", "\ns.d.", "\np50", "\np99", "\nmax", "raw\np50", "raw\np99"):
        table.add_column(heading, justify="right", no_wrap=True, vertical="bottom")
    for (policy, load, of_kind), columns in curves.items():
        if of_kind == kind:
            ours, raw = statistics_us(columns["caught_ns"]), statistics_us(columns["raw_ns"])
            figures = [*ours.values(), raw["p50"], raw["p99"]]
            table.add_row(policy, str(load), str(len(columns["caught_ns"])), *map(_short, figures))
    return table


def _short(value_us: float) -> str:
    return f"{value_us:.1f}" if value_us < 100 else f"{value_us:,.0f}"


def write_latency_json(path: Path, plan: LatencyPlan, curves: Curves, refused: Mapping[str, str]) -> None:
    write_json(
        path,
        {
            "benchmark": "latency",
            "commit": commit(),
            "written": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
            "plan": asdict(plan),
            "machine": machine_facts().to_json(),
            "refused": dict(refused),
            "curves": [_curve_json(*key, columns) for key, columns in curves.items()],
        },
    )


def _curve_json(policy: str, load: int, kind: str, columns: Mapping[str, Samples]) -> dict[str, Any]:
    return {
        "policy": policy,
        "load": load,
        "kind": kind,
        "samples": len(columns["caught_ns"]),
        "caught_us": statistics_us(columns["caught_ns"]),
        "noticed_us": statistics_us(columns["noticed_ns"]),
        "raw_us": statistics_us(columns["raw_ns"]),
        "early": int((columns["caught_ns"] < 0).sum()),
        "by_duration": {name: values.round(3).tolist() for name, values in by_duration(columns).items()},
    }
