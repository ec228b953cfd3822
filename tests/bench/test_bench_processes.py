# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that children of dlex_bench end with the block that started them, no matter how the block ends.

Not covered: children of the commands, which the tests of the commands look for.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from outside import is_running, wait_until, with_packages

with_packages("pydantic")

from dlex_bench import processes
from dlex_bench.agenda.job import PlayerParams
from dlex_bench.errors import Interrupted
from dlex_bench.processes import child, children_cpu_s, signals_as_exceptions, wait_for
from dlex_bench.rig.players.playing import Playing, adapter_for
from dlex_bench.rig.players.threads import BOTH, DECODE, PRESENT, UNKNOWN, Work, _work

CPUS = os.sched_getaffinity(0)


class Children(unittest.TestCase):
    def test_child_ends_with_its_block(self):
        with child(["sleep", "60"], cpus=CPUS) as process:
            self.assertTrue(is_running(process.pid))
        self.assertEqual(process.returncode, -signal.SIGTERM)

    def test_child_ends_when_the_block_is_left_by_an_exception(self):
        with self.assertRaises(ZeroDivisionError), child(["sleep", "60"], cpus=CPUS) as process:
            raise ZeroDivisionError
        self.assertFalse(is_running(process.pid))

    def test_child_that_ignores_the_request_is_killed(self):
        command = [sys.executable, "-c", "import signal,time; signal.signal(15,signal.SIG_IGN); print(1); time.sleep(60)"]
        with mock.patch.object(processes, "GRACE_S", 0.1):
            with child([command[0], "-u", *command[1:]], cpus=CPUS, stdout=subprocess.PIPE) as process:
                process.stdout.readline()
        self.assertEqual(process.returncode, -signal.SIGKILL)

    def test_child_runs_on_its_cpu_with_its_nice_value(self):
        cpu = max(CPUS)
        with child(["sleep", "60"], cpus={cpu}, nice=19) as process:
            self.assertEqual(os.sched_getaffinity(process.pid), {cpu})
            self.assertEqual(os.getpriority(os.PRIO_PROCESS, process.pid), 19)
            self.assertEqual(os.getsid(process.pid), os.getsid(0))

    def test_child_does_not_outlive_a_parent_that_was_killed(self):
        script = (
            "import os, time\n"
            "from dlex_bench.processes import child\n"
            "with child(['sleep', '60'], cpus=os.sched_getaffinity(0)) as process:\n"
            "    print(process.pid, flush=True)\n"
            "    time.sleep(60)\n"
        )
        with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as parent:
            grandchild = int(parent.stdout.readline())
            parent.kill()
        self.assertTrue(wait_until(lambda: not is_running(grandchild)))

    def test_last_look_sees_the_ended_process_before_it_is_reaped(self):
        seen = []
        with child(["true"], cpus=os.sched_getaffinity(0)) as process:
            state = Path(f"/proc/{process.pid}/stat")
            wait_for(process, 60, lambda: None, "true", lambda: seen.append(state.read_text().rsplit(")")[1].split()[0]))
            self.assertEqual((seen, process.returncode), (["Z"], 0))


