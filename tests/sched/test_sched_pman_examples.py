# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests files of `dlex sched pman` and the example graphs, also when their processes are killed.

    test_sched_pman_examples.py PROGRAM GRAPHS TOOLS MEDIA_MAKE

Not covered: how late processes are.
"""


import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

from outside import Folder, is_running, with_packages
from pman_case import (
    ENVIRONMENT,
    GRAPHS,
    NAMES,
    PROGRAM,
    by_name,
    ended,
    last_state,
)
from programs import soon

with_packages("yaml, pydantic, rich, matplotlib")

from dlex_bench.errors import LabError
from dlex_bench.graphs.instances import read_log
from dlex_sched.graph import read_graph

MAKE = sys.argv[4]
PICTURE = 640 * 480  # samples of luma
LATER = 9  # the store has 4 pictures: a slow filter reads one that is 4 or 8 later, in part or whole
needs_ffmpeg = unittest.skipUnless(shutil.which("ffmpeg"), "the ffmpeg program is missing")


def recorder(**encoder):
    """Returns the example with a name of its own, and these fields of its encoder changed."""
    graph = read_graph(GRAPHS / "recorder.yaml")
    processes = {**graph.processes, "encoder": graph.processes["encoder"].model_copy(update=encoder)}
    return graph.model_copy(update={"name": next(NAMES), "processes": processes})


def pictures_of(film):
    """Returns the complete pictures of a film of the recorder, as PNG, each from its number on."""
    data = film.read_bytes() if film.exists() else b""
    return [picture for picture in data.split(b"tEXtComment\0picture ")[1:] if b"IEND" in picture]


def number_of(picture):
    return int(picture.split(b" ")[0])


def samples_of(file, *options):
    """Returns the samples of a file's pictures."""
    command = ["ffmpeg", "-v", "error", "-i", file, *options, "-f", "rawvideo", "-"]
    return subprocess.run(command, stdout=subprocess.PIPE, timeout=120, check=True).stdout


def difference(samples, others):
    return sum(abs(one - other) for one, other in zip(samples, others, strict=True)) / len(samples)


class Graphs(Folder):
    def read(self, text):
        path = self.folder / "graph.yaml"
        path.write_text(text)
        return read_graph(path)

    def test_options_are_those_of_the_file(self):
        graph = self.read("name: n\ntick: 33.3\ndeadlines: tick\nmanager-priority: 9\nprocesses:\n"
                          "  b: {command: [echo, a b], after: [a], recovery: a, delay: 2, deadline: 3.5, priority: 4, phase: 1}\n"
                          "  a: {command: x; y, activation: stop, restart: true, period: 0}\n  c: {}\n")
        self.assertEqual(graph.options(), [
            "--name=n", "--deadlines=tick", "--tick=33.3", "--manager-priority=9", "--process=b,1,1,2.0,3.5,4",
            "--process=a,0,0,0,0,0", "--process=c,1,0,0,0,0", "--after=b,a", "--recovery=b,a",
            "--waits=b,exec echo 'a b'", "--stops=a,x; y", "--restarts=a",
        ])

    def test_wrong_graphs_are_errors_that_name_the_field(self):
        for text, reason in {
            "": "", "tick: 5": "processes", "tick: 5\nprocesses: {}": "processes", "processes: {a: {}}": "tick",
            "tick: 0\nprocesses: {a: {}}": "tick", "tick: often\nprocesses: {a: {}}": "tick",
            "tick: 5\nprocesses: {a b: {}}": "a b", "tick: 5\nprocesses: {a: {delay: -1}}": "delay",
            "tick: 5\nprocesses: {a: {priority: 100}}": "priority", "tick: 5\nprocesses: {a: {nice: 1}}": "nice",
            "tick: 5\nprocesses: {camera: {}, b: {after: [kamera]}}": "did you mean camera?",
            "tick: 5\nprocesses: {a: {recovery: b}}": "a.recovery", "tick: 5\nprocesses: {a: {restart: true}}": "no command",
            "tick: .inf\nprocesses: {a: {}}": "tick",
        }.items():
            with self.subTest(text), self.assertRaises(LabError) as caught:
                self.read(text)
            self.assertIn(reason, str(caught.exception))

    @needs_ffmpeg
    def test_examples_run(self):
        self.assertEqual({path.stem for path in GRAPHS.glob("*.yaml")}, {"recorder", "robot"})
        for path in sorted(GRAPHS.glob("*.yaml")):
            with self.subTest(path.stem):
                graph = read_graph(path).model_copy(update={"name": next(NAMES)})
                done = ended(*graph.options(), "--ticks=90")
                self.assertEqual(done.returncode, 0, done.stderr)
                for name, process in by_name(last_state(done.stdout)).items():
                    if graph.processes[name].period:
                        self.assertGreater(process["activations"], 20, name)


