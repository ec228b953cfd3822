# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs `./dlex bench laxity`: a paced program and its loads share one CPU, under one policy after another.

The program is the example of the library dlex-lbap. The rate is enforced under every policy, as in the seed. The loads are
never real-time. Then two and three such programs share the CPU (several.py).
"""

from __future__ import annotations

import itertools
import os
import subprocess
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from ..analysis.chapter import Chapter, tell_chapter, write_chapters
from ..files import write_json
from ..machine.domain import Domain, own_cpu
from ..machine.facts import commit, machine_facts
from ..machine.kept_runs import KeptRuns
from ..machine.lock import only_measurement
from ..machine.policy import Policy, apply
from ..output import checked_files, output_folder
from ..paths import require_program
from ..processes import child, choose_cpus, wait_for
from ..progress import tell
from ..rig.load.stress import find_stress, require_running, stress
from ..table import titled_table
from .findings import COST_MS, PERIOD_MS, RATE_HZ, Cells, Laxities, laxity_findings
from .several import GROUPS, ORDERS, SETTLE_S, STRESS_TASKS, Groups, Paced, laxities_of, measure_group, several_findings

PROGRAM, DLEX_SCHED = "build/release/sched/paced_packets", "build/release/sched/cmd/dlex-sched"
LOADS, QUICK_LOADS = (0, 1, 2, 3, 4, 16), (0, 3)
# Of these, the first and the last ones do not count: the seed took 200 values from the middle of longer runs.
PACKETS, QUICK_PACKETS, ASIDE = 240, 40, 20
# Of several programs at once.
GROUPS_S, QUICK_S = 20.0, 4.0
PICTURES = ("laxity.png", "several.png")
POLICIES = ("other", "nice:-11", "fifo:30", "deadline:31/66.666")


@dataclass(frozen=True)
class LaxityOptions:
    root: Path
    out: Path
    quick: bool
    cpu: int | None


def measure_laxity(options: LaxityOptions) -> None:
    console = Console()
    program = require_program(options.root / PROGRAM)
    dlex_sched = require_program(options.root / DLEX_SCHED)
    find_stress()
    out = output_folder(options.out)
    loads, packets, seconds = (QUICK_LOADS, QUICK_PACKETS, QUICK_S) if options.quick else (LOADS, PACKETS, GROUPS_S)
    cpu, _others = choose_cpus(options.cpu)
    cells: dict[tuple[str, int], Laxities] = {}
    groups: dict[tuple[int, str, Paced], Laxities] = {}
    kept = KeptRuns(console, out, {"quick": options.quick, "cpu": cpu})
    with only_measurement(os.sched_getaffinity(0)), own_cpu(cpu) as domain:
        for load, text in itertools.product(loads, POLICIES):
            policy = Policy.parse(text)
            name = f"{text} beside {load}"
            found = kept.run(name, partial(_measure, program, policy, load, packets, domain))
            cells[policy.kind, load] = Laxities(tuple(found))
            tell(console, f"{name}: {_words(cells[policy.kind, load])}")
        for group, order in itertools.product(GROUPS, ORDERS):
            name = f"{len(group)} programs, priorities {order}"
            measured = kept.run(name, partial(measure_group, (dlex_sched, program), group, order, seconds, domain))
            each = [Laxities(tuple(values_ms)) for values_ms in measured]
            groups |= {(len(group), order, paced): it for paced, it in zip(group, each, strict=True)}
            tell(console, f"{name}: {'; '.join(map(_words, each))}")
    chapters = [_chapter_of_one(cells, packets), _chapter_of_several(groups, seconds)]
    for chapter in chapters:
        tell_chapter(console, chapter)
    with checked_files(out):
        write_json(out / "laxity.json", _content(cells, groups, packets))
        write_chapters(out / "laxity.md", chapters, PICTURES)
        _draw(out, cells, groups)
        kept.forget()
    tell(console, f"written: {out}/laxity.md, laxity.json, laxity.png and several.png")


def _chapter_of_one(cells: Cells, packets: int) -> Chapter:
    about = f"{packets} packets of {COST_MS:g} ms, {RATE_HZ:g} each second, on one CPU beside programs that compute."
    return Chapter("One program, and loads", about, [laxity_table(cells)], laxity_findings(cells))


def _chapter_of_several(groups: Groups, seconds: float) -> Chapter:
    about = f"{seconds:g} s on one CPU beside {STRESS_TASKS} programs that compute."
    return Chapter("Several programs of different rates", about, [several_table(groups)], several_findings(groups))


def _measure(program: Path, policy: Policy, load: int, packets: int, domain: Domain) -> list[float]:
    """Returns the laxities of one cell, in ms. A packet takes at most its cost times the number of programs on the CPU."""
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
    return laxities_of(said, packets, min(ASIDE, packets // 4), str(policy))


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


def several_table(groups: Groups) -> Table:
    """Makes the table of the groups: smallest and largest laxity of each program, and missed deadlines."""
    table = titled_table("laxity in ms, smallest to largest, and missed deadlines")
    for heading in ("programs", "program", *ORDERS):
        table.add_column(heading, justify="right", no_wrap=True)
    for count, paced in dict.fromkeys((count, paced) for count, _order, paced in groups):
        found = [groups.get((count, order, paced)) for order in ORDERS]
        cells = (f"{it.least_ms:.1f} to {it.most_ms:.1f}, {it.violations}" if it else "-" for it in found)
        table.add_row(str(count), paced.name, *cells)
    return table


def _content(cells: Cells, groups: Groups, packets: int) -> dict[str, Any]:
    return {
        "rate_hz": RATE_HZ,
        "cost_ms": COST_MS,
        "packets": packets,
        "commit": commit(),
        "machine": machine_facts().to_json(),
        "cells": [{"policy": kind, "loads": load, "laxities_ms": list(it.values_ms)} for (kind, load), it in cells.items()],
        "several": [
            {"programs": count, "priorities": order, "rate_hz": paced.rate_hz, "cost_ms": paced.cost_ms,
             "laxities_ms": list(it.values_ms)}
            for (count, order, paced), it in groups.items()
        ],
    }


def _draw(out: Path, cells: Cells, groups: Groups) -> None:
    from .figure import draw_laxities

    columns = {load: f"{load} programs beside" for _kind, load in cells}
    draw_laxities({(kind, columns[load]): it for (kind, load), it in cells.items()},
                  dict.fromkeys(columns.values(), PERIOD_MS - COST_MS), out / PICTURES[0])
    names = {(count, paced): f"of {count}: {paced.name}" for count, _order, paced in groups}
    draw_laxities({(order, names[count, paced]): it for (count, order, paced), it in groups.items()},
                  {name: paced.period_ms - paced.cost_ms for (_count, paced), name in names.items()}, out / PICTURES[1])
