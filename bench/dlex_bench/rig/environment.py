# SPDX-License-Identifier: LGPL-2.1-or-later
"""What programs on the stage inherit: nothing of the user's session, so that all machines play alike."""

from __future__ import annotations

import os
from pathlib import Path

# Where programs and libraries are found, how a sanitizer behaves, where clips are; not what desktops set.
KEPT = ("PATH", "LD_LIBRARY_PATH", "TZ", "TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS")


def base_environment(home: Path) -> dict[str, str]:
    """Players keep settings at home and change behaviour by them: they get an empty one."""
    kept = {name: value for name in KEPT if (value := os.environ.get(name)) is not None}
    # The status lines are parsed: a decimal point is a point.
    return kept | {"HOME": str(home), "XDG_RUNTIME_DIR": str(home), "LC_ALL": "C.UTF-8"}
