# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sets and reads the policies of threads through the project's library libdlex-sched (sched/thread_policy.h)."""

from __future__ import annotations

import ctypes
import functools
import os
from pathlib import Path

from ..errors import EXIT_SETUP, LabError
from ..paths import PROJECT

TEXT_SIZE = 64  # THREAD_POLICY_TEXT_SIZE


@functools.cache
def sched_calls() -> ctypes.CDLL:
    """Returns the loaded library. Tests name that of their build in the environment.

    Raises LabError if it is not there. A process that gives up its rights calls this first, because afterwards it may
    not be able to read the file.
    """
    path = Path(os.environ.get("DLEX_SCHED_LIBRARY") or PROJECT / "build/release/sched/libdlex-sched.so")
    try:
        return ctypes.CDLL(str(path))
    except OSError as cause:
        raise LabError(f"{path} cannot be loaded ({cause}); build it with `./dlex build`", EXIT_SETUP) from cause


def set_policy(tid: int, text: str) -> None:
    """Puts a thread (0: the caller) under `other`, `fifo:5`, `rr:5` or `deadline:15/40`.

    Raises OSError with the kernel's errno, or with EINVAL if the text is not a policy.
    """
    policy = _policy()
    _check(sched_calls().thread_policy_parse(policy, text.encode()))
    _check(sched_calls().thread_policy_set(tid, policy))


def policy_text(tid: int) -> str:
    """Returns the policy of a thread (0: the caller) in the same form. Raises OSError with the kernel's errno."""
    policy, text = _policy(), ctypes.create_string_buffer(TEXT_SIZE)
    _check(sched_calls().thread_policy_get(tid, policy))
    sched_calls().thread_policy_text(policy, text)
    return text.value.decode()


def _policy() -> ctypes.Array[ctypes.c_char]:
    """Returns the memory of a struct thread_policy. The library alone knows what is in it."""
    return ctypes.create_string_buffer(ctypes.c_size_t.in_dll(sched_calls(), "thread_policy_size").value)


def _check(result: int) -> None:
    if result < 0:
        raise OSError(-result, os.strerror(-result))
