# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests --tick: a graph of processes gets a tick at each picture that dlex-play shows.

    test_ticks.py DLEX_PLAY MEDIA_MAKE DLEX_SCHED_PMAN

Not covered: the graph itself (tests/sched).
"""
import csv
import json
import os
import signal
import subprocess
import sys

from playing import NULL, Case, clip, main, play, start

PMAN = sys.argv[3]


class Ticks(Case):
    def start_graph(self) -> subprocess.Popen:
        """Starts a graph whose process stops itself after each instance. Returns when it is ready."""
        self.table = f"test-play-{os.getpid()}"
        graph = subprocess.Popen([PMAN, f"--name={self.table}", "--process=a,1,0,0,0,0", f"--log={self.dir}/log.csv",
                                  "--stops=a,while kill -STOP $$; do :; done"], stdout=subprocess.PIPE, text=True)

        def clean_up():
            graph.kill()
            graph.communicate()

        self.addCleanup(clean_up)
        self.assertEqual(json.loads(graph.stdout.readline())["processes"][0]["status"], "idle")
        return graph

    def test_each_shown_picture_is_a_tick(self):
        for queue in ("0", "auto"):
            graph = self.start_graph()
            name = f"record-{queue}"
            self.expect(play(*NULL, "--drop=none", f"--queue={queue}", f"--tick={self.table}", f"--record={self.dir}/{name}",
                             clip("progressive_cabac")), 0)
            graph.send_signal(signal.SIGINT)
            state = json.loads(graph.communicate(timeout=60)[0].strip().splitlines()[-1])
            _run, rows = self.record(name)
            shown = [int(row["shown_ns"]) for row in rows if row["verdict"] == "shown"]
            self.assertEqual(state["ticks"], len(shown))
            self.assertGreater(state["processes"][0]["activations"], len(shown) // 4)
            with open(self.dir / "log.csv", newline="", encoding="ascii") as file:
                ticks = [int(row["time_ns"]) for row in csv.DictReader(file) if row["kind"] == "tick"]
            self.assertEqual(ticks[1:], shown[1:])  # the first one is recorded as shown when the window opened

    def test_graph_that_ends_does_not_end_the_film(self):
        graph = self.start_graph()
        film = start("--ao=null", "--vo=null", f"--tick={self.table}", f"--record={self.dir}/record", clip("progressive_cabac"))
        # The graph prints a line a second, perhaps before the first picture.
        self.assertTrue(any(json.loads(graph.stdout.readline())["ticks"] for _ in range(60)))
        graph.send_signal(signal.SIGINT)
        graph.communicate(timeout=60)
        _output, errors = film.communicate(timeout=60)
        self.assertEqual(film.returncode, 0, errors)
        self.assertIn("gets no more ticks: it has ended", errors)
        self.assertEqual(self.record()[0]["ended"], "end")

    def test_graph_must_be_there(self):
        self.expect(play(*NULL, "--tick=nowhere", clip("progressive_cabac")), 1, "there is no graph of processes")

    def test_impossible_name_is_an_error(self):
        self.expect(play(*NULL, "--tick=a/b", clip("progressive_cabac")), 1, "--tick=a/b", "1 to 31 letters")


if __name__ == "__main__":
    main()