@needs_ffmpeg
class Clip(Folder):
    """The example recorder, whose camera shows a clip of 25 pictures a second."""

    def setUp(self):
        super().setUp()
        made = subprocess.run([MAKE, "progressive_cabac"], capture_output=True, text=True)
        if made.returncode:
            self.skipTest(f"there is no clip: {made.stderr.strip()}")
        self.clip = made.stdout.strip()
        self.film, log = self.folder / "recording.mkv", self.folder / "log.csv"
        done = ended(*recorder().options(), "--ticks=150", f"--log={log}", CLIP=self.clip, OUTPUT=str(self.film))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.ticks = [tick.time_ns / 1e9 for _number, tick in sorted(read_log(log).ticks.items())]

    def test_camera_gives_about_30_ticks_a_second_and_shows_the_clip(self):
        self.assertGreaterEqual(len(self.ticks), 150)
        self.assertLess((len(self.ticks) - 1) / (self.ticks[-1] - self.ticks[0]), 40)
        # A busy machine makes ticks late, after which they come faster. So the fastest second of the run counts.
        self.assertGreater(max(30 / (end - begin) for begin, end in zip(self.ticks, self.ticks[30:], strict=False)), 20)

        # The pictures that are added to a clip of 25 a second do not come at once. In some dozen ticks no machine is late.
        steps = [end - begin for begin, end in itertools.pairwise(self.ticks)]
        self.assertGreater(max(min(steps[first:first + 12]) for first in range(len(steps) - 11)), 0.015)

        # On a busy machine the camera may replace a picture while the filters read it, so the rows may be those of later ones. In
        # the beginning of this clip a picture differs from the next by 7, and from itself as it is recorded by 1.
        number = number_of(pictures_of(self.film)[0])
        scaled = ("-an", "-vf", "fps=30,scale=640:480", "-pix_fmt", "yuv420p")
        camera = samples_of(self.clip, *scaled, "-frames:v", str(number + LATER))
        shown = [camera[first:][:PICTURE] for first in range(0, len(camera), PICTURE * 3 // 2)][number - 1:]
        film = samples_of(self.film, "-frames:v", "1", "-pix_fmt", "gray")
        recorded = b"".join(film[first:first + 640] for first in range(0, 960 * 480, 960))
        rows = [[samples[first:first + 640] for first in range(0, PICTURE, 640)] for samples in (recorded, *shown)]
        nearest = [min(difference(row, other) for other in others) for row, *others in zip(*rows, strict=True)]
        self.assertLess(sum(nearest) / len(nearest), 5, f"picture {number}")
        self.assertGreater(difference(recorded, bytes(PICTURE)), 20)  # it is not black


class Recorder(Folder):
    """The example recorder, which runs until its test ends it."""

    def start(self, **encoder):
        self.file = self.folder / "recording.mkv"
        self.program = subprocess.Popen([PROGRAM, *recorder(**encoder).options()], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, env={**ENVIRONMENT, "OUTPUT": str(self.file)})
        self.addCleanup(self.program.communicate)
        self.addCleanup(self.program.terminate)
        self.pids = {name: process["pid"] for name, process in self.next_state().items()}
        soon(lambda: len(self.numbers()) > 20)

    def next_state(self):
        """Returns what the processes do, by name. The program says it once a second."""
        return by_name(json.loads(self.program.stdout.readline()))

    def numbers(self):
        """Returns the numbers of the complete pictures in the film, as their comments say."""
        return [number_of(picture) for picture in pictures_of(self.file)]

    def stop(self):
        """Ends the graph. Returns what it printed."""
        self.program.terminate()
        rest = self.program.stdout.read()
        self.program.wait(timeout=60)
        return rest


@needs_ffmpeg
class LateEncoder(Recorder):
    """The example recorder, whose encoder misses all its deadlines. The recovery process lowers its level, which is 6 at first."""

    def setUp(self):
        super().setUp()
        self.start(deadline=0.001)

    def test_encoder_tries_less_hard(self):
        state = by_name(last_state(self.stop()))
        self.assertGreater(state["encoder"]["misses"], 10)
        self.assertGreater(state["hurry"]["activations"], 10)
        # The two highest bits of a zlib stream's second byte: 0 is level 1, and 3 are the levels from 7 on.
        efforts = [picture.split(b"IDAT")[1][1] >> 6 for picture in pictures_of(self.file)]
        self.assertIn(efforts[0], (1, 2))
        self.assertGreater(efforts[8:20].count(0), 8)  # at each 32nd picture it tries harder again

    def test_recovery_process_that_was_killed_is_started_again(self):
        os.kill(self.pids["hurry"], signal.SIGKILL)
        self.assertTrue(any(self.next_state()["hurry"]["pid"] not in (0, self.pids["hurry"]) for _ in range(30)))
        before = self.next_state()["hurry"]["activations"]
        self.assertTrue(any(self.next_state()["hurry"]["activations"] > before for _ in range(30)))


@needs_ffmpeg
class Crashes(Recorder):
    """The example recorder, of which processes are killed."""

    def setUp(self):
        super().setUp()
        self.start()

    def played(self):
        """Plays the film to its end. Returns how the player describes it and its pictures."""
        wanted = "stream=codec_name,width,height,nb_read_frames:frame=pts_time"
        done = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-show_entries", wanted, "-of", "json", self.file],
                              capture_output=True, text=True, timeout=120, check=True)
        found = json.loads(done.stdout)
        return found["streams"][0], [float(frame["pts_time"]) for frame in found["frames"]], done.stderr

    def test_player_shows_every_picture_of_the_film(self):
        self.stop()
        stream, times, errors = self.played()
        self.assertEqual((stream["codec_name"], stream["width"], stream["height"], errors), ("png", 960, 480, ""))
        self.assertEqual(int(stream["nb_read_frames"]), len(self.numbers()))
        self.assertEqual(times, sorted(set(times)))

    def test_film_shows_what_both_filters_have_made(self):
        self.stop()
        samples = samples_of(self.file, "-frames:v", "1", "-pix_fmt", "gray")
        rows = [samples[first:first + 960] for first in range(0, 960 * 480, 960)]
        self.assertEqual(len(samples), 960 * 480)
        self.assertFalse(any(any(row[640:]) for row in rows[240:]))
        differences = [abs(rows[2 * y][2 * x] - rows[y][640 + x]) for y in range(240) for x in range(320)]
        self.assertLess(sum(differences) / len(differences), 10)
        self.assertGreater(max(map(max, rows)) - min(min(row[:640]) for row in rows), 100)  # it is not the same everywhere

    def test_pictures_go_on_after_the_camera_was_killed(self):
        os.kill(self.pids["camera"], signal.SIGKILL)
        soon(lambda: sorted(numbers := self.numbers()) != numbers and numbers[-1] > 20)  # a new camera counts from 1 on

    def test_recording_goes_on_after_the_writer_was_killed(self):
        before = self.file.read_bytes()
        os.kill(self.pids["writer"], signal.SIGKILL)
        soon(lambda: not is_running(self.pids["writer"]))
        at_the_kill = self.file.stat().st_size
        soon(lambda: self.file.stat().st_size > at_the_kill + 1000)
        self.assertEqual(self.file.read_bytes()[:len(before)], before)
        self.stop()
        stream, times, _errors = self.played()
        # The picture that was being written may be broken, and the next one may be lost with it.
        self.assertGreaterEqual(int(stream["nb_read_frames"]), len(self.numbers()) - 1)
        self.assertEqual(times, sorted(set(times)))

    def test_file_that_is_no_film_of_ours_is_left_alone(self):
        for content in (b"a letter", self.file.read_bytes()[:400].replace(b"MPNG", b"H264") + bytes(1000)):
            self.stop()
            self.file.write_bytes(content)
            graph = read_graph(GRAPHS / "recorder.yaml")
            writer = graph.processes["writer"].model_copy(update={"restart": False})
            graph = graph.model_copy(update={"name": next(NAMES), "processes": {**graph.processes, "writer": writer}})
            done = ended(*graph.options(), "--ticks=5", OUTPUT=str(self.file))
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"dlex-pictures: {self.file}: File exists", done.stderr)
            self.assertEqual(self.file.read_bytes(), content)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
