# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests dlex-play --sched and --cpu as the kernel reports them.

The threads that decode and present are under the policy on its CPU, and all other threads are on other CPUs.

Not covered: how well the player plays then, which is measured and not tested.
"""

import contextlib
import ctypes
import fnmatch
import functools
import glob
import itertools
import json
import os
import pty
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "input"), str(HERE.parent / "support"), str(HERE.parents[1] / "bench")]

from dlex_bench.machine.cgroups import online_cpus
from dlex_bench.machine.domain import own_cpu, threads_of
from dlex_bench.machine.lock import only_measurement
from dlex_bench.machine.policy import policy_of
from placing import AHEAD, CPU, GIVEN, LIMIT_S, SERIAL, require
from playing import NULL, PLAY, UNTIMED, Case, clip, environment, main, play
from sanitizers import not_sanitized

SUPPORT = HERE.parent / "support"
POLICIES = ("other", "fifo:5", "rr:5", "deadline:20/40")
# What the presenting and the decoding thread get of a policy.
PARTS = {
    "other": ("other", "other"),
    "fifo:5": ("fifo:5", "fifo:4"),
    "rr:5": ("rr:5", "rr:4"),
    "deadline:20/40": ("deadline:4.4/40", "deadline:15.6/40"),
}
NOBODY = 65534
CAP_SYS_NICE, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 23, 24, 38
LIBC = ctypes.CDLL(None, use_errno=True)


@contextlib.contextmanager
def domain_for(sched):
    """Gives the CPU its own domain if the policy needs that. Waits while a batch has one."""
    with contextlib.ExitStack() as stack:
        domain = None
        if sched.startswith("deadline"):
            stack.enter_context(only_measurement({CPU}, print))
            domain = stack.enter_context(own_cpu(CPU))
        yield domain.enter if domain else None


# FFmpeg's frame threads name themselves; slice threads, and those of libdav1d in some versions, get a name from the player.
PLAYING = ("decoder", "codec", "av:*", "dav1d*")


def placed(pid):
    """Returns policies and CPUs of the threads that play and of the others, or None while there are no others."""
    held, others = [], []
    try:
        for tid in sorted(threads_of(pid)):
            name = Path(f"/proc/{pid}/task/{tid}/comm").read_text().strip()
            plays = tid == pid or any(fnmatch.fnmatchcase(name, pattern) for pattern in PLAYING)
            (held if plays else others).append((str(policy_of(tid)), os.sched_getaffinity(tid)))
    except OSError:
        return None
    return (held, others) if others else None


def budget_ms(policy):
    """Returns the runtime of a reservation; 0: it is none."""
    kind, _, budget = policy.partition(":")
    return float(budget.partition("/")[0]) if kind == "deadline" else 0


def is_placed(held, sched, queue):
    """Returns whether these are the policies and CPUs of the threads that play. The parts of a reservation change."""
    if not sched.startswith("deadline") or queue != AHEAD:
        return held == expected(sched, queue)
    parts_ms = [budget_ms(policy) for policy, _ in held if policy.endswith("/40")]
    return [cpus for _, cpus in held] == [{CPU}, {CPU}] and len(parts_ms) == 2 and abs(sum(parts_ms) - 20) < 1e-5


def expected(sched, queue):
    return [(policy, {CPU}) for policy in (PARTS[sched] if queue == AHEAD else [sched])]


class Placement(Case):
    def await_placed(self, pid, sched, queue, least_others=1):
        """Waits until the playing threads are in their places beside enough others. Checks the places of the others too."""
        limit = time.monotonic() + LIMIT_S
        found = None
        while time.monotonic() < limit:
            found = placed(pid)
            if found and is_placed(found[0], sched, queue) and len(found[1]) >= least_others:
                break
            time.sleep(0.01)
        self.assertIsNotNone(found, "the player has no threads")
        self.assertTrue(is_placed(found[0], sched, queue), found[0])
        self.assertGreaterEqual(len(found[1]), least_others)
        for policy, cpus in found[1]:
            self.assertEqual(policy, "other")
            self.assertEqual(cpus, online_cpus() - {CPU} if sched.startswith("deadline") else GIVEN - {CPU})

    def test_pictures_are_the_same_under_every_policy(self):
        file = clip("cavlc")
        plain = play(*UNTIMED, "--drop=none", "--framemd5=-", file)
        self.expect(plain, 0)
        for sched, queue in itertools.product(POLICIES, (AHEAD, SERIAL)):
            with self.subTest(sched, queue=queue):
                require(sched.partition(":")[0])
                record = self.dir / f"{sched[:2]}{queue}"
                with domain_for(sched) as enter:
                    under = play(*UNTIMED, "--drop=none", "--framemd5=-", f"--record={record}", f"--queue={queue}",
                                 "--threads=1", f"--sched={sched}", f"--cpu={CPU}", file, preexec_fn=enter)
                self.expect(under, 0)
                self.assertEqual(under.stdout, plain.stdout)
                recorded = json.loads((record / "run.json").read_text())["scheduling"]
                self.assertEqual((recorded["asked"], recorded["cpu"]), (sched, CPU))
                roles = ("present", "decode") if queue == AHEAD else ("decode, present",)
                wanted = [(role, policy, str(CPU)) for role, (policy, _) in zip(roles, expected(sched, queue), strict=True)]
                threads = [(it["roles"], it["policy"], it["cpus"]) for it in recorded["threads"]]
                self.assertEqual(threads[: len(wanted)], wanted)
                self.assertFalse([it for it in threads[len(wanted) :] if it[0] not in ("", "feed")])

    def test_presenting_thread_has_a_short_slice_beside_the_decode_thread(self):
        if tuple(int(number) for number in re.findall(r"\d+", os.uname().release)[:2]) < (6, 12):
            self.skipTest("before Linux 6.12 a thread cannot choose its slice")
        other, batch = os.SCHED_OTHER, os.SCHED_BATCH
        for start, queue, is_short in ((other, AHEAD, True), (other, SERIAL, False), (batch, AHEAD, False)):
            with self.subTest(start=start, queue=queue):
                record = self.dir / f"{start}-{queue}"
                run = play(*UNTIMED, "--threads=1", f"--record={record}", f"--queue={queue}", "--length=0.2", clip("cavlc"),
                           preexec_fn=functools.partial(os.sched_setscheduler, 0, start, os.sched_param(0)))
                self.expect(run, 0)
                threads = json.loads((record / "run.json").read_text())["scheduling"]["threads"]
                self.assertEqual(threads[0]["slice_ms"] == 0.1, is_short, threads)
                self.assertFalse([it for it in threads[1:] if it["slice_ms"] == 0.1], threads)

    @not_sanitized
    def test_codec_threads_are_placed_as_the_decode_thread(self):
        # Frame threads, slice threads, and those of a library.
        for name, workers in (("progressive_cabac", 3), ("mpeg2_ibbp", 2), ("av1_svt", 3)):
            for sched in ("other", "fifo:5", "rr:5"):
                with self.subTest(name, sched=sched):
                    require(sched.partition(":")[0])
                    presenting, decoding = PARTS[sched]
                    record = self.dir / f"{name}-{sched[:2]}"
                    # The second file has threads of its own. Those of the first one have ended.
                    run = play(*UNTIMED, "--drop=none", "--threads=3", f"--sched={sched}", f"--cpu={CPU}", f"--record={record}",
                               clip(name), clip(name))
                    self.expect(run, 0)
                    for file in ("1", "2"):
                        recorded = json.loads((record / file / "run.json").read_text())["scheduling"]
                        threads = [(it["roles"], it["policy"], it["cpus"]) for it in recorded["threads"]]
                        playing = [it for it in threads if it[0] not in ("", "feed")]
                        self.assertEqual(playing[0], ("present", presenting, str(CPU)))
                        self.assertEqual(playing[1:], [("decode", decoding, str(CPU))] * (1 + workers))

    @not_sanitized
    def test_codec_threads_are_where_the_record_says(self):
        require("fifo")
        argv = [PLAY, *NULL, "--threads=3", "--sched=fifo:5", f"--cpu={CPU}", clip("progressive_cabac")]
        with subprocess.Popen(argv, env=environment(), stdin=subprocess.DEVNULL) as process:
            try:
                limit = time.monotonic() + LIMIT_S
                wanted = sorted([("fifo:5", {CPU})] + [("fifo:4", {CPU})] * 4, key=str)
                found = None
                while time.monotonic() < limit and (not found or sorted(found[0], key=str) != wanted):
                    time.sleep(0.01)
                    found = placed(process.pid)
                self.assertIsNotNone(found, "the player has no threads")
                self.assertEqual(sorted(found[0], key=str), wanted)
                for policy, cpus in found[1]:
                    self.assertEqual((policy, cpus), ("other", GIVEN - {CPU}))
            finally:
                process.terminate()

    def test_checksum_is_computed_outside_the_policy(self):
        require("fifo")
        large = self.dir / "large.mp4"
        large.write_bytes(Path(clip("cavlc")).read_bytes())
        with large.open("r+b") as file:
            file.seek(0, os.SEEK_END)
            file.write((1 << 30).to_bytes(4, "big") + b"free")  # an empty box, which takes no room on the disk
            file.truncate(file.tell() - 8 + (1 << 30))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        # It plays for so long that it is seen.
        argv = [PLAY, *NULL, "--length=1", "--sched=fifo:5", f"--cpu={CPU}", f"--record={self.dir / 'record'}", large]
        process = subprocess.Popen(argv, env=environment(), stdin=subprocess.DEVNULL)
        seen = []
        while process.poll() is None:
            with contextlib.suppress(OSError):
                seen.append((str(policy_of(process.pid)), os.sched_getaffinity(process.pid)))
            time.sleep(0.01)
        self.assertEqual(process.returncode, 0)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertIn(("fifo:5", {CPU}), seen)
        self.assertEqual(seen[-1], ("other", GIVEN - {CPU}))
        self.assertGreater(seen.count(seen[-1]), 10)
        used_ns = 1e9 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        run = self.record()[0]
        self.assertLess(run["process_cpu_ns"], used_ns / 2)
        self.assertLessEqual(run["held_cpu_ns"], run["process_cpu_ns"])

    @not_sanitized
    def test_decoding_gets_what_presenting_does_not_need(self):
        require("deadline")
        file = clip("trailer_1080p") if os.environ.get("DLEX_MEDIA") else clip("hard_1080p")
        argv = [PLAY, *NULL, "--queue=20", "--sched=deadline:20/40", f"--cpu={CPU}", f"--record={self.dir / 'record'}",
                "--length=6", file]
        with domain_for("deadline") as enter, subprocess.Popen(argv, env=environment(), stdin=subprocess.DEVNULL,
                                                               preexec_fn=enter) as process:
            parts, before = [], None
            while process.poll() is None:
                found = placed(process.pid)
                if found and found == before and all(budget_ms(policy) for policy, _ in found[0]):
                    parts.append([budget_ms(policy) for policy, _ in found[0]])
                before = found
                time.sleep(0.01)
        self.assertEqual(process.returncode, 0)
        recorded = [budget_ms(it["policy"]) for it in self.record()[0]["scheduling"]["threads"][:2]]
        self.assertEqual(parts[0], [4.4, 15.6])
        for both in [*parts, recorded]:
            self.assertAlmostEqual(sum(both), 20, places=5)
        self.assertLess(min(parts)[0], 2)  # this screen costs nothing
        self.assertLess(recorded[0], 4.4)
        self.assertGreaterEqual(min(min(parts)[0], recorded[0]), 1)

    @not_sanitized
    def test_next_file_gets_its_reservation_although_the_last_one_was_divided_anew(self):
        require("deadline")
        file = clip("trailer_1080p") if os.environ.get("DLEX_MEDIA") else clip("hard_1080p")
        for recorded in ([], [f"--record={self.dir / 'record'}"]):
            with self.subTest(recorded=recorded), domain_for("deadline") as enter:
                run = play(*NULL, "--queue=20", "--sched=deadline:33/40", f"--cpu={CPU}", "--length=1.5", *recorded, file, file,
                           preexec_fn=enter)
                self.expect(run, 0)

    @not_sanitized
    def test_threads_of_window_and_sound_run_on_other_cpus(self):
        file = clip("progressive_cabac")
        for sched, queue in (("fifo:5", SERIAL), ("fifo:5", AHEAD), ("deadline:20/40", AHEAD)):
            with self.subTest(sched, queue=queue):
                require(sched.partition(":")[0])
                argv = [SUPPORT / "with-pulse", SUPPORT / "with-xvfb", PLAY, "--quiet", "--ao=pulse", "--vo=sdl",
                        f"--queue={queue}", f"--sched={sched}", f"--cpu={CPU}", file, file]
                with domain_for(sched) as enter, subprocess.Popen(argv, env=environment(), preexec_fn=enter) as process:
                    try:
                        pid = self.player_below(process)
                        self.await_placed(pid, sched, queue, least_others=2)
                    finally:
                        process.terminate()

    def player_below(self, process):
        program = os.path.realpath(PLAY)
        limit = time.monotonic() + LIMIT_S
        while time.monotonic() < limit:
            if process.poll() == 77:
                self.skipTest("no X server or no PulseAudio daemon can run here")
            for exe in glob.glob("/proc/[0-9]*/exe"):
                with contextlib.suppress(OSError):
                    below = Path(exe).parent.joinpath("stat").read_text().rsplit(")", 1)[1].split()
                    if os.path.realpath(exe) == program and int(below[3]) == os.getsid(0) and self.descends(exe, process.pid):
                        return int(exe.split("/")[2])
            time.sleep(0.05)
        self.fail("the player did not start")

    def descends(self, exe, ancestor):
        pid = int(exe.split("/")[2])
        while pid > 1 and pid != ancestor:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
        return pid == ancestor

    @not_sanitized
    def test_threads_started_by_a_seek_run_on_other_cpus(self):
        file = clip("trailer_1080p") if os.environ.get("DLEX_MEDIA") else clip("hard_1080p")
        for sched, queue in (("fifo:5", AHEAD), ("deadline:20/40", SERIAL), ("deadline:20/40", AHEAD)):
            with self.subTest(sched, queue=queue):
                require(sched.partition(":")[0])
                controller, terminal = pty.openpty()
                self.addCleanup(os.close, controller)
                argv = [PLAY, *NULL, f"--queue={queue}", f"--sched={sched}", f"--cpu={CPU}", file]
                with domain_for(sched) as enter, subprocess.Popen(
                    argv, env=environment(), stdin=terminal, stdout=subprocess.DEVNULL, start_new_session=True,
                    preexec_fn=lambda: (enter and enter(), __import__("fcntl").ioctl(0, 0x540E, 0)),  # TIOCSCTTY
                ) as process:
                    try:
                        os.close(terminal)
                        self.await_placed(process.pid, sched, queue)
                        before = set(threads_of(process.pid))
                        os.write(controller, b"\033[C")
                        limit = time.monotonic() + LIMIT_S
                        while not (started := set(threads_of(process.pid)) - before) and time.monotonic() < limit:
                            time.sleep(0.01)
                        self.assertTrue(started, "the seek started no thread")
                        self.await_elsewhere(process.pid)
                    finally:
                        process.terminate()

    def await_elsewhere(self, pid):
        """Waits until all other threads are on other CPUs. A new thread begins on the player's CPU and is moved."""
        limit = time.monotonic() + LIMIT_S
        while time.monotonic() < limit:
            found = placed(pid)
            if found and all(policy == "other" and CPU not in cpus for policy, cpus in found[1]):
                return
            time.sleep(0.01)
        self.fail(f"threads stay on the player's CPU: {found}")


