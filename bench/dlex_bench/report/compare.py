# SPDX-License-Identifier: LGPL-2.1-or-later
"""Implements `compare A B`: ratios of medians for every setting in both batches, and which ratios are noise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

from ..analysis import statistics
from ..analysis.results_frame import SHOWN_DIGITS, Row, by_setting, values
from ..analysis.statistics import Comparison, Interval
from ..batch.results import difference
from ..errors import EXIT_SETUP, LabError
from ..machine.policy import together
from ..progress import tell, tell_table
from ..table import titled_table
from .export import json_text
from .gather import Batch, gather
from .metrics import COMPARED, Metric, number

VERDICTS = {
    "less": "less in B",
    "more": "more in B",
    "noise": "noise (these runs cannot distinguish A and B)",
    "same": "the same in every run",
    "too few runs": "with too few runs for a verdict",
}
# Two jobs of one name are the same experiment if these fields are equal.
SAME = ("player", "player_params", "sched", "load", "clip", "observe")


@dataclass(frozen=True)
class ComparedFigure:
    """The comparison of B with A in one figure of one setting."""

    section: str
    workload: str
    where: str
    metric: Metric
    a: list[float]
    b: list[float]
    found: Comparison

    @property
    def named_section(self) -> str:
        return f"{self.section}{self.where}"

    @property
    def verdict(self) -> str:
        """Returns "same", not "noise", when every run of A and B has the same number; else the comparison's verdict."""
        unchanging = self.found.difference.known and len({*self.a, *self.b}) == 1
        return "same" if unchanging else self.found.verdict


def compare_batches(a_folder: Path, b_folder: Path, *, as_json: bool, mixed: bool) -> None:
    a, b = gather(a_folder), gather(b_folder)
    if not mixed:
        _refuse_other_machine(a, b)
    lines = list(compared(a, b))
    if not lines:
        left_out = next((note for note in other_differences(a, b) if "is left out" in note), "")
        reason = f" with the same film; {left_out.rstrip('.')}" if left_out else ""
        raise LabError(f"{a_folder} and {b_folder} have no setting in common that both have played{reason}; compare their agendas")
    notes = list(other_differences(a, b))
    if as_json:
        content = {"a": str(a_folder), "b": str(b_folder), "notes": notes, "figures": [_entry(it) for it in lines]}
        print(json_text(content, indent=2))
        return
    console = Console()
    for section in dict.fromkeys(it.named_section for it in lines):
        tell_table(console, _table(section, [it for it in lines if it.named_section == section]))
    tell(console, _counted(lines))
    for note in notes:
        tell(console, note)


def _refuse_other_machine(a: Batch, b: Batch) -> None:
    of_a, of_b = ({one.machine for one in batch.rows} for batch in (a, b))
    if of_a == of_b and len(of_a) == 1:
        return
    machines = " and ".join(f"{batch.folder} is from {', '.join(sorted(of))}" for batch, of in ((a, of_a), (b, of_b)))
    raise LabError(f"the results come from different machines: {machines}; --mixed compares them nevertheless", EXIT_SETUP)


def compared(a: Batch, b: Batch) -> Iterator[ComparedFigure]:
    for where, rows_a, rows_b in machine_pairs(a, b):
        of_a, of_b = by_setting(rows_a), by_setting(rows_b)
        for setting in of_a:
            for metric in COMPARED if setting in of_b and not films_differ(of_a[setting], of_b[setting]) else ():
                before, after = values(of_a[setting], metric.key), values(of_b[setting], metric.key)
                if before and after:
                    yield ComparedFigure(*setting, where, metric, before, after, statistics.compare(after, before))


def machine_pairs(a: Batch, b: Batch) -> Iterator[tuple[str, list[Row], list[Row]]]:
    """Yields what to compare: a name for the pair of machines, the rows of A and the rows of B.

    Figures of two machines are never put together. A machine that both batches have is compared with itself. If the
    batches have no machine in common, each machine of A is compared with each machine of B.
    """
    of_a, of_b = (_by_machine(batch) for batch in (a, b))
    pairs = [(it, it) for it in of_a if it in of_b] or [(one, other) for one in of_a for other in of_b]
    for one, other in pairs:
        name = f" on {one}" if one == other else f", {one} to {other}"
        yield name if len(of_a) > 1 or len(of_b) > 1 else "", of_a[one], of_b[other]


def _by_machine(batch: Batch) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for one in batch.rows:
        found.setdefault(one.machine or "an unknown machine", []).append(one)
    return found


