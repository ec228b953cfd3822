# SPDX-License-Identifier: LGPL-2.1-or-later
"""Holds what the tests of batches share.

Each test has its own project root. Its jobs are real but short, and are observed only from inside.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import uuid
from pathlib import Path

from outside import Folder, wait_until

ROOT = Path(__file__).resolve().parents[2]
AGENDA = """
config: {{iterations: {reps}, observe: inside, defaults: {{clip: {{file: clip.mp4, length_s: {length_s}}}}}}}
workloads:
  - {{id: none, name: dlex-play, params: {{drop: none, queue: 0}}}}
  - {{id: slack, name: dlex-play, params: {{drop: deadline, rule: slack, queue: 0}}}}
"""
FOUR = ["all-none-r1", "all-none-r2", "all-slack-r1", "all-slack-r2"]
LIMIT_S = 500
ANOTHER = "0123456789ab"


def processes_with(mark):
    """Returns the processes that have `mark` in their environment, even if their parents have ended."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark.encode() in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            pass
    return found


def command_of(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return []


def kill(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


class Batches(Folder):
    """A test case with its own project root. `set_up` sets `programs` and `clip`."""

    programs: dict[str, str] = {}
    clip = ""

    def setUp(self):
        super().setUp()
        for place, path in self.programs.items():
            link = self.folder / "build/release" / place
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(path)
        (self.folder / "media").symlink_to(ROOT / "media")
        (self.folder / "clip.mp4").symlink_to(self.clip)
        self.mark = f"DLEX_TEST_MARK={uuid.uuid4()}"
        name, value = self.mark.split("=")
        self.environment = {**os.environ, "TERM": "dumb", "DLEX_BENCH_ROOT": str(self.folder), name: value}
        self.write_agenda()

    def write_agenda(self, reps=2, length_s=0.2, text=AGENDA, name="agenda.yaml"):
        (self.folder / name).write_text(text.format(reps=reps, length_s=length_s))

    def start(self, *arguments):
        return subprocess.Popen(
            [sys.executable, "-m", "dlex_bench", *arguments],
            cwd=self.folder, env=self.environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )

    def finish(self, process, status=0):
        said, told = process.communicate(timeout=LIMIT_S)
        self.assertEqual(process.returncode, status, said + told)
        self.assertEqual(told.count("\n"), 0 if status == 0 else 1, told)
        return said if status == 0 else told

    def run_batch(self, *options, status=0, out="out"):
        return self.finish(self.start("run", "agenda.yaml", "-o", str(out), "--wait", *options), status)

    def run_command(self, *arguments, status=0):
        return self.finish(self.start(*arguments), status)

    def results(self, out="out"):
        """Returns the contents of every result.json by job. Fails if one of them is not whole."""
        found = {}
        for path in sorted((self.folder / out).glob("*/result.json")):
            found[path.parent.name] = json.loads(path.read_text())
            self.assertEqual(found[path.parent.name]["job"]["id"], path.parent.name)
        return found

    def be_of_another_machine(self, out="out"):
        """Renames the results in `out` so that another machine seems to have made them.

        The folder may be for one machine or for several.
        """
        folder = self.folder / out
        for path in (folder / "machines").iterdir():
            path.rename(path.with_name(f"{ANOTHER}.json"))
        for path in folder.glob("*/result.json"):
            result = json.loads(path.read_text())
            result["job"]["id"] = self.elsewhere(result["job"]["id"])
            path.write_text(json.dumps({**result, "machine": ANOTHER}))
            path.parent.rename(folder / result["job"]["id"])
        batch = json.loads((folder / "batch.json").read_text())
        jobs = [{**job, "id": self.elsewhere(job["id"])} for job in batch["jobs"]]
        (folder / "batch.json").write_text(json.dumps({**batch, "jobs": jobs}))

    @staticmethod
    def elsewhere(job):
        name, at, _machine = job.partition("@")
        return f"{name}@{ANOTHER}" if at else name

    def inodes(self, out="out"):
        return {path.parent.name: path.stat().st_ino for path in (self.folder / out).glob("*/result.json")}

    def statuses(self, out="out"):
        return {job: result["status"] for job, result in self.results(out).items()}

    def assert_nothing_runs(self):
        self.assertTrue(wait_until(lambda: not processes_with(self.mark), LIMIT_S), processes_with(self.mark))

    def interrupt(self, process, signum=signal.SIGINT):
        process.send_signal(signum)
        said, told = process.communicate(timeout=LIMIT_S)
        self.assertEqual(process.returncode, 4, said + told)
        return said


def set_up(arguments):
    """Sets the programs and the clip from the command line PLAYER QOE MEDIA_MAKE."""
    player, qoe, make = (os.path.abspath(path) for path in arguments)
    Batches.programs = {"player/dlex-play": player, "qoe/dlex-qoe": qoe}
    made = subprocess.run([make, "progressive_cabac"], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        print(made.stderr or "the clip cannot be made")
        sys.exit(77)
    Batches.clip = made.stdout.strip()
