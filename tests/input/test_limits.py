# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what the record says of limits of CPU time that change while a film plays.

The affinity is changed, which needs no privileges, and the CPUs of a control group, which needs root. Not covered: quotas
(test_quota.py; tests/player/test_cpu_limits.c has made-up control groups); what is won by following the changes, which is measured.
"""
import contextlib
import os
import subprocess
import time
import unittest
from pathlib import Path

from playing import NULL, PLAY, Case, clip, main, play
from starting import await_limits_watch
from temporary_group import make_group


def set_affinity(process: int, cpus: set[int]) -> None:
    """Sets the CPUs of all threads, as taskset -a does."""
    for task in Path(f"/proc/{process}/task").iterdir():
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(int(task.name), cpus)


def make_cpuset() -> Path:
    """Makes a control group with all CPUs of the group above."""
    divided = Path("/sys/fs/cgroup/cpuset")
    root = divided if divided.is_dir() else divided.parent

    def set_up(group: Path) -> None:
        if root == divided:
            for name in ("cpuset.cpus", "cpuset.mems"):
                (group / name).write_text((root / name).read_text())
        (group / "cpuset.cpus").read_text()

    return make_group(root, "cpuset", set_up)


class Limits(Case):
    def cpus_seen(self) -> list[int]:
        run, _ = self.record()
        limits = run["cpu_limits"]
        self.assertEqual(limits["count"], len(limits["seen"]))
        times = [run["started_ns"], *(seen["at_ns"] for seen in limits["seen"]), run["ended_ns"]]
        self.assertEqual(times, sorted(times))
        return [seen["cpus"] for seen in limits["seen"]]

    def expect_followed(self, change, **options):
        """Plays, lets `change` take all CPUs but one and give them back, and expects both in the record."""
        cpus = os.sched_getaffinity(0)
        command = [PLAY, *NULL, "--length=4", f"--record={self.dir}/record", clip("progressive_cabac")]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, **options) as player:
            await_limits_watch(player)
            for these in ({min(cpus)}, cpus):
                time.sleep(1)
                change(player.pid, these)
            self.assertEqual(player.wait(60), 0)
        self.assertEqual(self.cpus_seen(), [len(cpus), 1, len(cpus)])

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "needs two CPUs")
    def test_cpus_that_disappear_and_come_back_are_recorded(self):
        self.expect_followed(set_affinity)

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "needs two CPUs")
    def test_cpus_of_a_control_group_that_disappear_and_come_back_are_recorded(self):
        group = make_cpuset()
        self.addCleanup(group.rmdir)

        def change(_player, cpus):
            (group / "cpuset.cpus").write_text(",".join(map(str, cpus)))

        self.expect_followed(change, preexec_fn=lambda: (group / "cgroup.procs").write_text("0"))

    def test_limits_of_a_short_play_are_those_of_its_threads(self):
        one = min(os.sched_getaffinity(0))
        for options in (("--queue=0",), (f"--cpu={one}",), (f"--cpu={one}", "--queue=0")):
            with self.subTest(options):
                self.expect(play(*NULL, "--length=0.5", *options, f"--record={self.dir}/record", clip("progressive_cabac")), 0)
                self.assertEqual(self.cpus_seen(), [1 if "--cpu" in options[0] else len(os.sched_getaffinity(0))])
                for name in ("run.json", "frames.csv"):
                    (self.dir / "record" / name).unlink()


if __name__ == "__main__":
    main()
