# SPDX-License-Identifier: LGPL-2.1-or-later
"""Packs the records of runs for the page, where a click on a run shows its record picture by picture.

A record of 812 pictures is about 100 kB of CSV, and about a tenth of that when packed. Times are stored as small
differences (from the picture's own time stamp, from the beginning of its decode) in units of 10 us, and deflated
together. Thousands of runs still would not fit into a page that opens at once. So there is a budget, which is spent
evenly over the settings.
"""

from __future__ import annotations

import base64
import csv
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..analysis.results_frame import Row, by_setting

# With this, plotly's 4.8 MB and the tables, the page stays well below 30 MB.
BUDGET_BYTES = 20_000_000
UNIT_NS = 10_000
# The player's own record, and the one made from the screen.
VIEWS = ("own", "seen")
LETTERS = {"shown": "s", "aborted": "a", "skipped": "k", "late": "l", "unseen": "u"}


@dataclass(frozen=True)
class Timelines:
    """`packed` has the packed records by run. `left_out` has the runs whose record came after the budget was spent."""

    packed: dict[str, str]
    left_out: set[str]


def pack_all(folder: Path, rows: Iterable[Row], budget_bytes: int = BUDGET_BYTES) -> Timelines:
    packed: dict[str, str] = {}
    left_out: set[str] = set()
    used = 0
    for one in _fair_order(rows):
        if used >= budget_bytes:
            if any((folder / one.id / view / "frames.csv").is_file() for view in VIEWS):
                left_out.add(one.id)
            continue
        text = pack(folder / one.id)
        if text is not None:
            packed[one.id] = text
            used += len(text)
    return Timelines(packed, left_out)


def _fair_order(rows: Iterable[Row]) -> Iterator[Row]:
    """Yields the first run of every setting, then the second of each, and so on. Failed runs may have a record too."""
    settings = list(by_setting(rows, done=False).values())
    for place in range(max((len(runs) for runs in settings), default=0)):
        yield from (runs[place] for runs in settings if place < len(runs))


def pack(run_dir: Path) -> str | None:
    """Returns the records of one run as base64 of deflated JSON, or None if no record can be read."""
    views = {view: found for view in VIEWS if (found := _columns(run_dir / view / "frames.csv"))}
    if not views:
        return None
    plain = json.dumps(views, separators=(",", ":")).encode()
    return base64.b64encode(zlib.compress(plain, 9)).decode()


def _columns(path: Path) -> dict[str, Any] | None:
    try:
        with path.open(newline="") as lines:
            frames = [_numbers(row) for row in csv.DictReader(lines) if row.get("verdict") in LETTERS]
    except (OSError, ValueError, KeyError, csv.Error):
        return None
    if not frames:
        return None
    first_pts = frames[0]["pts_ns"] or 0
    origin = _origin(frames)
    return {
        "pts": [_units(frame["pts_ns"], first_pts) for frame in frames],
        "verdict": "".join(LETTERS[frame["verdict"]] for frame in frames),
        "type": "".join((frame["type"] or "?")[0] for frame in frames),
        "droppable": "".join("1" if frame["droppable"] == 1 else "0" for frame in frames),
        # Relative to the picture's place in the clip: small if the run was on time.
        "start": [_units(_since(frame["decode_start_ns"], origin), frame["pts_ns"]) for frame in frames],
        "shown": [_units(_since(frame["shown_ns"], origin), frame["pts_ns"]) for frame in frames],
        # Relative to the beginning of the picture's decode.
        "end": [_units(frame["decode_end_ns"], frame["decode_start_ns"]) for frame in frames],
        "deadline": [_units(frame["deadline_ns"], frame["decode_start_ns"]) for frame in frames],
        "cpu": [_units(frame["decode_cpu_ns"], 0) for frame in frames],
        "skew": [_units(frame["skew_ns"], 0) for frame in frames],
    }


NUMBERS = (
    "pts_ns",
    "droppable",
    "decode_start_ns",
    "decode_end_ns",
    "decode_cpu_ns",
    "deadline_ns",
    "shown_ns",
    "skew_ns",
)


def _numbers(row: dict[str, str]) -> dict[str, Any]:
    """Reads a row's numbers. An observer leaves out, or leaves empty, the columns that cannot be known from outside."""
    numbers = {key: int(row[key]) if row.get(key) else None for key in NUMBERS}
    return {**numbers, "verdict": row["verdict"], "type": row.get("type")}


def _origin(frames: Sequence[dict[str, Any]]) -> int:
    """Returns the clock's time of the clip's time 0, assuming that the first picture seen was on time."""
    for frame in frames:
        for key in ("decode_start_ns", "shown_ns"):
            if frame[key] is not None and frame["pts_ns"] is not None:
                return int(frame[key] - frame["pts_ns"])
    return 0


def _since(time_ns: int | None, origin_ns: int) -> int | None:
    return None if time_ns is None else time_ns - origin_ns


def _units(time_ns: int | None, base_ns: int | None) -> int | None:
    return None if time_ns is None or base_ns is None else round((time_ns - base_ns) / UNIT_NS)
