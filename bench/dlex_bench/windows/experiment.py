# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs `./dlex bench windows`: members that always compute, then players, each setting by itself, on one CPU."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

from ..analysis.chapter import Chapter, tell_chapter, write_chapters
from ..checksum import checksum
from ..clips import film_file, make_clip
from ..files import write_json
from ..machine.domain import own_cpu
from ..machine.facts import commit, machine_facts
from ..machine.kept_runs import KeptRuns
from ..machine.lock import only_measurement
from ..machine.switch_recording import require_recording
from ..order import interleaved
from ..output import checked_files, output_folder
from ..paths import require_installed, require_program
from ..processes import aside, choose_cpus
from ..progress import spoken_time, tell
from ..table import titled_table
from .conditions import (
    FULL,
    QUICK,
    PictureCost,
    WindowPlan,
    WindowSetting,
    alone_settings,
    members_utilisation,
    overload_settings,
    server_settings,
)
from .findings import MembersRun, Runs, WindowRun, members_findings, windows_findings
from .stage_players import PLAYER, WindowStage
from .window_run import members_run, picture_cost, setting_run

DISPATCHER = Path("build/release/sched/dwcs/dlex-sched-dwcs")
# Where the trailer is not here. Its pictures cost more, so that fewer players need the whole CPU.
CLIP = "hard_1080p"
HEADINGS = (
    "", "needed of the CPU", "wanted", "mean", "p99", "longest", "all threads: mean", "longest", "wake-ups", "windows kept",
    "events", "swaps", "pictures lost", "picture windows kept", "A-V, ms", "late, us",
)


@dataclass(frozen=True)
class WindowsOptions:
    root: Path
    quick: bool
    reps: int
    kinds: Sequence[str]
    cpu: int | None
    out: Path

    @property
    def plan(self) -> WindowPlan:
        return QUICK if self.quick else FULL


@dataclass(frozen=True)
class WindowsResults:
    """Everything that was measured."""

    members: MembersRun
    costs: Mapping[str, PictureCost]
    runs: Runs

    def utilisations(self) -> dict[WindowSetting, float]:
        return {setting: self.costs[setting.kind].utilisation(setting) for setting in self.runs}


def measure_windows(options: WindowsOptions) -> None:
    console = Console()
    _require_all(options)
    out = output_folder(options.out)
    clip = film_file() or make_clip(options.root, CLIP)
    cpu, _others = choose_cpus(options.cpu)
    kept = KeptRuns(console, out, {"quick": options.quick, "cpu": cpu, "clip": clip.name, "film": checksum(clip)})
    tell(console, f"this takes {spoken_time(options.plan.estimated_s(len(options.kinds), options.reps))} in all")
    with only_measurement(os.sched_getaffinity(0)), own_cpu(cpu) as domain, aside(domain.others or {cpu}):
        stage = WindowStage(options.root, clip, options.plan, domain)
        results = _measure_all(console, kept, options, stage)
    _report(console, options, results, clip)
    kept.forget()


def _require_all(options: WindowsOptions) -> None:
    require_recording()
    for program in (PLAYER, DISPATCHER):
        require_program(options.root / program)
    if "mplayer" in options.kinds:
        require_installed("mplayer", "mplayer")


def _measure_all(console: Console, kept: KeptRuns, options: WindowsOptions, stage: WindowStage) -> WindowsResults:
    members = MembersRun(**kept.run("members", partial(_members, stage, options.out / "members")))
    tell(console, f"members that always compute: {members.kept} of {members.windows} windows kept")
    costs = {}
    for kind in options.kinds:
        costs[kind] = PictureCost(kept.run(f"cost of {kind}", partial(_cost, stage, kind, options.out / f"cost-{kind}")))
        tell(console, f"{kind}: {costs[kind].ms:.1f} ms a picture, so a slot of {costs[kind].slot_ms:g} ms")
    runs: dict[WindowSetting, list[WindowRun]] = {}
    for number, setting in _planned(options, costs):
        folder = folder_of_run(options.out, setting, number)
        found = WindowRun(**kept.run(f"{setting}, {number}", partial(_run, stage, setting, costs[setting.kind], folder)))
        runs.setdefault(setting, []).append(found)
        tell(console, f"{setting}: waits {found.mean_ms:.2f} ms, p99 {found.p99_ms:.1f}, longest {found.max_ms:.0f}")
    return WindowsResults(members, costs, runs)


def _planned(options: WindowsOptions, costs: Mapping[str, PictureCost]) -> list[tuple[int, WindowSetting]]:
    """Returns all runs in their order, each with the number of its round."""
    plan, kinds = options.plan, options.kinds
    once = [setting for kind in kinds for setting in (*alone_settings(kind, plan), *server_settings(kind, plan))]
    overload = [setting for kind in kinds for setting in overload_settings(kind, costs[kind])]
    return [*interleaved(once, options.reps), *interleaved(overload, options.reps * plan.overloads)]


