# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads the recipes of media/, which describe clips that need not be made yet."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import EXIT_SETUP, LabError

Recipe = dict[str, Any]
# Stands in a recipe for the filter that numbers the pictures (media/stamps.py).
STAMPS = "{stamps}"


@cache
def read_recipes(root: Path) -> dict[str, Recipe]:
    path = root / "media/recipes.toml"
    try:
        return tomllib.loads(path.read_text())
    except (OSError, ValueError) as cause:
        raise LabError(f"{path} cannot be read ({cause}); run the command in the project's folder", EXIT_SETUP) from cause


def is_stamped(recipe: Recipe) -> bool:
    return STAMPS in recipe.get("output", "")


def difference_of(recipe: Recipe, other: Recipe) -> str | None:
    """Returns the difference because of which the pictures of two clips cannot be compared one by one.

    None: no such difference is known.
    """
    one, two = recipe.get("expect", {}), other.get("expect", {})
    if None not in (sizes := (one.get("size"), two.get("size"))) and sizes[0] != sizes[1]:
        return "size"
    if None not in (counts := (one.get("frames"), two.get("frames"))) and not _may_be_equal(*counts):
        return "number of pictures"
    return None


def _may_be_equal(one: Any, other: Any) -> bool:
    """Returns whether two values may be equal. Each is a number, or the least and the greatest that it may be."""
    (least, most), (others_least, others_most) = (it if isinstance(it, list) else (it, it) for it in (one, other))
    return bool(least <= others_most and others_least <= most)
