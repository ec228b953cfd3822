# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests how agendas become jobs, and that each error in an agenda is reported in one sentence with its line.

Not covered: whether a machine can play what an agenda requests.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from outside import with_packages

AGENDAS = Path(__file__).resolve().parents[2] / "bench/agendas"
PLAYERS = "workloads:\n  - {id: a, name: dlex-play}\n  - {id: b, name: mplayer, params: {framedrop: soft}}\n"
CLIP = "config: {iterations: 2, defaults: {clip: {recipe: some_clip}}}\n"
SECTION = PLAYERS + "sections:\n  - id: x\n    params:\n"


def parse(text):
    from dlex_bench.agenda.reader import parse_agenda

    return parse_agenda(text, "a.yaml")


def jobs_of(text, **extent):
    from dlex_bench.agenda.jobs import Extent, expand

    return expand(parse(text), Extent(**extent))


def ids(jobs):
    return [job.id for job in jobs]


class Mistakes(unittest.TestCase):
    def refusal(self, text):
        from dlex_bench.errors import EXIT_SETUP, LabError

        with self.assertRaises(LabError) as caught:
            jobs_of(text)
        self.assertEqual(caught.exception.code, EXIT_SETUP)
        self.assertNotIn("\n", str(caught.exception))
        return str(caught.exception)

    def assert_refused(self, text, line, *words):
        told = self.refusal(text)
        self.assertTrue(told.startswith(f"a.yaml, line {line}: "), told)
        for word in words:
            self.assertIn(word, told)

    def test_text_that_is_not_yaml_or_not_an_agenda_is_refused(self):
        self.assert_refused("", 1, "is empty")
        self.assert_refused("a: [", 1, "not YAML")
        self.assert_refused("[1]", 1, "not a mapping")
        self.assert_refused("workloads: []", 1, "at least one player")
        self.assert_refused("- &a [*a]", 1, "not a mapping")
        self.assert_refused(PLAYERS + "? [x]\n: y\n", 4, "not YAML")

    def test_unknown_key_is_refused_with_the_nearest_known_key(self):
        self.assert_refused(SECTION + "      shed: other\n", 7, "sections[0].params.shed", "did you mean sched?")
        self.assert_refused("workloads:\n  - id: a\n    name: mpv\n    thread: 1\n", 4, "workloads[0].thread")

    def test_repeated_key_is_refused(self):
        self.assert_refused("config:\n  iterations: 2\n  iterations: 3\n" + PLAYERS, 3, "iterations appears twice")

    def test_repeated_id_is_refused(self):
        self.assert_refused(PLAYERS + "  - {id: a, name: mpv}\n", 4, "id a")
        self.assert_refused(PLAYERS + "sections:\n  - {id: x}\n  - {id: x}\n", 6, "id x")

    def test_id_with_characters_that_names_cannot_have_is_refused(self):
        for wrong in ("a-b", "a/b", "''", "ä"):
            self.assert_refused(f"workloads:\n  - id: {wrong}\n    name: mpv\n", 2, "not an id")

    def test_wrong_types_and_values_are_refused(self):
        self.assert_refused("config: {iterations: two}\n" + PLAYERS, 1, "config.iterations", "'two'")
        self.assert_refused("config: {iterations: 0}\n" + PLAYERS, 1, "config.iterations", "0")
        self.assert_refused("config: {cpu: true}\n" + PLAYERS, 1, "config.cpu")
        self.assert_refused("config: {observe: aside}\n" + PLAYERS, 1, "'outside', 'inside' or 'both'")
        self.assert_refused(SECTION + "      clip: {recipe: a, file: b}\n", 7, "either a recipe or a file")

    def test_wrong_load_is_refused(self):
        self.assert_refused(SECTION + "      load: rtapp\n", 7, "not a mapping")
        self.assert_refused(SECTION + "      load: {}\n", 7, "has no kind")
        self.assert_refused(SECTION + "      load: {kind: rtap}\n", 7, "did you mean rtapp?")
        self.assert_refused(SECTION + "      load: {kind: stress}\n", 7, "at least one task")
        self.assert_refused(SECTION + "      load:\n        kind: none\n        cpu: 1\n", 9, "params.load.cpu")
        self.assert_refused(SECTION + "      load: {kind: rtapp, sched: deadline:3/8}\n", 7, "rt-app's policy")

    def test_wrong_policy_is_refused(self):
        for wrong in ("fifo", "fifo:0", "free:2", "deadline:50/40", "quota:15", "5"):
            self.assert_refused(SECTION + f"      sched: {wrong}\n", 7, "params.sched")

    def test_wrong_player_and_wrong_parameters_are_refused(self):
        self.assert_refused("workloads:\n  - {id: a, name: mplayr}\n", 2, "did you mean mplayer?")
        self.assert_refused("workloads:\n  - {id: a}\n", 2, "has no name")
        self.assert_refused("workloads:\n  - {id: a, name: mpv, params: {threads: 2}}\n", 2, "1 or 'auto'")
        self.assert_refused("workloads:\n  - {id: a, name: dlex-play, params: {drop: none, rule: slack}}\n", 2, "drop: deadline")

    def test_wrong_queue_is_refused(self):
        for wrong in ("-1", "2h", "[]", "true", "ms"):
            self.assert_refused(f"workloads:\n  - {{id: a, name: dlex-play, params: {{queue: {wrong}}}}}\n", 2, "a queue is 0")

    def test_queue_reaches_the_player(self):
        from dlex_bench.rig.players.dlex_play import DlexPlayAdapter

        for queue in ("0", "auto", "50", "1.5s", "64MiB"):
            job = jobs_of(CLIP + f"workloads:\n  - {{id: a, name: dlex-play, params: {{queue: {queue}}}}}\n")[0]
            argv = DlexPlayAdapter(Path("p")).argv(job, Path("clip"), Path("out"))
            self.assertIn(f"--queue={queue}", argv)

    def test_agenda_with_impossible_jobs_is_refused(self):
        self.assertIn("has no clip", self.refusal(PLAYERS))
        inside = "config: {observe: inside, defaults: {clip: {recipe: c}}}\n"
        self.assertIn("only dlex-play writes its own record", self.refusal(inside + PLAYERS))
        self.assertIn("exclude every", self.refusal(CLIP + PLAYERS + "sections:\n  - {id: x, only: [z*]}\n"))


