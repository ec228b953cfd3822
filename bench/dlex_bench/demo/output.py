# SPDX-License-Identifier: LGPL-2.1-or-later
"""Manages the folder of the results: an older demo's results stay there until all new ones can replace them.

summary.json has everything the demo found, with what is needed to judge it.
"""

from __future__ import annotations

import contextlib
import shutil
import signal
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..errors import EXIT_SETUP, LabError
from ..output import checked_files
from ..processes import ENDING_SIGNALS
from ..table import Column, Ranges
from .runs import DropPolicy, Load, Run, figures

RUNS, SUMMARY, TIMELINE = "runs", "summary.json", "timeline.png"
RESULTS = (RUNS, SUMMARY, TIMELINE)
DEMAND = "demand"
FORMER_MARK = "calibration"  # of demos before there were several loads
COLUMNS: tuple[Column, ...] = (
    ("shown", "shown", "{:.0f}"),
    ("aborted", "aborted", "{:.0f}"),
    ("skipped", "skipped", "{:.0f}"),
    ("late", "late", "{:.0f}"),
    ("cut\noff", "unreached", "{:.0f}"),
    ("A-V ms\nmean", "skew_ms_mean", "{:.0f}"),
    ("\ns.d.", "skew_ms_sd", "{:.0f}"),
    ("freeze\nms", "longest_freeze_ms", "{:.0f}"),
    ("RMSE Q16\nsum", "rmse_q16_sum", "{:,.0f}"),
)
# The workshop is within the folder itself, so that renaming is enough to publish its contents. The marker is a file in it: a
# folder without one is not the demo's, whatever its name.
WORKSHOP, MARKER = ".demo-", ".dlex-demo"


@contextlib.contextmanager
def workshop(out: Path) -> Iterator[Path]:
    """Makes a temporary folder in `out` for the files of the block; only published files stay."""
    existed = out.exists()
    if existed and not out.is_dir():
        raise LabError(f"{out} is not a directory; choose another by --out=", EXIT_SETUP)
    try:
        if not _replaceable(out):
            raise LabError(f"{out} holds results that are not the demo's; choose another by --out=", EXIT_SETUP)
        out.mkdir(parents=True, exist_ok=True)
        for left in out.glob(f"{WORKSHOP}*"):  # left by a demo that was killed; only one runs at a time
            if (left / MARKER).is_file():
                shutil.rmtree(left, ignore_errors=True)
        folder = Path(tempfile.mkdtemp(prefix=WORKSHOP, dir=out))
        (folder / MARKER).touch()
        (folder / RUNS).mkdir()
    except OSError as cause:
        raise LabError(f"{out} cannot be written ({cause.strerror}); choose another by --out=", EXIT_SETUP) from cause
    try:
        with checked_files(out):  # the old results are still there after an error
            yield folder.resolve()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if not existed:
            with contextlib.suppress(OSError):
                out.rmdir()


def _replaceable(out: Path) -> bool:
    """Returns whether the files in `out` that have the names of results, if any, come from a demo."""
    if any((out / RUNS / mark).is_dir() for mark in (DEMAND, FORMER_MARK)):
        return True
    if (out / RUNS).exists() and (not (out / RUNS).is_dir() or any((out / RUNS).iterdir())):
        return False
    if not (out / SUMMARY).is_file():
        return not (out / SUMMARY).exists() and not (out / TIMELINE).exists()
    summary = (out / SUMMARY).read_text(errors="replace")
    return any(f'"{mark}"' in summary for mark in (DEMAND, FORMER_MARK))


def group_entry(load: Load, policy: DropPolicy, runs: Sequence[Run], ranges: Ranges) -> dict[str, Any]:
    """Returns the entry of a policy under a load: the medians are beside its name, and the rest is their evidence."""
    return {
        "policy": policy.name,
        "options": list(policy.arguments),
        "load": load.ratio,
        "share": load.share,
        **ranges["median"],
        "min": ranges["min"],
        "max": ranges["max"],
        "repetitions": [_repetition(run) for run in runs],
    }


def _repetition(run: Run) -> dict[str, Any]:
    supply = run.supply
    return {
        "record": str(run.directory),
        **figures(run),
        "player_cpu_s": supply.cpu_s,
        "wall_s": supply.wall_s,
        "played_to_the_end": supply.ended,
    }


def publish(folder: Path, out: Path) -> None:
    """Replaces the old results in `out` with those of `folder`; other files of `out` stay. If that fails, the old ones stay."""
    for path in (folder / RUNS).rglob("*.json"):  # some contain the path of their folder
        path.write_text(path.read_text().replace(str(folder), str(out)))
    old = folder / "old"
    moved: list[tuple[Path, Path]] = []
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)
    try:
        old.mkdir()
        for name in RESULTS:
            if (out / name).exists():
                _move(out / name, old / name, moved)
            _move(folder / name, out / name, moved)
    except OSError:
        for source, target in reversed(moved):
            with contextlib.suppress(OSError):
                target.rename(source)
        raise
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING_SIGNALS)


def _move(source: Path, target: Path, moved: list[tuple[Path, Path]]) -> None:
    source.rename(target)
    moved.append((source, target))
