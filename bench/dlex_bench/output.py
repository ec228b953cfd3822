# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reports that standard output could not be written (disk full, a pipe without a reader) as one sentence."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .errors import EXIT_SETUP, LabError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class _StandardOutput(io.FileIO):
    """Standard output that remembers its first error and drops what cannot be written."""

    failure: OSError | None = None

    def write(self, data: ReadableBuffer, /) -> int | None:  # type: ignore[override]
        try:
            return super().write(data)
        except OSError as cause:
            self.failure = self.failure or cause
            return memoryview(data).nbytes


@contextlib.contextmanager
def checked_output() -> Iterator[None]:
    """Raises LabError at the end of the block if anything printed in it could not be written.

    The block is not interrupted: what a command measures goes to files, and may take hours. Another error, or a signal, is
    raised in place of this one.
    """
    before = sys.stdout
    if before is None:  # closed by the caller (>&-): Python prints nothing
        yield
        return
    before.flush()
    raw = _StandardOutput(before.fileno(), "w", closefd=False)
    by_line = bool(before.line_buffering)
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(raw), before.encoding, before.errors, line_buffering=by_line)
    try:
        yield
        _check(raw)
    except SystemExit:  # --help
        _check(raw)
        raise
    finally:
        sys.stdout.flush()
        sys.stdout = before


def _check(raw: _StandardOutput) -> None:
    sys.stdout.flush()
    if raw.failure:
        raise LabError(f"cannot write to standard output: {raw.failure.strerror}", EXIT_SETUP) from raw.failure
