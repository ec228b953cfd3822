# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests `dlex-sched period` on programs of the tests. Skipped without root, because only root may watch system calls.

Not covered: how well the rates of real players are found, which the laboratory measures, and options (dlex_sched_commands.sh).

Run as: test_period_command.py DLEX_SCHED PERIODIC [CLASS.test ...]
"""
import json
import subprocess
from pathlib import Path
from xml.etree import ElementTree

from tune_case import PERIODIC, SCHED, Case, main, rows_of, threads


class Watching(Case):
    def test_period_watches_a_command_and_says_it_in_json(self):
        self.succeeds_once(self.watch_a_command)

    def watch_a_command(self):
        run = subprocess.run([SCHED, "period", "--seconds=3", "--json", "--", "sh", "-c", f"{PERIODIC} 25 2 6; exit 4"],
                             capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 4, run.stderr)
        found = json.loads(run.stdout)
        self.assertEqual((found["verdict"], found["standard_hz"], found["lost_switches"]), ("periodic", 25, 0))
        [player] = [thread for thread in found["threads"] if thread["name"] == "periodic"]
        self.assertAlmostEqual(player["cpu_per_period_ms"], 2, delta=0.6)
        self.assertEqual(player["part"], 1)

    def test_period_draws_the_spectrum_and_records_the_jobs(self):
        player = self.player(25, 2, 90, 3)
        self.succeeds_once(lambda: self.draw_and_record(player))

    def draw_and_record(self, player):
        plot, record = self.dir / "spectrum.svg", self.dir / "jobs.csv"
        subprocess.run([SCHED, "period", "--seconds=2", f"--pid={player.pid}", f"--plot={plot}", f"--record={record}"],
                       capture_output=True, check=True)
        jobs = rows_of(record)
        self.assertEqual({int(job["thread"]) for job in jobs}, set(threads(player.pid)))
        self.assertAlmostEqual(len(jobs), 3 * 2 * 25, delta=9)
        self.assertTrue(all(-0.001 <= float(job["second"]) <= 2.2 and 1 < float(job["cpu_ms"]) < 10 for job in jobs), jobs)
        picture = ElementTree.parse(plot).getroot()
        lines = [shape.get("points").split() for shape in picture.iter("{http://www.w3.org/2000/svg}polyline")]
        self.assertEqual([len(line) for line in lines], [1901] * 3)
        for line in lines:  # the peak at 25 Hz reaches the top, and between the peaks there is little
            heights = [float(point.split(",")[1]) for point in line]
            top, bottom = min(heights), max(heights)
            self.assertLess(heights[150] - top, 0.2 * (bottom - top))
            self.assertGreater(heights[270] - top, 0.6 * (bottom - top))

    def test_closed_standard_output_does_not_become_the_record(self):
        player, record = self.player(25, 2), self.dir / "jobs.csv"
        argv = [SCHED, "period", "--seconds=0.2", f"--pid={player.pid}", f"--record={record}"]
        run = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *argv], stderr=subprocess.PIPE, text=True, check=False)
        lost = "dlex-sched: cannot write to standard output: Bad file descriptor\n"
        self.assertEqual((run.returncode, run.stderr), (2, lost))
        self.assertEqual(record.read_text().splitlines()[0], "thread,second,cpu_ms")

    def test_period_finds_the_rate_by_system_calls_as_the_paper_does(self):
        player = self.player(25, 0, 90)
        self.succeeds_once(lambda: self.watch_system_calls(player))

    def watch_system_calls(self, player):
        path = Path("/sys/kernel/tracing")
        argv = [SCHED, "period", "--events=syscalls", "--seconds=2", f"--pid={player.pid}", f"--record={self.dir}/events"]
        script = f'[ -e {path}/events ] || mount -t tracefs tracefs {path}; exec "$@"'
        run = subprocess.run(["unshare", "--mount", "sh", "-c", script, "sh", *argv, "--json"], capture_output=True, text=True,
                             check=False)
        if "trace points of system calls cannot be found" in run.stderr or "unshare" in run.stderr:
            self.skipTest(run.stderr)
        found = json.loads(run.stdout)
        self.assertEqual((found["paper_hz"], found["lost"]), (25, 0))
        self.assertEqual(found["count"], len(rows_of(self.dir / "events")))
        self.assertAlmostEqual(found["count"], 2 * 25 * 6, delta=2 * 25)  # three calls for each job

    def test_command_that_ends_at_once_has_no_rate(self):
        run = subprocess.run([SCHED, "period", "--seconds=0.3", "--json", "--", "sh", "-c", "sleep 0.9; exit 3"],
                             capture_output=True, text=True, check=False)
        self.assertEqual((run.returncode, json.loads(run.stdout)["verdict"]), (3, "unknown"))


if __name__ == "__main__":
    main()
