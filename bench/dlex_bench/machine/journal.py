# SPDX-License-Identifier: LGPL-2.1-or-later
"""What was changed on the machine, and how it becomes again what it was, even after kill -9.

Each step is on disk before it is taken. The journal is locked by its process for as long as that lives: one that can be
locked has lost its owner, and `repair` undoes it. Undoing twice does no harm, nor does undoing what was never done.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import EXIT_SETUP, LabError
from ..processes import ENDING_SIGNALS

# Like the settings themselves it survives every process and no restart of the machine.
FOLDER = Path("/run/dlex-bench")
# Of the processes of a group, once they have been killed.
EMPTYING_S = 5.0
# How long a lock may outlive its owner, and a look at a journal may take.
PASSING_S = 2.0

Step = dict[str, Any]


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """An ending signal waits until the machine and the journal agree."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Journal:
    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self.descriptor = descriptor

    def begin(self) -> None:
        """Anew. An owner that was killed in the last moment may have left steps here."""
        self._undo_steps()
        os.ftruncate(self.descriptor, 0)
        self._note({"owner": os.getpid()})

    def _note(self, step: Step) -> None:
        os.write(self.descriptor, (json.dumps(step) + "\n").encode())
        os.fsync(self.descriptor)

    def make_folder(self, path: Path) -> None:
        """A control group."""
        self._note({"folder": str(path)})
        path.mkdir()

    def set_value(self, path: Path, value: str) -> None:
        before = path.read_text().strip()
        if before != value:
            self._note({"file": str(path), "before": before, "value": value})
            path.write_text(value)

    def enable_controller(self, path: Path, controller: str) -> None:
        """In a cgroup.subtree_control."""
        if controller not in path.read_text().split():
            self._note({"subtree_control": str(path), "controller": controller})
            path.write_text(f"+{controller}")

    def settle(self, seconds: float) -> None:
        """For as long nothing more is undone."""
        self._note({"settle": seconds})

    def undo(self) -> None:
        """Backwards. What cannot be undone is said, and the journal stays for the next attempt."""
        self._undo_steps()
        self.path.unlink(missing_ok=True)

    def _undo_steps(self) -> None:
        for step in reversed(self._steps()):
            try:
                _undo(step)
            except OSError as cause:
                raise LabError(
                    f"{cause.filename} could not be set back ({cause.strerror}); run `dlex-bench repair` as root",
                    EXIT_SETUP,
                ) from cause

    def _steps(self) -> list[Step]:
        steps = []
        for line in self.path.read_text().splitlines():
            with contextlib.suppress(json.JSONDecodeError):  # a torn last line: its step was not taken
                steps.append(json.loads(line))
        return [step for step in steps if "owner" not in step]

    def close(self) -> None:
        os.close(self.descriptor)


def _undo(step: Step) -> None:
    if "settle" in step:
        time.sleep(step["settle"])
    elif "folder" in step:
        _remove_group(Path(step["folder"]))
    elif "controller" in step:
        with contextlib.suppress(FileNotFoundError):
            _ignoring_busy(Path(step["subtree_control"]), f"-{step['controller']}")
    else:
        path = Path(step["file"])
        # Where somebody else has set another value since, theirs stays.
        with contextlib.suppress(FileNotFoundError):
            if path.read_text().strip() == step["value"]:
                path.write_text(step["before"])


def _ignoring_busy(path: Path, text: str) -> None:
    """Others may have come to use the controller."""
    try:
        path.write_text(text)
    except OSError as cause:
        if cause.errno != errno.EBUSY:
            raise


def _remove_group(group: Path) -> None:
    """Its processes are ended by now or just about to be; the rest go to the group above."""
    limit = time.monotonic() + EMPTYING_S
    while True:
        try:
            group.rmdir()
            return
        except FileNotFoundError:
            return
        except OSError as cause:
            if cause.errno != errno.EBUSY or time.monotonic() > limit:
                raise
        _empty(group)
        time.sleep(0.01)


def _empty(group: Path) -> None:
    members = _member_list(group)
    if not (group / members).exists():
        return
    for member in (group / members).read_text().split():
        # Over already, or in the middle of its end.
        with contextlib.suppress(OSError):
            (group.parent / members).write_text(member)


def _member_list(group: Path) -> str:
    """Thread by thread where that is allowed: version 2 lets single threads out of a threaded group only, and lists no
    processes there."""
    try:
        return "cgroup.threads" if (group / "cgroup.type").read_text().strip() == "threaded" else "cgroup.procs"
    except FileNotFoundError:
        return "tasks"


def _locked(path: Path, flags: int = os.O_RDWR | os.O_CREAT | os.O_APPEND) -> int | None:
    """The file's descriptor, locked; None: its owner lives. The owner of a moment ago may have removed it meanwhile."""
    while True:
        descriptor = os.open(path, flags | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.exists(path) and os.path.samestat(os.fstat(descriptor), os.stat(path)):
                return descriptor
        except BlockingIOError:
            os.close(descriptor)
            return None
        except FileNotFoundError:
            pass
        os.close(descriptor)


def _locked_soon(path: Path) -> int | None:
    """The lock may be held by somebody's `repair` just now, or by a child of a killed owner that is about to follow it."""
    limit = time.monotonic() + PASSING_S
    while (descriptor := _locked(path)) is None and time.monotonic() < limit:
        time.sleep(0.01)
    return descriptor


def _owner_lives(path: Path) -> bool:
    with contextlib.suppress(OSError, ValueError, LookupError):
        owner = int(json.loads(path.read_text().splitlines()[0])["owner"])
        return Path(f"/proc/{owner}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    return False


@contextlib.contextmanager
def journal(name: str, taken: str) -> Iterator[Journal]:
    """A journal for the block, undone at its end. `taken` is the sentence for when somebody else holds it."""
    repair()
    with uninterrupted():
        try:
            FOLDER.mkdir(mode=0o755, parents=True, exist_ok=True)
            descriptor = _locked_soon(FOLDER / f"{name}.journal")
        except OSError as cause:
            raise LabError(f"{FOLDER} cannot be written ({cause.strerror}); run it as root", EXIT_SETUP) from cause
    if descriptor is None:
        raise LabError(taken, EXIT_SETUP)
    kept = Journal(FOLDER / f"{name}.journal", descriptor)
    try:
        with uninterrupted():
            kept.begin()
        yield kept
    finally:
        with uninterrupted():
            try:
                kept.undo()
            finally:
                kept.close()


def repair() -> list[str]:
    """Undoes what processes that were killed have left; the names of their journals. Harmless when there is nothing."""
    mended = []
    for path in sorted(FOLDER.glob("*.journal"), reverse=True):  # quotas before the domain that they may lie in
        with uninterrupted():
            descriptor = _orphaned(path)
            if descriptor is None:
                continue
            left = Journal(path, descriptor)
            try:
                left.undo()
            finally:
                left.close()
        mended.append(path.stem)
    return mended


def _orphaned(path: Path) -> int | None:
    """The journal of a process that is no more, locked."""
    try:
        return _locked(path) if _owner_lives(path) else _locked_soon(path)
    except PermissionError:
        descriptor = _locked(path, os.O_RDONLY)
    if descriptor is not None:
        os.close(descriptor)
        raise LabError(f"a run that was killed left {path}; run `dlex-bench repair` as root", EXIT_SETUP)
    return None
