# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests budgets that follow from what playing a film needs. Not covered: the plays themselves, which are jobs as any other."""

import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

from outside import with_packages

with_packages("pydantic, rich, yaml")

from dlex_bench.agenda.job import Job
from dlex_bench.batch import runner
from dlex_bench.checksum import checksum
from dlex_bench.errors import LabError
from dlex_bench.job import demand, measure_demand
from dlex_bench.job.context import Context
from dlex_bench.job.demand import Demands, FilmDemand
from dlex_bench.job.result import JobResult
from dlex_bench.machine.policy import Policy


def job_of(recipe, sched="quota:125%/40", player="mpv"):
    return Job.model_validate({
        "id": f"{recipe}-{player}-r1", "repetition": 1, "section": "s", "workload": player, "player": player,
        "player_params": {"framedrop": "vo"}, "sched": sched, "load": {"kind": "rtapp"}, "clip": {"recipe": recipe},
        "observe": "outside", "cpu": 1,
    })


def film(recipe, *plays):
    job = job_of(recipe)
    return FilmDemand(clip=job.clip, observe=job.observe, cpu=job.cpu, plays=plays)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.batch = Path(folder.name)
        self.context = Context(self.batch, self.batch, machine="m")

    def budget_ms(self, job):
        return demand.budget_for_demand_ms(job, Policy.parse(job.sched), self.batch, "m")

    def keep(self, *films, machine="m"):
        demand.write_demands(self.batch, Demands(version=1, machine=machine, films=films))


class Budget(Case):
    def test_budget_follows_from_the_middle_play(self):
        self.keep(film("a", 0.5, 0.9, 0.4), film("b", 0.1))
        self.assertEqual(self.budget_ms(job_of("a")), 16.0)  # 0.5 of 40 ms is 125 % of it
        self.assertEqual(self.budget_ms(job_of("b")), 3.2)
        self.assertEqual(self.budget_ms(job_of("b", "quota:50%/10")), 2.0)

    def test_film_that_was_not_measured_here_fails_the_job(self):
        self.keep(film("a", 0.5), machine="other")
        with self.assertRaisesRegex(LabError, "could not be measured"):
            self.budget_ms(job_of("a"))

    def test_budget_beyond_the_whole_cpu_is_refused_with_the_least_percentage(self):
        self.keep(film("a", 0.75))
        with self.assertRaisesRegex(LabError, "more than a whole CPU; ask for a larger percentage than 75%"):
            self.budget_ms(job_of("a", "quota:60%/40"))

    def test_file_of_another_machine_or_without_plays_is_refused(self):
        self.keep(film("a", 0.5), machine="n")
        (self.batch / "demand-n.json").rename(self.batch / "demand-m.json")
        with self.assertRaisesRegex(LabError, "demand-m.json cannot be read: machine"):
            self.budget_ms(job_of("a"))
        silent = '{"version": 1, "machine": "m", "films": [{"clip": {}, "observe": "both", "plays": []}]}'
        (self.batch / "demand-m.json").write_text(silent)
        with self.assertRaisesRegex(LabError, "demand-m.json cannot be read: films"):
            self.budget_ms(job_of("a"))


