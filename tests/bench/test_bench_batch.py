# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests batches of real, short jobs: what is run, kept, repeated, refused, distributed by GNU parallel, and merged.

    test_bench_batch.py PLAYER QOE MEDIA_MAKE

Not covered: ssh itself, which only parallel uses; jobs that are observed on a screen (test_bench_job_stage).
"""

import itertools
import json
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from datetime import datetime
from pathlib import Path

import batches
from batches import ANOTHER, FOUR, ROOT, Batches
from outside import with_packages

# No machine can do this job. The facts that the plan needs about the clip are in the recipe, so the clip is not made.
SKIPPED = """
config:
  observe: outside
  defaults: {{sched: "deadline:15/40", clip: {{recipe: stamped_small, unstamped: progressive_cabac}}}}
workloads:
  - {{id: mpv, name: mpv}}
"""
TWO_CLIPS = batches.AGENDA + """
sections:
  - {{id: one}}
  - {{id: other, params: {{clip: {{file: other.mp4, length_s: {length_s}}}}}}}
"""
# Tolerance for the rounding of the start time in a result.
ROUNDING_S = 0.01


class Running(Batches):
    def test_every_job_is_done_and_kept_with_machine_facts(self):
        said = self.run_batch()
        self.assertEqual(self.statuses(), dict.fromkeys(FOUR, "done"))
        for job in FOUR:
            self.assertIn(f"{job}: ", said)
            self.assertTrue((self.folder / "out" / job / "own/frames.csv").is_file())
        result = self.results()["all-none-r1"]
        facts = json.loads((self.folder / f"out/machines/{result['machine']}.json").read_text())
        for key in ("kernel", "cpu", "tick_hz", "clock_source", "cgroups", "programs"):
            self.assertTrue(facts[key], key)
        self.assertGreater(result["wall_s"], 0.2)
        self.assertEqual(result["figures"]["frames"], 5)
        self.assertIn("4 done", said)

    def test_finished_jobs_are_not_repeated(self):
        self.run_batch("--reps=1")
        first = self.inodes()
        self.assertEqual(len(first), 2)
        self.assertIn("2 of them finished", self.run_batch())
        second = self.inodes()
        self.assertEqual(sorted(second), FOUR)
        self.assertEqual({job: second[job] for job in first}, first)
        self.assertIn("all of them finished", self.run_batch())
        self.assertEqual(self.inodes(), second)

    def test_half_written_job_is_removed_and_repeated(self):
        self.run_batch()
        whole = self.inodes()
        (self.folder / "out/all-none-r1/result.json").write_text('{"version": 1, "status": "do')
        (self.folder / "out/all-slack-r2/result.json").unlink()
        (self.folder / "out/all-slack-r2/remainder").write_text("")
        self.run_batch()
        self.assertEqual(self.statuses(), dict.fromkeys(FOUR, "done"))
        self.assertFalse((self.folder / "out/all-slack-r2/remainder").exists())
        for job in ("all-none-r2", "all-slack-r1"):
            self.assertEqual(self.inodes()[job], whole[job])

    def test_result_that_another_version_wrote_is_refused_and_stays(self):
        self.run_batch("--only=all-none-r1", "--reps=1")
        folder = self.folder / "out/all-none-r1"
        shutil.copytree(self.folder / "out", self.folder / "source")
        (folder / "result.json").write_text(json.dumps({**self.results()["all-none-r1"], "version": 2}))
        before = {path: path.is_file() and path.read_bytes() for path in (self.folder / "out").rglob("*")}
        one = ("run-job", "agenda.yaml", "all-none-r1", "-o", "out", "--wait")
        for command in (("run", "agenda.yaml", "-o", "out", "--wait"), one, ("plan", "agenda.yaml", "-o", "out"),
                        ("merge", "source", "-o", "out"), ("merge", "out", "-o", "united")):
            output = self.run_command(*command, status=1)
            self.assertIn("all-none-r1/result.json cannot be read: version: another version of this program wrote it; move ",
                          output)
        self.assertEqual({path: path.is_file() and path.read_bytes() for path in (self.folder / "out").rglob("*")}, before)

    def test_changed_agenda_is_refused_with_its_first_difference(self):
        self.run_batch("--only=*-r1")
        output = self.run_batch("--length=0.3", status=1)
        self.assertIn("clip.length_s of all-none-r1 was 0.2 and is now 0.3", output)
        text = batches.AGENDA.replace("drop: none", "drop: heuristic")
        self.write_agenda(text=text)
        self.assertIn('player_params.drop of all-none-r1 was "none" and is now "heuristic"', self.run_batch(status=1))
        self.assertEqual(sorted(self.results()), ["all-none-r1", "all-slack-r1"])

    def test_batch_from_before_queues_goes_on_with_jobs_that_decode_nothing_ahead(self):
        self.run_batch("--only=*-r1")
        path = self.folder / "out/batch.json"
        batch = json.loads(path.read_text())
        for job in batch["jobs"]:
            del job["player_params"]["queue"]
        path.write_text(json.dumps(batch))
        self.run_batch("--only=*-r1")
        self.write_agenda(text=batches.AGENDA.replace("queue: 0", "queue: 9"))
        self.assertIn('player_params.queue of all-none-r1 was "0" and is now "9"', self.run_batch("--only=*-r1", status=1))

    def test_only_the_named_jobs_run(self):
        self.run_batch("--only=all-slack-r2", "--only=all-none-r1")
        self.assertEqual(sorted(self.results()), ["all-none-r1", "all-slack-r2"])
        self.assertIn("no job matches nothing", self.run_batch("--only=nothing", status=1))

    def test_folder_with_other_files_is_refused(self):
        (self.folder / "out").mkdir()
        (self.folder / "out/diary.txt").write_text("")
        self.assertIn("holds diary.txt", self.run_batch(status=1))

    def test_results_of_another_machine_are_not_mixed_by_default(self):
        self.run_batch("--only=all-none-r1")
        self.be_of_another_machine()
        self.assertIn("another machine", self.run_batch(status=1))
        self.assertIn("started without --mixed, for one machine", self.run_batch("--mixed", status=1))
        self.assertEqual(sorted(self.results()), ["all-none-r1"])

    def test_each_machine_runs_all_jobs_in_a_folder_of_several_machines(self):
        """A run on another machine does not replace a run on this one, because settings are compared within a machine."""
        self.run_batch("--mixed", "--only=*-r1")
        self.be_of_another_machine()
        self.run_command("run-job", "agenda.yaml", "all-none-r1", "-o", "out", "--wait", "--mixed")
        self.run_batch("--mixed")
        self.assertIn("all of them finished", self.run_command("plan", "agenda.yaml", "-o", "out", "--mixed"))
        found = self.results()
        here = {result["machine"] for result in found.values()} - {ANOTHER}
        self.assertEqual(sorted(found), sorted(
            [f"all-{name}-r1@{ANOTHER}" for name in ("none", "slack")] + [f"{job}@{machine}" for job in FOUR for machine in here]
        ))
        self.assertIn("needs --mixed", self.run_batch(status=1))

    def test_plan_shows_the_state_and_estimates_from_finished_jobs(self):
        before = self.run_command("plan", "agenda.yaml", "-o", "out")
        self.assertRegex(before, r"all-none-r1 +2 s\n")
        self.run_batch("--only=*-r1")
        after = self.run_command("plan", "agenda.yaml", "-o", "out")
        self.assertRegex(after, r"all-none-r1 +done\n")
        self.assertIn("4 jobs, 2 of them finished; about ", after)
        self.assertRegex(after, r"until .*\d\d:\d\d if started now")


class Failing(Batches):
    def setUp(self):
        super().setUp()
        (self.folder / "clip.mp4").unlink()
        (self.folder / "clip.mp4").write_text("no film")

    def mend(self):
        (self.folder / "clip.mp4").unlink()
        (self.folder / "clip.mp4").symlink_to(self.clip)

    def test_failed_job_is_kept_with_its_reason_and_does_not_stop_the_batch(self):
        output = self.run_batch(status=2)
        self.assertIn("no job could be measured", output)
        self.assertEqual(self.statuses(), dict.fromkeys(FOUR, "failed"))
        for result in self.results().values():
            self.assertIn("clip.mp4", result["reason"])
            self.assertNotIn("\n", result["reason"])

    def test_failed_jobs_are_repeated_on_request_only(self):
        self.run_batch(status=2)
        kept = self.inodes()
        self.mend()
        self.run_batch(status=2)
        self.assertEqual(self.inodes(), kept)
        self.run_batch("--retry-failed")
        self.assertEqual(self.statuses(), dict.fromkeys(FOUR, "done"))

    def test_repeated_failures_with_one_reason_are_reported_once(self):
        process = self.start("run", "agenda.yaml", "-o", "out", "--wait", "--reps=3")
        said, _told = process.communicate(timeout=batches.LIMIT_S)
        self.assertEqual(said.count("failed for the same reason"), 1, said)

    def test_failed_single_job_sets_the_exit_status_and_is_tried_again(self):
        output = self.run_command("run-job", "agenda.yaml", "all-none-r1", "-o", "out", "--wait", status=2)
        self.assertIn("clip.mp4", output)
        self.mend()
        self.run_command("run-job", "agenda.yaml", "all-none-r1", "-o", "out", "--wait")
        self.assertEqual(self.statuses(), {"all-none-r1": "done"})

    def test_skipped_job_is_not_repeated(self):
        """`parallel --resume-failed` repeats jobs by their exit status and must not repeat a skipped job for ever."""
        self.write_agenda(text=SKIPPED)
        for _ in range(2):
            said = self.run_command("run-job", "agenda.yaml", "all-mpv-r1", "-o", "out", "--wait")
            self.assertRegex(said, "all-mpv-r1: skipped: .*one reservation cannot hold")
            inodes = self.inodes()
        self.assertEqual(self.statuses(), {"all-mpv-r1": "skipped"})
        self.run_command("run-job", "agenda.yaml", "all-mpv-r1", "-o", "out", "--wait")
        self.assertEqual(self.inodes(), inodes)

    def test_done_job_is_reported_again_but_not_repeated(self):
        self.mend()
        first = self.run_command("run-job", "agenda.yaml", "all-none-r1", "-o", "out", "--wait")
        inodes = self.inodes()
        again = self.run_command("run-job", "agenda.yaml", "all-none-r1", "-o", "out", "--wait")
        # Each command may have waited for the CPU and reported that in an earlier line.
        self.assertEqual((again.splitlines()[-1], self.inodes()), (first.splitlines()[-1], inodes))

    def test_missing_clip_is_reported_before_any_job(self):
        (self.folder / "clip.mp4").unlink()
        for command in ("plan", "run"):
            output = self.run_command(command, "agenda.yaml", "-o", "out", status=1)
            self.assertIn("agenda.yaml, line 2: config.defaults.clip.file", output)
        self.assertFalse((self.folder / "out").exists())

    def test_job_whose_clip_vanished_after_the_plan_keeps_the_reason(self):
        (self.folder / "clip.mp4").unlink()
        output = self.run_command("run-job", "agenda.yaml", "all-none-r1", "-o", "out", "--wait", status=2)
        self.assertIn("clip.mp4", output)
        self.assertEqual(self.statuses(), {"all-none-r1": "failed"})
        self.assertIn("clip.mp4", self.results()["all-none-r1"]["reason"])

    def test_vanished_clip_fails_only_its_own_jobs_in_a_resumed_batch(self):
        self.mend()
        (self.folder / "other.mp4").symlink_to(self.clip)
        self.write_agenda(reps=1, text=TWO_CLIPS)
        self.run_batch("--only=one-none")
        (self.folder / "other.mp4").unlink()
        self.run_command("plan", "agenda.yaml", "-o", "out")
        self.run_batch()
        kept, lost = ("one-none-r1", "one-slack-r1"), ("other-none-r1", "other-slack-r1")
        self.assertEqual(self.statuses(), dict.fromkeys(kept, "done") | dict.fromkeys(lost, "failed"))
        for job in lost:
            self.assertIn("other.mp4", self.results()[job]["reason"])

    def test_unknown_job_is_refused(self):
        self.assertIn("has no job x", self.run_command("run-job", "agenda.yaml", "x", "-o", "out", status=1))


class ManyHosts(Batches):
    """Several hosts, each with its own folder of results. All of them are this machine: a shell replaces ssh."""

    def setUp(self):
        super().setUp()
        if not shutil.which("parallel"):
            self.skipTest("GNU parallel is not installed")
        self.reach = self.folder / "reach"
        # parallel calls it as it calls ssh: OPTION... HOST -- COMMAND. Its remote helper needs SHELL, which sshd sets.
        self.reach.write_text(
            '#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\n'
            'HOST_NAME=$1 SHELL=/bin/sh; export HOST_NAME SHELL; shift\n[ "$1" != -- ] || shift\nexec sh -c "$*"\n'
        )
        self.reach.chmod(0o755)
        (self.folder / "hosts").write_text("1/one\n1/two\n")

    def commands(self):
        launcher = f"cd {self.folder} && {sys.executable} -m dlex_bench"
        lines = self.run_command("plan", "agenda.yaml", "--jobs", "-o", "OUT", f"--launcher={launcher}")
        return lines.replace("-o OUT", "-o out-$HOST_NAME")

    def parallel(self, commands, *options):
        return subprocess.run(
            ["parallel", f"--ssh={self.reach}", "--sshloginfile=hosts", "--joblog=log", *options],
            input=commands, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=batches.LIMIT_S,
        )

    def test_jobs_are_distributed_and_resumed_over_hosts(self):
        commands = self.commands()
        self.assertEqual(len(commands.splitlines()), 4)
        (self.folder / "clip.mp4").rename(self.folder / "elsewhere")
        (self.folder / "clip.mp4").write_text("no film")
        self.assertNotEqual(self.parallel(commands).returncode, 0)
        (self.folder / "elsewhere").rename(self.folder / "clip.mp4")
        again = self.parallel(commands, "--resume-failed")
        self.assertEqual(again.returncode, 0, again.stdout + again.stderr)
        statuses = [(job, status) for host in ("one", "two") for job, status in self.statuses(f"out-{host}").items()]
        self.assertEqual(sorted(job for job, status in statuses if status == "done"), FOUR)
        self.assertLessEqual({status for _job, status in statuses}, {"done", "failed"})

    def test_command_of_the_guide_runs_the_whole_agenda_on_every_host(self):
        """If the jobs were divided among the hosts, the runs of two settings could not be paired within a machine."""
        guide = (ROOT / "docs/laboratory.md").read_text()
        line = next(line for line in guide.splitlines() if line.startswith("    bench/dlex-bench plan --jobs"))
        _plan, output = line.split(" | ")
        (self.folder / "hosts").write_text("one\ntwo\n")
        for _ in range(2):  # the second call of the same command repeats nothing
            ran = subprocess.run(
                [*shlex.split(output), f"--ssh={self.reach}"],
                input=self.commands(), cwd=self.folder, env=self.environment, capture_output=True, text=True,
                timeout=batches.LIMIT_S,
            )
            self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        for host in ("one", "two"):
            self.assertEqual(self.statuses(f"out-{host}"), dict.fromkeys(FOUR, "done"))
        self.be_of_another_machine("out-two")
        self.run_command("merge", "out-one", "out-two", "-o", "united", "--mixed")
        runs = {}
        for result in self.results("united").values():
            runs.setdefault(result["job"]["workload"], []).append((result["machine"], result["job"]["repetition"]))
        self.assertEqual(len(set(runs["none"])), 4)
        self.assertEqual(sorted(runs["none"]), sorted(runs["slack"]))

    def test_hosts_on_one_machine_take_turns_on_its_cpu(self):
        self.assertEqual(self.parallel(self.commands()).returncode, 0)
        results = [result for host in ("one", "two") for result in self.results(f"out-{host}").values()]
        self.assertEqual(len(results), 4)
        starts_s = {result["job"]["id"]: datetime.fromisoformat(result["started"]).timestamp() for result in results}
        results.sort(key=lambda result: starts_s[result["job"]["id"]])
        for before, after in itertools.pairwise(results):
            end_s = starts_s[before["job"]["id"]] + before["wall_s"]
            self.assertLess(end_s, starts_s[after["job"]["id"]] + ROUNDING_S)


class Merging(Batches):
    """Tests on two folders with one repetition each. The batches run once, and each test gets a copy."""

    def setUp(self):
        super().setUp()
        self.write_agenda(text=batches.AGENDA.replace("clip.mp4", self.clip))
        if not Merging.made:
            holder = tempfile.TemporaryDirectory()
            unittest.addModuleCleanup(holder.cleanup)
            Merging.made = Path(holder.name)
            for out, repetition in (("a", 1), ("b", 2)):
                self.run_batch(f"--only=*-r{repetition}", out=Merging.made / out)
        for out in ("a", "b"):
            shutil.copytree(Merging.made / out, self.folder / out)

    made = None

    def be_whole(self, out):
        for job in FOUR:
            if not (self.folder / out / job).exists():
                shutil.copytree(Merging.made / ("a" if job.endswith("1") else "b") / job, self.folder / out / job)

    def fail_job(self, job, reason, started):
        path = self.folder / job / "result.json"
        output = {"status": "failed", "reason": reason, "started": started}
        path.write_text(json.dumps({**json.loads(path.read_text()), **output}))

    def test_results_are_merged_with_their_records_and_the_batch_can_continue(self):
        said = self.run_command("merge", "a", "b", "-o", "c")
        self.assertIn("c holds 4 results of 2 folders; 4 of them are new", said)
        self.assertEqual(self.results("c"), self.results("a") | self.results("b"))
        self.assertTrue((self.folder / "c/all-none-r1/own/frames.csv").is_file())
        self.assertIn("all of them finished", self.run_batch(out="c"))
        self.assertIn("0 of them are new", self.run_command("merge", "a", "b", "-o", "c"))
        self.assertRegex(self.run_command("merge", "b", "-o", "d"), r"d holds \d results of 1 folder;")

    def test_job_done_twice_is_a_conflict(self):
        self.run_batch("--only=all-none-r1", out="b")
        output = self.run_command("merge", "a", "b", "-o", "c", status=1)
        self.assertIn("all-none-r1 was done twice on one machine, in a and in b", output)
        self.assertFalse((self.folder / "c").exists())

    def test_job_that_failed_once_and_was_done_elsewhere_is_merged(self):
        shutil.copytree(self.folder / "a/all-none-r1", self.folder / "b/all-none-r1")
        path = self.folder / "b/all-none-r1/result.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "status": "failed", "reason": "it broke"}))
        for out, sources in (("c", ("a", "b")), ("d", ("b", "a"))):
            self.run_command("merge", *sources, "-o", out)
            self.assertEqual(self.statuses(out), dict.fromkeys(FOUR, "done"))

    def test_machines_are_mixed_only_on_request_and_named_separately(self):
        self.run_batch("--only=all-none-r1", out="b")
        self.be_of_another_machine("b")
        output = self.run_command("merge", "a", "b", "-o", "c", status=1)
        self.assertIn("different machines", output)
        self.run_command("merge", "a", "b", "-o", "c", "--mixed")
        found = self.results("c")
        here = self.results("a")["all-none-r1"]["machine"]
        self.assertEqual({job: result["machine"] for job, result in found.items()}, {
            f"all-none-r1@{here}": here, f"all-slack-r1@{here}": here, f"all-none-r1@{ANOTHER}": ANOTHER,
            f"all-none-r2@{ANOTHER}": ANOTHER, f"all-slack-r2@{ANOTHER}": ANOTHER,
        })

    def test_each_run_is_kept_once_even_if_several_sources_have_it(self):
        """The second machine continues between two merges. A merged folder may be a source of the next merge."""
        self.be_whole("a")
        shutil.rmtree(self.folder / "b")
        shutil.copytree(self.folder / "a", self.folder / "b")
        self.be_of_another_machine("b")
        here = self.results("a")["all-none-r1"]["machine"]
        late = [self.folder / "b" / job for job in FOUR if job != "all-none-r1"]
        for path in late:
            path.rename(self.folder / path.name)
        self.run_command("merge", "a", "b", "-o", "u", "--mixed")
        names = [f"{job}@{here}" for job in FOUR]
        self.assertEqual(sorted(self.results("u")), sorted([*names, f"all-none-r1@{ANOTHER}"]))
        for path in late:
            (self.folder / path.name).rename(path)
        both = sorted([*names, *(f"{job}@{ANOTHER}" for job in FOUR)])
        for sources, out in (("ab", "u"), ("ua", "v"), ("auvb", "u"), ("uv", "w")):
            self.run_command("merge", *sources, "-o", out, "--mixed")
            self.assertEqual(sorted(self.results(out)), both, f"{sources} into {out}")
        self.assertIn("needs --mixed", self.run_batch(out="u", status=1))
        self.assertIn("all of them finished", self.run_batch("--mixed", out="u"))
        self.assertEqual(sorted(self.results("u")), both)

    def test_merge_may_write_into_a_source_unless_its_names_would_change(self):
        self.assertIn("a holds 4 results of 2 folders; 2 of them are new", self.run_command("merge", "a", "b", "-o", "a"))
        self.assertEqual(self.statuses("a"), dict.fromkeys(FOUR, "done"))
        self.be_of_another_machine("b")
        output = self.run_command("merge", "a", "b", "-o", "a", "--mixed", status=1)
        self.assertIn("a was started without --mixed, for one machine; choose another folder with -o", output)
        self.assertEqual(sorted(self.results("a")), FOUR)

    def test_later_failure_and_any_result_replace_a_failure(self):
        shutil.copytree(self.folder / "a/all-none-r1", self.folder / "b/all-none-r1")
        self.fail_job("a/all-none-r1", "at first", "2026-01-01T00:00:00.000Z")
        self.fail_job("b/all-none-r1", "again", "2026-01-02T00:00:00.000Z")
        for sources, out in (("ab", "c"), ("ba", "d"), ("a", "d")):
            self.run_command("merge", *sources, "-o", out)
            self.assertEqual(self.results(out)["all-none-r1"]["reason"], "again")
        shutil.rmtree(self.folder / "b")
        shutil.copytree(Merging.made / "a", self.folder / "b")
        self.assertIn("; 1 of them is new", self.run_command("merge", "b", "-o", "c"))
        self.assertEqual(self.statuses("c"), dict.fromkeys(FOUR, "done"))
        self.assertIn("; 0 of them are new", self.run_command("merge", "a", "-o", "c"))
        self.assertEqual(self.statuses("c"), dict.fromkeys(FOUR, "done"))

    def test_different_agenda_is_a_conflict(self):
        self.run_batch("--only=all-none-r1", "--length=0.3", out="d")
        self.assertIn("clip.length_s of all-none-r1 is 0.3", self.run_command("merge", "a", "d", "-o", "c", status=1))

    def test_folder_without_a_batch_is_refused(self):
        self.assertIn("holds no batch", self.run_command("merge", "a", "nowhere", "-o", "c", status=1))

    def test_different_budget_is_a_conflict(self):
        machine = self.results("a")["all-none-r1"]["machine"]
        for out, budget_ms in (("a", 8.1), ("b", 8.3)):
            calibration = {"machine": machine, "budget_ms": budget_ms}
            (self.folder / out / f"calibration-{machine}.json").write_text(json.dumps(calibration))
        self.assertIn("calibrated separately, to 8.1 and 8.3 ms", self.run_command("merge", "a", "b", "-o", "c", status=1))

    def test_every_machine_keeps_its_budget(self):
        self.be_of_another_machine("b")
        here = self.results("a")["all-none-r1"]["machine"]
        for out, machine, budget_ms in (("a", here, 8.1), ("b", ANOTHER, 8.3)):
            calibration = {"machine": machine, "budget_ms": budget_ms}
            (self.folder / out / f"calibration-{machine}.json").write_text(json.dumps(calibration))
        self.run_command("merge", "a", "b", "-o", "c", "--mixed")
        self.run_command("merge", "c", "-o", "d", "--mixed")
        for out in ("c", "d"):
            kept = [json.loads(path.read_text()) for path in (self.folder / out).glob("calibration*.json")]
            self.assertEqual({it["machine"]: it["budget_ms"] for it in kept}, {here: 8.1, ANOTHER: 8.3})


if __name__ == "__main__":
    with_packages("pydantic, rich, yaml")
    batches.set_up(sys.argv[1:4])
    del sys.argv[1:4]
    unittest.main()
