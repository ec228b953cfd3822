# SPDX-License-Identifier: LGPL-2.1-or-later
"""Records the changes to the machine's settings, so that they can be undone, even after kill -9.

Each step is written to the journal before it is taken. A process keeps its journal locked as long as it lives. If a journal can be
locked, its owner is gone, and `repair` undoes it. It is harmless to undo a step twice, or one that was never taken.
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
from .tracefs import remove_instance

# Like the settings themselves, this folder survives every process but not a restart of the machine.
FOLDER = Path("/run/dlex-bench")
# How long the processes of a group may take to end, once they have been killed.
EMPTYING_S = 20.0
# How long a lock may outlive its owner, and how long somebody may look at a journal.
PASSING_S = 5.0

Step = dict[str, Any]


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Holds back the ending signals until the machine and the journal agree."""
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
        """Empties the journal and undoes its old steps first: an owner that was just killed may have left some here."""
        self._undo_steps()
        os.ftruncate(self.descriptor, 0)
        self._note({"owner": os.getpid()})

    def _note(self, step: Step) -> None:
        os.write(self.descriptor, (json.dumps(step) + "\n").encode())
        os.fsync(self.descriptor)

    def make_folder(self, path: Path) -> None:
        """Records and makes a control group."""
        self._note({"folder": str(path)})
        path.mkdir()

    def make_instance(self, path: Path) -> None:
        """Records and makes an instance of the kernel's tracer. Its path is not recorded: it ends with our mount."""
        self._note({"instance": path.name})
        path.mkdir()

    def set_value(self, path: Path, value: str) -> None:
        before = path.read_text().strip()
        if before != value:
            self._note({"file": str(path), "before": before, "value": value})
            path.write_text(value)

    def enable_controller(self, path: Path, controller: str) -> None:
        """Records and enables a controller in the cgroup.subtree_control at `path`, if it is not enabled there."""
        if controller not in path.read_text().split():
            self._note({"subtree_control": str(path), "controller": controller})
            path.write_text(f"+{controller}")

    def settle(self, seconds: float) -> None:
        """Records a pause: it delays the rest of the undo."""
        self._note({"settle": seconds})

    def undo(self) -> None:
        """Undoes the steps, the last one first, and removes the journal.

        If a step cannot be undone, raises LabError, and the journal stays for the next attempt.
        """
        self._undo_steps()
        self.path.unlink(missing_ok=True)

    def _undo_steps(self) -> None:
        for step in reversed(self._steps()):
            try:
                _undo(step)
            except OSError as cause:
                raise LabError(
                    f"{cause.filename} could not be restored ({cause.strerror}); run `dlex-bench repair` as root",
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
    elif "instance" in step:
        remove_instance(step["instance"])
    elif "controller" in step:
        with contextlib.suppress(FileNotFoundError):
            _ignoring_busy(Path(step["subtree_control"]), f"-{step['controller']}")
    else:
        path = Path(step["file"])
        # If somebody else has set another value since, that value stays.
        with contextlib.suppress(FileNotFoundError):
            if path.read_text().strip() == step["value"]:
                path.write_text(step["before"])


def _ignoring_busy(path: Path, text: str) -> None:
    """Writes `text` and ignores EBUSY: others may use the controller by now."""
    try:
        path.write_text(text)
    except OSError as cause:
        if cause.errno != errno.EBUSY:
            raise


def _remove_group(group: Path) -> None:
    """Removes a control group, and with it its quota or CPUs. Members that are still alive are moved to the group above."""
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
        # The member has ended already, or is just ending.
        with contextlib.suppress(OSError):
            (group.parent / members).write_text(member)


def _member_list(group: Path) -> str:
    """Returns the name of the file that lists the group's members: threads where that is allowed, else processes.

    Version 2 lets single threads leave only a threaded group, and such a group lists no processes.
    """
    try:
        return "cgroup.threads" if (group / "cgroup.type").read_text().strip() == "threaded" else "cgroup.procs"
    except FileNotFoundError:
        return "tasks"


def _locked(path: Path, flags: int = os.O_RDWR | os.O_CREAT | os.O_APPEND) -> int | None:
    """Locks the file and returns its descriptor; None: its owner lives.

    Tries again if the previous owner has removed the file in the meantime.
    """
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
    """Does the same as _locked, but tries for up to PASSING_S if the file is locked.

    The holder may be somebody's `repair`, or a child of a killed owner that is about to end too.
    """
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
    """Yields a journal for the block and undoes it at the end. `taken` is the error if somebody else holds it."""
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
    """Undoes what killed processes have left, and returns the names of their journals. Harmless if there is nothing."""
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
    """Locks the journal and returns its descriptor if its process has ended; else None."""
    try:
        return _locked(path) if _owner_lives(path) else _locked_soon(path)
    except PermissionError:
        descriptor = _locked(path, os.O_RDONLY)
    if descriptor is not None:
        os.close(descriptor)
        raise LabError(f"a killed run left {path}; run `dlex-bench repair` as root", EXIT_SETUP)
    return None
