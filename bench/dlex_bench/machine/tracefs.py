# SPDX-License-Identifier: LGPL-2.1-or-later
"""Mounts tracefs where only this process sees it, and removes instances of the kernel's tracer that killed runs have left.

The mount has no place in the file system. It is reached through a file descriptor, and the kernel removes it with that, also when
the process is killed. An instance is not removed by the kernel.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import time
from collections.abc import Iterator
from pathlib import Path

# System calls of Linux 5.2, with the same numbers on all architectures.
SYS_FSOPEN, SYS_FSCONFIG, SYS_FSMOUNT = 430, 431, 432
FSOPEN_CLOEXEC, FSCONFIG_CMD_CREATE, FSMOUNT_CLOEXEC = 1, 6, 1
# How long the files of an instance may stay open after its owner was killed.
CLOSING_S = 5.0

_libc = ctypes.CDLL(None, use_errno=True)


@contextlib.contextmanager
def mounted_tracefs() -> Iterator[Path]:
    """Mounts tracefs for the block. Yields its root, a path that only this process can use. Raises OSError."""
    mount = _mount()
    try:
        yield Path(f"/proc/self/fd/{mount}")
    finally:
        os.close(mount)


def _mount() -> int:
    context = _call(SYS_FSOPEN, ctypes.c_char_p(b"tracefs"), FSOPEN_CLOEXEC)
    try:
        _call(SYS_FSCONFIG, context, FSCONFIG_CMD_CREATE, None, None, 0)
        return _call(SYS_FSMOUNT, context, FSMOUNT_CLOEXEC, 0)
    finally:
        os.close(context)


def _call(number: int, *arguments: object) -> int:
    result = int(_libc.syscall(number, *arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), "tracefs")
    return result


def remove_instance(name: str) -> None:
    """Removes an instance of the tracer, if it is there. Raises OSError if it is still used, or if tracefs cannot be mounted."""
    limit = time.monotonic() + CLOSING_S
    with mounted_tracefs() as root:
        while True:
            try:
                (root / "instances" / name).rmdir()
                return
            except FileNotFoundError:
                return
            except OSError as cause:
                if cause.errno != errno.EBUSY or time.monotonic() > limit:
                    raise
            time.sleep(0.01)