def films_differ(a: Sequence[Row], b: Sequence[Row]) -> str | None:
    """Returns the films of A and B in words, unless all runs played the same film, as far as is known."""
    of_a, of_b = ({one.film[:SHOWN_DIGITS] for one in runs if one.film} for runs in (a, b))
    if not of_a or not of_b or len(of_a | of_b) == 1:
        return None
    return f"A played the film {' and '.join(sorted(of_a))}..., B {' and '.join(sorted(of_b))}... (SHA-256)"


def other_differences(a: Batch, b: Batch) -> Iterator[str]:
    """Yields a sentence for each other difference between the batches, because it may explain the figures."""
    commits = [", ".join(dict.fromkeys(str(one.result.commit) for one in batch.rows)) for batch in (a, b)]
    if commits[0] != commits[1]:
        yield f"A was measured with commit {commits[0]}, B with {commits[1]}."
    machines = [_by_machine(batch) for batch in (a, b)]
    if set(machines[0]) & set(machines[1]):
        for name, one, other in (("A", *machines), ("B", *reversed(machines))):
            if alone := [machine for machine in one if machine not in other]:
                yield f"Only {name} has results of machine {', '.join(alone)}: these results are left out."
    for where, rows_a, rows_b in machine_pairs(a, b):
        of_a, of_b = by_setting(rows_a), by_setting(rows_b)
        for setting in (it for it in of_a if it in of_b):
            name = f"{'-'.join(setting)}{where}"
            if films := films_differ(of_a[setting], of_b[setting]):
                yield f"{name} is left out: {films}."
            changed = difference(_experiment(of_a[setting]), _experiment(of_b[setting]))
            if changed:
                key, before, after = changed
                yield f"{name} is not the same experiment: {key} is {before} in A and {after} in B."
        for name, here, there in (("A", of_a, of_b), ("B", of_b, of_a)):
            alone = ["-".join(setting) for setting in here if setting not in there]
            if alone:
                yield f"Only {name} has {', '.join(alone)}{where}."


def _experiment(runs: Sequence[Row]) -> dict[str, Any]:
    result = runs[0].result
    job = result.job.conditions()
    applied = result.policy.applied if result.policy else None
    return {**{key: job[key] for key in SAME}, "applied policy": applied and together(applied)}


def _table(section: str, lines: Sequence[ComparedFigure]) -> Table:
    runs = {(len(it.a), len(it.b)) for it in lines}
    each = f", {_runs(*next(iter(runs)))} runs each" if len(runs) == 1 else ""
    known = any(it.found.difference.known for it in lines)
    table = titled_table(f"{section}: medians{each}, and B/A{' with 95 % intervals' if known else ''}")
    table.add_column("setting", no_wrap=True)
    for heading in ([] if each else ["runs"]) + ["A", "B", "B/A"]:
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("B is", no_wrap=True)
    before = ""
    for it in lines:
        if it.workload != before:
            table.add_row(it.workload)
        middles = (it.metric.text(median(some)) for some in (it.a, it.b))
        count = [] if each else [_runs(len(it.a), len(it.b))]
        table.add_row(f"  {it.metric.heading}", *count, *middles, _ratio(it), it.verdict)
        before = it.workload
    return table


def _runs(a: int, b: int) -> str:
    return str(a) if a == b else f"{a}, {b}"


def _counted(lines: Sequence[ComparedFigure]) -> str:
    """Returns a summary of the tables, for readers who stop there."""
    words = Counter(it.verdict for it in lines)
    counts = [f"{words[word]} {what}" for word, what in VERDICTS.items() if words[word]]
    chance = " An interval misses the true value in 1 of 20 cases, so some of these figures seem to differ by chance."
    judged = sum(words[word] for word in ("less", "more", "noise"))
    return f"{len(lines)} figures: {', '.join(counts)}.{chance if judged >= 20 else ''} A-V > 0: the video is late."


def _ratio(it: ComparedFigure) -> str:
    """Returns the ratio, or the difference if there is no ratio (a figure is negative, or A's median is 0)."""
    if it.found.ratio is None:
        return _extent(it.found.difference, lambda value: ("+" if value >= 0 else "") + it.metric.text(value))
    return _extent(it.found.ratio, lambda value: number(value, 2))


def _extent(found: Interval, text: Callable[[float], str]) -> str:
    if found.low is None or found.high is None or found.low == found.high:
        return text(found.value)
    return f"{text(found.value)} ({text(found.low)}..{text(found.high)})"


def _entry(it: ComparedFigure) -> dict[str, Any]:
    return {
        "section": it.named_section,
        "workload": it.workload,
        "figure": it.metric.key,
        "a": {"median": median(it.a), "runs": it.a},
        "b": {"median": median(it.b), "runs": it.b},
        "ratio": asdict(it.found.ratio) if it.found.ratio else None,
        "difference": asdict(it.found.difference),
        "verdict": it.verdict,
    }
