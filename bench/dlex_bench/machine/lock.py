# SPDX-License-Identifier: LGPL-2.1-or-later
"""One measurement at a time on a CPU, whoever starts it and wherever they keep their cache.

A name in the kernel's abstract socket space: every user reaches it, no file stays behind, and it goes with its process.
"""

from __future__ import annotations

import contextlib
import socket
import struct
from collections.abc import Iterator

from ..errors import EXIT_SETUP, DemoError


def _name(cpu: int) -> str:
    return f"\0dlex-bench-cpu{cpu}"


def _holder(cpu: int) -> str:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        try:
            asking.connect(_name(cpu))
            facts = asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        except OSError:
            return "another process"
    pid, _uid, _gid = struct.unpack("3i", facts)
    return f"process {pid}" if pid else "a process elsewhere"


@contextlib.contextmanager
def only_user_of(cpu: int) -> Iterator[None]:
    """Two measurements on one CPU would measure each other."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as held:
        try:
            held.bind(_name(cpu))
        except OSError as cause:
            raise DemoError(
                f"CPU {cpu} is being measured by {_holder(cpu)}; wait until that has ended (--wait), or choose another "
                "by `config: cpu`",
                EXIT_SETUP,
            ) from cause
        held.listen()
        yield
