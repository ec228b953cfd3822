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
from ..processes import ENDING_SIGNALS
from ..table import Ranges
from .runs import DropPolicy, LoadUsage, Run, figures

RUNS, SUMMARY, TIMELINE = "runs", "summary.json", "timeline.png"
RESULTS = (RUNS, SUMMARY, TIMELINE)
CALIBRATION = "calibration"
# The workshop is within the folder itself, so that renaming is enough to publish its contents.
WORKSHOP = ".demo-"


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
            shutil.rmtree(left, ignore_errors=True)
        folder = Path(tempfile.mkdtemp(prefix=WORKSHOP, dir=out))
        (folder / RUNS).mkdir()
    except OSError as cause:
        raise LabError(f"{out} cannot be written ({cause.strerror}); choose another by --out=", EXIT_SETUP) from cause
    try:
        yield folder.resolve()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if not existed:
            with contextlib.suppress(OSError):
                out.rmdir()


def _replaceable(out: Path) -> bool:
    """Returns whether the files in `out` that have the names of results, if any, come from a demo."""
    if (out / RUNS / CALIBRATION).is_dir():
        return True
    if (out / RUNS).exists() and (not (out / RUNS).is_dir() or any((out / RUNS).iterdir())):
        return False
    if not (out / SUMMARY).is_file():
        return not (out / SUMMARY).exists() and not (out / TIMELINE).exists()
    return f'"{CALIBRATION}"' in (out / SUMMARY).read_text(errors="replace")


def policy_entry(policy: DropPolicy, runs: Sequence[Run], ranges: Ranges) -> dict[str, Any]:
    """Returns a policy's entry: the medians are beside the policy's name, and the rest is their evidence."""
    return {
        "drop": policy.drop,
        "rule": policy.rule,
        **ranges["median"],
        "min": ranges["min"],
        "max": ranges["max"],
        "repetitions": [_repetition(run) for run in runs],
    }


def _repetition(run: Run) -> dict[str, Any]:
    return {
        "record": str(run.directory),
        **figures(run),
        "player_cpu_s": run.player_cpu_s,
        "load": _load_entry(run.load) if run.load else None,
    }


def _load_entry(usage: LoadUsage) -> dict[str, Any]:
    tasks = {name: stats.to_json() for name, stats in usage.tasks.items()}
    return {**vars(usage), "tasks": tasks, "left": usage.left}


def publish(folder: Path, out: Path) -> None:
    """Replaces the old results in `out` with those of `folder`; other files of `out` stay."""
    for path in (folder / RUNS).rglob("*.json"):  # some contain the path of their folder
        path.write_text(path.read_text().replace(str(folder), str(out)))
    old = folder / "old"
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)
    try:
        old.mkdir()
        for name in RESULTS:
            if (out / name).exists():
                (out / name).rename(old / name)
            (folder / name).rename(out / name)
    except OSError as cause:
        raise LabError(f"{out} cannot be written ({cause.strerror}); choose another by --out=", EXIT_SETUP) from cause
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING_SIGNALS)
