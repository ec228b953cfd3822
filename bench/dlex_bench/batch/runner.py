# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the jobs of an agenda, one at a time. Jobs that are already over are not repeated."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from ..agenda.job import Job
from ..agenda.jobs import Extent
from ..disk_space import DiskFull, telling_full_disk
from ..errors import EXIT_SETUP, Interrupted, LabError
from ..job.budget import calibrated_budget_is_known, forget_calibration, read_calibration
from ..job.calibrate import calibrate, calibrated_job, refuse_other_content
from ..job.context import Context
from ..job.films import films_of_results, refuse_replaced_files
from ..job.loops import LIGHT
from ..job.measure_demand import jobs_without_demand, measure_film
from ..job.result import DONE, FAILED, JobResult
from ..machine.facts import commit, machine_facts, machine_id, program_facts, programs_changed
from ..machine.journal import repair
from ..machine.lock import only_measurement
from ..machine.policy import Policy
from ..machine.steal import MUCH
from ..processes import choose_cpus
from ..progress import Teller, tell
from .batch_file import VERSION, BatchFile, MachineFile, StoredAgenda
from .expected import Expectation
from .one import result_line, run_one
from .plan import Plan, read_plan, total_sentence
from .results import Store

# This many failures in a row for the same reason most likely come from the set-up.
ALIKE = 3


@dataclass(frozen=True)
class Options:
    root: Path  # the folder of the project
    agenda: Path
    out: Path
    extent: Extent
    retry_failed: bool = False
    mixed: bool = False


def run(options: Options, wait: bool, console: Console) -> None:
    store = Store(options.out)
    plan = _named(read_plan(options.agenda, options.extent, store.settings()), options)

    def say(text: str) -> None:
        tell(console, text)

    with store.opened(), _measuring(plan.wanted, wait, say), telling_full_disk(store.out):
        batch = _Batch(store, plan, options, console)  # refuses results that cannot be read before anything changes
        context = prepare(store, plan, options, say)
        try:
            _calibrate_for(batch.to_do, plan, context, say)
            _measure_demands(batch.to_do, context, say)
            batch.run(context)
        finally:
            keep_rtapp_calibration(store, context)
    batch.conclude()


def run_job(options: Options, job_id: str, wait: bool, console: Console) -> None:
    """Runs one job, as a command of its own. A failed job is tried again; a job that is done or was skipped is over."""
    store = Store(options.out)
    # The plan was made before, maybe on another machine. If a clip is missing here, the job fails and keeps the reason.
    plan = _named(read_plan(options.agenda, options.extent, store.settings() or frozenset()), options)
    job = plan.job(job_id)

    def say(text: str) -> None:
        tell(console, text)

    with store.opened(shared=True), _measuring([job], wait, say), telling_full_disk(store.out):
        store.refuse_changed([job])
        result = store.result(job.id)
        if not result or result.status == FAILED:
            context = prepare(store, plan, options, say)
            _calibrate_for([job], plan, context, say)
            _measure_demands([job], context, say)
            result = run_one(store, job, context)
            keep_rtapp_calibration(store, context)
    tell(console, f"{job.id}: {result_line(result)}")
    if result.status == FAILED:
        raise LabError(f"{job.id} {result_line(result)}")


def calibrate_batch(options: Options, again: bool, wait: bool, console: Console) -> None:
    """Only calibrates the budget, before the first job or again later."""
    store = Store(options.out)
    plan = _named(read_plan(options.agenda, options.extent, store.settings()), options)
    pattern = calibrated_job(plan.jobs)
    if pattern is None:
        raise LabError(f"{options.agenda} has no calibrated budget; write sched: deadline:calibrated/40", EXIT_SETUP)

    def say(text: str) -> None:
        tell(console, text)

    with store.opened(), _measuring([pattern], wait, say), telling_full_disk(store.out):
        context = prepare(store, plan, options, say)
        if again:
            forget_calibration(store.out, context.machine)
        budget_ms = calibrate(pattern, context, say)
    tell(console, f"calibrated budget: {budget_ms:g} ms; it is stored in {store.out}")


