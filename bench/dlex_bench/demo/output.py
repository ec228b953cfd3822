# SPDX-License-Identifier: LGPL-2.1-or-later
"""The folder of the results: an older demo's stay there until all of the new ones can take their place."""

from __future__ import annotations

import contextlib
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ..errors import EXIT_SETUP, LabError
from ..processes import ENDING_SIGNALS

RUNS, SUMMARY, TIMELINE = "runs", "summary.json", "timeline.png"
RESULTS = (RUNS, SUMMARY, TIMELINE)
CALIBRATION = "calibration"
# Within the folder itself, so that renaming is enough to publish what was made there.
WORKSHOP = ".demo-"


@contextlib.contextmanager
def workshop(out: Path) -> Iterator[Path]:
    """A temporary folder in `out` for what the block makes; nothing of it stays unless it is published."""
    existed = out.exists()
    if existed and not out.is_dir():
        raise LabError(f"{out} is not a directory; choose another by --out=", EXIT_SETUP)
    try:
        if not _replaceable(out):
            raise LabError(f"{out} holds results that are not the demo's; choose another by --out=", EXIT_SETUP)
        out.mkdir(parents=True, exist_ok=True)
        for left in out.glob(f"{WORKSHOP}*"):  # of a demo that was killed; there is only one at a time
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
    """Whether what is there under the names of the results, if anything, comes from a demo."""
    if (out / RUNS / CALIBRATION).is_dir():
        return True
    if (out / RUNS).exists() and (not (out / RUNS).is_dir() or any((out / RUNS).iterdir())):
        return False
    if not (out / SUMMARY).is_file():
        return not (out / SUMMARY).exists() and not (out / TIMELINE).exists()
    return f'"{CALIBRATION}"' in (out / SUMMARY).read_text(errors="replace")


def publish(folder: Path, out: Path) -> None:
    """Puts the results of `folder` in the place of the old ones; other files of `out` stay."""
    for path in (folder / RUNS).rglob("*.json"):  # some name the folder that they are in
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
