# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the stage: a real Xvfb and a real PulseAudio daemon, which are private and leave nothing behind.

Not covered: players on the stage (test_bench_players), and the observer.
"""

import os
import pwd
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from dlex_bench import processes
from dlex_bench.errors import LabError
from dlex_bench.rig import folder
from dlex_bench.rig.device import Device
from dlex_bench.rig.folder import PREFIX, private_folder
from dlex_bench.rig.guest import Guest, guest
from dlex_bench.rig.screen import display
from dlex_bench.rig.sound import SINK, sound
from dlex_bench.rig.stage import stage
from outside import children_of, is_running, wait_until

SKIPPED = 77
CPUS = os.sched_getaffinity(0)
SIZE = (320, 180)


def identity(path):
    """Returns a value that differs between two files that have the same path at different times; None if there is no file.

    Other tests may start a screen with the number of one that has just ended.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino, found.st_ctime_ns


def x_socket_of(number):
    return Path(f"/tmp/.X11-unix/X{number}")


def says(argv, environment):
    """Returns how a short program ended, and what it printed."""
    return subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=120)


def x_reply(display_, authority):
    """Returns the first byte of the server's answer to a connection: 1 for accepted, 0 for refused."""
    number = display_.environment["DISPLAY"].removeprefix(":")
    name, data = (b"MIT-MAGIC-COOKIE-1", authority) if authority else (b"", b"")
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(x_socket_of(number)))
        padded = [text + bytes(-len(text) % 4) for text in (name, data)]
        client.sendall(struct.pack("<BxHHHHxx", ord("l"), 11, 0, len(name), len(data)) + b"".join(padded))
        return client.recv(1)[0]


class Screen(unittest.TestCase):
    def test_frame_buffer_has_the_requested_size(self):
        with display(SIZE, CPUS) as screen:
            header = struct.unpack(">25I", screen.screen_file.read_bytes()[:100])
            size, depth, width, height, bits = header[0], header[3], header[4], header[5], header[11]
            self.assertEqual((depth, width, height, bits), (24, *SIZE, 32))
            self.assertGreaterEqual(screen.screen_file.stat().st_size, size + 4 * width * height)

    def test_only_clients_with_the_cookie_are_admitted(self):
        with display(SIZE, CPUS) as screen:
            cookie = Path(screen.environment["XAUTHORITY"]).read_bytes()[-16:]
            self.assertEqual(x_reply(screen, cookie), 1)
            self.assertEqual(x_reply(screen, bytes(16)), 0)

    def test_two_screens_at_once_have_different_numbers(self):
        with display(SIZE, CPUS) as one, display(SIZE, CPUS) as other:
            self.assertNotEqual(one.environment["DISPLAY"], other.environment["DISPLAY"])
            self.assertNotEqual(one.screen_file, other.screen_file)

    def test_server_runs_on_the_given_cpus(self):
        with display(SIZE, {max(CPUS)}) as screen:
            self.assertEqual(os.sched_getaffinity(screen.process.pid), {max(CPUS)})


class SoundCard(unittest.TestCase):
    def test_sink_and_monitor_are_the_only_devices(self):
        with sound(CPUS) as card:
            listed = says(["pactl", "list", "short", "sources"], card.environment | {"PATH": os.environ["PATH"]})
            self.assertEqual([line.split("\t")[1] for line in listed.stdout.splitlines()], [card.monitor])
            modules = says(["pactl", "list", "short", "modules"], card.environment | {"PATH": os.environ["PATH"]})
            self.assertEqual(len(modules.stdout.splitlines()), 2)
            sinks = says(["pactl", "list", "short", "sinks"], card.environment | {"PATH": os.environ["PATH"]})
            self.assertIn(f"{SINK}\tmodule-null-sink.c\ts16le 2ch 48000Hz", sinks.stdout)

    def test_every_thread_stays_sched_other(self):
        with sound(CPUS) as card:
            tasks = [int(task.name) for task in Path(f"/proc/{card.process.pid}/task").iterdir()]
            self.assertGreaterEqual(len(tasks), 2)
            self.assertEqual({os.sched_getscheduler(task) for task in tasks}, {os.SCHED_OTHER})
            self.assertEqual({os.getpriority(os.PRIO_PROCESS, task) for task in tasks}, {os.nice(0)})


