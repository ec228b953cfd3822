# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests faults that may cost a batch at most the running job.

They are kill -9 at any moment, Ctrl-C, a full disk, a clip that vanishes, a second batch on the same machine, and an
error in the laboratory itself.

    test_bench_batch_faults.py PLAYER QOE MEDIA_MAKE

Not covered: a power failure. Only the order of writing is tested: no file is renamed before it is on the disk.
"""

import contextlib
import errno
import os
import random
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path
from unittest import mock

import batches
from batches import FOUR, LIMIT_S, Batches
from outside import wait_until, with_packages

KILLS = int(os.environ.get("DLEX_TEST_KILLS", "50"))
# No first result takes longer, except where the batch has to wait for another measurement.
LONGEST_SPAN_S = 10
CALIBRATED = """
config: {{observe: outside, defaults: {{clip: {{recipe: stamped_small, unstamped: progressive_cabac}}}}}}
sections: [{{id: cbs, params: {{sched: "deadline:calibrated/40"}}}}]
workloads:
  - {{id: slack, name: dlex-play}}
"""
# All policies that change settings of the machine: `deadline` makes a root domain, `quota` makes a control group.
POLICIES = """
config: {{iterations: {reps}, observe: inside, defaults: {{clip: {{file: clip.mp4, length_s: {length_s}}}}}}}
sections:
  - {{id: other, params: {{sched: other}}}}
  - {{id: cbs, params: {{sched: "deadline:20/40"}}}}
  - {{id: quota, params: {{sched: "quota:20/40"}}}}
workloads:
  - {{id: slack, name: dlex-play}}
