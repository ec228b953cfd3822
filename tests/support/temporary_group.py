# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes control groups for tests."""
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path


def make_group(root: Path, what: str, set_up: Callable[[Path], object]) -> Path:
    """Makes a control group in `root` and sets up its limits of `what`. Skips the test where that is not possible."""
    try:
        group = Path(tempfile.mkdtemp(prefix=f"dlex-test-{what}-", dir=root))
    except OSError as cause:
        raise unittest.SkipTest(f"no control group can be made here: {cause}") from cause
    try:
        set_up(group)
    except OSError as cause:
        group.rmdir()
        raise unittest.SkipTest(f"control groups have no {what} here: {cause}") from cause
    return group
