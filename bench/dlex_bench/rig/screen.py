# SPDX-License-Identifier: LGPL-2.1-or-later
"""A screen in memory: Xvfb, whose frame buffer is a file (XWD) that the observer maps."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import struct
import subprocess
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..paths import require_installed
from ..processes import child
from .device import Device, wait_until_ready
from .folder import private_folder

FAMILY_WILD = 0xFFFF
COOKIE_NAME = b"MIT-MAGIC-COOKIE-1"


@dataclass(frozen=True)
class Display(Device):
    screen_file: Path
    size: tuple[int, int]


@contextlib.contextmanager
def display(size: tuple[int, int], cpus: Collection[int] | None, gl: bool = False) -> Iterator[Display]:
    """Runs a screen of `size` pixels while the block runs, with OpenGL if `gl`. Its server runs on `cpus`."""
    program = require_installed("Xvfb", "xvfb")
    with private_folder() as folder, (folder / "log").open("wb") as log_file:
        authority = folder / "authority"
        authority.write_bytes(_authority(secrets.token_bytes(16)))
        argv: list[str | Path] = [program, *_options(size, gl), "-auth", authority, "-fbdir", folder]
        # If we are killed, the server is asked to end, not killed: it has a socket to remove.
        with child(argv, cpus=cpus, stdout=subprocess.PIPE, stderr=log_file, orphaned=signal.SIGTERM) as server:
            number = _number(server, folder / "log")
            environment = {"DISPLAY": f":{number}", "XAUTHORITY": str(authority)}
            yield Display("Xvfb", server, folder / "log", environment, folder / "Xvfb_screen0", size)


def _options(size: tuple[int, int], gl: bool) -> list[str]:
    """Returns Xvfb's options: no pointer in the pictures, no screen saver, and no GL unless it is wanted.

    The driver of GL (Mesa's llvmpipe) starts threads in the players.
    """
    screen = ["-screen", "0", f"{size[0]}x{size[1]}x24", "-br", "-nocursor", "-s", "0"]
    return [*screen, "-noreset", "-nolisten", "tcp", "+extension" if gl else "-extension", "GLX", "-displayfd", "1"]


def _number(server: subprocess.Popen[bytes], log: Path) -> int:
    """Returns the display number. Xvfb takes the first free one, and reports it when clients may connect."""
    assert server.stdout is not None
    said_on = server.stdout.fileno()
    os.set_blocking(said_on, False)
    said = bytearray()

    def ready() -> bool:
        with contextlib.suppress(BlockingIOError):
            said.extend(os.read(said_on, 16))
        return said.endswith(b"\n")

    wait_until_ready("Xvfb", server, log, ready)
    return int(said)


def _authority(cookie: bytes) -> bytes:
    """Returns an entry in the .Xauthority format (Xau) that is valid for every host and display number."""
    fields = [b"", b"", COOKIE_NAME, cookie]
    return struct.pack(">H", FAMILY_WILD) + b"".join(struct.pack(">H", len(text)) + text for text in fields)
