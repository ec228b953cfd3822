# SPDX-License-Identifier: LGPL-2.1-or-later
"""Changes a graph of processes while it runs, through the project's library libdlex-pman (sched/pman.h)."""

from __future__ import annotations

import ctypes
import functools
import os
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from ..errors import EXIT_SETUP, LabError
from ..paths import PROJECT

NS_PER_MS = 1_000_000
PERIOD, DELAY, DEADLINE = 1, 4, 8  # of enum pman_fields


@dataclass(frozen=True)
class Attributes:
    """What can be changed of a process. Its phase stays as it is."""

    period: int  # ticks
    delay_ms: float
    deadline_ms: float
    priority: int
    after: frozenset[str]


class _Timing(ctypes.Structure):
    """As struct pman_timing."""

    _fields_ = [(name, ctypes.c_int64) for name in ("period", "phase", "delay_ns", "deadline_ns")]


class _Statistics(ctypes.Structure):
    """As struct pman_statistics."""

    _fields_ = [
        *((name, ctypes.c_int32) for name in ("status", "pid", "priority")),
        *((name, ctypes.c_int64) for name in ("activations", "misses", "skips", "last_start_ns", "last_finish_ns")),
        ("has_waited", ctypes.c_int32),
    ]


@functools.cache
def _calls() -> ctypes.CDLL:
    """Returns the loaded library. Tests name that of their build in the environment. Raises LabError if it is not there."""
    path = Path(os.environ.get("DLEX_PMAN_LIBRARY") or PROJECT / "build/release/sched/pman/libdlex-pman.so")
    try:
        return ctypes.CDLL(str(path))
    except OSError as cause:
        raise LabError(f"{path} cannot be loaded ({cause}); build it with `./dlex build`", EXIT_SETUP) from cause


def _check(result: int) -> None:
    if result < 0:
        raise OSError(-result, os.strerror(-result))


class LiveTable:
    """Access to the table of a graph that runs. The functions raise OSError with the errno of pman.h."""

    def __init__(self, name: str) -> None:
        self._pman = ctypes.c_void_p()
        _check(_calls().pman_open(ctypes.byref(self._pman), name.encode()))

    def __enter__(self) -> LiveTable:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.leave()

    def leave(self) -> None:
        _calls().pman_leave(ctypes.byref(self._pman))

    def activations(self, process: str) -> int:
        return int(self._query(process).activations)

    def has_waited(self, process: str) -> bool:
        """Returns whether a process has been attached and was ready for an instance."""
        return bool(self._query(process).has_waited)

    def _query(self, process: str) -> _Statistics:
        found = _Statistics()
        _check(_calls().pman_query(self._pman, process.encode(), ctypes.byref(found)))
        return found

    def change(self, process: str, now: Attributes, wanted: Attributes) -> None:
        """Changes what differs between `now` and `wanted`: a call for each precedence, one for all times, one for the priority."""
        name = process.encode()
        for predecessor in wanted.after - now.after:
            _check(_calls().pman_prec_add(self._pman, name, predecessor.encode()))
        for predecessor in now.after - wanted.after:
            _check(_calls().pman_prec_rem(self._pman, name, predecessor.encode()))
        timing = _Timing(wanted.period, 0, int(wanted.delay_ms * NS_PER_MS), int(wanted.deadline_ms * NS_PER_MS))
        pairs = ((PERIOD, "period"), (DELAY, "delay_ms"), (DEADLINE, "deadline_ms"))
        fields = sum(field for field, key in pairs if getattr(now, key) != getattr(wanted, key))
        if fields:
            _check(_calls().pman_tpupd(self._pman, name, fields, ctypes.byref(timing)))
        if now.priority != wanted.priority:
            _check(_calls().pman_qosupd(self._pman, name, wanted.priority))
