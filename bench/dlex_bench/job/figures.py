# SPDX-License-Identifier: LGPL-2.1-or-later
"""A run record, dlex-qoe's summary of it and the player's CPU time, as the figures of a result.

The statistics are dlex-qoe's, for every player alike; nothing is computed a second way.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..record import DROPPED, end_skew_ms, read_frames

REASONS = ("aborted", "skipped", "late")
ERRORS = ("rmse_q16_sum", "rmse_q16_median", "rmse_q16_p90")


def figures_of(
    record: Path, summary: Mapping[str, Any], cpu_s: float | None, av_source: str, torn: int | None = None
) -> dict[str, Any]:
    """A-V > 0: the video is late. Skew is that of the pictures shown, RMSE that of those dropped."""
    frames = read_frames(record)
    shown = [frame for frame in frames if frame.verdict == "shown"]
    dropped = sum(frame.verdict in DROPPED for frame in frames)
    known = any(frame.skew_ns is not None for frame in shown)
    mean_ms = summary["skew_ms_mean"] if known else None
    return {
        "frames": len(frames),
        "shown": len(shown),
        "dropped": dropped,
        "drops_fraction": dropped / len(frames),
        "skew_ms_mean": mean_ms,
        "skew_ms_abs_mean": None if mean_ms is None else abs(mean_ms),
        "skew_ms_sd": summary["skew_ms_sd"] if known else None,
        "skew_ms_end": end_skew_ms(frames) if known else None,
        **{key: summary[key] for key in ERRORS},
        "torn": torn,
        "av_source": av_source if known else None,
        "player_cpu_s": cpu_s,
        "cpu_ms_per_frame": None if cpu_s is None else 1e3 * cpu_s / len(frames),
    }


def with_reasons(figures: dict[str, Any], record: Path) -> dict[str, Any]:
    """The view from inside also knows why a picture was dropped."""
    verdicts = [frame.verdict for frame in read_frames(record)]
    return figures | {reason: verdicts.count(reason) for reason in REASONS}


def shown_window_us(record: Path) -> tuple[float, float]:
    """From the first picture shown to the last, CLOCK_MONOTONIC: the time in which the load counts."""
    shown = [frame.shown_ns / 1e3 for frame in read_frames(record) if frame.shown_ns is not None]
    return min(shown), max(shown)
