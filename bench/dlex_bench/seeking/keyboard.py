# SPDX-License-Identifier: LGPL-2.1-or-later
"""Presses keys on an X display, as a keyboard does (XTEST). The window below the pointer gets them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import time
from collections.abc import Iterator, Mapping

from ..errors import EXIT_SETUP, LabError

LIBRARIES = {"libX11.so.6": "libx11-6", "libXtst.so.6": "libxtst6"}


class Keyboard:
    """A connection to an X server. Press keys from one thread."""

    def __init__(self, x11: ctypes.CDLL, xtest: ctypes.CDLL, display: ctypes.c_void_p) -> None:
        self._x11, self._xtest, self._display = x11, xtest, display
        x11.XStringToKeysym.restype = ctypes.c_ulong

    def press(self, name: str) -> int:
        """Presses and releases a key (an X key symbol, such as Right). Returns when, in ns of CLOCK_MONOTONIC."""
        symbol = ctypes.c_ulong(self._x11.XStringToKeysym(name.encode()))
        code = self._x11.XKeysymToKeycode(self._display, symbol) & 0xFF
        now_ns = time.monotonic_ns()
        for is_press in (1, 0):
            self._xtest.XTestFakeKeyEvent(self._display, code, is_press, ctypes.c_ulong(0))
        self._x11.XFlush(self._display)
        return now_ns

    def put_pointer(self, x: int, y: int) -> None:
        """Moves the pointer, so that a window there has the keyboard."""
        self._xtest.XTestFakeMotionEvent(self._display, -1, x, y, ctypes.c_ulong(0))
        self._x11.XSync(self._display, 0)


@contextlib.contextmanager
def keyboard(environment: Mapping[str, str]) -> Iterator[Keyboard]:
    """Connects to the display that `environment` names (DISPLAY, XAUTHORITY) while the block runs."""
    x11, xtest = (_library(name) for name in LIBRARIES)
    x11.XOpenDisplay.restype = ctypes.c_void_p
    before = os.environ.get("XAUTHORITY")
    os.environ["XAUTHORITY"] = environment["XAUTHORITY"]  # Xlib reads it in our environment only
    try:
        display = ctypes.c_void_p(x11.XOpenDisplay(environment["DISPLAY"].encode()))
    finally:
        if before is None:
            del os.environ["XAUTHORITY"]
        else:
            os.environ["XAUTHORITY"] = before
    if not display:
        raise LabError(f"the display {environment['DISPLAY']} cannot be opened; try again")
    try:
        yield Keyboard(x11, xtest, display)
    finally:
        x11.XCloseDisplay(display)


def _library(name: str) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(name)
    except OSError as cause:
        raise LabError(f"{name} is not here; install {LIBRARIES[name]}", EXIT_SETUP) from cause