"""


def result_of(job, **content):
    from dlex_bench.job.result import JobResult

    return JobResult.model_validate({"version": 1, "job": job.to_json(), **content})


def machine_settings():
    """Returns our journals and control groups, and the settings of the machine that a root domain changes."""
    from dlex_bench.machine.cgroups import PREFIX, hierarchy_of
    from dlex_bench.machine.journal import FOLDER

    found = {f"journals in {FOLDER}": sorted(os.listdir(FOLDER)) if FOLDER.exists() else []}
    for controller in ("cpuset", "cpu", "cpuacct"):
        hierarchy = hierarchy_of(controller)
        if hierarchy:
            found[controller] = sorted(str(path) for path in hierarchy.root.rglob(f"{PREFIX}*") if path.is_dir())
            for path in hierarchy.root.glob("cpuset.sched_load_balance"):
                found[str(path)] = path.read_text()
    return found


class Killed(Batches):
    def settings_at_rest(self):
        """Returns the settings while no other batch runs."""
        from dlex_bench.machine.lock import only_measurement

        with only_measurement(os.sched_getaffinity(0), print):
            return machine_settings()

    def test_batch_that_is_killed_again_and_again_ends_with_every_result(self):
        before = self.settings_at_rest()
        self.write_agenda(reps=14, text=POLICIES)
        chance = random.Random(KILLS)
        kept = {}
        span_s = self.first_result_s()
        for _ in range(KILLS):
            process = self.start("run", "agenda.yaml", "-o", "out", "--wait")
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(chance.uniform(0, 2 * span_s))
            process.kill()
            process.communicate()
            inodes = self.inodes()
            self.assertEqual({job: inodes.get(job) for job in kept}, kept)  # nothing lost, nothing repeated
            self.results()  # fails if one is not whole
            kept = inodes
        self.run_batch()
        statuses = self.statuses()
        self.assertEqual(len(statuses), 42)
        self.assertLessEqual(set(statuses.values()), {"done", "skipped"})
        self.assertEqual({status for job, status in statuses.items() if job.startswith("other")}, {"done"})
        self.assert_nothing_runs()
        self.assertEqual(self.settings_at_rest(), before)

    def first_result_s(self):
        begun = time.monotonic()
        process = self.start("run", "agenda.yaml", "-o", "first", "--wait", "--reps=1", "--only=other*")
        wait_until(lambda: self.inodes("first") or process.poll() is not None, LIMIT_S)
        taken_s = time.monotonic() - begun
        self.finish(process)
        return min(taken_s, LONGEST_SPAN_S)

    def test_no_process_outlives_a_batch_that_was_killed(self):
        self.write_agenda(length_s=7)
        process = self.start("run", "agenda.yaml", "-o", "out", "--wait")
        players = wait_until(lambda: self.players() or process.poll() is not None, LIMIT_S)
        self.assertIsInstance(players, list, process.poll())
        for player in players:
            os.kill(player, signal.SIGSTOP)  # now it cannot end by itself
            self.addCleanup(batches.kill, player)
        process.kill()
        process.communicate()
        self.assert_nothing_runs()

    def players(self):
        """Returns the players that play the clip, without those that only print their version."""
        commands = {pid: batches.command_of(pid) for pid in batches.processes_with(self.mark)}
        return [
            pid for pid, words in commands.items()
            if words and words[0].endswith("dlex-play") and any(word.endswith("clip.mp4") for word in words)
        ]


class Interrupted(Batches):
    def test_signal_ends_the_batch_with_its_status_and_the_same_command_continues(self):
        self.write_agenda(length_s=2)
        for signum in (signal.SIGINT, signal.SIGTERM):
            process = self.start("run", "agenda.yaml", "-o", "out", "--wait")
            before = self.inodes()
            wait_until(lambda before=before, process=process: self.inodes() != before or process.poll() is not None, LIMIT_S)
            said = self.interrupt(process, signum)
            self.assertRegex(said, r"interrupted: \d of 4 jobs are finished; the same command continues")
            self.assert_nothing_runs()
            kept = self.inodes()
            folders = {path.name for path in (self.folder / "out").glob("all-*")}
            self.assertEqual(folders, set(kept))
        self.run_batch()
        self.assertEqual(self.statuses(), dict.fromkeys(FOUR, "done"))
        self.assertEqual({job: self.inodes()[job] for job in kept}, kept)


class Disk(Batches):
    def setUp(self):
        super().setUp()
        self.disk = self.folder / "disk"
        self.disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", self.disk], capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("only root may mount a small disk")
        self.addCleanup(subprocess.run, ["umount", "--lazy", self.disk], check=True)

    def fill(self):
        with contextlib.suppress(OSError), (self.disk / "filling").open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))

    def test_full_disk_ends_the_batch_and_loses_no_result(self):
        self.write_agenda(length_s=2)
        out = self.disk / "out"
        process = self.start("run", "agenda.yaml", "-o", str(out), "--wait")
        wait_until(lambda: (self.inodes(out) and len(list(out.glob("all-*"))) > 1) or process.poll() is not None, LIMIT_S)
        self.fill()
        self.assertIn("is full; no result was lost", self.finish(process, 2))
        kept = self.inodes(out)
        self.assertEqual(set(self.statuses(out).values()), {"done"})
        self.assertEqual({path.name for path in out.glob("all-*")}, set(kept))
        self.assertIn("is full", self.run_batch(out=out, status=2))
        (self.disk / "filling").unlink()
        self.run_batch(out=out)
        self.assertEqual(self.statuses(out), dict.fromkeys(FOUR, "done"))
        self.assertEqual({job: self.inodes(out)[job] for job in kept}, kept)


    def test_full_disk_is_reported_before_anything_begins(self):
        out = self.disk / "out"
        out.mkdir()
        self.write_agenda(text=CALIBRATED)
        self.fill()
        for command in ("run", "calibrate"):
            told = self.run_command(command, "agenda.yaml", "-o", str(out), "--wait", status=2)
            self.assertIn("is full; no result was lost", told)
        told = self.run_command("run-job", "agenda.yaml", "cbs-slack-r1", "-o", str(out), "--wait", status=2)
        self.assertIn("is full; no result was lost", told)
        self.assertEqual({path.name for path in out.rglob("*") if path.is_file()} - {".lock", ".claim"}, set())

    def test_disk_without_free_inodes_counts_as_full(self):
        from dlex_bench.disk_space import DiskFull, require_room, telling_full_disk

        subprocess.run(["mount", "-o", "remount,size=24m,nr_inodes=10", self.disk], check=True)
        require_room(self.disk)
        with self.assertRaises(DiskFull), telling_full_disk(self.disk):
            for number in range(10):
                (self.disk / str(number)).touch()
        with self.assertRaises(DiskFull):
            require_room(self.disk)

    def test_full_disk_while_calibrating_keeps_the_tries_so_far(self):
        from dlex_bench.batch.runner import _calibrate_for
        from dlex_bench.disk_space import DiskFull
        from dlex_bench.job.budget import read_calibration

        out = self.disk / "out"
        out.mkdir()
        plan, context = self.calibrated_plan(), self.context(out)

        def try_that_fills_the_disk(job, folder, _context):
            if folder.name == "try-2":
                self.fill()
            (folder / "frames.csv").touch()
            return self.played(job)

        with mock.patch("dlex_bench.job.calibrate.execute", side_effect=try_that_fills_the_disk):
            for _ in range(2):
                with self.assertRaisesRegex(DiskFull, "is full; no result was lost") as caught:
                    _calibrate_for(plan.jobs, plan, context, mock.Mock())
                self.assertEqual(caught.exception.code, 2)
                self.assertEqual(len(read_calibration(out, "m").tries), 1)
                self.assertEqual(sorted(path.name for path in out.iterdir()), ["calibration", "calibration-m.json"])
                self.assertEqual([path.name for path in (out / "calibration/m").iterdir()], ["try-1"])
        (self.disk / "filling").unlink()
        with mock.patch("dlex_bench.job.calibrate.execute", return_value=self.played(plan.jobs[0])) as execute:
            _calibrate_for(plan.jobs, plan, context, mock.Mock())
        self.assertEqual(execute.call_args_list[0].args[0].id, "calibration-try-2")
        self.assertEqual(read_calibration(out, "m").budget_ms, 10)

    def test_try_that_failed_for_lack_of_room_raises_disk_full(self):
        from dlex_bench.disk_space import DiskFull
        from dlex_bench.job.calibrate import calibrate

        out = self.disk / "out"
        out.mkdir()
        plan, context = self.calibrated_plan(), self.context(out)

        def fail(job, _folder, _context):
            self.fill()
            return result_of(job, status="failed", reason="the observer could not write its record")

        with mock.patch("dlex_bench.job.calibrate.execute", side_effect=fail), self.assertRaises(DiskFull):
            calibrate(plan.jobs[0], context, mock.Mock())
        self.assertEqual(list((out / "calibration/m").iterdir()), [])

    def calibrated_plan(self):
        from dlex_bench.agenda.jobs import Extent
        from dlex_bench.batch.plan import read_plan

        self.write_agenda(text=CALIBRATED)
        return read_plan(self.folder / "agenda.yaml", Extent())

    def context(self, out):
        from dlex_bench.job.context import Context

        return Context(self.folder, out, machine="m")

    @staticmethod
    def played(job):
        from dlex_bench.job.bisection import AIM


        figures = {"frames": 812, "dropped": 45, "drops_fraction": AIM, "skew_ms_mean": 84.5, "skew_ms_sd": 1.5}
        return result_of(job, status="done", figures=figures, rtapp={}, load={"work_held": True})


class Others(Batches):
    def test_clip_that_vanishes_in_the_middle_fails_only_jobs_that_need_it(self):
        self.write_agenda(length_s=1)
        process = self.start("run", "agenda.yaml", "-o", "out", "--wait")
        wait_until(lambda: self.inodes() or process.poll() is not None, LIMIT_S)
        (self.folder / "clip.mp4").unlink()
        self.finish(process)
        statuses = self.statuses()
        self.assertEqual(set(statuses), set(FOUR))
        self.assertEqual(set(statuses.values()), {"done", "failed"})
        for result in self.results().values():
            self.assertIn("clip.mp4", result["reason"] or "clip.mp4")

    def test_film_that_was_replaced_under_its_name_is_refused(self):
        self.run_batch("--only=all-none-r1")
        before = self.inodes()
        film = Path(self.clip).read_bytes()
        (self.folder / "clip.mp4").unlink()
        (self.folder / "clip.mp4").write_bytes(film + b"\0\0\0\x08free")  # the same pictures in another file
        for command in (("run", "agenda.yaml", "--wait"), ("run", "agenda.yaml", "--wait", "--only=all-none-r1"),
                        ("run-job", "agenda.yaml", "all-none-r2", "--wait")):
            told = self.run_command(*command, "-o", "out", status=1)
            self.assertIn("clip.mp4 has another content than the film that out was measured with", told)
            self.assertIn("put that film back, or choose another folder with -o", told)
        self.assertEqual(self.inodes(), before)
        self.run_batch("--only=all-none-r1", out="new")
        self.assertNotEqual(self.results()["all-none-r1"]["films"], self.results("new")["all-none-r1"]["films"])
        told = self.run_command("compare", "out", "new", status=2)
        self.assertIn("all-none is left out: A played the film ", told)
        told = self.run_command("merge", "out", "new", "-o", "united", status=1)
        self.assertIn("clip.mp4 had another content in out than in new", told)
        (self.folder / "clip.mp4").write_bytes(film)
        self.run_batch("--only=all-none-r1")
        self.assertEqual(self.inodes(), before)

    def test_second_batch_is_refused_on_any_cpu(self):
        self.write_agenda(length_s=7)
        cpus = sorted(os.sched_getaffinity(0))
        first = self.start("run", "agenda.yaml", "-o", "out", "--wait")
        self.assertTrue(wait_until(lambda: list(self.folder.glob("out/all-*")) or first.poll() is not None, LIMIT_S))
        for cpu in cpus:
            self.write_agenda(text=batches.AGENDA.replace("config: {{", f"config: {{{{cpu: {cpu}, "), name="other.yaml")
            told = self.run_command("run", "other.yaml", "-o", "other", status=1)
            self.assertIn(f"CPU {cpus[-1]} is being measured by process {first.pid}", told)
        told = self.run_command("run", "agenda.yaml", "-o", "out", status=1)
        self.assertIn("another batch is writing to out", told)
        self.interrupt(first)
        self.assertFalse(list(self.folder.glob("other/all-*")))


class Faults(Batches):
    """Errors in the laboratory itself, which cannot be caused from outside."""

    def setUp(self):
        super().setUp()
        from dlex_bench.agenda.jobs import Extent
        from dlex_bench.batch.plan import read_plan
        from dlex_bench.batch.results import Store
        from dlex_bench.job.context import Context

        self.job = read_plan(self.folder / "agenda.yaml", Extent()).jobs[0]
        self.store = Store(self.folder / "out")
        self.store.out.mkdir()
        self.context = Context(self.folder, self.store.out)

    def run_one(self, **behaviour):
        from dlex_bench.batch.one import run_one

        with mock.patch("dlex_bench.job.execute.execute", **behaviour):
            return run_one(self.store, self.job, self.context)

    def test_exception_in_a_job_fails_it_and_leaves_a_traceback(self):
        result = self.run_one(side_effect=ZeroDivisionError("by nothing"))
        self.assertEqual(result.status, "failed")
        self.assertIn("ZeroDivisionError: by nothing", result.reason)
        self.assertEqual(self.store.result(self.job.id), result)
        self.assertIn("Traceback", (self.store.folder(self.job.id) / "traceback.txt").read_text())

    def test_job_that_failed_for_lack_of_room_leaves_no_folder(self):
        from dlex_bench.disk_space import ROOM_BYTES
        from dlex_bench.errors import LabError

        free = [mock.Mock(free=ROOM_BYTES), mock.Mock(free=ROOM_BYTES - 1)]
        failed = result_of(self.job, status="failed", reason="the player could not write its record")
        with mock.patch("shutil.disk_usage", side_effect=free), self.assertRaisesRegex(LabError, "is full"):
            self.run_one(return_value=failed)
        self.assertFalse(self.store.folder(self.job.id).exists())

    def test_full_disk_elsewhere_fails_only_the_job(self):
        def fill_another(_job, folder, _context):
            (folder / "frames.csv").write_text("a record")
            Path("/dev/full").write_text("no room for it")

        result = self.run_one(side_effect=fill_another)
        self.assertEqual((result.status, self.store.result(self.job.id)), ("failed", result))
        self.assertIn("there is room on the disk of", result.reason)
        result = self.run_one(side_effect=OSError(errno.ENOSPC, "No space left on device", "/run/dlex.journal"))
        self.assertIn("none for /run/dlex.journal", result.reason)

    def test_disk_full_is_raised_only_for_the_disk_of_the_results(self):
        from dlex_bench.disk_space import DiskFull, telling_full_disk
        from dlex_bench.errors import LabError

        out = self.store.out
        with self.assertRaisesRegex(LabError, "there is room on the disk of .*, but none for") as caught:
            with telling_full_disk(out):
                Path("/dev/full").write_text("no room for it")
        self.assertNotIsInstance(caught.exception, DiskFull)
        for cause in (OSError(errno.EDQUOT, "over the quota"), OSError(errno.ENOSPC, "no inode", str(out / "x"))):
            with self.assertRaises(DiskFull), telling_full_disk(out):
                raise cause
        full = mock.patch("shutil.disk_usage", return_value=mock.Mock(free=0))
        with full, self.assertRaises(DiskFull), telling_full_disk(out):
            Path("/dev/full").write_text("no room for it")

    def test_result_is_removed_before_its_records(self):
        """A process that is killed between the two steps must not leave a finished job without its records."""
        killed = mock.patch("shutil.rmtree", side_effect=KeyboardInterrupt)
        for remove in (lambda: self.store.begin(self.job), lambda: self.store.drop(self.job.id)):
            self.run_one(return_value=result_of(self.job, status="failed", reason="it broke"))
            with killed, self.assertRaises(KeyboardInterrupt):
                remove()
            self.assertIsNone(self.store.result(self.job.id))

    def test_records_reach_the_disk_before_the_result_is_renamed(self):
        def play(job, folder, _context):
            (folder / "frames.csv").write_text("a record")
            return result_of(job, status="done", reason=None)

        order = []
        fsync, replace = os.fsync, Path.replace

        def noted_fsync(descriptor):
            order.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")).name)
            fsync(descriptor)

        def noted_replace(path, target):
            order.append(f"rename {target.name}")
            return replace(path, target)

        with mock.patch("os.fsync", noted_fsync), mock.patch.object(Path, "replace", noted_replace):
            self.run_one(side_effect=play)
        wanted = ["frames.csv", ".result.json.partial", "rename result.json", self.job.id, "out"]
        self.assertEqual([step for step in order if step in wanted], wanted)


if __name__ == "__main__":
    with_packages("pydantic, rich, yaml")
    batches.set_up(sys.argv[1:4])
    del sys.argv[1:4]
    unittest.main()