def folder_of_run(out: Path, setting: WindowSetting, number: int) -> Path:
    """Returns the folder for the records of one run."""
    return out / f"{setting}-{number}".replace(" ", "_")


def _members(stage: WindowStage, folder: Path) -> dict[str, Any]:
    return asdict(members_run(stage, folder))


def _cost(stage: WindowStage, kind: str, folder: Path) -> float:
    return picture_cost(stage, kind, folder).ms


def _run(stage: WindowStage, setting: WindowSetting, cost: PictureCost, folder: Path) -> dict[str, Any]:
    return asdict(setting_run(stage, setting, cost, folder))


def _report(console: Console, options: WindowsOptions, results: WindowsResults, clip: Path) -> None:
    from .figure import draw_windows

    chapters = windows_chapters(results, options.plan, clip)
    for chapter in chapters:
        tell_chapter(console, chapter)
    out = options.out
    with checked_files(out):
        write_json(out / "windows.json", _content(results, options.plan, clip))
        names = draw_windows(results.runs, list(results.costs), out)
        write_chapters(out / "windows.md", chapters, names)
    tell(console, f"written: {out}/windows.md, windows.json, {', '.join(names)}")


def _content(results: WindowsResults, plan: WindowPlan, clip: Path) -> dict[str, Any]:
    utilisations = results.utilisations()
    return {
        "commit": commit(),
        "machine": machine_facts().to_json(),
        "clip": clip.name,
        "plan": asdict(plan),
        "costs_ms": {kind: cost.ms for kind, cost in results.costs.items()},
        "slots_ms": {kind: cost.slot_ms for kind, cost in results.costs.items()},
        "members": {"utilisation": members_utilisation(), **asdict(results.members)},
        "runs": [{"setting": asdict(setting), "utilisation": utilisations[setting], **asdict(run)}
                 for setting, some in results.runs.items() for run in some],
    }


def windows_chapters(results: WindowsResults, plan: WindowPlan, clip: Path) -> list[Chapter]:
    members = results.members
    costs = ", ".join(f"{kind} {cost.ms:.1f} ms a picture in slots of {cost.slot_ms:g} ms" for kind, cost in results.costs.items())
    return [
        Chapter(
            "Members that always compute",
            f"{members.seconds:.0f} s, utilisation {members_utilisation():.1f}; the dispatcher was at most "
            f"{members.late_us_max:.0f} us late and missed {members.lost_slots} of {members.slots} slots.",
            [], members_findings(members),
        ),
        Chapter(
            "Players by their windows",
            f"{plan.recorded_s:g} s of {clip.name} on one CPU. Each player alone: {costs}.",
            [windows_table(results)],
            windows_findings(results.runs, results.utilisations(), list(results.costs)),
        ),
    ]


def windows_table(results: WindowsResults) -> Table:
    table = titled_table("Needed: by the windows and slots of the programs. Wanted: for all pictures and all slots of the "
                         "disturber. Then, from a wake-up to the CPU, ms, of the threads that decode and present; medians of the "
                         "runs, and the longest of all. Windows: 5 periods with service in 4, as the dispatcher counts. Picture "
                         "windows: 5 pictures of which at most 1 is lost. Events delivered, and those of them that made another "
                         "process run. Late: the latest decision of the dispatcher")
    for heading in HEADINGS:
        table.add_column(heading, justify="right")
    for setting, some in results.runs.items():
        cost = results.costs[setting.kind]
        table.add_row(str(setting), f"{cost.utilisation(setting):.0%}", f"{cost.wanted(setting):.0%}", *_cells(some))
    return table


def _cells(some: Sequence[WindowRun]) -> list[str]:
    def middle(name: str, form: str) -> str:
        return format(median(getattr(run, name) for run in some), form)

    skews_ms = [run.skew_ms for run in some if run.skew_ms is not None]
    late_us = [run.late_us_max for run in some if run.late_us_max is not None]
    return [
        middle("mean_ms", ".2f"), middle("p99_ms", ".1f"), f"{max(run.max_ms for run in some):.1f}",
        middle("all_mean_ms", ".2f"), f"{max(run.all_max_ms for run in some):.1f}", middle("wake_ups", ".0f"),
        _part(some, "kept", "windows"), _sum(some, "events"), _part(some, "swaps", "events"), _part(some, "lost", "pictures"),
        _part(some, "picture_windows_kept", "picture_windows"), f"{median(skews_ms):.1f}" if skews_ms else "-",
        f"{max(late_us):.0f}" if late_us else "-",
    ]


def _known(some: Sequence[WindowRun], name: str) -> list[int]:
    return [value for run in some if (value := getattr(run, name)) is not None]


def _sum(some: Sequence[WindowRun], name: str) -> str:
    return str(sum(known)) if (known := _known(some, name)) else "-"


def _part(some: Sequence[WindowRun], name: str, whole: str) -> str:
    """Returns the part of all runs together, such as "99.5%"."""
    total = sum(_known(some, whole))
    return f"{sum(_known(some, name)) / total:.1%}" if total else "-"
