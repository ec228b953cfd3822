# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the player in a control group with a small CPU quota, in which decodes pause in the middle. Needs root.

Not covered: how well pictures are in time, which the laboratory measures.
"""
import os
import tempfile
import unittest
from pathlib import Path

from playing import NULL, UNTIMED, KeysCase, clip, main, play, sums_of

LEFT, RIGHT, PAUSE = b"\x1b[D", b"\x1b[C", b" "
PERIOD_US, QUOTA_US = 40000, 1500
DIVIDED, UNIFIED = Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup")


def make_group() -> Path:
    """Makes a control group with the quota. Skips the tests where that is not possible."""
    root = DIVIDED if (DIVIDED / "cpu.cfs_quota_us").exists() or (DIVIDED / "cgroup.procs").exists() else UNIFIED
    try:
        group = Path(tempfile.mkdtemp(prefix="dlex-test-quota-", dir=root))
    except OSError as cause:
        raise unittest.SkipTest(f"no control group can be made here: {cause}") from cause
    try:
        if root == DIVIDED:
            (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (group / "cpu.cfs_quota_us").write_text(str(QUOTA_US))
        else:
            (group / "cpu.max").write_text(f"{QUOTA_US} {PERIOD_US}")
    except OSError as cause:
        group.rmdir()
        raise unittest.SkipTest(f"control groups have no quota here: {cause}") from cause
    return group


class Quota(KeysCase):
    KEY_STEP_S = 1.0

    def setUp(self):
        super().setUp()
        group = make_group()
        self.addCleanup(group.rmdir)
        os.environ["DLEX_GROUP"] = str(group / "cgroup.procs")
        self.addCleanup(os.environ.pop, "DLEX_GROUP")
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

    def test_keys_have_their_effect_while_a_decode_waits(self):
        for keys in ([RIGHT, b"q"], [PAUSE, LEFT, PAUSE, RIGHT, b"q"], [PAUSE, b"q"]):
            self.assertEqual(self.press(keys, clip("bpyramid")), 0, self.output)


main()
