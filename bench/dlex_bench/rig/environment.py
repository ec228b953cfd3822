# SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds the environment of programs on the stage: nothing of the user's session, so that all machines play alike."""

from __future__ import annotations

import os
from pathlib import Path

# These say where programs, libraries and clips are, and how a sanitizer behaves. What desktops set is left out.
KEPT = ("PATH", "LD_LIBRARY_PATH", "TZ", "TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS")


def base_environment(home: Path) -> dict[str, str]:
    """Returns the basic environment, with an empty `home`.

    Players keep settings in their home, and these would change their behaviour.
    """
    kept = {name: value for name in KEPT if (value := os.environ.get(name)) is not None}
    # The status lines are parsed, so the decimal separator must be a point.
    return kept | {"HOME": str(home), "XDG_RUNTIME_DIR": str(home), "LC_ALL": "C.UTF-8"}
