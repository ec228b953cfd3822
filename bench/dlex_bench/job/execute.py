# SPDX-License-Identifier: LGPL-2.1-or-later
"""Executes one job, from its description to the content of its result.json.

When `execute` returns or raises, everything that it started has ended and the machine is as before. It writes only into
the job's folder, except for the batch's calibrations.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from ..agenda.job import Job
from ..disk_space import no_space_left
from ..errors import JobUnsupported, LabError, printable
from ..machine.domain import Domain, own_cpu
from ..machine.policy import Policy
from ..machine.steal import steal_between
from ..processes import aside, choose_cpus, wait_for
from ..qoe import QoeSummary, comparing, limit_s, read_summary
from ..record import read_run
from ..rig.guest import guest
from ..rig.stage import stage
from .companions import Companion, companion
from .context import Context
from .figures import figures_of, shown_window_us, with_outside, with_player_report, with_reasons, with_reserved
from .films import films_of, refuse_other_films
from .holding import NotHeld
from .loops import loops_of, verified
from .observer import SEEN, observing
from .playing import Played, play
from .result import DONE, FAILED, OWN, SKIPPED, VERSION, AppliedPolicy, Figures, JobResult, LoadReport, WholeMachine
from .setting import Setting, setting_of
from .whole_machine import Account, whole_machine

QOE = "qoe/dlex-qoe"
NS_PER_US = 1000


def execute(job: Job, directory: Path, context: Context) -> JobResult:
    """Returns the result of `job`: done, failed or skipped. Its raw records are in `directory`, which must exist.

    Raises only what concerns the whole batch: a signal, or a full disk.
    """
    begun, started = time.monotonic(), datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    try:
        cpu, driver_cpus = _cpus_of(job)
        with aside(driver_cpus):
            result = _perform(setting_of(job, directory, context, cpu, driver_cpus))
    except JobUnsupported as cause:
        result = _blank(job, context, SKIPPED, str(cause))
    except NotHeld as cause:
        result = _blank(job, context, FAILED, str(cause)).model_copy(update={"threads": cause.threads})
    except LabError as cause:
        result = _blank(job, context, FAILED, str(cause))
    except OSError as cause:
        if no_space_left(cause):  # the callers report which disk is full
            raise
        reason = f"{cause.filename or directory}: {cause.strerror or cause}; correct this, then retry the job"
        result = _blank(job, context, FAILED, reason)
    return result.model_copy(update={"started": started, "wall_s": round(time.monotonic() - begun, 3)})


def _cpus_of(job: Job) -> tuple[int, frozenset[int]]:
    """Returns the measured CPU and those for everything else. Where nothing is placed, everything may run on all CPUs."""
    if Policy.parse(job.sched).is_free:
        return choose_cpus()[0], frozenset(os.sched_getaffinity(0))
    return choose_cpus(job.cpu)


def _blank(job: Job, context: Context, status: Literal["failed", "skipped"], reason: str) -> JobResult:
    """Returns the result of a job that has no figures. It has the same fields as a finished one."""
    return JobResult(
        version=VERSION,
        job=job,
        machine=context.machine,
        commit=context.commit,
        status=status,
        reason=printable(reason),
        policy=AppliedPolicy(asked=job.sched, applied=None, constrains=None, throttled=None),
        view=None,
        figures=None,
        inside=None,
        outside=None,
        rtapp=None,
        load=LoadReport(**job.load.to_json()),
        player_report=None,
        threads=None,
        steal=None,
        whole_machine=None,
        tuned=None,
        films=None,
    )


@dataclass(frozen=True)
class Scene:
    """Holds what surrounds the player, while all of it is alive."""

    environment: Mapping[str, str]
    domain: Domain | None
    load: Companion
    account: Account
    watch: Callable[[], None]


def _perform(setting: Setting) -> JobResult:
    films = films_of(setting)
    refuse_other_films(films, setting.context.films, setting.context.batch)
    with _scene(setting) as scene:
        scene.account.open()
        played = play(setting, scene.environment, scene.domain, scene.watch, scene.load.enter_player)
        scene.account.close()
        scene.watch()
    inside, outside = _views(setting, played)
    window_us = _window(setting)
    begin_ns, end_ns = window_ns = (window_us[0] * NS_PER_US, window_us[1] * NS_PER_US)
    load, stats = scene.load.report(window_us), scene.load.task_stats(window_us)
    return JobResult(
        version=VERSION,
        job=setting.job,
        machine=setting.context.machine,
        commit=setting.context.commit,
        status=DONE,
        reason=None,
        policy=AppliedPolicy(
            asked=setting.job.sched, applied=played.applied, constrains=played.constrains, throttled=played.throttled
        ),
        view="outside" if outside else "inside",
        figures=outside or inside,
        inside=inside,
        outside=outside,
        rtapp=stats,
        load=verified(setting, load, stats) if stats else load,
        player_report=played.player_report,
        threads=played.threads,
        steal=steal_between(played.steal, begin_ns, end_ns),
        whole_machine=_whole_machine(setting, scene.account, played, window_ns) if setting.is_free else None,
        tuned=played.tuned,
        films=films,
    )


@contextmanager
def _scene(setting: Setting) -> Iterator[Scene]:
    """Builds the scene from the machine up to the load, and ends it in reverse: no reservation outlives its domain."""
    watches: list[Callable[[], None]] = [setting.context.tick]

    def watch() -> None:
        for each in watches:
            each()

    # Measured before there is a domain, because rt-app would have to be a member of it.
    loops = loops_of(setting) if setting.load_kind == "rtapp" else None
    with ExitStack() as stack:
        domain = stack.enter_context(own_cpu(setting.cpu, setting.policy.longest_period_ms)) if setting.wants_domain else None
        environment: Mapping[str, str] = os.environ
        account = Account(None)
        if setting.on_stage:
            user = guest() if setting.adapter.refuses_root else None
            size = setting.facts.width, setting.facts.height
            devices = stack.enter_context(stage(size, setting.device_cpus, user, setting.job.gl))
            # The devices are checked first: when one dies, that explains why the observer or the player died.
            environment, account = devices.environment, Account(devices)
            watches += [devices.require_alive, stack.enter_context(observing(setting, devices))]
        load = stack.enter_context(companion(setting, loops, domain.enter if domain else None))
        watches.append(load.watch)
        yield Scene(environment, domain, load, account, watch)


def _whole_machine(setting: Setting, account: Account, played: Played, window_ns: tuple[float, float]) -> WholeMachine:
    observer = read_run(setting.directory / SEEN).observer if setting.on_stage else None
    servers = account.servers(setting.frames, observer)
    return whole_machine(played.steal, played.playing, window_ns, setting.frames, servers)


def _window(setting: Setting) -> tuple[float, float]:
    seen = setting.directory / SEEN
    return shown_window_us(seen if setting.on_stage else setting.directory / OWN)


def _views(setting: Setting, played: Played) -> tuple[Figures | None, Figures | None]:
    """Returns the figures from inside and those from outside. None: there is no such view."""
    inside = outside = None
    own, seen = setting.directory / OWN, setting.directory / SEEN
    if own.exists():
        summary = _summary(setting, own)
        figures = with_outside(figures_of(own, summary, played.cpu_s, "own"), played.outside_cpu_s)
        inside = with_reasons(with_reserved(figures, setting.policy, played.tuned), own, summary)
    if setting.on_stage:
        figures = figures_of(seen, _summary(setting, seen), played.cpu_s, "monitor")
        outside = with_reserved(with_outside(figures, played.outside_cpu_s), setting.policy, played.tuned)
        if played.player_report and outside.skew_ms_mean is None:
            outside = with_player_report(outside, played.player_report)
    return inside, outside


def _summary(setting: Setting, record: Path) -> QoeSummary:
    out = setting.directory / f"qoe-{record.name}.json"
    everywhere = setting.driver_cpus | {setting.cpu}
    options = [f"--unstamped={setting.unstamped}"] if setting.unstamped else []
    if setting.window:
        options.append(f"--window={setting.window}")
    with comparing(setting.context.program(QOE), record, out, everywhere, options) as process:
        wait_for(process, limit_s(setting.length_s), setting.context.tick, "dlex-qoe")
    return read_summary(out, process.returncode)
