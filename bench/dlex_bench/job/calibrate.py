# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds the budget at which the baseline, mplayer -framedrop, behaves here as it did for the paper's authors.

Their 15 ms of 40 fitted their machine: on a faster one, no player would drop anything. So we search for the budget at
which the baseline drops the same part of its pictures as in the paper's cbs row. Both rt-apps run beside it under their
reservations, and it is observed from outside. The budget then stays fixed for all other settings.
"""

from __future__ import annotations

import contextlib
import shutil
import statistics
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ..agenda.job import Job, JobLoad, PlayerParams
from ..checksum import checksum
from ..disk_space import DiskFull, require_room, telling_full_disk
from ..errors import EXIT_SETUP, LabError
from ..machine.policy import CALIBRATED, Policy
from .bisection import AIM, TOLERANCE, Try, at_the_limit, found, good, next_share
from .budget import VERSION, Calibration, CalibrationSpread, CalibrationTry, read_calibration, write_calibration
from .context import Context
from .execute import execute
from .result import DONE

FOLDER = "calibration"
BASELINE = "mplayer -framedrop"
PARAMS = PlayerParams(framedrop="soft", threads=1, options=())
# The time of one play beyond that of the clip: the start of the stage, the start of rt-app, and dlex-qoe.
OVERHEAD_S = 12.0

Say = Callable[[str], None]


def calibrated_job(jobs: Sequence[Job]) -> Job | None:
    """Returns the first job that uses the calibrated budget; None if there is none."""
    return next((job for job in jobs if CALIBRATED in job.sched), None)


def calibrate(pattern: Job, context: Context, say: Say) -> float:
    """Returns the budget in ms for the clip, CPU and period of `pattern`.

    It does not repeat what an earlier call has found or tried.
    """
    period_ms = Policy.parse(pattern.sched).period_ms
    content = _begun(pattern, context, period_ms)
    with telling_full_disk(context.batch):
        while content.budget_ms is None:
            content = _go_on(content, pattern, context, say)
    return content.budget_ms


def _go_on(content: Calibration, pattern: Job, context: Context, say: Say) -> Calibration:
    """Makes one try, or concludes the search, and writes the result to disk."""
    tries = [Try(known.share, known.drops_fraction) for known in _counting(content)]
    share = next_share(tries)
    if share is None:
        content = _concluded(content, tries, say)
        write_calibration(context.batch, context.machine, content)
        return content
    number = len(content.tries) + 1
    # The path contains the machine, because another host may be calibrating in the same folder.
    require_room(context.batch)
    with _folder(context.batch / FOLDER / context.machine / f"try-{number}") as directory:
        known = _try(pattern, context, share, directory, number, say)
        known = known.model_copy(update={"counts": known.work_held is not False or _is_repetition(content)})
        content = content.model_copy(update={"tries": (*content.tries, known)})
        write_calibration(context.batch, context.machine, content)
    if not known.counts:
        works = " and ".join(f"{work_ms:.3g}" for work_ms in known.rtapp_work_ms.values() if work_ms is not None)
        say(f"    rt-app's jobs beside it took {works} ms, not 3 and 20: this try does not count and is repeated once")
    return content


def _counting(content: Calibration) -> list[CalibrationTry]:
    return [known for known in content.tries if known.counts]


def _is_repetition(content: Calibration) -> bool:
    """Returns whether the last try does not count, so that the current one repeats it.

    A repetition counts in any case: otherwise a machine that never holds the load would be tried for ever.
    """
    return bool(content.tries) and not content.tries[-1].counts


@contextlib.contextmanager
def _folder(directory: Path) -> Iterator[Path]:
    """Makes the folder of a try. Removes it after OSError or DiskFull, so that a try that is not kept takes no room."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    try:
        yield directory
    except (OSError, DiskFull):
        shutil.rmtree(directory, ignore_errors=True)
        raise


