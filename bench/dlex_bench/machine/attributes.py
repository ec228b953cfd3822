# SPDX-License-Identifier: LGPL-2.1-or-later
"""sched_setattr(2) and sched_getattr(2). Python has neither, and the C library has them only since glibc 2.41."""

from __future__ import annotations

import ctypes
import os
import platform

SCHED_FLAG_RESET_ON_FORK = 1
# Newer architectures share one table of system calls; these older ones have their own.
_SETATTR = {"x86_64": 314, "i386": 351, "i686": 351, "armv7l": 380, "armv6l": 380, "ppc64le": 355, "s390x": 345}
_GENERIC_SETATTR = 274

_libc = ctypes.CDLL(None, use_errno=True)


class Attributes(ctypes.Structure):
    """The first version of struct sched_attr."""

    _fields_ = [
        ("size", ctypes.c_uint32),
        ("policy", ctypes.c_uint32),
        ("flags", ctypes.c_uint64),
        ("nice", ctypes.c_int32),
        ("priority", ctypes.c_uint32),
        ("runtime_ns", ctypes.c_uint64),
        ("deadline_ns", ctypes.c_uint64),
        ("period_ns", ctypes.c_uint64),
    ]


def _call(offset: int, *arguments: object) -> None:
    number = _SETATTR.get(platform.machine(), _GENERIC_SETATTR) + offset
    if _libc.syscall(ctypes.c_long(number), *arguments) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def set_attributes(tid: int, attributes: Attributes) -> None:
    """Sets the attributes of a thread (0: the caller). Raises OSError with the kernel's errno."""
    attributes.size = ctypes.sizeof(Attributes)
    _call(0, ctypes.c_int(tid), ctypes.byref(attributes), ctypes.c_uint(0))


def attributes_of(tid: int) -> Attributes:
    """Returns the attributes of a thread (0: the caller). Raises OSError with the kernel's errno."""
    attributes = Attributes()
    size = ctypes.c_uint(ctypes.sizeof(attributes))
    _call(1, ctypes.c_int(tid), ctypes.byref(attributes), size, ctypes.c_uint(0))
    return attributes