class Whole(unittest.TestCase):
    def test_programs_find_both_devices_and_an_empty_home(self):
        with stage(SIZE, CPUS) as place:
            geometry = says(["xdotool", "getdisplaygeometry"], place.environment)
            self.assertEqual(geometry.stdout.split(), [str(pixels) for pixels in SIZE])
            self.assertEqual(says(["pactl", "get-default-sink"], place.environment).stdout.strip(), SINK)
            self.assertNotEqual(place.environment["HOME"], os.environ.get("HOME"))

    def test_nothing_is_left_when_the_block_ends(self):
        # A server that is killed because it does not end in time leaves its socket.
        with mock.patch.object(processes, "GRACE_S", 60), stage(SIZE, CPUS) as place:
            devices = (place.display, place.sound)
            folders = [Path(place.environment["HOME"]), *(device.log.parent for device in devices)]
            x_socket = x_socket_of(place.display.environment["DISPLAY"][1:])
            self.assertTrue(all(path.exists() for path in folders))
            self.assertIsNotNone(before := identity(x_socket))
        self.assertFalse(any(path.exists() for path in folders))
        self.assertNotEqual(identity(x_socket), before)
        self.assertFalse(any(is_running(device.process.pid) for device in devices))

    def test_players_run_as_the_user_of_the_laboratory_unless_that_is_root(self):
        with mock.patch.object(os, "geteuid", return_value=1000):
            self.assertIsNone(guest())

    def test_dead_device_is_named(self):
        for victim, name in (("display", "Xvfb"), ("sound", "pulseaudio")):
            with stage(SIZE, CPUS) as place:
                place.require_alive()
                device: Device = getattr(place, victim)
                device.process.kill()
                self.assertTrue(wait_until(lambda: not place.alive()))
                with self.assertRaisesRegex(LabError, f"^{name} was ended by signal 9 while it was needed"):
                    place.require_alive()

    def test_kill_9_of_the_owner_ends_the_devices_and_the_next_start_removes_the_folders(self):
        # In a place of its own: the start of a stage in another test removes the folders as well.
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        patch = mock.patch.object(folder, "MEMORY", Path(holder.name))
        patch.start()
        self.addCleanup(patch.stop)
        script = (
            "import os, pathlib, time\n"
            "from dlex_bench.rig import folder\n"
            "from dlex_bench.rig.stage import stage\n"
            f"folder.MEMORY = pathlib.Path({holder.name!r})\n"
            f"with stage({SIZE}, os.sched_getaffinity(0)) as place:\n"
            "    print(place.environment['HOME'], place.display.environment['DISPLAY'][1:], flush=True)\n"
            "    time.sleep(600)\n"
        )
        with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as owner:
            home, number = owner.stdout.readline().split()
            servers = children_of(owner.pid)
            before = identity(x_socket_of(number))
            owner.kill()
        self.assertIsNotNone(before)
        self.assertEqual(sorted(servers.values()), ["Xvfb", "pulseaudio"])
        self.assertTrue(wait_until(lambda: not any(map(is_running, servers))))
        self.assertNotEqual(identity(x_socket_of(number)), before)
        self.assertTrue(Path(home).exists())
        with private_folder() as mine:
            self.assertFalse(Path(home).exists())
            self.assertTrue(mine.exists())

    def test_folder_in_use_is_left_alone(self):
        with private_folder() as mine, private_folder():
            self.assertTrue(mine.exists())
            self.assertEqual(mine.stat().st_mode & 0o777, 0o700)
            self.assertTrue(mine.name.startswith(PREFIX))

    def test_missing_program_names_the_package(self):
        before = os.environ["PATH"]
        try:
            os.environ["PATH"] = "/nonexistent"
            with self.assertRaisesRegex(LabError, "Xvfb is not installed; install it with `apt install xvfb`"):
                with stage(SIZE, CPUS):
                    self.fail("a screen started without Xvfb")
        finally:
            os.environ["PATH"] = before


