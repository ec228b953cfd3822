# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs one job, from an empty folder to its result.

An error in the job becomes a failed result. An interruption, a full disk or a result that cannot be written leaves
nothing of the job. A job from which the host took much CPU time is played again at once, and the best play is kept.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..agenda.job import Job
from ..disk_space import DiskFull, full_elsewhere, is_full_disk, no_space_left, require_room
from ..errors import LabError
from ..job.context import Context
from ..job.result import DONE, FAILED, SKIPPED, Figures, JobResult, LoadReport, not_done
from ..rig.load.rtapp_log import TaskStats
from ..rig.players.threads import unknown_threads
from .results import Store, now

TRACEBACK = "traceback.txt"
# How often a job is played at most, if the host takes much CPU time from each play.
PLAYS = 3


def run_one(store: Store, job: Job, context: Context) -> JobResult:
    """Runs the job and returns its result, which is on disk by then.

    Raises DiskFull if the disk is full, because that concerns the whole batch. The job then counts as not begun.
    """
    require_room(store.out)
    try:
        result = _play(store, store.begin(job), job, context)
        plays = 1
        while result.much_is_stolen and plays < PLAYS:
            plays += 1
            require_room(store.out)
            result = _least_stolen(store, job, result, _play(store, store.begin_again(job), job, context))
        result = result.model_copy(update={"plays": plays})
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


def _play(store: Store, folder: Path, job: Job, context: Context) -> JobResult:
    begun, started = time.monotonic(), now()
    result = _attempt(job, folder, context)
    if result.status == FAILED:
        require_room(store.out)  # a lack of room may be why it failed
    known = {"machine": context.machine, "commit": context.commit, "started": started}
    return result.model_copy(update={**known, "wall_s": round(time.monotonic() - begun, 3)})


def _least_stolen(store: Store, job: Job, earlier: JobResult, later: JobResult) -> JobResult:
    """Returns the play from which less was stolen, and keeps only its records. A later play that failed is worse."""
    keeps_earlier = later.status != DONE or later.stolen >= earlier.stolen
    store.choose(job, earlier=keeps_earlier)
    return earlier if keeps_earlier else later


def _attempt(job: Job, folder: Path, context: Context) -> JobResult:
    from ..job.execute import execute

    try:
        return execute(job, folder, context)
    except LabError as cause:
        return not_done(job, FAILED, str(cause))
    except OSError as cause:
        if is_full_disk(cause, context.batch):
            raise DiskFull(context.batch) from cause
        if no_space_left(cause):
            return not_done(job, FAILED, full_elsewhere(cause, context.batch))
        return _fault(cause, job, folder)
    except Exception as cause:  # an error of the laboratory in one job must not stop the others
        return _fault(cause, job, folder)


def _fault(cause: Exception, job: Job, folder: Path) -> JobResult:
    (folder / TRACEBACK).write_text("".join(traceback.format_exception(cause)))
    reason = f"an error in the laboratory itself ({type(cause).__name__}: {cause}); see {TRACEBACK} in the job's folder"
    return not_done(job, FAILED, reason)


def result_line(result: JobResult) -> str:
    """Returns a result as one line, with its most informative figures."""
    if result.status in (FAILED, SKIPPED):
        return f"{result.status}: {result.reason or 'unknown reason'}"
    figures = result.figures or Figures()
    parts = [
        _dropped(figures),
        _number(figures.skew_ms_mean, "A-V {:.1f} ms"),
        _number(figures.skew_ms_sd, "s.d. {:.1f} ms"),
        _number(figures.rmse_q16_sum, "RMSE sum {:,.0f}"),
        _rtapp(result.rtapp or {}),
        _light(result.load),
        _others(result.load),
        "the observer had no priority" if result.observer_is_unprotected else "",
        "nothing was reserved" if result.is_tuned_in_vain else "",
        _unknown(unknown_threads(result.threads or [])),
        _stolen(result),
    ]
    return ", ".join(part for part in parts if part) or DONE


def _dropped(figures: Figures) -> str:
    return f"{figures.dropped} of {figures.frames} dropped" if figures.dropped is not None and figures.frames else ""


def _number(value: float | None, form: str) -> str:
    return form.format(value) if value is not None else ""


def _rtapp(tasks: Mapping[str, TaskStats]) -> str:
    missed = [str(task.missed) for task in tasks.values()]
    return f"rt-app missed {' and '.join(missed)}" if missed else ""


def _light(load: LoadReport | None) -> str:
    if load is None or not load.work_light or load.work_part is None:
        return ""
    return f"its jobs took {load.work_part:.0%} of the paper's"


def _others(load: LoadReport | None) -> str:
    return "" if load is None or load.others is None else f"others at {load.others:.0%}"


def _stolen(result: JobResult) -> str:
    taken = f"the host took {result.stolen:.1%} of the CPU" if result.much_is_stolen else ""
    again = f"played {result.plays} times" if result.plays and result.plays > 1 else ""
    return ", ".join(filter(None, (taken, again)))


def _unknown(names: Sequence[str]) -> str:
    return f"threads of unknown work: {', '.join(names)}" if names else ""
