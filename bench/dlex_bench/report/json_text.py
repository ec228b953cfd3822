# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes a report as JSON, which cannot express infinity. All JSON of `report` and `compare` is written here.

A figure without a bound (a ratio to a value that may be zero) becomes null, and the object that holds it gets
`"unbounded": true`. An unknown figure, for example after too few runs, is also null, but without that key.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def json_text(content: Any, *, indent: int | None = None) -> str:
    """Returns `content` as JSON, as short as possible if `indent` is None. NaN (an unknown figure) becomes null."""
    separators = (",", ":") if indent is None else None
    return json.dumps(_finite(content), indent=indent, separators=separators, allow_nan=False)


def _finite(content: Any) -> Any:
    if isinstance(content, Mapping):
        marked = {"unbounded": True} if any(map(_unbounded, content.values())) else {}
        return {key: _finite(value) for key, value in content.items()} | marked
    if isinstance(content, list | tuple):
        return [_finite(it) for it in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


def _unbounded(value: Any) -> bool:
    """True for an infinite number. Also true for a list with one, because a list has no place for the key."""
    if isinstance(value, list | tuple):
        return any(map(_unbounded, value))
    return isinstance(value, float) and math.isinf(value)