@unittest.skipUnless(os.geteuid() == 0, "only root starts programs as another user")
class Guests(unittest.TestCase):
    def setUp(self):
        nobody = pwd.getpwnam("nobody")
        self.guest = Guest(nobody.pw_uid, nobody.pw_gid)
        self.stranger = Guest(nobody.pw_uid - 1, nobody.pw_gid - 1)

    def says(self, who, place, *argv):
        return says([*who.prefix, *argv], place.environment)

    def test_guest_is_the_user_of_sudo_or_nobody(self):
        one = next(user for user in pwd.getpwall() if user.pw_uid not in (0, self.guest.uid))
        for uid, expected in ((None, self.guest), ("0", self.guest), (str(one.pw_uid), Guest(one.pw_uid, one.pw_gid))):
            with mock.patch.dict(os.environ, {"SUDO_UID": uid} if uid else {}):
                if not uid:
                    os.environ.pop("SUDO_UID", None)
                self.assertEqual(guest(), expected)

    def test_user_of_sudo_who_does_not_exist_is_reported_in_one_sentence(self):
        for uid in ("4294967290", "none"):
            with mock.patch.dict(os.environ, SUDO_UID=uid), self.assertRaisesRegex(LabError, "^no ordinary user is known to run"):
                guest()

    def test_guest_uses_both_devices_and_strangers_do_not(self):
        with stage(SIZE, CPUS, self.guest) as place:
            for who, admitted in ((self.guest, True), (self.stranger, False)):
                for argv in (["xdotool", "getdisplaygeometry"], ["pactl", "get-default-sink"]):
                    self.assertEqual(self.says(who, place, *argv).returncode == 0, admitted, (who, argv))

    def test_guest_can_write_only_to_its_home(self):
        with stage(SIZE, CPUS, self.guest) as place:
            home, *devices = (place.environment["HOME"], *(device.log.parent for device in (place.display, place.sound)))
            self.assertEqual(self.says(self.guest, place, "touch", f"{home}/new").returncode, 0)
            for device in devices:
                self.assertNotEqual(self.says(self.guest, place, "ls", str(device)).returncode, 0)
                for path in (device / "new", *device.iterdir()):
                    if not path.is_socket():
                        found = self.says(self.guest, place, "sh", "-c", 'exec 3>>"$0"', str(path))
                        self.assertNotEqual(found.returncode, 0, path)

    def test_guest_has_no_privilege_and_no_other_group(self):
        argv = [*self.guest.prefix, "cat", "/proc/self/status"]
        found = subprocess.run(argv, extra_groups=[1, 4], capture_output=True, text=True)
        status = dict(line.split(":\t", 1) for line in found.stdout.splitlines() if ":\t" in line)
        self.assertEqual(status["Uid"].split(), [str(self.guest.uid)] * 4)
        self.assertEqual((status["Gid"].split(), status["Groups"].split()), ([str(self.guest.gid)] * 4, []))
        self.assertEqual((int(status["CapPrm"], 16), int(status["CapEff"], 16), status["NoNewPrivs"]), (0, 0, "1"))

    def test_guest_ends_with_the_laboratory(self):
        program = (
            "import os, time\n"
            "from dlex_bench.processes import child\n"
            "from dlex_bench.rig.guest import Guest\n"
            f"with child([*{self.guest!r}.prefix, 'sleep', '100'], cpus=os.sched_getaffinity(0)) as sleeper:\n"
            "    print(sleeper.pid, flush=True)\n"
            "    time.sleep(100)\n"
        )
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as owner:
            sleeper = int(owner.stdout.readline())
            self.assertTrue(wait_until(lambda: os.stat(f"/proc/{sleeper}").st_uid == self.guest.uid))
            self.assertTrue(wait_until(lambda: Path(f"/proc/{sleeper}/comm").read_text() == "sleep\n"))
            owner.kill()
            owner.wait()
            self.assertTrue(wait_until(lambda: not is_running(sleeper)))


class Orphans(unittest.TestCase):
    def test_orphan_gets_the_requested_signal(self):
        script = (
            "import os, signal, time\n"
            "from dlex_bench.processes import child\n"
            "shell = ['bash', '-c', 'trap \"echo tidied; exit\" TERM; echo ready; while :; do sleep 0.1; done']\n"
            "with child(shell, cpus=os.sched_getaffinity(0), stdout=1, orphaned=signal.SIGTERM):\n"
            "    time.sleep(600)\n"
        )
        with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as owner:
            self.assertEqual(owner.stdout.readline(), "ready\n")
            owner.send_signal(signal.SIGKILL)
            self.assertEqual(owner.stdout.readline(), "tidied\n")


if __name__ == "__main__":
    for program in ("Xvfb", "pulseaudio", "pactl", "xdotool"):
        if not shutil.which(program):
            print(f"skipped: {program} is not installed")
            sys.exit(SKIPPED)
    unittest.main()
