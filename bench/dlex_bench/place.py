# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where this project is, whatever folder a command was called from."""

from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
