# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the figures of a result from a run record, dlex-qoe's summary of it and the player's CPU time.

The statistics come from dlex-qoe, for every player; nothing is computed in a second way.
"""

from __future__ import annotations

from pathlib import Path

from ..errors import LabError
from ..machine.policy import Policy
from ..qoe import QoeSummary
from ..record import DROPPED, Frame, end_skew_ms, frame_duration_s, read_frames, read_run
from ..rig.players.status_line import OwnView
from .result import Figures, TunedReport

REASONS = ("aborted", "skipped", "late")
DEGRADED = ("degraded", "drifted", "rmse_q16_degraded", "rmse_q16_drifted")


def figures_of(record: Path, summary: QoeSummary, cpu_s: float | None, av_source: str) -> Figures:
    """Returns the figures of a run. A-V > 0 means that the video is late.

    The skew is that of the shown pictures, the RMSE that of the dropped ones; its sum has that of degraded ones as well. A torn
    picture was never whole on the screen, or only after more than half its time; only an observer can see that.
    """
    frames = read_frames(record)
    shown = [frame for frame in frames if frame.verdict == "shown"]
    dropped = sum(frame.verdict in DROPPED for frame in frames)
    known = any(frame.skew_ns is not None for frame in shown)
    mean_ms = summary.skew_ms_mean if known else None
    observer = read_run(record).observer
    return Figures(
        frames=len(frames),
        frame_ms=_frame_ms(frames),
        shown=len(shown),
        dropped=dropped,
        drops_fraction=dropped / len(frames),
        skew_ms_mean=mean_ms,
        skew_ms_abs_mean=None if mean_ms is None else abs(mean_ms),
        skew_ms_sd=summary.skew_ms_sd if known else None,
        skew_ms_end=end_skew_ms(frames) if known else None,
        lip_sync_accepted=summary.lip_sync_accepted,
        lip_sync_irritating=summary.lip_sync_irritating,
        lip_sync_distracting=summary.lip_sync_distracting,
        lip_sync_itu_undetected=summary.lip_sync_itu_undetected,
        lip_sync_itu_acceptable=summary.lip_sync_itu_acceptable,
        lip_sync_itu_unacceptable=summary.lip_sync_itu_unacceptable,
        rmse_q16_sum=summary.rmse_q16_sum,
        rmse_q16_median=summary.rmse_q16_median,
        rmse_q16_p90=summary.rmse_q16_p90,
        longest_freeze_ms=summary.longest_freeze_ms,
        violations_sliding=summary.violations_sliding,
        violations_aligned=summary.violations_aligned,
        torn=observer.screen.pictures_torn if observer else None,
        av_source=av_source if known else None,
        player_cpu_s=cpu_s,
        cpu_ms_per_frame=None if cpu_s is None else 1e3 * cpu_s / len(frames),
    )


def _frame_ms(frames: list[Frame]) -> float | None:
    """Returns how long a picture should be on the screen; None if that is unknown, as with a single picture."""
    try:
        return 1e3 * frame_duration_s(frames)
    except LabError:
        return None


def with_outside(figures: Figures, outside_cpu_s: float | None) -> Figures:
    """Returns the figures with the CPU time per picture of the threads that the policy held, and of the others."""
    total_ms, outside_ms = figures.cpu_ms_per_frame, None
    if total_ms is not None and outside_cpu_s is not None and figures.frames:
        outside_ms = 1e3 * outside_cpu_s / figures.frames
    held_ms = None if total_ms is None or outside_ms is None else total_ms - outside_ms
    return figures.model_copy(update={"cpu_ms_per_frame_held": held_ms, "cpu_ms_per_frame_outside": outside_ms})


def with_reserved(figures: Figures, policy: Policy, tuned: TunedReport | None) -> Figures:
    """Returns the figures with the part of a CPU that was reserved for the player, and the part of a CPU that it used of this.

    Of a fixed reservation, all CPU time of the threads that it holds counts as used. Other policies reserve nothing.
    """
    if tuned:
        return figures.model_copy(update={"reserved": tuned.reserved, "reserved_used": tuned.used})
    held_ms, frame_ms = figures.cpu_ms_per_frame_held, figures.frame_ms
    if policy.kind != "deadline" or held_ms is None or frame_ms is None:
        return figures
    return figures.model_copy(update={"reserved": policy.utilisation, "reserved_used": max(0.0, held_ms) / frame_ms})


def with_reasons(figures: Figures, record: Path, summary: QoeSummary) -> Figures:
    """Returns the figures with what the view from inside also knows.

    It adds the reasons for which pictures were dropped, what decoding the aborted ones cost, and which pictures were shown
    without their loop filter: nobody knows that from outside.
    """
    frames = read_frames(record)
    verdicts = [frame.verdict for frame in frames]
    aborted_cpu_s = sum(frame.decode_cpu_ns for frame in frames if frame.verdict == "aborted") / 1e9
    counts = {reason: verdicts.count(reason) for reason in REASONS}
    degraded = {key: getattr(summary, key) for key in DEGRADED}
    return figures.model_copy(update={**counts, **degraded, "aborted_cpu_s": aborted_cpu_s})


def with_player_report(figures: Figures, report: OwnView) -> Figures:
    """Returns the figures with A-V from the player's own status line, for a play whose sound could not be heard.

    `av_source` says where A-V comes from.
    """
    mean_ms = report.skew_ms_mean
    return figures.model_copy(
        update={
            "skew_ms_mean": mean_ms,
            "skew_ms_abs_mean": None if mean_ms is None else abs(mean_ms),
            "skew_ms_sd": report.skew_ms_sd,
            "av_source": None if mean_ms is None else report.av_source,
        }
    )


def shown_window_us(record: Path) -> tuple[float, float]:
    """Returns the times of the first and the last shown picture, in CLOCK_MONOTONIC: the load counts between them."""
    shown = [frame.shown_ns / 1e3 for frame in read_frames(record) if frame.shown_ns is not None]
    return min(shown), max(shown)