class Measuring(Case):
    def measure(self, pattern, *rates, status="done"):
        """Plays take the CPU time of `rates`, one after the other."""
        told = iter(rates)
        self.played = []

        def play(job, directory, context):
            self.played.append(job)
            figures = {"frames": 100, "dropped": 0, "drops_fraction": 0, "frame_ms": 40.0, "cpu_ms_per_frame": 40 * next(told)}
            return JobResult.model_validate(
                {"version": 1, "job": job.to_json(), "status": status, "reason": "it broke", "figures": figures}
            )

        with mock.patch.object(measure_demand, "execute", side_effect=play):
            measure_demand.measure_film(pattern, self.context, mock.Mock())

    def test_film_is_played_alone_without_drops(self):
        self.measure(job_of("a"), 0.3, 0.5, 0.4)
        self.assertEqual(self.budget_ms(job_of("a", "quota:100%/40")), 16.0)
        job = self.played[0]
        self.assertEqual((job.player, job.player_params.drop, job.player_params.queue), ("dlex-play", "none", "0"))
        self.assertEqual((job.sched, job.load.kind, job.clip, job.observe, job.cpu),
                         ("other", "none", job_of("a").clip, "outside", 1))

    def test_films_are_kept_beside_each_other(self):
        self.measure(job_of("a"), 0.3, 0.3, 0.3)
        self.measure(job_of("b"), 0.6, 0.6, 0.6)
        self.assertEqual([it.rate for it in demand.read_demands(self.batch, "m").films], [0.3, 0.6])

    def test_film_that_was_replaced_is_measured_again(self):
        film_file = self.batch / "film.mp4"
        film_file.write_bytes(b"one")
        job = job_of("a").but(clip={"file": str(film_file)})
        self.context.films[str(film_file)] = checksum(film_file)
        self.measure(job, 0.5, 0.5, 0.5)
        self.assertEqual(measure_demand.jobs_without_demand([job], self.context), [])
        self.assertEqual(self.budget_ms(job.but(sched="quota:100%/40")), 20.0)
        film_file.write_bytes(b"two")
        self.assertEqual(measure_demand.jobs_without_demand([job], self.context), [job])
        policy = Policy.parse(job.sched)
        with self.assertRaisesRegex(LabError, "could not be measured"):
            demand.budget_for_demand_ms(job, policy, self.batch, "m", checksum(film_file))
        self.context.films[str(film_file)] = checksum(film_file)
        self.measure(job, 0.25, 0.25, 0.25)
        whole = job.but(sched="quota:100%/40")
        self.assertEqual(demand.budget_for_demand_ms(whole, Policy.parse(whole.sched), self.batch, "m", checksum(film_file)), 10.0)

    def test_play_that_fails_is_an_error_and_keeps_nothing(self):
        with self.assertRaisesRegex(LabError, "cannot be measured: it broke"):
            self.measure(job_of("a"), 0.3, 0.3, 0.3, status="failed")
        self.assertEqual(demand.demand_files(self.batch), [])

    def test_each_film_is_measured_once_and_only_where_a_percentage_is_asked_for(self):
        jobs = [job_of("a"), job_of("a", player="ffplay"), job_of("b", "quota:15/40"), job_of("c", "other"),
                job_of("d", "deadline:80%/40")]
        self.assertEqual([it.clip.recipe for it in measure_demand.jobs_without_demand(jobs, self.context)], ["a", "d"])
        self.keep(film("a", 0.5))
        self.assertEqual([it.clip.recipe for it in measure_demand.jobs_without_demand(jobs, self.context)], ["d"])
        elsewhere = replace(self.context, machine="n")
        self.assertEqual(len(measure_demand.jobs_without_demand(jobs, elsewhere)), 2)

    def test_film_that_cannot_be_measured_does_not_stop_the_others(self):
        say = mock.Mock()
        with mock.patch.object(runner, "measure_film", side_effect=[LabError("no film a"), None]) as measured:
            runner._measure_demands([job_of("a"), job_of("b")], self.context, say)
        self.assertEqual(measured.call_count, 2)
        self.assertEqual(say.call_args.args[0], "  no film a")


class Merging(Case):
    def test_films_of_both_are_kept(self):
        a = Demands(version=1, machine="m", films=(film("a", 0.5),))
        b = Demands(version=1, machine="m", films=(film("a", 0.5), film("b", 0.2)))
        self.assertEqual([it.clip.recipe for it in a.with_films_of(b).films], ["a", "b"])

    def test_one_film_with_two_demands_is_refused(self):
        a = Demands(version=1, machine="m", films=(film("a", 0.5),))
        with self.assertRaisesRegex(ValueError, "a was measured separately, as 0.500 and 0.600"):
            a.with_films_of(Demands(version=1, machine="m", films=(film("a", 0.6),)))


if __name__ == "__main__":
    unittest.main()
