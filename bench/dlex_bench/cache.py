# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where made things are kept, the same place as the launcher's."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    named = os.environ.get("DLEX_CACHE")
    return Path(named) if named else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dlex"
