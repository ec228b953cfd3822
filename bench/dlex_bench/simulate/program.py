# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs dlex-bench-sim, and dlex-qoe where the trace is missing that it needs."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from ..errors import EXIT_SETUP, EXIT_UNFIT, LabError
from ..paths import require_program
from ..schema import Amount, Count, Positive, Stored, field_error

TRACE = "trace.csv"


class SimulatedFilm(Stored):
    pictures: Count
    droppable: Count
    droppable_cpu_part: float | None = None  # of the CPU time of decoding everything; absent from older versions
    frame_ms: Positive  # how long a picture should be on the screen
    decode_ms_mean: Amount  # CPU time, with its scale
    demand: Amount  # of decoding and presenting everything, as a part of the supply


class LowerBound(Stored):
    """No schedule loses less."""

    drops: Count
    rmse_q16_sum: Amount


class SimulatedRun(Stored):
    """The figures of one run. Null: no picture has such a figure, or the clairvoyant has none. A-V > 0: the video is late."""

    seed: Count
    dropped: Count
    aborted: Count
    skipped: Count
    late: Count
    violations_sliding: Count | None = None  # lost pictures beyond --window; null: no window was asked for
    violations_aligned: Count | None = None
    degraded: Count = 0  # shown without the loop filter
    drifted: Count = 0  # shown, and they may refer to such pictures
    rmse_q16_sum: Amount  # of the dropped pictures, and of these
    skew_ms_mean: float | None  # of the shown pictures
    skew_ms_sd: float | None
    skew_ms_abs_mean: float | None
    skew_ms_p99: float | None
    longest_freeze_ms: Amount | None  # the longest time without a new picture
    cost_mape: float | None  # error of the costs that the policy expected: mean of |expected - real| / real
    cost_r2: float | None
    wasted_of_droppable: float | None  # CPU time of droppable pictures that were dropped after all, of what all would cost
    at_least: LowerBound | None


class Simulation(Stored):
    format: Literal[1]
    film: SimulatedFilm
    runs: list[SimulatedRun]


def find_trace(root: Path, run: Path, unstamped: Path | None) -> Path:
    """Returns the decode trace of a record. Makes it in the record's folder if it is missing there or older than the record.

    Each film without stamps has a trace of its own.
    """
    if run.is_file():
        return run
    record = run if (run / "run.json").exists() else run / "own"  # as in a job of the laboratory
    if not (record / "run.json").exists():
        raise LabError(f"{run} holds no record (no run.json); record a run with `dlex-play --drop=none --record={run}`")
    trace = record / _trace_name(unstamped)
    if _is_newer(trace, record / "frames.csv"):
        return trace
    argv: list[str | Path] = [require_program(root / "build/release/qoe/dlex-qoe"), record, f"--trace={trace}"]
    _run([*argv, *([f"--unstamped={unstamped}"] if unstamped else [])])
    return trace


def _trace_name(unstamped: Path | None) -> str:
    """Returns another name for each film without stamps, because the errors in the trace are those of its pictures."""
    if not unstamped:
        return TRACE
    try:
        facts = unstamped.stat()
    except OSError as cause:
        raise LabError(f"{unstamped} cannot be read ({cause.strerror}); name the film with --unstamped", EXIT_SETUP) from cause
    text = f"{unstamped.resolve()} {facts.st_size} {facts.st_mtime_ns}"
    return f"trace-{hashlib.sha256(text.encode()).hexdigest()[:12]}.csv"


def _is_newer(trace: Path, frames: Path) -> bool:
    try:
        return trace.stat().st_mtime >= frames.stat().st_mtime
    except OSError:
        return False  # dlex-qoe says what is missing


def simulated(root: Path, trace: Path, options: Sequence[str]) -> Simulation:
    text = _run([require_program(root / "build/release/bench/sim/dlex-bench-sim"), trace, *options])
    try:
        return Simulation.model_validate_json(text, strict=True)
    except ValidationError as cause:
        raise LabError(f"dlex-bench-sim: {field_error(cause)}; does it belong to this build?", EXIT_UNFIT) from cause


def _run(argv: Sequence[str | Path]) -> str:
    """Returns what the program prints. Its errors already have the form of a LabError, but for its name in front."""
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return done.stdout
    words = (done.stderr.strip().splitlines() or [f"it ended with status {done.returncode}"])[0]
    name = Path(argv[0]).name
    raise LabError(f"{name}: {words.removeprefix(f'{name}: ')}", EXIT_SETUP if done.returncode == EXIT_SETUP else EXIT_UNFIT)

