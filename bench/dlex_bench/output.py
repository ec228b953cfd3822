# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reports that results or standard output cannot be written (disk full, a pipe without a reader) as one sentence."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from .disk_space import no_space_left, require_room
from .errors import EXIT_SETUP, LabError, os_error_text

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


def output_folder(path: Path) -> Path:
    """Makes the folder for results, if there is none, and returns it. Raises LabError if files cannot be written there.

    A command calls it before it measures, so that the results are not lost at the end.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            require_room(path)
    except OSError as cause:
        raise LabError(f"{path} cannot be written ({cause.strerror}); choose another by --out=", EXIT_SETUP) from cause
    return path


def output_file(path: Path, inputs: Iterable[Path] = ()) -> Path:
    """Makes the folder of a file for results, if there is none, and returns the path. The file is left as it is.

    A command calls it before it measures. Raises LabError if the file cannot be written, or if it is one of the inputs.
    """
    refuse_overwriting([path], inputs)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        with tempfile.TemporaryFile(dir=path.parent):  # files are written beside it and moved
            require_room(path.parent)
    except OSError as cause:
        raise LabError(f"{path} cannot be written ({cause.strerror}); name another file with --out", EXIT_SETUP) from cause
    return path


def refuse_overwriting(outputs: Iterable[Path], inputs: Iterable[Path]) -> None:
    """Raises LabError if an output is one of the inputs, by device and inode."""
    read = [path for path in inputs if path.exists()]
    for output in outputs:
        for path in read:
            if output.exists() and output.samefile(path):
                reason = f"{output} is the same file as {path}, which is read and would be overwritten"
                raise LabError(f"{reason}; name another with --out", EXIT_SETUP)


@contextlib.contextmanager
def checked_files(folder: Path) -> Iterator[None]:
    """Raises LabError in place of an OSError of the block, which writes results into `folder`."""
    try:
        yield
    except OSError as cause:
        what = os_error_text(cause)
        advice = f"make room on the disk of {folder}" if no_space_left(cause) else "repair that"
        raise LabError(
            f"the results cannot be made or written ({what}); {advice}, or choose another folder by --out=", EXIT_SETUP
        ) from cause


class _StandardOutput(io.FileIO):
    """Standard output that remembers its first error and drops what cannot be written."""

    failure: OSError | None = None

    def write(self, data: ReadableBuffer, /) -> int | None:  # type: ignore[override]
        try:
            return super().write(data)
        except OSError as cause:
            self.failure = self.failure or cause
            return memoryview(data).nbytes


def _reserve(number: int, flags: int) -> None:
    """Opens /dev/null under this number, if it is closed, so that no other file gets it. Children inherit it."""
    try:
        os.fstat(number)
    except OSError:
        file = os.open(os.devnull, flags)
        if file != number:
            os.dup2(file, number)
            os.close(file)
        os.set_inheritable(number, True)


def _open_closed_streams() -> None:
    """Opens the standard streams that the caller has closed (>&-), as C programs do: whatever is written there fails (EBADF).

    Without a standard error, Python would print its messages to standard output.
    """
    _reserve(0, os.O_WRONLY)
    _reserve(1, os.O_RDONLY)
    _reserve(2, os.O_WRONLY)
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), "utf-8", write_through=True)
    if sys.stderr is None:
        sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), "utf-8", write_through=True)


@contextlib.contextmanager
def checked_output() -> Iterator[None]:
    """Raises LabError at the end of the block if anything printed in it could not be written.

    The block is not interrupted: what a command measures goes to files, and may take hours. Another error, or a signal, is
    raised in place of this one.
    """
    _open_closed_streams()
    before = sys.stdout
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
