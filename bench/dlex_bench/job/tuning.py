# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs `dlex-sched tune` beside a player, and reads what it reserved.

dlex-sched finds the player's threads by itself; the job's list of threads and their work is not used. It runs on the driver's CPUs.
"""

from __future__ import annotations

import contextlib
import csv
import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import EXIT_SETUP, LabError
from ..processes import child, children_cpu_s, end, has_ended, last_words, own_environment
from .result import TunedReport
from .setting import Setting

DLEX_SCHED = "sched/cmd/dlex-sched"
ROWS, LOG = "tune.csv", "tune.log"
# Where dlex-sched cannot reserve, it goes on, and reports and records what it would reserve.
ONLY_SHOWN = re.compile("nothing will be reserved, only shown: (.+)")


@dataclass
class Tuning:
    """A running `dlex-sched tune`. `report` is set when the block of `tuning` ends."""

    report: TunedReport | None = None


@contextlib.contextmanager
def tuning(setting: Setting, pid: int) -> Iterator[Tuning]:
    """Tunes the player `pid` while the block runs. Raises LabError if dlex-sched could not reserve for it."""
    rows, log = setting.directory / ROWS, setting.directory / LOG
    running = Tuning()
    argv: list[str | Path] = [setting.context.program(DLEX_SCHED), "tune", f"--pid={pid}", "--quiet", f"--record={rows}"]
    # If this process is killed, dlex-sched gets a signal and gives everything back.
    with (
        log.open("wb") as out,
        child(argv, cpus=setting.driver_cpus, env=own_environment(), stderr=out, orphaned=signal.SIGTERM) as process,
    ):
        yield running
        ended_early = has_ended(process)
        before_s = children_cpu_s()
        end(process, signal.SIGINT)
        own_cpu_s = children_cpu_s() - before_s
    require_reserving(log)
    if process.returncode != 0:
        how = "ended too early" if ended_early else "failed"
        raise LabError(f"dlex-sched {how} ({last_words(log) or 'no message'}); see {LOG}")
    running.report = read_tuning(rows).model_copy(update={"own_cpu_s": own_cpu_s})


def require_reserving(log: Path) -> None:
    """Raises LabError if the messages of dlex-sched in `log` say that it only shows what it would reserve."""
    if refusal := ONLY_SHOWN.search(log.read_text(errors="replace")):
        raise LabError(f"dlex-sched reserves nothing here: {refusal[1]}", EXIT_SETUP)


def read_tuning(path: Path) -> TunedReport:
    """Returns the report on the rows that `dlex-sched tune --record` wrote."""
    with path.open(newline="") as file:
        rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
    tuned = [row for row in rows if row["reserved"] > 0]
    return TunedReport(
        reserved=_mean([row["reserved"] for row in tuned]),
        reserved_most=max((row["reserved"] for row in tuned), default=None),
        used=_mean([row["used"] for row in tuned]),
        throttled=int(sum(row["throttled"] for row in rows)),
        first_s=tuned[0]["second"] if tuned else None,
        limited_s=int(sum(row["limited"] for row in rows)),
    )


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None
