# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the player in a control group with a small CPU quota, in which decodes pause in the middle. Needs root.

Not covered: how well pictures are in time, which the laboratory measures.
"""
import os
import time
from pathlib import Path

from playing import NULL, UNTIMED, KeysCase, clip, main, play, start, sums_of
from starting import await_limits_watch
from temporary_group import make_group

LEFT, RIGHT, PAUSE = b"\x1b[D", b"\x1b[C", b" "
PERIOD_US, QUOTA_US = 40000, 1500
DIVIDED, UNIFIED = Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup")


def set_quota(group: Path, quota_us: int) -> None:
    if group.parent == DIVIDED:
        (group / "cpu.cfs_quota_us").write_text(str(quota_us))
    else:
        (group / "cpu.max").write_text(f"{quota_us} {PERIOD_US}")


def make_group_with_quota() -> Path:
    root = DIVIDED if (DIVIDED / "cpu.cfs_quota_us").exists() or (DIVIDED / "cgroup.procs").exists() else UNIFIED

    def set_up(group: Path) -> None:
        if root == DIVIDED:
            (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
        set_quota(group, QUOTA_US)

    return make_group(root, "quota", set_up)


class Quota(KeysCase):
    KEY_STEP_S = 1.0

    def setUp(self):
        super().setUp()
        group = make_group_with_quota()
        self.addCleanup(group.rmdir)
        os.environ["DLEX_GROUP"] = str(group / "cgroup.procs")
        self.addCleanup(os.environ.pop, "DLEX_GROUP")
        self.set_quota = lambda quota_us: set_quota(group, quota_us)
        self.throttled = lambda: (group / "cpu.stat").read_text()

    def test_shown_pictures_are_those_of_the_film(self):
        film = clip("bpyramid")
        sums = {}
        for name, options in (("ideal", (*UNTIMED, "--drop=none")), ("limited", (*NULL, "--length=4"))):
            self.expect(play(*options, f"--framemd5={self.dir}/{name}", f"--record={self.dir}/{name}.record", film), 0)
            sums[name] = sums_of((self.dir / name).read_text())
        self.assertGreater(len(sums["limited"]), 5)
        for pts, found in sums["limited"].items():
            self.assertEqual(found, sums["ideal"][pts], pts)
        self.assertRegex(self.throttled(), r"nr_periods [1-9]")  # the quota was there

    def test_quota_that_changes_is_followed(self):
        with start(*NULL, "--length=3", f"--record={self.dir}/record", clip("progressive_cabac")) as player:
            await_limits_watch(player)
            time.sleep(0.5)
            self.set_quota(30000)
            self.assertEqual(player.wait(60), 0)
        run, _ = self.record()
        self.assertEqual([seen["quota"] for seen in run["cpu_limits"]["seen"]], [QUOTA_US / PERIOD_US, 30000 / PERIOD_US])

    def test_keys_have_their_effect_while_a_decode_waits(self):
        for keys in ([RIGHT, b"q"], [PAUSE, LEFT, PAUSE, RIGHT, b"q"], [PAUSE, b"q"]):
            self.assertEqual(self.press(keys, clip("bpyramid")), 0, self.output)


main()
