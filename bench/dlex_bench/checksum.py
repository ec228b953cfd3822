# SPDX-License-Identifier: LGPL-2.1-or-later
"""Knows files by their content: a film may be replaced under the same name."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from stat import S_ISREG


def checksum(path: Path) -> str | None:
    """Returns the SHA-256 of a file, or None if it cannot be read, or is a pipe or a device. An unchanged file is read once."""
    try:
        facts = path.stat()
        # The times of the content can be set (cp -p); that of the last change of the inode cannot.
        return _checksum(path, facts.st_dev, facts.st_ino, facts.st_size, facts.st_ctime_ns) if S_ISREG(facts.st_mode) else None
    except OSError:
        return None


@functools.cache
def _checksum(path: Path, _device: int, _inode: int, _size: int, _changed_ns: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