class Threads(unittest.TestCase):
    """CPU times of a player's threads, when one thread ends between two looks and one works to the end."""

    TEXT = """
import signal, threading, time
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
def work(cpu_s):
    end_s = time.thread_time() + cpu_s
    while time.thread_time() < end_s: pass
def feed():
    open('/proc/thread-self/comm', 'w').write('feeder')
    work(0.1)
    signal.sigwait([signal.SIGUSR1])  # it is seen
    work(0.3)                         # and this is not
feeder = threading.Thread(target=feed)
feeder.start()
feeder.join()
work(0.2)
print(time.thread_time(), time.process_time(), flush=True)
"""

    def test_time_outside_is_exact_although_a_thread_ended_unseen(self):
        works = {"main": Work("decodes", DECODE), "feeder": Work("demuxes")}
        adapter = SimpleNamespace(name="it", works=lambda *_: works, complaint=lambda *_: None)
        before_s = children_cpu_s()
        with child([sys.executable, "-c", self.TEXT], cpus=CPUS, stdout=subprocess.PIPE) as process:
            player = Playing(adapter, None, process, Path("/nowhere"))
            limit = time.monotonic() + 60
            while len(player.seen) < 2 or list(player.seen.values())[1].cpu_s < 0.1:
                player.look()
                self.assertLess(time.monotonic(), limit)
                time.sleep(0.01)
            process.send_signal(signal.SIGUSR1)
            main_s, all_s = map(float, process.stdout.readline().split())
            player.wait(60, lambda: None)
        main, feeder = player.seen.values()
        outside_s = children_cpu_s() - before_s - main.cpu_s
        self.assertAlmostEqual(outside_s, all_s - main_s, delta=0.02)  # no thread can measure the cost of its own end
        self.assertGreaterEqual(main.cpu_s, main_s)
        self.assertEqual([player.work_of(it.tid, it.name).text for it in (main, feeder)], ["decodes", "demuxes"])
        self.assertTrue(0.1 <= feeder.cpu_s < outside_s - 0.1, feeder.looks[-1])

    def test_look_reports_cpus_and_policy_until_the_thread_has_ended(self):
        cpu = max(CPUS)
        adapter = SimpleNamespace(name="it", works=lambda *_: {}, complaint=lambda *_: None)
        with child(["sleep", "60"], cpus={cpu}) as process:
            player = Playing(adapter, None, process, Path("/nowhere"))
            player.look()
            process.terminate()
            player.wait(60, lambda: None)
        (thread,) = player.seen.values()
        first, last = thread.looks[0], thread.looks[-1]
        self.assertEqual((first.cpus, str(first.policy)), ({cpu}, "other"))
        self.assertEqual((last.cpus, last.policy), (None, None))
        self.assertLess(first.time_ns, last.time_ns)


