# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs dlex-qoe, which measures what dropping changed in a recorded run."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from .errors import LabError
from .processes import child, last_words
from .schema import Stored


class QoeSummary(Stored):
    """dlex-qoe's summary of a run. Null: no picture has such a figure. It has more figures, which keep their names."""

    skew_ms_mean: float | None  # of the shown pictures; > 0: the video is late
    skew_ms_sd: float | None
    rmse_q16_sum: float | None  # of the dropped pictures, and of those that leaving out loop filters changed
    rmse_q16_median: float | None
    rmse_q16_p90: float | None
    longest_freeze_ms: float | None = None  # the longest time without a new picture; absent from older versions
    violations_sliding: int | None = None  # lost pictures beyond a window; null: none was asked for; absent from older versions
    violations_aligned: int | None = None  # the same with windows as those of DWCS
    degraded: int | None = None  # pictures shown without the loop filter; absent from older versions
    drifted: int | None = None  # shown, and they may refer to such pictures
    rmse_q16_degraded: float | None = None  # parts of the sum; null: not known
    rmse_q16_drifted: float | None = None
    lip_sync_accepted: float | None = None  # parts of the time in grades of lip synchronisation; absent from older versions
    lip_sync_irritating: float | None = None
    lip_sync_distracting: float | None = None
    lip_sync_itu_undetected: float | None = None
    lip_sync_itu_acceptable: float | None = None
    lip_sync_itu_unacceptable: float | None = None


class _Report(Stored):
    summary: QoeSummary


@contextlib.contextmanager
def comparing(
    program: Path, record: Path, out: Path, cpus: Collection[int], options: Sequence[str] = ()
) -> Iterator[subprocess.Popen[bytes]]:
    """Runs dlex-qoe on `record` while the block runs. Its figures go to `out`, its messages to a log beside that."""
    argv: list[str | Path] = [program, record, f"--json={out}", *options]
    with out.with_suffix(".log").open("wb") as log, child(argv, cpus=cpus, stderr=log) as process:
        yield process


def read_summary(out: Path, status: int) -> QoeSummary:
    if status != 0:
        words = last_words(out.with_suffix(".log")) or "no message"
        raise LabError(f"dlex-qoe ended with status {status} ({words}); try it by hand")
    return _Report.read(out, "is dlex-qoe of this build?").summary


def limit_s(length_s: float) -> float:
    """Returns a time that is longer than dlex-qoe needs on any machine that can play at all."""
    return 120 + 20 * length_s
