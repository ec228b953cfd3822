# SPDX-License-Identifier: LGPL-2.1-or-later
"""Defines result.json: what became of a job, with the figures of its play.

A field without a comment on null is null where nothing is known, such as in a job that failed. Fields may also be absent:
results of older versions lack those that were added since.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ..agenda.job import Job
from ..errors import printable
from ..machine.quota import Throttled
from ..machine.steal import MUCH, Steal
from ..rig.load.rtapp_log import TaskStats
from ..rig.players.status_line import OwnView
from ..rig.players.threads import Thread
from ..schema import Amount, Count, MachineId, Part, Positive, Stored

VERSION: Literal[1] = 1
ORDINARY = "other"  # the ordinary policy
OWN = "own"  # the record of dlex-play itself, in a job's folder
DONE: Literal["done"] = "done"
FAILED: Literal["failed"] = "failed"
SKIPPED: Literal["skipped"] = "skipped"


# Whom a policy constrains. Results of older versions have "each of the player's threads" and "the player's main thread".
PLAYING_THREADS, WHOLE_PROCESS = "the player's threads that decode or present", "the whole process"
NOTHING = "nothing"  # under `free`


class AppliedPolicy(Stored):
    """The scheduling policy of a play, as text such as `deadline:8/40`."""

    asked: str | None = None  # by the agenda
    applied: str | None = None  # as the kernel reported it; where threads differ, such as `fifo:5 + fifo:4`
    constrains: str | None = None  # whom, in words
    throttled: Throttled | None = None  # null: the policy is not a quota


class Figures(Stored):
    """The figures of one view of a play. A-V > 0 means that the video is late."""

    frames: Count | None = None  # pictures of the part that was played
    frame_ms: Positive | None = None  # how long a picture should be on the screen
    shown: Count | None = None
    dropped: Count | None = None
    drops_fraction: Part | None = None
    skew_ms_mean: float | None = None  # A-V of the shown pictures; null: nobody knows the sound's time
    skew_ms_abs_mean: Amount | None = None
    skew_ms_sd: Amount | None = None
    skew_ms_end: float | None = None  # of the last shown picture
    lip_sync_accepted: Part | None = None  # parts of the time in grades of lip synchronisation, see dlex-qoe(1); they add up to 1
    lip_sync_irritating: Part | None = None  # absent from older versions
    lip_sync_distracting: Part | None = None
    lip_sync_itu_undetected: Part | None = None  # by BT.1359, which also add up to 1; absent from older versions
    lip_sync_itu_acceptable: Part | None = None  # absent from older versions
    lip_sync_itu_unacceptable: Part | None = None
    rmse_q16_sum: Amount | None = None  # error of the dropped and the degraded pictures, in ImageMagick's 16-bit units
    rmse_q16_median: Amount | None = None
    rmse_q16_p90: Amount | None = None
    longest_freeze_ms: Amount | None = None  # the longest time without a new picture
    violations_sliding: Count | None = None  # lost pictures beyond dlex-play's --window; null: the job has none
    violations_aligned: Count | None = None  # the same with windows as those of DWCS, see dlex-qoe(1)
    torn: Count | None = None  # pictures that were never whole on the screen; null: seen from inside
    av_source: str | None = None  # own, monitor, status: who knew the sound's time
    player_cpu_s: Amount | None = None
    cpu_ms_per_frame: Amount | None = None
    cpu_ms_per_frame_held: float | None = None  # in the threads that the policy holds
    cpu_ms_per_frame_outside: float | None = None  # in the player's other threads
    reserved: Amount | None = None  # part of a CPU that was reserved for the player; null: nothing was
    reserved_used: Amount | None = None  # part of a CPU that the threads with reservations used
    # Known only to the view from inside, and absent from the others:
    aborted: Count | None = None
    skipped: Count | None = None
    late: Count | None = None
    degraded: Count | None = None  # shown without the loop filter; absent from older versions
    drifted: Count | None = None  # shown, and they may refer to such pictures
    rmse_q16_degraded: Amount | None = None  # parts of rmse_q16_sum; null: not known
    rmse_q16_drifted: Amount | None = None
    aborted_cpu_s: Amount | None = None  # CPU time of decoding the aborted pictures


class QuotaChange(Stored):
    """A quota, and the time from which it was in force."""

    at_ns: Count  # CLOCK_MONOTONIC
    percent: Amount  # of one CPU


class LoadReport(Stored):
    """The load beside the player. A job that was not played repeats here what it asks for (agenda.job.JobLoad)."""

    cpu: Count | None = None  # the measured CPU; of a job that was not played: stress's tasks that compute
    kind: str | None = None
    sched: str | None = None  # the policy of rt-app's tasks
    ns_per_loop: Positive | None = None  # how long rt-app's loops take, as measured before
    work_held: bool | None = None  # whether rt-app's jobs took 0.5 to 1.02 of what the paper's take; null: not known
    work_part: Amount | None = None  # the smallest part that one task's jobs took of the paper's
    work_light: bool | None = None  # whether `work_part` is under 0.8
    vm: Count | None = None  # of a job that was not played: stress's tasks that use memory
    stress: Count | None = None  # stress's tasks that compute beside rt-app; null: none
    # What an ordinary load did. Null, or absent from older versions: not measured.
    unit: str | None = None  # what it does, such as `writes`
    alone_per_s: Amount | None = None  # how much of it, without a player
    beside_per_s: Amount | None = None  # while the player showed pictures
    # `beside_per_s` as a part of `alone_per_s`; of other films, the part that they showed of the pictures that were due.
    others: Amount | None = None
    late: Count | None = None  # its activations that were late while the player showed pictures; null: it has no deadlines
    dropped: Count | None = None  # pictures that other films dropped while the player showed pictures; null: there were none
    quotas: tuple[QuotaChange, ...] | None = None  # that the player's process had; null: none
    throttled: Throttled | None = None  # in how many periods it used up its quota


class Waiting(Stored):
    """How long the threads that decode or present ran and waited for a CPU, in sum, while pictures were shown."""

    run_s: Amount
    wait_s: Amount  # they could run, and other threads had the CPUs
    slices: Count  # how often they got a CPU
    wait_ms_per_frame: Amount | None = None


class Servers(Stored):
    """What the programs around a player spent for it, from its start to its end. Null: there was no such program."""

    screen_ms_per_frame: Amount | None = None  # CPU time of the X server
    sound_ms_per_frame: Amount | None = None  # and of PulseAudio
    laboratory: Amount | None = None  # part of one CPU that the laboratory itself used
    observer: Amount | None = None  # part of one CPU that the observer used
    observer_policy: str | None = None  # such as fifo:10; `other`: it was not protected from the load
    observer_late_us_p99: Amount | None = None  # how late it looked at the screen
    observer_late_us_worst: Amount | None = None


class WholeMachine(Stored):
    """What a play under `free` met on all CPUs, and what it made others spend."""

    cpus: Count
    steal: Part | None = None  # parts of the time of all CPUs, while pictures were shown; null: it was too short
    idle: Part | None = None
    waiting: Waiting | None = None  # null: the kernel does not say it
    servers: Servers = Servers()


class TunedReport(Stored):
    """What `dlex-sched tune` did. Shares are parts of one CPU, over the seconds in which something was reserved."""

    reserved: Amount | None = None  # the mean; null: nothing was ever reserved
    reserved_most: Amount | None = None
    used: Amount | None = None  # by the tuned threads
    throttled: Count = 0  # how often a budget ran out
    first_s: Amount | None = None  # from the start of the player to the first reservation
    limited_s: Count = 0  # seconds in which the threads needed more than may be reserved
    own_cpu_s: Amount = 0.0  # what tuning cost


class JobResult(Stored):
    """What became of a job."""

    version: Literal[1]
    job: Job
    machine: MachineId | None = None  # the id of machines/<id>.json
    commit: str | None = None
    started: str | None = None  # UTC, such as 2026-11-22T00:20:30.123Z
    wall_s: Amount | None = None
    status: Literal["done", "failed", "skipped"]
    reason: str | None = None  # why it is not done; null: it is
    policy: AppliedPolicy | None = None
    view: str | None = None  # outside, inside: whose figures are `figures`
    figures: Figures | None = None
    inside: Figures | None = None
    outside: Figures | None = None
    rtapp: dict[str, TaskStats] | None = None  # by the names of the tasks; null: another load
    load: LoadReport | None = None
    player_report: OwnView | None = Field(default=None, validation_alias="own_word", serialization_alias="own_word")
    threads: list[Thread] | None = None  # the player's, the main one first; also if one of them was not held
    steal: Steal | None = None
    whole_machine: WholeMachine | None = None  # null: not under `free`; absent from older versions
    tuned: TunedReport | None = None  # what dlex-sched did; null: it did not run
    # The SHA-256 of the film that was played, and of the one with which its pictures were compared, by name; absent from older
    # versions.
    films: dict[str, str] | None = None
    plays: Count | None = None  # how often the job was played; the result is that of the play with the least steal

    @property
    def constrains(self) -> str | None:
        return self.policy.constrains if self.policy else None

    @property
    def stolen(self) -> float:
        """Returns the part of the measured CPU that the host took while pictures were shown; 0 if that is not known.

        Under `free` it is the part of all CPUs.
        """
        return (self.steal and self.steal.measured) or 0.0

    @property
    def much_is_stolen(self) -> bool:
        return self.stolen > MUCH

    @property
    def observer_is_unprotected(self) -> bool:
        """Returns whether the observer had to share the CPUs with the load under the ordinary policy."""
        return bool(self.whole_machine and self.whole_machine.servers.observer_policy == ORDINARY)

    @property
    def is_tuned_in_vain(self) -> bool:
        """Returns whether dlex-sched ran and never reserved anything: the player played under its ordinary policy."""
        return self.tuned is not None and self.tuned.reserved is None

    @property
    def load_is_light(self) -> bool:
        """Returns whether rt-app's jobs took so much less than the paper's that a report has to mention it."""
        return bool(self.load and self.load.work_light)


def not_done(job: Job, status: Literal["failed", "skipped"], reason: str) -> JobResult:
    """Returns the result of a job of which nothing but the reason is known."""
    return JobResult(version=VERSION, job=job, status=status, reason=printable(reason))