class Names(unittest.TestCase):
    """Thread names that the kernel reported for the real players of Debian 12 and 13, without the main threads."""

    SEEN = {
        "mpv": {
            "presents": ("mpv/vo", "vo"),
            "sound": ("mpv/ao", "ao", "threaded-ml"),
            "demuxes": ("mpv/demux", "demux"),
            "opens the file": ("mpv/opener", "opener"),
            "helps": ("mpv/worker", "worker"),
            "scripts": ("mpv/lua script ", "lua/stats", "lua/auto_profil", "lua/console"),
            "decodes": ("mpv", "mpv/vdec", "vdec", "dec/video", "av:h264:df0", "av:h264:df2"),
        },
        "ffplay": {
            "decodes": ("video_decoder", "av:h264:df0"),
            "decodes sound": ("audio_decoder",),
            "demuxes": ("read_thread",),
            "sound": ("SDLAudioP2", "PulseHotplug", "PulseMainloop"),
            "keeps time": ("SDLTimer",),
        },
        "mplayer": {"sound": ("threaded-ml",), "decodes": ("mplayer", "av:h264:df0")},
        "vlc": {"demuxes, decodes or presents": ("vlc",), "sound": ("threaded-ml",), "decodes": ("av:h264:df0",)},
        "dlex-play": {"sound": ("threaded-ml",), "demuxes": ("feeder",), "decodes sound": ("sound",), "decodes": ("decoder",)},
    }

    def works_of(self, player, **params):
        job = SimpleNamespace(player_params=PlayerParams(**params))
        return adapter_for(player, Path("dlex-play")).works(job, Path("/nowhere"))

    def test_names_of_todays_versions_are_known(self):
        for player, works in self.SEEN.items():
            for work, names in works.items():
                self.assertEqual([(name, _work(name, self.works_of(player)).text) for name in names],
                                 [(name, work) for name in names])

    def test_threads_that_decode_or_present_have_these_roles_and_the_others_have_none(self):
        roles = {"decodes": DECODE, "presents": PRESENT, "helps": PRESENT, "demuxes, decodes or presents": BOTH}
        for player, works in self.SEEN.items():
            for work, names in works.items():
                for name in names:
                    self.assertEqual(_work(name, self.works_of(player)).roles, roles.get(work, ()), (player, name))

    def test_main_thread_has_the_roles_that_the_other_threads_leave(self):
        queue = ("--vd-queue-enable=yes", "--vd-queue-max-samples=50")
        for player, params, roles in (
            ("mplayer", {}, BOTH),
            ("ffplay", {}, PRESENT),
            ("vlc", {}, BOTH),
            ("mpv", {}, DECODE),
            ("mpv", {"options": queue}, PRESENT),
            ("mpv", {"options": (*queue, "--no-vd-queue-enable")}, DECODE),
            ("dlex-play", {"queue": "0"}, BOTH),
            ("dlex-play", {"queue": "auto"}, PRESENT),
            ("dlex-play", {}, BOTH),
        ):
            self.assertEqual(self.works_of(player, **params)["main"].roles, roles, (player, params))

    def test_default_queue_of_our_player_is_that_of_its_record(self):
        job = SimpleNamespace(player_params=PlayerParams())
        with tempfile.TemporaryDirectory() as folder:
            record = Path(folder) / "own/run.json"
            record.parent.mkdir()
            for roles, expected in ((["decode, present", "feed"], BOTH), (["present", "decode", "feed"], PRESENT)):
                record.write_text(json.dumps({"scheduling": {"threads": [{"roles": it} for it in roles]}}))
                works = adapter_for("dlex-play", Path("dlex-play")).works(job, Path(folder))
                self.assertEqual(works["main"].roles, expected)

    def test_threads_of_several_decoders_are_held_where_they_have_the_name_of_the_demuxer(self):
        self.assertEqual(_work("read_thread", self.works_of("ffplay", threads="auto")).roles, DECODE)
        self.assertEqual(_work("read_thread", self.works_of("ffplay", threads=1)).roles, ())

    def test_threads_of_libraries_are_known_in_every_player(self):
        known = {"av:libdav1d:df0": DECODE, "dav1d-worker": DECODE, "llvmpipe-0": PRESENT}
        for name, roles in known.items():
            for player in self.SEEN:
                self.assertEqual(_work(name, self.works_of(player)).roles, roles, (player, name))

    def test_names_of_tomorrows_versions_are_unknown(self):
        for name in ("mpv/vo-next", "mpv/next", "video", "vo2", "next", "mpv "):
            for player in self.SEEN:
                self.assertEqual(_work(name, self.works_of(player)), UNKNOWN, (player, name))

    def test_player_with_an_unknown_thread_plays_to_its_end(self):
        text = ("import signal, threading; from pathlib import Path\n"
                "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\n"
                "def do(): Path('/proc/thread-self/comm').write_text('vo-next'); signal.sigwait([signal.SIGUSR1])\n"
                "it = threading.Thread(target=do); it.start(); it.join()")
        works = self.works_of("mpv")
        adapter = SimpleNamespace(name="it", works=lambda *_: works, complaint=lambda *_: None)
        with child([sys.executable, "-c", text], cpus=CPUS) as process:
            player = Playing(adapter, None, process, Path("/nowhere"))

            def named():
                player.look()
                return "vo-next" in [thread.name for thread in player.seen.values()]

            self.assertTrue(wait_until(named))
            process.send_signal(signal.SIGUSR1)
            player.wait(60, lambda: None)
        _main, other = player.seen.values()
        self.assertEqual((other.name, player.work_of(other.tid, other.name)), ("vo-next", UNKNOWN))
        self.assertEqual(UNKNOWN.roles, BOTH)


class Signals(unittest.TestCase):
    def test_ending_signal_becomes_an_exception_and_the_handler_is_restored(self):
        before = signal.getsignal(signal.SIGTERM)
        with self.assertRaises(Interrupted) as caught, signals_as_exceptions():
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(60)
        self.assertEqual(caught.exception.signum, signal.SIGTERM)
        self.assertEqual(signal.getsignal(signal.SIGTERM), before)

    def test_second_signal_does_not_interrupt_the_cleanup(self):
        tidied = False
        with self.assertRaises(Interrupted), signals_as_exceptions():
            try:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(60)
            finally:
                os.kill(os.getpid(), signal.SIGINT)
                tidied = True
        self.assertTrue(tidied)


if __name__ == "__main__":
    unittest.main()
