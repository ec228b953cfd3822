# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests `dlex-sched tune` on programs and surroundings that try to keep a reservation, or more rights than they should have.

The tests of the rights of a command are also for the commands of `period` and `rm run`.

Skipped without root, because only root may reserve CPU time. Not covered: hostile journals (test_undo_journal), and what
single reservations survive (test_reservation).

Run as: test_tune_hostile.py DLEX_SCHED PERIODIC [CLASS.test ...]
"""
import contextlib
import fcntl
import os
import pwd
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from tune_case import (
    NOBODY,
    PERIODIC,
    PLAYED,
    PLAYS_AND_EXECUTES,
    SCHED,
    Case,
    family,
    main,
    name_of,
    reserved,
    rows_of,
    threads,
    wait_until,
)


def parent_of(pid):
    """Returns the parent of a process; None if it has ended."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return None


class Surroundings(Case):
    def rows(self):
        return rows_of(self.dir / "rows") if (self.dir / "rows").exists() else []

    def test_few_open_files_leave_some_threads_unwatched(self):
        run = self.tune(f"--record={self.dir}/rows", "--quiet", "--", PERIODIC, 25, 0.2, 90, 100,
                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (80, 80)))
        self.assertTrue(wait_until(lambda: len(self.rows()) >= 5))
        run.terminate()
        said = self.end_of(run)[1]
        self.assertRegex(said, r"threads were not watched: too many open files")
        self.expect_nothing_left()

    def test_threads_beyond_those_that_can_be_watched_are_counted(self):
        run = self.tune("--dry-run", f"--record={self.dir}/rows", "--", "sh", "-c", f"{PERIODIC} 5 0.05 90 128; exit 1")
        self.assertTrue(wait_until(lambda: any(row["threads"] == "129" for row in self.rows())))
        player = family(run.pid)[-1]
        run.terminate()
        run.wait(timeout=30)
        os.kill(player, signal.SIGKILL)  # the shell that it outlives was ended
        said = self.end_of(run)[1]
        self.assertIn(" 129 threads", said)
        self.assertIn("1 threads were not watched: there are too many", said)

    def test_everything_is_given_back_while_nobody_reads_the_messages(self):
        player = self.player()
        reads, writes = os.pipe()
        fcntl.fcntl(writes, fcntl.F_SETPIPE_SZ, 4096)
        run = self.start(SCHED, "tune", f"--pid={player.pid}", stderr=writes)
        self.expect_reservation(player.pid)
        os.set_blocking(writes, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writes, b"x")
        os.set_blocking(writes, True)
        time.sleep(2.5)  # lines that would wait for a reader
        self.assertTrue(reserved(player.pid))
        run.terminate()
        self.expect_no_reservation(player.pid)
        run.wait(timeout=30)
        for end in (reads, writes):
            os.close(end)
        self.expect_nothing_left()


class Processes(Case):
    def refused(self, pid):
        run = self.tune(f"--pid={pid}")
        code, said = self.end_of(run)
        self.assertEqual(code, 2, said)
        return said

    def test_thread_that_is_not_the_first_one_is_refused(self):
        player = self.player(25, 1, 90, 2)
        self.assertTrue(wait_until(lambda: len(threads(player.pid)) == 2))
        second = max(set(threads(player.pid)) - {player.pid})
        self.assertIn(f"process {second} is only a thread", self.refused(second))

    def test_thread_of_the_kernel_is_refused(self):
        of_kernel = next((int(pid) for pid in os.listdir("/proc") if pid.isdigit() and int(pid) > 2 and parent_of(pid) == 2), None)
        if of_kernel is None or name_of(2) != "kthreadd":
            self.skipTest("the kernel's threads cannot be seen here")
        self.assertIn("is a thread of the kernel", self.refused(of_kernel))


# What runs a command, with options that make it short.
RUNNING = (["tune", "--quiet"], ["period", "--seconds=0.2"], ["rm", "run", "--rate=25"])
NO_CAPABILITIES = "Inh 0 Prm 0 Eff 0 Amb 0"


