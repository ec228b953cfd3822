# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs `./dlex bench laxity`: a paced program and its loads share one CPU, under one policy after another.

The program is the example of the library dlex-lbap. The rate is enforced under every policy, as in the seed. The loads are
never real-time.
"""

from __future__ import annotations

import itertools
import subprocess
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from ..errors import LabError
from ..files import write_json
from ..machine.domain import Domain, own_cpu
from ..machine.facts import machine_facts
from ..machine.lock import only_one
from ..machine.policy import Policy, apply
from ..paths import require_program
from ..processes import child, choose_cpus, wait_for
from ..progress import tell, tell_table
from ..rig.load.stress import find_stress, require_running, stress
from ..table import titled_table
from .findings import COST_MS, PERIOD_MS, RATE_HZ, Cells, Laxities, laxity_findings

PROGRAM = "build/release/sched/paced_packets"
LOADS, QUICK_LOADS = (0, 1, 2, 3, 4, 16), (0, 3)
# Of these, the first and the last ones do not count: the seed took 200 values from the middle of longer runs.
PACKETS, QUICK_PACKETS, ASIDE = 240, 40, 20
POLICIES = ("other", "nice:-11", "fifo:30", "deadline:31/66.666")
SETTLE_S = 0.5


@dataclass(frozen=True)
class LaxityOptions:
    root: Path
    out: Path
    quick: bool
    cpu: int | None


def measure_laxity(options: LaxityOptions) -> None:
    console = Console()
    program = require_program(options.root / PROGRAM)
    find_stress()
    loads, packets = (QUICK_LOADS, QUICK_PACKETS) if options.quick else (LOADS, PACKETS)
    cpu, _others = choose_cpus(options.cpu)
    cells: dict[tuple[str, int], Laxities] = {}
    with only_one("experiment"), own_cpu(cpu) as domain:
        for load, text in itertools.product(loads, POLICIES):
            policy = Policy.parse(text)
            cells[policy.kind, load] = _measure(program, policy, load, packets, domain)
            tell(console, f"{text} beside {load}: {_words(cells[policy.kind, load])}")
    options.out.mkdir(parents=True, exist_ok=True)
    findings = laxity_findings(cells)
    _write(options.out, cells, packets)
    tell_table(console, laxity_table(cells))
    for finding in findings:
        tell(console, f"{finding.word}: {finding.name}: {finding.sentence}")
    tell(console, f"written: {options.out}/laxity.json, {options.out}/laxity.png")


def _measure(program: Path, policy: Policy, load: int, packets: int, domain: Domain) -> Laxities:
    """Returns the laxities of one cell. Each packet takes its cost times the number of programs that share the CPU at most."""
    argv: list[str | Path] = [program, f"{RATE_HZ:g}", f"{COST_MS:g}", str(packets), "0", "each"]
    limit_s = 30 + packets * max(PERIOD_MS, 2 * COST_MS * (load + 1)) / 1e3
    with (
        stress(load, 0, {domain.cpu}, SETTLE_S, domain.enter) as workers,
        child(argv, cpus={domain.cpu}, stdout=subprocess.PIPE, enter=domain.enter) as process,
    ):
        if policy.kind != "other":
            apply(policy, process.pid)
        wait_for(process, limit_s, lambda: require_running(workers), "paced_packets")
        said = process.stdout.read().decode() if process.stdout else ""
    values_ms = [int(line) / 1e6 for line in said.splitlines() if line.lstrip("-").isdigit()]
    if len(values_ms) != packets:
        raise LabError(f"paced_packets reported {len(values_ms)} of {packets} laxities; try it by hand")
    aside = min(ASIDE, packets // 4)
    return Laxities(tuple(values_ms[aside:-aside]))


def _words(found: Laxities) -> str:
    return f"laxity {found.least_ms:.1f} to {found.most_ms:.1f} ms, {found.violations} of {len(found.values_ms)} too late"


def laxity_table(cells: Cells) -> Table:
    """Makes the table of all cells: smallest and largest laxity, and missed deadlines."""
    kinds = list(dict.fromkeys(kind for kind, _load in cells))
    table = titled_table(f"laxity in ms, smallest to largest, and missed deadlines; at most {PERIOD_MS - COST_MS:.1f} ms are left")
    table.add_column("programs beside", justify="right")
    for kind in kinds:
        table.add_column(kind, justify="right", no_wrap=True)
    for load in dict.fromkeys(load for _kind, load in cells):
        found = [cells[kind, load] for kind in kinds]
        table.add_row(str(load), *(f"{it.least_ms:.1f} to {it.most_ms:.1f}, {it.violations}" for it in found))
    return table


def _write(out: Path, cells: Cells, packets: int) -> None:
    from .figure import draw_laxities

    content = {
        "rate_hz": RATE_HZ,
        "cost_ms": COST_MS,
        "packets": packets,
        "machine": machine_facts().to_json(),
        "cells": [{"policy": kind, "loads": load, "laxities_ms": list(it.values_ms)} for (kind, load), it in cells.items()],
    }
    write_json(out / "laxity.json", content)
    draw_laxities(cells, out / "laxity.png")
