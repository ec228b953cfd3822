# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds what a job means on this machine, before anything is started: CPUs, clip, and the policy with its budget."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..agenda.job import INSIDE, Job, rtapp_sched
from ..agenda.jobs import late_load_sentence
from ..checksum import checksum
from ..clips import ClipFacts, clip_facts, make_clip
from ..errors import EXIT_SETUP, JobUnsupported, LabError, NotInstalled
from ..machine.policy import Policy, allowed_kinds, is_granted, privilege_sentence
from ..paths import require_installed
from ..rig.load import audio, browsing, building, rtapp, stress
from ..rig.players.player import Adapter
from ..rig.players.playing import adapter_for
from .budget import calibrated_budget_ms
from .context import Context
from .demand import budget_for_demand_ms

DLEX_PLAY = "player/dlex-play"
# By the kind of the load: its programs and their Debian packages.
PROGRAMS_OF_LOADS = {
    "build": building.PACKAGES,
    "browser": browsing.PACKAGES,
    "rtapp": rtapp.PACKAGES,
    "stress": stress.PACKAGES,
}
# By the kind of the load: the policy that its programs get, or the player.
RIGHTS_OF_LOADS = {"audio": f"fifo:{audio.PRIORITY}", "quota": "quota"}
WINDOW = "--window="


@dataclass(frozen=True)
class Setting:
    job: Job
    directory: Path
    context: Context
    cpu: int
    driver_cpus: frozenset[int]
    clip: Path
    played: Path  # what the player gets in place of the clip: with the same pictures, as far as the job plays them
    unstamped: Path | None  # the clip that dlex-qoe compares, if the played one has stamps
    facts: ClipFacts
    policy: Policy
    adapter: Adapter

    @property
    def start_s(self) -> float:
        return self.job.clip.start_s

    @property
    def frames(self) -> int:
        return self.facts.frames_in(self.start_s, self.job.clip.length_s)

    @property
    def length_s(self) -> float:
        return self.frames * self.facts.frame_ns / 1e9

    @property
    def first_pts_ns(self) -> int:
        return self.facts.first_pts_ns + round(self.start_s * 1e9)

    @property
    def window(self) -> str | None:
        """Returns the window of losses that the job asks dlex-play to keep (`options: [--window=1/5]`); None: it does not.

        dlex-qoe counts the violations in the observer's record as well, which does not say what was asked for.
        """
        asked = [it.removeprefix(WINDOW) for it in self.job.player_params.options if it.startswith(WINDOW)]
        return asked[-1] if asked and self.adapter.name == "dlex-play" else None

    @property
    def on_stage(self) -> bool:
        return self.job.observe != INSIDE

    @property
    def load_kind(self) -> str:
        return self.job.load.kind

    @property
    def load_sched(self) -> str:
        return rtapp_sched(self.job.sched, self.job.load)

    @property
    def is_free(self) -> bool:
        return self.policy.is_free

    @property
    def counted_cpus(self) -> frozenset[int]:
        """Returns the CPUs whose idle and stolen time counts for the player."""
        return self.driver_cpus if self.is_free else frozenset({self.cpu})

    @property
    def load_cpus(self) -> frozenset[int] | None:
        """Returns where the load runs: on the measured CPU. None: on any CPU, because nothing is placed."""
        return None if self.is_free else frozenset({self.cpu})

    @property
    def device_cpus(self) -> frozenset[int] | None:
        """Returns where screen, sound server and observer run: on the CPUs that are not measured. None: on any CPU."""
        return None if self.is_free else self.driver_cpus

    @property
    def wants_domain(self) -> bool:
        if self.is_free:
            return False
        return self.policy.kind == "deadline" or (self.load_kind == "rtapp" and self.load_sched == "deadline")


def setting_of(job: Job, directory: Path, context: Context, cpu: int, driver_cpus: frozenset[int]) -> Setting:
    policy = Policy.parse(job.sched)
    adapter = adapter_for(job.player, context.program(DLEX_PLAY))
    if reason := adapter.applicable(job):
        raise JobUnsupported(reason)
    _require_allowed(job)
    _require_programs(job)
    clip, unstamped = _clips_of(job, context)
    if policy.calibrated:
        policy = policy.with_runtime(calibrated_budget_ms(context.batch, context.machine, policy.period_ms))
    elif policy.demand_percent:
        policy = policy.with_runtime(budget_for_demand_ms(job, policy, context.batch, context.machine, checksum(clip)))
    facts = clip_facts(clip)
    played = adapter.prepare(job, clip)
    setting = Setting(job, directory, context, cpu, driver_cpus, clip, played, unstamped, facts, policy, adapter)
    if not setting.frames:
        raise LabError(f"{clip} has no pictures from {setting.start_s:g} s on; choose another part", EXIT_SETUP)
    if job.load.after_s is not None and job.load.after_s >= setting.length_s:
        raise LabError(late_load_sentence(job.load.after_s, setting.length_s), EXIT_SETUP)
    return setting


def _clips_of(job: Job, context: Context) -> tuple[Path, Path | None]:
    """Returns the clip to play, and the same clip without stamps if that is a different file.

    Without an observer, stamps would only be in the way. With one, they must not count as differences between pictures.
    """
    if file := job.clip.file:
        return Path(file), None
    plain = job.clip.unstamped
    unstamped = make_clip(context.root, plain) if plain else None
    if unstamped and job.observe == INSIDE:
        return unstamped, None
    if not job.clip.recipe:
        raise LabError(f"{job.id} has no clip; its agenda has to name a recipe or a file", EXIT_SETUP)
    return make_clip(context.root, job.clip.recipe), unstamped


def _require_allowed(job: Job) -> None:
    wanted = {job.sched}
    if job.load.kind == "rtapp":
        wanted.add(rtapp_sched(job.sched, job.load))
    if right := RIGHTS_OF_LOADS.get(job.load.kind):
        wanted.add(right)
    kinds = allowed_kinds()
    missing = {kind for it in wanted if (kind := it.partition(":")[0]) not in kinds}
    missing = missing or {it for it in wanted if _has_limit(it) and not is_granted(Policy.parse(it))}
    if missing:
        raise JobUnsupported(f"no permission for {' and '.join(sorted(missing))} here: {privilege_sentence()}")


def _has_limit(sched: str) -> bool:
    """Returns whether a user may have the permission for some priorities of this kind only (RLIMIT_RTPRIO, RLIMIT_NICE)."""
    return sched.partition(":")[0] in ("fifo", "rr", "nice")


def _require_programs(job: Job) -> None:
    programs = {**PROGRAMS_OF_LOADS.get(job.load.kind, {}), **(stress.PACKAGES if job.load.stress else {})}
    for program, package in programs.items():
        try:
            require_installed(program, package)
        except NotInstalled as cause:
            raise JobUnsupported(f"the load {job.load.kind} is not possible: {cause}") from cause