class Rights(Case):
    def under_sudo(self, command, script, **variables):
        return subprocess.run([SCHED, *command, "--", "sh", "-c", script], capture_output=True, text=True, check=False,
                              env={**os.environ, **variables})

    def rights_of_command(self, command, **variables):
        """Returns the user, the groups, the capabilities and the home of a command that is run so, and its user's name."""
        script = ("capabilities=$(sed -En 's/^Cap(Inh|Prm|Eff|Amb):.0*(0|[1-9a-f].*)$/\\1 \\2/p' /proc/self/status); "
                  "echo own: $(id -u), $(id -G), $capabilities, $HOME, $USER.")
        run = self.under_sudo(command, script, **variables)
        self.assertEqual(run.returncode, 0, run.stderr)
        found = re.search(r"^own: (\d+), (.*), (.*), (.*), (.*)\.$", run.stdout, re.MULTILINE)  # period reports there as well
        self.assertIsNotNone(found, run.stdout)
        return found.groups()

    def test_command_of_an_unknown_user_of_sudo_does_not_run_as_root(self):
        for user in ("4294967294", "12x", "-1", "99999999999999999999"):
            for command in RUNNING:
                with self.subTest(user=user, command=command[0]):
                    run = self.under_sudo(command, "id -u", SUDO_UID=user)
                    self.assertEqual((run.returncode, run.stdout), (126, ""), run.stderr)

    def test_command_of_a_user_of_sudo_does_not_get_a_foreign_runtime_folder(self):
        for folder, expected in (("/", "none"), ("/nowhere", "none"), (str(self.dir), str(self.dir))):
            with self.subTest(folder=folder):
                os.chown(self.dir, NOBODY, -1)
                run = self.under_sudo(["tune", "--quiet"], "echo ${XDG_RUNTIME_DIR-none}", SUDO_UID=str(NOBODY),
                                      XDG_RUNTIME_DIR=folder)
                self.assertEqual(run.stdout, f"{expected}\n", run.stderr)

    def test_program_that_is_setuid_refuses_everything(self):
        if os.statvfs(self.dir).f_flag & os.ST_NOSUID:
            self.skipTest("the file system does not allow it")
        self.dir.chmod(0o755)
        sched = shutil.copy(SCHED, self.dir)
        for mode in (0o4755, 0o2755):
            os.chmod(sched, mode)
            for command in (*([*words, "--", "id"] for words in RUNNING), ["repair"]):
                with self.subTest(mode=oct(mode), command=command[0]):
                    run = subprocess.run([sched, *command], capture_output=True, text=True, check=False, user=NOBODY, group=NOBODY,
                                         cwd="/", env={**os.environ, "SUDO_UID": "1"})
                    self.assertIn("must not be installed setuid", run.stderr)
                    self.assertEqual(run.stdout, "")
                    # At the end the sanitizers search for leaks, which the kernel does not allow in a setgid program.
                    if "LeakSanitizer has encountered a fatal error" not in run.stderr:
                        self.assertEqual(run.returncode, 2, run.stderr)

    def copies(self):
        """Returns paths of dlex-sched and periodic that every user may run. Others may not be able to enter the build's folder."""
        self.dir.chmod(0o755)
        return [shutil.copy(path, self.dir) for path in (SCHED, PERIODIC)]

    def test_command_runs_without_capabilities(self):
        for command in RUNNING:
            with self.subTest(command=command[0]):
                user, _, capabilities, *_ = self.rights_of_command(command)
                self.assertEqual((user, capabilities), ("0", NO_CAPABILITIES))

    def test_command_runs_as_the_user_of_sudo(self):
        user = pwd.getpwuid(NOBODY)
        expected = str(NOBODY), str(user.pw_gid), NO_CAPABILITIES, user.pw_dir, user.pw_name
        for command in RUNNING:
            with self.subTest(command=command[0]):
                self.assertEqual(self.rights_of_command(command, SUDO_UID=str(NOBODY), SUDO_GID="0"), expected)

    def test_user_without_rights_sees_what_would_be_reserved(self):
        if int(Path("/proc/sys/kernel/perf_event_paranoid").read_text()) > 2:
            self.skipTest("kernel.perf_event_paranoid is above 2")
        sched, periodic = self.copies()
        run = self.start(sched, "tune", "--", periodic, 25, 4, 20, user=NOBODY, cwd="/", stderr=subprocess.PIPE, text=True)
        code, said = self.end_of(run)
        self.assertEqual(code, int(PLAYED), said)
        self.assertIn("nothing will be reserved, only shown: this user may not reserve CPU time", said)
        self.assertRegex(said, r"would reserve 1\d\.\d %")

    def test_player_that_executes_a_setuid_program_loses_its_reservation(self):
        if int(Path("/proc/sys/kernel/perf_event_paranoid").read_text()) > 2:
            self.skipTest("kernel.perf_event_paranoid is above 2")
        if os.statvfs(self.dir).f_flag & os.ST_NOSUID or not shutil.which("setpriv"):
            self.skipTest("setuid has no effect here, or there is no setpriv")
        sched, go = self.copies()[0], self.dir / "go"
        sleep = shutil.copy(shutil.which("sleep"), self.dir)
        os.chmod(sleep, 0o4755)
        player = self.start(sys.executable, "-ISc", PLAYS_AND_EXECUTES, go, sleep, "60", user=NOBODY, cwd="/")
        run = self.start("setpriv", f"--reuid={NOBODY}", "--clear-groups", "--inh-caps=+sys_nice", "--ambient-caps=+sys_nice",
                         sched, "tune", f"--pid={player.pid}", cwd="/", stderr=subprocess.PIPE, text=True)
        self.expect_reservation(player.pid)
        go.touch()
        self.assertTrue(wait_until(lambda: name_of(player.pid) == "sleep"))
        self.expect_no_reservation(player.pid)
        run.send_signal(signal.SIGINT)
        code, said = self.end_of(run)
        self.assertEqual(code, 0, said)
        self.assertNotIn("could not be taken back", said)
        with contextlib.suppress(OSError):
            Path(f"/dev/shm/dlex-sched-{NOBODY}").rmdir()

    def test_user_may_not_tune_another_users_player(self):
        player = self.player()
        sched = self.copies()[0]
        run = self.start(sched, "tune", f"--pid={player.pid}", user=NOBODY, cwd="/", stderr=subprocess.PIPE, text=True)
        code, said = self.end_of(run)
        self.assertEqual(code, 2)
        self.assertRegex(said, r"^dlex-sched tune: process \d+ belongs to another user; only root may tune it\n$")



