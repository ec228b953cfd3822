# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures the run-queue delays of scheduled processes: how long their main threads wait from a wake-up until they get the CPU."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from dlex_bench.errors import LabError
from dlex_bench.machine.run_delay import DelayReader, Delays, delays_of
from dlex_bench.machine.switch_recording import SwitchRecording, passed_switches, recorded_now_us


@dataclass(frozen=True)
class FoundDelays:
    of: Mapping[int, Delays | None]  # by process id; None: it never woke up
    lost_records: int  # of the kernel: lost, or never made (run_delay.py)


class DelayWatch:
    """Follows the main threads of processes while they are recorded."""

    def __init__(self) -> None:
        self.recording: SwitchRecording | None = None
        self.missing: str | None = None  # why nothing is recorded, and what would help
        self.reader = DelayReader()
        self._members: frozenset[int] = frozenset()
        self._until_us = 0

    def look(self, living: Collection[int]) -> None:
        """Reads what was recorded since the last call. The first call begins to record the main threads of these processes."""
        if not self.recording:
            return
        if not self._members and not living:  # without a thread, the tracer would record all threads of the machine
            self._give_up("all processes ended within the first second")
            return
        try:
            if not self._members:
                self.recording.begin(lambda: living)
                self._members = frozenset(living)
            self.recording.drain()
        except LabError as cause:
            self._give_up(str(cause))
        except OSError as cause:
            self._give_up(f"the kernel's tracer failed ({cause.strerror})")
        self._until_us = recorded_now_us()

    def _give_up(self, reason: str) -> None:
        self.recording, self.missing = None, reason

    def found(self) -> FoundDelays | None:
        """Returns the delays until the last look; None if there is no recording."""
        if not self.recording:
            return None
        waits = self.reader.waits_until(self._until_us)
        of = {member: delays_of([it for it in waits if it.thread == member]) for member in self._members}
        return FoundDelays(of, self.recording.lost() + sum(self.reader.queue.unseen[it] for it in self._members))


@contextlib.contextmanager
def watched_delays(is_wanted: bool) -> Iterator[DelayWatch]:
    """Yields a watch for the block, which records if that is wanted and the kernel lets us."""
    watch = DelayWatch()
    with contextlib.ExitStack() as stack:
        if is_wanted:
            try:
                watch.recording = stack.enter_context(passed_switches(watch.reader.write))
            except LabError as refusal:
                watch.missing = str(refusal)
        yield watch
