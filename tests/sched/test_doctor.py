# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what `dlex-sched doctor` says where something is missing: every such line has what would grant it.

Not covered: which checks there are (dlex_sched_commands.sh), other kernels, real containers (a missing capability stands for them).

Run as: test_doctor.py DLEX_SCHED
"""
import ctypes
import os
import pwd
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCHED = os.path.abspath(sys.argv[1])
NOBODY = pwd.getpwnam("nobody").pw_uid
CAP_SYS_NICE, CAP_BPF, CAP_SYS_ADMIN, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 23, 39, 21, 24, 38
LIBC = ctypes.CDLL(None, use_errno=True)
# A command, a user, a version or an option of the kernel, another line; or that nothing helps.
REMEDY = re.compile(r"`[^`]+`|run it with sudo|Linux \d|CONFIG_[A-Z]|see (the|its) line|cannot be changed here")
GIVEN = os.sched_getaffinity(0)


def without(*capabilities):
    """Returns a function that takes these capabilities and the limit of priorities from root before it runs a program."""
    def lose():
        resource.setrlimit(resource.RLIMIT_RTPRIO, (0, 0))
        for capability in capabilities:
            if LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0):
                raise OSError(ctypes.get_errno(), "the capability cannot be dropped")
    return lose


class Doctor(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        os.chmod(folder.name, 0o755)
        self.program = shutil.copy(SCHED, folder.name)

    def lines(self, **options):
        """Returns pairs of "is well" and text by the names of the checks. All that is missing has a remedy."""
        run = subprocess.run([self.program, "doctor"], capture_output=True, text=True, check=True, cwd="/", **options)
        lines = {line[4:23].strip(): (line[:2] == "ok", line[23:]) for line in run.stdout.splitlines()}
        for name, (is_well, text) in lines.items():
            self.assertTrue(is_well or REMEDY.search(text), f"{name}: {text}")
        return lines

    def missing(self, lines, name, *words):
        is_well, text = lines[name]
        self.assertFalse(is_well, f"{name}: {text}")
        for word in words:
            self.assertIn(word, text)

    def test_all_that_is_missing_here_has_a_remedy(self):
        self.assertGreater(len(self.lines()), 20)

    @unittest.skipIf(os.geteuid(), "only root can become another user")
    def test_user_reads_what_would_grant_the_rights(self):
        lines = self.lines(user=NOBODY, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_RTPRIO, (0, 0)))
        self.missing(lines, "fixed priorities", "sudo", "limits.conf")
        self.missing(lines, "priority limit", "limits.conf")
        self.missing(lines, "reservations", "sudo", "setcap cap_sys_nice+ep")
        for name in ("reclaiming", "budget left", "overrun signals", "new threads"):
            self.missing(lines, name)
        self.missing(lines, "BPF", "run it with sudo")
        self.missing(lines, "switches by BPF", "run it with sudo")

    @unittest.skipIf(os.geteuid(), "only root can lose capabilities")
    def test_root_without_capabilities_reads_about_the_container_and_not_about_sudo(self):
        lines = self.lines(preexec_fn=without(CAP_SYS_NICE, CAP_BPF, CAP_SYS_ADMIN))
        for name, option in (("fixed priorities", "SYS_NICE"), ("reservations", "SYS_NICE"), ("BPF", "BPF"),
                             ("switches by BPF", "BPF")):
            self.missing(lines, name, f"--cap-add={option}")
            self.assertNotIn("with sudo", lines[name][1])
        self.missing(lines, "priority limit", "--ulimit rtprio=60")

    @unittest.skipIf(os.geteuid(), "only root can become another user")
    def test_user_in_a_container_reads_neither_sudo_nor_setcap(self):
        def enter():
            without(CAP_SYS_NICE, CAP_BPF, CAP_SYS_ADMIN)()
            os.setuid(NOBODY)

        def give_up_new_rights():
            resource.setrlimit(resource.RLIMIT_RTPRIO, (0, 0))
            os.setuid(NOBODY)
            LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)

        for prepare, words in ((enter, "CAP_SYS_NICE is missing"), (give_up_new_rights, "no_new_privs")):
            lines = self.lines(preexec_fn=prepare)
            for name in ("fixed priorities", "reservations", "BPF", "switches by BPF"):
                self.missing(lines, name, *([] if "BPF" in name else [words]))
                self.assertNotRegex(lines[name][1], "setcap|with sudo|limits.conf")

    @unittest.skipIf(os.geteuid(), "only root can become another user with a higher limit")
    def test_limit_of_priorities_is_read(self):
        try:
            resource.setrlimit(resource.RLIMIT_RTPRIO, (60, 60))
        except (OSError, ValueError) as error:
            self.skipTest(f"the limit cannot be raised here: {error}")
        lines = self.lines(user=NOBODY)
        self.assertEqual(lines["priority limit"], (True, "60, which is enough for every command"))

    @unittest.skipIf(len(GIVEN) < 2, "there is only one CPU")
    def test_pinned_shell_reads_how_it_gets_all_cpus(self):
        if not self.lines()["reservations"][0]:
            self.skipTest("nothing can be reserved here")
        lines = self.lines(preexec_fn=lambda: os.sched_setaffinity(0, {max(GIVEN)}))
        self.missing(lines, "reservations", "`taskset -acp", str(os.getpid()))

    def test_nothing_is_changed(self):
        def state():
            files = sorted(Path("/proc/sys/kernel").glob("*sched*"))
            return [file.read_text() for file in files if file.is_file()], os.sched_getscheduler(0), os.sched_getaffinity(0)

        before = state()
        self.lines()
        self.assertEqual(state(), before)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
