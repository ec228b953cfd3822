# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests files of `dlex sched pman` and the example graphs, also when their processes are killed.

    test_sched_pman_examples.py PROGRAM GRAPHS TOOLS

Not covered: how late processes are.
"""


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
from dlex_sched.graph import read_graph


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

    @unittest.skipUnless(shutil.which("ffmpeg"), "the ffmpeg program is missing")
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


@unittest.skipUnless(shutil.which("ffmpeg"), "the ffmpeg program is missing")
class Crashes(Folder):
    """The example recorder, of which processes are killed."""

    def setUp(self):
        super().setUp()
        self.file = self.folder / "recording.mkv"
        graph = read_graph(GRAPHS / "recorder.yaml").model_copy(update={"name": next(NAMES)})
        self.program = subprocess.Popen([PROGRAM, *graph.options()], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                        env={**ENVIRONMENT, "OUTPUT": str(self.file)})
        self.addCleanup(self.program.communicate)
        self.addCleanup(self.program.terminate)
        self.pids = {process["name"]: process["pid"] for process in json.loads(self.program.stdout.readline())["processes"]}
        soon(lambda: len(self.numbers()) > 20)

    def numbers(self):
        """Returns the numbers of the complete pictures in the film, as their comments say."""
        data = self.file.read_bytes() if self.file.exists() else b""
        pictures = data.split(b"tEXtComment\0picture ")[1:]
        return [int(picture.split(b" ")[0]) for picture in pictures if b"IEND" in picture]

    def stop(self):
        self.program.terminate()
        self.program.stdout.read()
        self.program.wait(timeout=60)

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
        first_picture = ["-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "gray", "-"]
        command = ["ffmpeg", "-v", "error", "-i", self.file, *first_picture]
        samples = subprocess.run(command, stdout=subprocess.PIPE, timeout=120, check=True).stdout
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
            done = subprocess.run([PROGRAM, *graph.options(), "--ticks=5"], capture_output=True, text=True, timeout=120,
                                  env={**ENVIRONMENT, "OUTPUT": str(self.file)})
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"dlex-pictures: {self.file}: File exists", done.stderr)
            self.assertEqual(self.file.read_bytes(), content)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