class Clips(unittest.TestCase):
    """Checks of clips before anything plays them."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "a.yaml"

    def read(self, text, begun=None):
        from dlex_bench.agenda.reader import read_agenda

        self.path.write_text(text)
        return read_agenda(self.path, begun=begun)

    def refusal(self, clip, observe="outside"):
        """Returns the error for `clip` in the second section. The first section has a valid clip."""
        from dlex_bench.errors import EXIT_SETUP, LabError

        good = "{recipe: stamped_small, unstamped: progressive_cabac}"
        text = f"config: {{observe: {observe}, defaults: {{clip: {good}}}}}\n" + PLAYERS.split("  - {id: b")[0]
        text += f"sections:\n  - id: x\n  - id: y\n    params:\n      clip: {clip}\n"
        with self.assertRaises(LabError) as caught:
            self.read(text)
        told = str(caught.exception)
        self.assertEqual(caught.exception.code, EXIT_SETUP)
        self.assertNotIn("\n", told)
        self.assertTrue(told.startswith(f"{self.path}, line 8: sections[1].params.clip"), told)
        return told

    def film(self, *options):
        path = self.path.with_name("film.mp4")
        argv = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=25:duration=0.2", *options, path]
        if not shutil.which("ffmpeg") or subprocess.run(argv).returncode != 0:
            self.skipTest("ffmpeg cannot make a film here")

    def test_missing_clip_file_is_refused(self):
        self.assertIn("clip.file is nowhere.mp4, which does not exist", self.refusal("{file: nowhere.mp4}", "inside"))
        self.assertIn("which is not a file", self.refusal("{file: .}", "inside"))

    def test_clip_that_no_job_plays_may_be_missing(self):
        self.film()
        text = "config: {observe: inside, defaults: {clip: {file: gone.mp4}}}\n" + PLAYERS.split("  - {id: b")[0]
        text += "sections:\n  - {id: x, params: {clip: {file: film.mp4}}}\n"
        self.read(text)
        self.read(text + "  - {id: y, only: [z*]}\n")
        with self.assertRaisesRegex(Exception, "config.defaults.clip.file is gone.mp4"):
            self.read(text + "  - {id: y}\n")

    def test_clip_of_a_begun_batch_is_checked_by_its_jobs_only(self):
        text = "config: {observe: inside, defaults: {clip: {file: gone.mp4}}}\n" + PLAYERS.split("  - {id: b")[0]
        self.read(text, begun={"all-a"})
        self.read(text, begun=frozenset())

    def test_unknown_recipe_is_refused(self):
        for clip in ("{recipe: stamped_smal}", "{recipe: stamped_small, unstamped: stamped_smal}",
                     "{recipe: stamped_small, without_film: {recipe: stamped_smal}}"):
            self.assertIn("did you mean stamped_small?", self.refusal(clip, "inside"))
        self.assertIn("clip.without_film.recipe ", self.refusal("{recipe: stamped_small, without_film: {recipe: x}}"))

    def test_recipe_that_needs_the_missing_trailer_is_refused_once(self):
        from dlex_bench.clips import why_not_makeable

        clip = "{recipe: trailer_1080p_stamped, unstamped: trailer_1080p}"
        why_not_makeable.cache_clear()
        self.addCleanup(why_not_makeable.cache_clear)
        with mock.patch.dict(os.environ, {"DLEX_MEDIA": "", "DLEX_CACHE": str(self.path.parent)}):
            told = self.refusal(clip)
            self.assertIn("clip.recipe is trailer_1080p_stamped, which cannot be made here: the trailer is not here", told)
            text = f"config: {{defaults: {{clip: {clip[:-1]}, without_film: {{recipe: stamped_small}}}}}}}}\n" + PLAYERS
            self.read(text)
            self.read(text.replace(", without_film: {recipe: stamped_small}", ""), begun=frozenset())

    def test_view_from_outside_needs_stamps(self):
        for observe in ("outside", "both"):
            told = self.refusal("{recipe: progressive_cabac}", observe)
            self.assertIn("clip.recipe is progressive_cabac, whose pictures have no numbers", told)
        told = self.refusal("{recipe: stamped_small, without_film: {recipe: progressive_cabac}}")
        self.assertIn("clip.without_film.recipe", told)

    def test_unstamped_clip_must_be_the_same_film_without_stamps(self):
        self.assertIn("numbers as well", self.refusal("{recipe: stamped_small, unstamped: stamped_small}"))
        told = self.refusal("{recipe: stamped_small, unstamped: hard_1080p}")
        self.assertIn("clip.unstamped is hard_1080p, which has another size than stamped_small", told)
        told = self.refusal("{recipe: hard_1080p_stamped, unstamped: trailer_1080p}")
        self.assertIn("another number of pictures", told)

    def test_file_cannot_have_an_unstamped_pair(self):
        for more in ("unstamped: progressive_cabac", "without_film: {recipe: stamped_small}"):
            self.assertIn("belong to a recipe", self.refusal(f"{{file: a.mp4, {more}}}"))

    def test_file_without_stamps_is_accepted_for_the_inside_view_only(self):
        self.film()
        self.assertIn("clip.file is film.mp4, whose pictures have no numbers", self.refusal("{file: film.mp4}"))
        self.read("config: {observe: inside, defaults: {clip: {file: film.mp4}}}\n" + PLAYERS.split("  - {id: b")[0])

    def test_file_with_stamps_is_accepted_for_the_outside_view(self):
        self.film("-vf", stamps())
        self.read("config: {observe: outside, defaults: {clip: {file: film.mp4}}}\n" + PLAYERS)

    def test_film_is_checked_once_and_not_on_the_measured_cpu(self):
        self.film("-vf", stamps())
        allowed = os.sched_getaffinity(0)
        seen = self.path.with_name("seen")
        wrapper = self.path.with_name("ffmpeg")
        wrapper.write_text(
            f'#!/bin/sh\n{{ grep Cpus_allowed_list /proc/self/status; echo "$@"; }} >>{seen}\n'
            f'exec {shutil.which("ffmpeg")} "$@"\n'
        )
        wrapper.chmod(0o755)
        text = "config: {cpu: %d, observe: outside, defaults: {clip: {file: film.mp4}}}\n" + PLAYERS
        with mock.patch.dict(os.environ, PATH=f"{wrapper.parent}:{os.environ['PATH']}"):
            for cpu in {min(allowed), max(allowed)}:
                self.read(text % cpu)
                placed, options = seen.read_text().splitlines()
                self.assertEqual(cpus_of(placed.split()[1]), allowed - {cpu} or allowed)
                self.assertIn("-threads 1 -i", options)
                seen.unlink()
            self.read(text % max(allowed), begun={"all-a", "all-b"})
            self.assertFalse(seen.exists())
            self.read(text % max(allowed), begun={"all-a"})
            self.assertTrue(seen.exists())

    def test_section_that_is_observed_only_from_inside_needs_no_stamps(self):
        text = "config: {observe: inside, defaults: {clip: {recipe: progressive_cabac}}}\n" + PLAYERS.split("  - {id: b")[0]
        self.read(text)
        self.read(text + "sections:\n  - {id: x, params: {observe: outside, clip: {recipe: stamped_small}}}\n  - id: y\n")


    def test_calibrated_budget_needs_stamps_even_for_jobs_observed_from_inside(self):
        text = "config: {observe: inside, defaults: {sched: '%s', clip: {recipe: progressive_cabac}}}\n"
        text += PLAYERS.split("  - {id: b")[0]
        self.read(text % "deadline:15/40")
        with self.assertRaisesRegex(Exception, "clip.recipe is progressive_cabac, .* the calibrated budget is found"):
            self.read(text % "deadline:calibrated/40")


def cpus_of(ranges):
    ends = [[int(end) for end in part.split("-")] for part in ranges.split(",")]
    return {cpu for end in ends for cpu in range(end[0], end[-1] + 1)}


def stamps():
    sys.path.insert(0, str(AGENDAS.parents[1] / "media"))
    from stamps import picture_filter

    return picture_filter()


class Jobs(unittest.TestCase):
    def test_groups_are_crossed_and_their_members_are_not(self):
        sections = (
            "sections:\n  - {id: other, group: sched}\n  - {id: fifo, group: sched, params: {sched: 'fifo:5'}}\n"
            "  - {id: alone, group: load}\n  - {id: beside, group: load, params: {load: {kind: rtapp}}}\n"
        )
        jobs = jobs_of(CLIP + PLAYERS + sections, reps=1)
        found = {(job.section, job.workload, job.sched, job.load.kind) for job in jobs}
        self.assertEqual(len(jobs), 8)
        self.assertIn(("fifo-beside", "b", "fifo:5", "rtapp"), found)
        self.assertIn(("other-alone", "a", "other", "none"), found)

    def test_each_round_runs_every_setting_once_and_begins_with_a_different_one(self):
        self.assertEqual(ids(jobs_of(CLIP + PLAYERS)), ["all-a-r1", "all-b-r1", "all-b-r2", "all-a-r2"])

    def test_workload_may_have_its_own_number_of_repetitions(self):
        jobs = jobs_of(CLIP + PLAYERS + "  - {id: c, name: mpv, iterations: 1}\n")
        self.assertEqual(sorted(ids(jobs)), ["all-a-r1", "all-a-r2", "all-b-r1", "all-b-r2", "all-c-r1"])

    def test_section_may_select_some_workloads(self):
        jobs = jobs_of(CLIP + PLAYERS + "sections:\n  - {id: x, only: [b]}\n  - {id: y}\n", reps=1)
        self.assertEqual(sorted(ids(jobs)), ["x-b-r1", "y-a-r1", "y-b-r1"])

    def test_options_change_repetitions_and_length_of_all_jobs(self):
        jobs = jobs_of(CLIP + PLAYERS, quick=True)
        self.assertEqual((len(jobs), {job.clip.length_s for job in jobs}), (4, {10}))
        jobs = jobs_of(CLIP + PLAYERS, quick=True, reps=3, length_s=5)
        self.assertEqual((len(jobs), {job.clip.length_s for job in jobs}), (6, {5}))

    def test_more_repetitions_keep_the_existing_jobs(self):
        few, many = jobs_of(CLIP + PLAYERS, reps=2), jobs_of(CLIP + PLAYERS, reps=5)
        self.assertEqual({job.id: job for job in many} | {job.id: job for job in few}, {job.id: job for job in many})

    def test_foreign_player_is_observed_only_from_outside_when_both_views_are_wanted(self):
        both = "config: {observe: both, defaults: {clip: {recipe: c}}}\n"
        self.assertEqual([job.observe for job in jobs_of(both + PLAYERS)], ["both", "outside"])

    def test_word_no_that_yaml_reads_as_false_stays_a_word(self):
        jobs = jobs_of(CLIP + "workloads:\n  - {id: m, name: mpv, params: {framedrop: no}}\n")
        self.assertEqual(jobs[0].player_params.framedrop, "no")

    def test_calibrated_budget_stays_a_word_in_the_job(self):
        self.assertEqual(jobs_of(CLIP + SECTION + "      sched: deadline:calibrated/40\n")[0].sched, "deadline:calibrated/40")

    def test_other_players_decode_in_one_thread_on_the_measured_cpu_and_in_their_own_number_where_nothing_is_placed(self):
        several = "  - {id: one, name: mpv, params: {threads: 1}}\n  - {id: several, name: vlc, params: {threads: auto}}\n"
        sections = "sections:\n  - {id: pinned}\n  - {id: free, params: {sched: free}}\n"
        jobs = jobs_of(CLIP + PLAYERS + several + sections, reps=1)
        found = {f"{job.section}-{job.workload}": job.player_params.threads for job in jobs}
        self.assertEqual(found, {"pinned-a": None, "pinned-b": 1, "pinned-one": 1, "pinned-several": "auto",
                                 "free-a": None, "free-b": "auto", "free-one": 1, "free-several": "auto"})

    def test_player_gets_no_cpu_and_no_policy_where_nothing_is_placed(self):
        from dlex_bench.rig.players.dlex_play import DlexPlayAdapter

        job = jobs_of(CLIP + SECTION + "      sched: free\n")[0].but(cpu=1)
        argv = DlexPlayAdapter(Path("p")).argv(job, Path("clip"), Path("out"))
        self.assertEqual([option for option in argv if option.startswith(("--cpu", "--sched", "--threads"))], [])

    def test_job_is_the_same_after_a_round_trip_through_json(self):
        from dlex_bench.agenda.job import Job

        for job in jobs_of(CLIP + PLAYERS):
            self.assertEqual(Job.model_validate(json.loads(json.dumps(job.to_json()))), job)

    def test_pattern_selects_jobs_by_id_or_by_setting(self):
        from dlex_bench.agenda.jobs import select
        from dlex_bench.errors import LabError

        jobs = jobs_of(CLIP + PLAYERS)
        self.assertEqual(ids(select(jobs, ["all-b"])), ["all-b-r1", "all-b-r2"])
        self.assertEqual(ids(select(jobs, ["*-r2"])), ["all-b-r2", "all-a-r2"])
        with self.assertRaisesRegex(LabError, "no job"):
            select(jobs, ["nix"])


class RtappSched(unittest.TestCase):
    def test_same_means_the_players_policy_and_beside_a_quota_a_reservation(self):
        from dlex_bench.agenda.job import JobLoad, rtapp_sched

        same = JobLoad(kind="rtapp", sched="same")
        wanted = {"other": "other", "fifo:5": "fifo:5", "deadline:15/40": "deadline", "deadline:calibrated/40": "deadline",
                  "quota:15/40": "deadline", "free": "other"}
        self.assertEqual({sched: rtapp_sched(sched, same) for sched in wanted}, wanted)
        self.assertEqual(rtapp_sched("deadline:15/40", JobLoad(sched="other")), "other")
        self.assertEqual(rtapp_sched("rr:5", JobLoad()), "rr:5")


class Screens(unittest.TestCase):
    def test_screen_of_the_section_decides_about_opengl(self):
        sections = "sections:\n  - {id: x}\n  - {id: y, params: {screen: {gl: true}}}\n"
        self.assertEqual({job.section: job.gl for job in jobs_of(CLIP + PLAYERS + sections, reps=1)}, {"x": False, "y": True})


class Facts(unittest.TestCase):
    def test_pictures_of_different_lengths_are_known(self):
        from dlex_bench import clips

        for rate, steady in (("25/1", True), ("2497/100", True), ("31/1", False)):
            stream = {"width": 640, "height": 360, "avg_frame_rate": "25/1", "r_frame_rate": rate, "nb_read_packets": "50"}
            said = subprocess.CompletedProcess([], 0, json.dumps({"streams": [stream]}), "")
            with mock.patch.object(clips.subprocess, "run", return_value=said):
                found = clips._facts.__wrapped__(Path("film.mp4"), 0)
            self.assertEqual((found.is_steady, found.frame_ns), (steady, 40_000_000), rate)


class Ours(unittest.TestCase):
    def test_control_of_the_paper_agenda_differs_only_in_its_clip(self):
        from dlex_bench import paper
        from dlex_bench.agenda.jobs import expand
        from dlex_bench.agenda.reader import read_agenda
        from dlex_bench.analysis import results_frame
        from dlex_bench.job.calibrate import calibrated_job

        found = expand(read_agenda(AGENDAS / "paper.yaml"))
        control = {job.workload: job for job in found if job.section == results_frame.CONTROL}
        self.assertEqual(list(control), ["dlex_none"])
        cbs = next(job for job in found if (job.section, job.workload) == ("cbs", "dlex_none"))
        self.assertEqual((control["dlex_none"].sched, control["dlex_none"].load), (cbs.sched, cbs.load))
        # The tables find their sections by these names, and the calibration uses the film of `cbs`.
        self.assertNotIn(results_frame.CONTROL, paper.PLAYED_AS)
        self.assertEqual(calibrated_job(found).clip, cbs.clip)

    def test_every_agenda_of_the_project_can_be_planned(self):
        from dlex_bench.agenda.jobs import expand
        from dlex_bench.agenda.reader import read_agenda
        from dlex_bench.batch.expected import Expectation
        from dlex_bench.errors import LabError

        found = sorted(AGENDAS.glob("*.yaml"))
        self.assertGreaterEqual(len(found), 1)
        for path in found:
            with self.subTest(path.name):
                try:
                    jobs = expand(read_agenda(path))
                except LabError as cause:
                    if "the trailer is not here" in str(cause):
                        self.skipTest(f"{path.name} needs the trailer (DLEX_MEDIA)")
                    raise
                self.assertEqual(len(set(ids(jobs))), len(jobs))
                self.assertGreater(Expectation(AGENDAS.parents[1], []).jobs_s(jobs), 0)


if __name__ == "__main__":
    with_packages("numpy, scipy, pydantic, rich, yaml")
    unittest.main()