def _named(plan: Plan, options: Options) -> Plan:
    return plan.on(machine_id(machine_facts())) if options.mixed else plan


def _calibrate_for(jobs: Sequence[Job], plan: Plan, context: Context, say: Callable[[str], None]) -> None:
    """Calibrates the budget if one of `jobs` needs it and it is not known yet.

    The clip is that of the first such job in the plan, even if `jobs` begins with another one. If calibration is not
    possible, the jobs that need it report that, and the others go on.
    """
    pattern = calibrated_job(plan.jobs)
    if pattern is None or calibrated_job(jobs) is None:
        return
    if known := read_calibration(context.batch, context.machine):
        refuse_other_content(known, pattern, context)
    if calibrated_budget_is_known(context.batch, context.machine):
        return
    say("calibrating the budget, because some jobs need it:")
    try:
        calibrate(pattern, context, say)
    except DiskFull:
        raise
    except LabError as cause:
        say(f"  {cause}")


def _measure_demands(jobs: Sequence[Job], context: Context, say: Callable[[str], None]) -> None:
    """Measures what the films of `jobs` need, where that is asked for and not known. A job whose film failed here says so."""
    patterns = jobs_without_demand(jobs, context)
    if patterns:
        say("measuring what playing needs, because some budgets follow from it:")
    for pattern in patterns:
        try:
            measure_film(pattern, context, say)
        except DiskFull:
            raise
        except LabError as cause:
            say(f"  {cause}")


def prepare(store: Store, plan: Plan, options: Options, say: Callable[[str], None]) -> Context:
    """Restores what a killed run had changed on the machine, and claims the folder for this batch."""
    mended = repair()
    if mended:
        say(f"restored what a killed run had changed: {', '.join(mended)}")
    films = films_of_results(store.results([]).values())
    refuse_replaced_files(plan.wanted, films, store.out)
    here = commit(options.root)
    agenda = StoredAgenda.model_validate(plan.agenda.model_dump(mode="json"))
    store.claim(BatchFile(version=VERSION, created=None, commit=here, jobs=plan.jobs, agenda=agenda))
    return Context(options.root, store.out, machine=_settle_machine(store, options, say), commit=here, films=films)


def _settle_machine(store: Store, options: Options, say: Callable[[str], None]) -> str:
    """Records the facts of this machine and returns its id.

    Without --mixed, raises LabError if the folder has results of another machine: they must not be mixed by accident.
    """
    facts = machine_facts()
    machine = machine_id(facts)
    known = store.machines()
    others = sorted(set(known) - {machine})
    if others and not options.mixed:
        raise LabError(
            f"{store.out} has results of another machine or kernel ({known[others[0]].cpu}, Linux "
            f"{known[others[0]].kernel}); choose another folder with -o; `merge --mixed` can combine them",
            EXIT_SETUP,
        )
    old = known.get(machine)
    changed = programs_changed(old.programs if old else {}, options.root)
    if changed:
        say(f"changed since {store.out} was started: {', '.join(changed)}; this may change the results from now on")
    if changed or not old:
        # Keeps `rtapp`, and the keys that only another version knows.
        now = {**(old.to_json() if old else {}), **facts.to_json(), "programs": program_facts(options.root)}
        store.keep_machine(machine, MachineFile.model_validate(now))
    return machine


def keep_rtapp_calibration(store: Store, context: Context) -> None:
    """Stores the calibration of rt-app with the machine's other facts, which travel with its results."""
    facts = store.machines().get(context.machine)
    calibration = store.rtapp_calibration(context.machine)
    if facts is not None and calibration is not None and facts.rtapp != calibration:
        store.keep_machine(context.machine, facts.model_copy(update={"rtapp": calibration}))