def _begun(pattern: Job, context: Context, period_ms: float) -> Calibration:
    known = read_calibration(context.batch, context.machine)
    if known is None:
        return Calibration(
            version=VERSION,
            machine=context.machine,
            clip=pattern.clip,
            sha256=_content_of(pattern),
            cpu=pattern.cpu,
            baseline=BASELINE,
            period_ms=period_ms,
            aim=AIM,
            tolerance=TOLERANCE,
            budget_ms=None,
            spread=None,
            tries=(),
        )
    refuse_other_content(known, pattern, context)
    compared = {"clip": (known.clip, pattern.clip), "cpu": (known.cpu, pattern.cpu)}
    if differing := [name for name, (before, now) in compared.items() if before != now]:
        raise LabError(
            f"{context.batch} was calibrated for another {' and '.join(differing)}; calibrate again (--again), or choose "
            "another folder"
        )
    return known


def _content_of(pattern: Job) -> str | None:
    """Returns the checksum of the file; None: it is a recipe's clip."""
    return checksum(Path(pattern.clip.file)) if pattern.clip.file else None


def refuse_other_content(known: Calibration, pattern: Job, context: Context) -> None:
    """Raises LabError if the file of the clip was replaced since the calibration began."""
    content = _content_of(pattern)
    if known.clip == pattern.clip and known.sha256 and content and known.sha256 != content:
        raise LabError(
            f"{pattern.clip.file} has another content than when {context.batch} was calibrated (its SHA-256 differs); calibrate "
            "again (--again), or choose another folder",
            EXIT_SETUP,
        )


def _try(pattern: Job, context: Context, share: float, directory: Path, number: int, say: Say) -> CalibrationTry:
    period_ms = Policy.parse(pattern.sched).period_ms
    policy = Policy("deadline", runtime_ms=round(share * period_ms, 6), period_ms=period_ms)
    job = pattern.but(
        id=f"{FOLDER}-try-{number}",
        section=FOLDER,
        workload="baseline",
        player="mplayer",
        player_params=PARAMS,
        sched=str(policy),
        load=JobLoad(kind="rtapp", sched="deadline"),
        observe="outside",
    )
    result = execute(job, directory, context)
    figures = result.figures
    if result.status != DONE or figures is None or figures.drops_fraction is None:
        require_room(context.batch)  # the job may have failed for lack of room
        raise LabError(f"the budget cannot be calibrated: {result.reason}")
    say(
        f"  try {number}: with {policy.runtime_ms:g} ms of {period_ms:g}, {BASELINE} drops {figures.dropped} of "
        f"{figures.frames} pictures ({figures.drops_fraction:.1%}; aim: {AIM:.1%})"
    )
    return CalibrationTry(
        share=share,
        budget_ms=policy.runtime_ms,
        frames=figures.frames,
        dropped=figures.dropped,
        drops_fraction=figures.drops_fraction,
        skew_ms_mean=figures.skew_ms_mean,
        skew_ms_sd=figures.skew_ms_sd,
        rtapp_work_ms={name: task.work_ms for name, task in (result.rtapp or {}).items()},
        work_held=result.load.work_held if result.load else None,
    )


def _concluded(content: Calibration, tries: Sequence[Try], say: Say) -> Calibration:
    share = found(tries)
    plays = [known.dropped for known in tries if known.share == share]
    budget_ms = round(share * content.period_ms, 6)
    spread = CalibrationSpread(
        plays=len(plays),
        drops_fraction_mean=statistics.fmean(plays),
        drops_fraction_sd=statistics.stdev(plays) if len(plays) > 1 else None,
        within_tolerance=good(tries, share),
        work_held=_held([it.work_held for it in _counting(content) if it.share == share]),
    )
    say(f"  budget: {budget_ms:g} ms of {content.period_ms:g}{_doubt(tries, share, plays)}")
    if spread.work_held is False:
        say("  rt-app's jobs did not take 3 and 20 ms, even in repeated tries: calibrate --again when nothing else runs")
    return content.model_copy(update={"budget_ms": budget_ms, "spread": spread})


def _held(works: Sequence[bool | None]) -> bool | None:
    """Returns whether rt-app's work was held in all plays for which this is known; None if it is known for none."""
    known = [it for it in works if it is not None]
    return all(known) if known else None


def _doubt(tries: Sequence[Try], share: float, plays: Sequence[float]) -> str:
    if good(tries, share):
        return ""
    if at_the_limit(tries, share):
        return (
            f"; this is all that rt-app leaves, and with it the baseline drops {statistics.fmean(plays):.1%}, not {AIM:.1%}: "
            "calibrate --again if the machine was busy, or choose a clip that is easier to decode"
        )
    return "; this is more than one percent from the aim, because the plays differ too much"
