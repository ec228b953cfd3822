# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where this project is, whatever folder a command was called from; tests name a folder with programs of their own."""

import os
from pathlib import Path

PROJECT = Path(os.environ.get("DLEX_BENCH_ROOT") or Path(__file__).resolve().parents[2])