def measured_cpus(job: Job) -> frozenset[int]:
    """Returns the CPUs that a job measures: one, or all where nothing is placed."""
    if Policy.parse(job.sched).is_free:
        return frozenset(os.sched_getaffinity(0))
    return frozenset({choose_cpus(job.cpu)[0]})


@contextlib.contextmanager
def _measuring(jobs: Sequence[Job], wait: bool, say: Callable[[str], None]) -> Iterator[None]:
    """Keeps every other measurement off this machine while the block runs."""
    with only_measurement(frozenset().union(*map(measured_cpus, jobs)), say if wait else None):
        yield


class _Batch:
    def __init__(self, store: Store, plan: Plan, options: Options, console: Console) -> None:
        self.store = store
        self.plan = plan
        self.console = console
        self.results = store.results()
        self.to_do = [job for job in plan.wanted if self._is_wanted(job, options.retry_failed)]
        self.expectation = Expectation(options.root, self.results.values())
        self.reasons: list[str] = []

    def _is_wanted(self, job: Job, retry_failed: bool) -> bool:
        result = self.results.get(job.id)
        return result is None or (retry_failed and result.status != DONE)

    def run(self, context: Context) -> None:
        tell(self.console, total_sentence(len(self.plan.wanted), self.to_do, self.expectation))
        with Teller(self.console, self.expectation.jobs_s(self.to_do)) as teller:
            context = Context(**{**vars(context), "tick": teller.tick})
            try:
                for number in range(len(self.to_do)):
                    self._run(number, context, teller)
            except Interrupted:
                over = len(self.plan.wanted) - len(self.to_do) + len(self.reasons)
                teller.say(f"interrupted: {over} of {len(self.plan.wanted)} jobs are finished; the same command continues")
                raise

    def _run(self, number: int, context: Context, teller: Teller) -> None:
        job, left = self.to_do[number], self.to_do[number + 1 :]
        teller.step(f"{number + 1}/{len(self.to_do)} {job.id}", self.expectation.job_s(job), aloud=False)
        result = run_one(self.store, job, context)
        self.results[job.id] = result
        self.expectation.learn(result)
        teller.expect(self.expectation.jobs_s(left))
        teller.say(f"  {number + 1}/{len(self.to_do)} {job.id}: {result_line(result)}{teller.left_text() if left else ''}")
        self._look_for_pattern(result, teller)

    def _look_for_pattern(self, result: JobResult, teller: Teller) -> None:
        self.reasons.append((result.reason or "") if result.status == FAILED else "")
        last = self.reasons[-ALIKE:]
        if len(last) == ALIKE and last[0] and len(set(last)) == 1 and self.reasons[-ALIKE - 1 : -ALIKE] != [last[0]]:
            teller.say(
                f"the last {ALIKE} jobs failed for the same reason, which is probably in the set-up: correct it and repeat the "
                "command with --retry-failed; the batch continues meanwhile"
            )

    def conclude(self) -> None:
        """Reports how all wanted jobs ended, now or in an earlier run. Raises LabError if none of them is done."""
        statuses = [self.results[job.id].status for job in self.plan.wanted]
        counts = {status: statuses.count(status) for status in dict.fromkeys(statuses)}
        outcome = ", ".join(f"{count} {status}" for status, count in counts.items())
        advice = "; --retry-failed repeats the others" if set(statuses) != {DONE} else ""
        tell(self.console, f"{len(statuses)} jobs: {outcome}{advice}; results are in {self.store.out}")
        light = sum(self.results[job.id].load_is_light for job in self.plan.wanted)
        if light:
            tell(self.console, f"{light} of them had a light load: rt-app's jobs took less than {LIGHT:.0%} of the paper's")
        stolen = sum(self.results[job.id].much_is_stolen for job in self.plan.wanted)
        if stolen:
            tell(self.console, f"from {stolen} of them the host took more than {MUCH:.0%} of the measured CPU's time")
        if DONE not in statuses:
            first = self.results[self.plan.wanted[0].id]
            raise LabError(f"no job could be measured; {first.job.id}: {first.reason}")
