# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs one job, from an empty folder to its result.

An error in the job becomes a failed result. An interruption, a full disk or a result that cannot be written leaves
nothing of the job.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..agenda.jobs import Job
from ..disk_space import DiskFull, full_elsewhere, is_full_disk, no_space_left, require_room
from ..errors import LabError
from ..job.context import Context
from ..rig.players.threads import unknown_threads
from .results import DONE, FAILED, SKIPPED, VERSION, Result, Store, now

TRACEBACK = "traceback.txt"


def run_one(store: Store, job: Job, context: Context) -> Result:
    """Runs the job and returns its result, which is on disk by then.

    Raises DiskFull if the disk is full, because that concerns the whole batch. The job then counts as not begun.
    """
    require_room(store.out)
    begun, started = time.monotonic(), now()
    try:
        folder = store.begin(job)
        result = _attempt(job, folder, context)
        if result["status"] == FAILED:
            require_room(store.out)  # a lack of room may be why it failed
        known = {"version": VERSION, "job": job.to_json(), "machine": context.machine, "commit": context.commit}
        known |= {"started": started, "wall_s": round(time.monotonic() - begun, 3)}
        result = {**known, **result, **known}  # `known` comes first, and its values win
        store.finish(result)
    except OSError as cause:
        store.drop(job.id)
        if no_space_left(cause):  # only the store writes here
            raise DiskFull(store.out) from cause
        raise LabError(f"{cause.filename or store.out} cannot be written ({cause.strerror}); correct this and repeat") from cause
    except BaseException:
        store.drop(job.id)
        raise
    return result


def _attempt(job: Job, folder: Path, context: Context) -> Result:
    from ..job.execute import execute

    try:
        return execute(job, folder, context)
    except LabError as cause:
        return failure(str(cause))
    except OSError as cause:
        if is_full_disk(cause, context.batch):
            raise DiskFull(context.batch) from cause
        if no_space_left(cause):
            return failure(full_elsewhere(cause, context.batch))
        return _fault(cause, folder)
    except Exception as cause:  # an error of the laboratory in one job must not stop the others
        return _fault(cause, folder)


def failure(reason: str) -> Result:
    return {"status": FAILED, "reason": reason}


def _fault(cause: Exception, folder: Path) -> Result:
    (folder / TRACEBACK).write_text("".join(traceback.format_exception(cause)))
    return failure(f"an error in the laboratory itself ({type(cause).__name__}: {cause}); see {TRACEBACK} in the job's folder")


def result_line(result: Result) -> str:
    """Returns a result as one line, with its most informative figures."""
    if result["status"] in (FAILED, SKIPPED):
        return f"{result['status']}: {result.get('reason') or 'unknown reason'}"
    figures = result.get("figures") or {}
    parts = [
        _dropped(figures),
        _number(figures, "skew_ms_mean", "A-V {:.1f} ms"),
        _number(figures, "skew_ms_sd", "s.d. {:.1f} ms"),
        _number(figures, "rmse_q16_sum", "RMSE sum {:,.0f}"),
        _rtapp(result.get("rtapp") or {}),
        _light(result.get("load") or {}),
        _unknown(unknown_threads(result)),
    ]
    return ", ".join(part for part in parts if part) or DONE


def _dropped(figures: dict[str, Any]) -> str:
    dropped, frames = figures.get("dropped"), figures.get("frames")
    return f"{dropped} of {frames} dropped" if dropped is not None and frames else ""


def _number(figures: dict[str, Any], key: str, form: str) -> str:
    value = figures.get(key)
    return form.format(value) if value is not None else ""


def _rtapp(tasks: dict[str, Any]) -> str:
    missed = [task.get("missed") for task in tasks.values()]
    return f"rt-app missed {' and '.join(str(count) for count in missed)}" if missed else ""


def _light(load: dict[str, Any]) -> str:
    return f"its jobs took {load['work_part']:.0%} of the paper's" if load.get("work_light") else ""


def _unknown(names: Sequence[str]) -> str:
    return f"threads of unknown work: {', '.join(names)}" if names else ""