class Records(Case):
    def record_of_sudo(self, path, folder_owner):
        """Tunes under sudo of `nobody`, with a record in a folder of this user."""
        os.chown(self.dir, folder_owner, -1)
        return subprocess.run([SCHED, "tune", "--dry-run", f"--record={path}", "--", "sleep", "0.3"], capture_output=True,
                              text=True, check=False, env={**os.environ, "SUDO_UID": str(NOBODY)})

    def test_record_belongs_to_the_user_of_sudo(self):
        path = self.dir / "rows"
        run = self.record_of_sudo(path, NOBODY)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(path.stat().st_uid, NOBODY)
        self.assertTrue(path.read_text().startswith("second,"))

    def test_record_does_not_write_over_a_file_of_root(self):
        own = self.dir / "own"
        own.write_text("precious")
        own.chmod(0o600)
        (self.dir / "rows").symlink_to(own)
        run = self.record_of_sudo(self.dir / "rows", NOBODY)
        self.assertEqual((run.returncode, own.read_text()), (2, "precious"), run.stderr)
        self.assertIn("Permission denied", run.stderr)

    def test_record_in_a_folder_of_root_is_refused_to_sudo_and_not_to_root(self):
        self.dir.chmod(0o700)
        run = self.record_of_sudo(self.dir / "rows", 0)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("Permission denied", run.stderr)
        code, said = self.end_of(self.tune("--dry-run", f"--record={self.dir}/rows", "--", "sleep", "0.3"))
        self.assertEqual(code, 0, said)


class Inherited(Case):
    def test_ignored_end_of_children_changes_nothing(self):
        def run(*arguments):
            return subprocess.run([SCHED, *arguments], capture_output=True, text=True, check=False,
                                  preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        for command in (["period", "--seconds=0.2"], ["tune", "--quiet"]):
            with self.subTest(command=command[0]):
                self.assertEqual(run(*command, "--", "sh", "-c", "sleep 0.5; exit 4").returncode, 4)
        self.assertNotIn("No child processes", run("doctor").stdout)


if __name__ == "__main__":
    main()
