# SPDX-License-Identifier: LGPL-2.1-or-later
"""Suggests the word that was most likely meant."""

from __future__ import annotations

import difflib
from collections.abc import Sequence


def nearest(word: str, known: Sequence[str]) -> str:
    """Returns a suggestion as the end of a sentence; empty if no known word is near."""
    close = difflib.get_close_matches(word, [other for other in known if other != word], 1)
    return f"; did you mean {close[0]}?" if close else ""
