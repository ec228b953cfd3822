# SPDX-License-Identifier: LGPL-2.1-or-later
"""Records of runs, packed for the page: what a click on a run shows, picture by picture.

A record of 812 pictures is some 100 kB of CSV; packed it is about a tenth. Times are kept as small differences (from
the picture's own time stamp, from the beginning of its decode) in units of 10 us, and deflated together. Thousands of
runs still would not fit into a page that opens at once, so there is a budget, spent evenly over the settings.
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

# With plotly's 4.8 MB and the tables the page stays well below 30 MB.
BUDGET_BYTES = 20_000_000
UNIT_NS = 10_000
# The player's own record, and the one made from the screen.
VIEWS = ("own", "seen")
LETTERS = {"shown": "s", "aborted": "a", "skipped": "k", "late": "l", "unseen": "u"}


@dataclass(frozen=True)
class Timelines:
    """`packed`: by run. `left_out`: runs that have a record for which the budget was spent."""

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
    """Every setting's first run, then every setting's second one, and so on; what failed may have a record too."""
    settings = list(by_setting(rows, done=False).values())
    for place in range(max((len(runs) for runs in settings), default=0)):
        yield from (runs[place] for runs in settings if place < len(runs))


def pack(run_dir: Path) -> str | None:
    """The records of one run as base64 of deflated JSON; None where there is none that can be read."""
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
        # From the picture's place in the clip: when the run was on time, these are small.
        "start": [_units(_since(frame["decode_start_ns"], origin), frame["pts_ns"]) for frame in frames],
        "shown": [_units(_since(frame["shown_ns"], origin), frame["pts_ns"]) for frame in frames],
        # From the beginning of its decode.
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
    """An observer leaves the columns empty, or out, that nobody can know from outside."""
    numbers = {key: int(row[key]) if row.get(key) else None for key in NUMBERS}
    return {**numbers, "verdict": row["verdict"], "type": row.get("type")}


def _origin(frames: Sequence[dict[str, Any]]) -> int:
    """The clock's time at which the clip's time 0 would have been, had the first picture seen been on time."""
    for frame in frames:
        for key in ("decode_start_ns", "shown_ns"):
            if frame[key] is not None and frame["pts_ns"] is not None:
                return int(frame[key] - frame["pts_ns"])
    return 0


def _since(time_ns: int | None, origin_ns: int) -> int | None:
    return None if time_ns is None else time_ns - origin_ns


def _units(time_ns: int | None, base_ns: int | None) -> int | None:
    return None if time_ns is None or base_ns is None else round((time_ns - base_ns) / UNIT_NS)
