# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests dlex-bench-observe on a real Xvfb and a real PulseAudio daemon, with our player, and the faults that it can meet.

A busy machine can stop a program at any moment. So the tests assert only what follows from the records.
Not covered: other players (test_bench_players); how far times differ (`./dlex bench observe-check`), because a busy
machine delays all programs.

Run as: python3 test_observer.py DLEX_BENCH_OBSERVE DLEX_PLAY DLEX_QOE MEDIA_MAKE [CLASS ...]
"""

import csv
import itertools
import json
import os
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

from outside import with_packages

with_packages("pydantic")

from dlex_bench.agreement.differences import certain_to_be_seen, differences, longest_blink_ns
from dlex_bench.errors import LabError
from dlex_bench.rig import sound
from dlex_bench.rig.stage import stage

OBSERVE, PLAY, QOE, MAKE = sys.argv[1:5]
SKIPPED = 77
CPUS = os.sched_getaffinity(0)
SIZE = (640, 360)
LIMIT_S = 120
ATTEMPTS = 4


def clip(name):
    made = subprocess.run([MAKE, name], capture_output=True, text=True)
    if made.returncode:
        raise unittest.SkipTest(f"no clip {name}: {made.stderr.strip()}")
    return made.stdout.strip()


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = Path(tempfile.mkdtemp(prefix="dlex-observer-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.clip = clip("stamped_small")
        try:
            self.stage = self.enterContext(stage(SIZE, CPUS))
        except LabError as cause:
            raise unittest.SkipTest(str(cause)) from cause

    def options(self, **changes):
        given = {
            "screen": self.stage.display.screen_file,
            "media": self.clip,
            "out": self.dir / "seen",
            "sound": self.stage.sound.monitor,
        } | changes
        return [f"--{name.replace('_', '-')}={value}" for name, value in given.items() if value is not None]

    def start(self, preexec_fn=None, **changes):
        """Starts an observer, and returns it when it watches."""
        observer = subprocess.Popen(
            [OBSERVE, *self.options(**changes)],
            env=self.stage.environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=preexec_fn,
        )
        self.addCleanup(observer.communicate)
        self.addCleanup(observer.kill)
        said = observer.stdout.readline()
        self.assertEqual(said, "observing\n", said or observer.stderr.read())
        return observer

    def end(self, observer, code=0, *words):
        observer.send_signal(signal.SIGTERM)
        self.ended(observer, code, *words)

    def ended(self, observer, code, *words):
        _, err = observer.communicate(timeout=LIMIT_S)
        self.assertEqual(observer.returncode, code, err)
        self.assertEqual(len(err.splitlines()), 1 if code else 0, err)
        for word in words:
            self.assertIn(word, err)
        if code:
            self.assertEqual(list(self.dir.glob("seen/*")), [])

    def refused(self, code, *words, **changes):
        run = subprocess.run(
            [OBSERVE, *self.options(**changes)],
            env=self.stage.environment,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
        self.assertEqual((run.returncode, run.stdout), (code, ""), run.stderr)
        for word in words:
            self.assertIn(word, run.stderr)

    def play(self, *options):
        argv = [PLAY, "--vo=sdl", "--ao=pulse", "--quiet", f"--record={self.dir}/own", *options, self.clip]
        environment = self.stage.environment | {"SDL_RENDER_DRIVER": "software"}
        played = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=LIMIT_S)
        self.assertEqual(played.returncode, 0, played.stderr)

    def seen(self, name):
        with open(self.dir / "seen" / name, newline="") as lines:
            return list(csv.DictReader(lines))

    def run_json(self):
        return json.loads((self.dir / "seen/run.json").read_text())


class Playing(Case):
    """One run with many checks, because playing takes long."""

    def setUp(self):
        super().setUp()
        for _attempt in range(ATTEMPTS):
            self.play_observed()
            if self.certain():
                return
        self.skipTest("other programs stopped the observer for longer than any picture was on the screen")

    def play_observed(self):
        for record in ("own", "seen"):
            shutil.rmtree(self.dir / record, ignore_errors=True)
        observer = self.start(frames=100)
        self.play("--drop=none", "--length=4")
        self.end(observer)

    def certain(self):
        return certain_to_be_seen(self.dir / "own", longest_blink_ns(self.dir / "seen"))

    def test_observers_record_agrees_with_the_players_record(self):
        own, seen = self.dir / "own", self.dir / "seen"
        differ = differences(own, seen)
        self.assertEqual(differ.only_outside, ())
        self.assertEqual(self.certain() & set(differ.only_inside), set())
        # A picture is on the screen before the call that presents it returns. The observer sees it at its next look.
        self.assertLessEqual(max(differ.shown_ms) * 1e6, longest_blink_ns(seen))
        self.assert_same_sound(differ)
        self.assert_rows_are_sound()
        self.assert_report()

    def assert_same_sound(self, differ):
        sound = self.run_json()["observer"]["sound"]
        self.assertGreater(sound["tones"], 0)
        seconds = [float(row["second"]) for row in self.seen("sound.csv")]
        self.assertEqual(seconds, sorted(set(seconds)))
        for second in seconds:
            self.assertAlmostEqual(second % 0.25, 0.1)
        if not sound["breaks"]:  # after breaks in the sound, the player's clock is less exact than the observer
            self.assertLess(abs(statistics.median(differ.skew_ms)), 50)

    def assert_rows_are_sound(self):
        rows = self.seen("frames.csv")
        self.assertEqual([int(row["pts_ns"]) for row in rows], [40_000_000 * i for i in range(100)])
        self.assertLessEqual({row["verdict"] for row in rows}, {"shown", "unseen"})
        shown = [int(row["shown_ns"]) for row in rows if row["verdict"] == "shown"]
        self.assertEqual(shown, sorted(shown))
        stood = [later - earlier for earlier, later in itertools.pairwise(shown)]
        self.assertEqual([row["stood_ns"] for row in rows if row["verdict"] == "shown"], [*map(str, stood), "0"])
        totals = self.run_json()["totals"]
        self.assertEqual((totals["shown"], totals["unseen"]), (len(shown), 100 - len(shown)))
        changes = self.seen("screen.csv")
        looks = [int(row[key]) for row in changes for key in ("time_ns", "last_ns")]
        self.assertEqual(looks, sorted(looks))
        self.assertGreater(max(int(row["last_ns"]) - int(row["time_ns"]) for row in changes), 0)
        screen = self.run_json()["observer"]["screen"]
        self.assertEqual(screen["torn_after_ms"], 20)
        self.assertLessEqual(screen["pictures_only_torn"], screen["pictures_torn"])

    def assert_report(self):
        read = subprocess.run([QOE, self.dir / "seen", "--json=-"], capture_output=True, text=True)
        self.assertEqual(read.returncode, 0, read.stderr)
        summary = json.loads(read.stdout)["summary"]
        self.assertEqual(summary["unseen"], self.run_json()["totals"]["unseen"])


class LateSound(Case):
    """A null sink of PulseAudio as it is by default: when it is idle it mixes 2 s of silence ahead, and plays that first."""

    def setUp(self):
        rewinding = sound.NULL_SINK.replace(" norewinds=1", "")
        self.assertNotEqual(rewinding, sound.NULL_SINK)
        self.enterContext(unittest.mock.patch.object(sound, "NULL_SINK", rewinding))
        super().setUp()

    def test_pictures_wait_until_the_sink_plays(self):
        observer = self.start(frames=50)
        self.play("--drop=none", "--length=2")
        self.end(observer)
        tone = self.seen("sound.csv")[0]
        begin_ns = int(tone["time_ns"]) - 1e9 * float(tone["second"])
        early = [row for row in self.seen("frames.csv") if row["shown_ns"] and int(row["shown_ns"]) < begin_ns]
        self.assertLessEqual(len(early), 4)
        if not self.run_json()["observer"]["sound"]["breaks"]:
            skew_ms = differences(self.dir / "own", self.dir / "seen").skew_ms
            self.assertLess(abs(statistics.median(skew_ms)), 20)


class Refusing(Case):
    def test_bad_options_are_refused(self):
        self.refused(1, "needed", screen=None)
        self.refused(1, "--size=12", size="12")
        self.refused(1, "--rate=0", rate="0")
        self.refused(1, "--cpu=1e9", cpu="1e9")

    def test_file_that_is_not_a_screen_or_not_a_clip_is_refused(self):
        self.refused(1, "No such file", "Xvfb", screen=self.dir / "none")
        (self.dir / "short").write_text("x")
        self.refused(1, "Xvfb", screen=self.dir / "short")
        (self.dir / "zeros").write_bytes(bytes(4096))
        self.refused(1, "not an XWD file", screen=self.dir / "zeros")
        self.refused(1, "No such file", media=self.dir / "none")
        self.refused(1, "--frame-ns", frame_ns="20000000")
        self.refused(1, "smaller than the picture", size="1920x1080")
        self.refused(1, "no pictures", media=clip("audio_only"))

    def test_screen_header_that_does_not_fit_its_file_is_refused(self):
        whole = Path(self.stage.display.screen_file).read_bytes()
        (self.dir / "cut").write_bytes(whole[:5000])
        self.refused(1, "does not fit", screen=self.dir / "cut")

    def test_missing_sound_source_is_refused(self):
        self.refused(1, "no_such_source", sound="no_such_source")

    def test_a_record_is_not_overwritten(self):
        (self.dir / "seen").mkdir()
        (self.dir / "seen/run.json").write_text("{}")
        self.refused(1, "a record is already there")

    def test_screen_without_a_stamped_picture_is_an_error(self):
        self.end(self.start(), 2, "no stamped picture")


class Dying(Case):
    def test_end_of_the_x_server_is_an_error(self):
        observer = self.start()
        self.stage.display.process.terminate()
        self.ended(observer, 2, "X server")

    def test_screen_file_truncated_while_it_is_read_is_an_error(self):
        screen = self.dir / "screen"
        shutil.copyfile(self.stage.display.screen_file, screen)
        observer = self.start(screen=screen)
        os.truncate(screen, 0)
        self.ended(observer, 2, "X server")

    def test_killed_sound_server_is_an_error(self):
        observer = self.start()
        self.stage.sound.process.kill()
        self.ended(observer, 2, "the connection to PulseAudio was lost")

    def test_interruption_before_any_picture_is_an_error(self):
        observer = self.start()
        observer.send_signal(signal.SIGINT)
        self.ended(observer, 2, "no stamped picture")


class Writing(Case):
    def test_vanished_folder_is_an_error(self):
        observer = self.start(sound=None)
        self.show_pictures()
        shutil.rmtree(self.dir / "seen")
        self.end(observer, 1, "cannot write the record")

    def test_full_disk_leaves_no_record(self):
        def take_room():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # without the signal, writing fails, as on a full disk
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

        observer = self.start(take_room, sound=None)
        self.show_pictures()
        self.end(observer, 1, "cannot write the record", "nothing was left there")

    def test_without_sound_the_record_has_no_skew(self):
        observer = self.start(sound=None)
        self.show_pictures()
        self.end(observer)
        self.assertIsNone(self.run_json()["clock"])
        self.assertEqual({row["skew_ns"] for row in self.seen("frames.csv")}, {""})
        self.assertEqual(self.seen("sound.csv"), [])

    def show_pictures(self):
        self.play("--length=1", "--drop=none")


def main():
    """Runs the tests like unittest.main. A run that skipped every test is reported to Meson as skipped."""
    result = unittest.main(argv=[sys.argv[0], *sys.argv[5:]], verbosity=2, exit=False).result
    if not result.wasSuccessful():
        return 1
    if len(result.skipped) < result.testsRun:
        return 0
    print(result.skipped[0][1])
    return SKIPPED


if __name__ == "__main__":
    sys.exit(main())