class Refusals(Case):
    def test_invalid_policies_and_cpus_are_refused(self):
        for option in ("--sched=idle", "--sched=fifo", "--sched=fifo:0", "--sched=deadline:41/40", "--sched=",
                       "--sched=rm:", "--sched=rm:guaranteed:", "--sched=rm:guaranteedly", "--sched=rm:guaranteed:0",
                       "--sched=rm:guaranteed:x", "--cpu=x", "--cpu=-1", "--cpu=", "--cpu=4096"):
            self.expect(play(option, "x"), 1, option)

    def test_missing_cpu_is_reported(self):
        self.expect(play("--cpu=1000", "x"), 1, "--cpu=1000 cannot be used", "choose one of")

    def test_deadline_on_a_shared_cpu_is_refused(self):
        require("deadline")
        self.expect(play(*NULL, "--sched=deadline:5/40", f"--cpu={CPU}", clip("cavlc")), 1, "not a scheduling domain of its own")

    def test_reservation_that_does_not_fit_is_refused_and_leaves_no_record(self):
        require("deadline")
        with domain_for("deadline") as enter:
            run = play(*NULL, "--sched=deadline:40/40", f"--cpu={CPU}", f"--record={self.dir / 'record'}", clip("cavlc"),
                       preexec_fn=enter)
        self.expect(run, 1, "not admitted", "ask for less")
        self.assertEqual(list((self.dir / "record").iterdir()), [])

    def copy_for_nobody(self):
        if os.geteuid():
            self.skipTest("only root can become a user without privileges")
        copy = self.dir / "clip"
        copy.write_bytes(Path(clip("cavlc")).read_bytes())
        self.dir.chmod(0o755)
        if subprocess.run([PLAY, "--version"], preexec_fn=lose_privilege, capture_output=True, check=False).returncode:
            self.skipTest("other users cannot reach the player's folder")
        return copy

    def test_error_without_privilege_says_what_grants_it(self):
        copy = self.copy_for_nobody()
        self.expect(play(*NULL, "--sched=fifo:5", copy, preexec_fn=lose_privilege), 1, "setcap", "limits.conf", "systemd")
        self.expect(play(*NULL, "--sched=deadline:5/40", copy, preexec_fn=lose_privilege), 1, "setcap", "systemd")
        self.expect(play(*NULL, "--sched=other", f"--cpu={CPU}", "--length=0.2", copy, preexec_fn=lose_privilege), 0)

    def test_user_in_a_container_reads_nothing_that_cannot_help_there(self):
        copy = self.copy_for_nobody()

        def enter_container():
            lose_capability()
            lose_privilege()

        def give_up_new_rights():
            lose_privilege()
            LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)

        for sched, options in (("fifo:5", "`--cap-add=SYS_NICE` or `--ulimit rtprio="), ("deadline:5/40", "`--cap-add=SYS_NICE`")):
            self.refused(sched, "this user may not", "CAP_SYS_NICE is missing", options, film=copy, preexec_fn=enter_container)
        self.refused("fifo:5", "no_new_privs", "`--ulimit rtprio=", "LimitRTPRIO=", film=copy, preexec_fn=give_up_new_rights)
        self.refused("deadline:5/40", "no_new_privs", film=copy, preexec_fn=give_up_new_rights)

    def refused(self, sched, *words, film=None, **options):
        """Expects that a policy is refused with these words, and without advice that does not help in a container."""
        run = play(*NULL, f"--sched={sched}", "--length=0.2", film or clip("cavlc"), **options)
        self.expect(run, 1, f"--sched={sched} is refused", *words)
        self.assertNotIn("setcap", run.stderr)
        self.assertNotIn("limits.conf", run.stderr)
        self.assertNotIn("sudo ", run.stderr.replace("sudo tee", ""))

    def test_root_without_the_capability_reads_what_helps_in_a_container(self):
        require("fifo")
        for sched in ("fifo:5", "rr:5", "rm"):
            self.refused(sched, "CAP_SYS_NICE is missing", "`--cap-add=SYS_NICE` or `--ulimit rtprio=", preexec_fn=lose_capability)
        self.refused("deadline:5/40", "CAP_SYS_NICE is missing", "`--cap-add=SYS_NICE`", preexec_fn=lose_capability)

    def test_root_of_a_user_namespace_reads_that_it_is_inside(self):
        inside = ["unshare", "--user", "--map-root-user"]
        if os.geteuid() or subprocess.run([*inside, "true"], capture_output=True, check=False).returncode:
            self.skipTest("no user namespace can be made here")
        for sched in ("fifo:5", "deadline:5/40"):
            with self.subTest(sched):
                run = subprocess.run([*inside, PLAY, *NULL, f"--sched={sched}", clip("cavlc")], env=environment(), text=True,
                                     stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S, check=False)
                self.expect(run, 1, "in this container (a user namespace)", "run it outside the container")
                self.assertNotIn("setcap", run.stderr)

    def test_group_without_time_for_fixed_priorities_is_named(self):
        require("fifo")
        group = Path(f"/sys/fs/cgroup/cpu/dlex-test-{os.getpid()}")
        limit = group / "cpu.rt_runtime_us"
        if not (group.parent / limit.name).exists():
            self.skipTest("control groups have no time for fixed priorities of their own")
        group.mkdir()
        try:
            if int(limit.read_text()):
                self.skipTest("a new group has time")
            self.refused("fifo:5", f"`echo 500000 | sudo tee {limit}`",
                         preexec_fn=lambda: (group / "cgroup.procs").write_text(str(os.getpid())))
        finally:
            group.rmdir()


def lose_privilege():
    resource.setrlimit(resource.RLIMIT_RTPRIO, (0, 0))
    os.setgroups([])
    os.setuid(NOBODY)


def lose_capability():
    """Takes the right to fixed priorities from a process of root before it runs a program, as a container does."""
    resource.setrlimit(resource.RLIMIT_RTPRIO, (0, 0))
    if LIBC.prctl(PR_CAPBSET_DROP, CAP_SYS_NICE, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "the capability cannot be dropped")


if __name__ == "__main__":
    main()
