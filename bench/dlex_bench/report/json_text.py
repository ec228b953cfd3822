# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a report says as JSON, which has no word for infinity. Every JSON of `report` and `compare` is written here.

A figure without a bound (a ratio to what may as well be nothing) becomes null, and the object that holds it says
`"unbounded": true`: the null of a figure that nobody knows, as with too few runs, stands without that word.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def json_text(content: Any, *, indent: int | None = None) -> str:
    """Without indent as short as can be. What is not a number at all (NaN) is not known: null."""
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
    """Also in a list, which has no place to say so."""
    if isinstance(value, list | tuple):
        return any(map(_unbounded, value))
    return isinstance(value, float) and math.isinf(value)
