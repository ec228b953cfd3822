# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests of dlex-qoe share: records that they write, runs, and the expected differences of pictures.

Run a test file as: python3 test_X.py DLEX_QOE PICTURE_PAIRS DLEX_PLAY MEDIA_MAKE [CLASS ...]
"""

import csv
import hashlib
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

QOE, PAIRS, PLAY, MAKE = sys.argv[1:5]
EXIT_SKIPPED = 77
SANITIZER_EXIT = 99
FRAME_NS = 40_000_000
WIDTH, HEIGHT = 640, 360
BLACK = -1  # no picture of the clip
# That of an older record, which does not say how long pictures stood; Standing in test_qoe.py adds the column.
HEADER = (
    "index,pts_ns,type,droppable,size_bytes,decode_start_ns,decode_end_ns,decode_cpu_ns,"
    "deadline_ns,fired_ns,"
    "verdict,shown_ns,skew_ns,degraded"
)
SUMMARY_KEYS = (
    "frames shown dropped aborted skipped late unseen degraded drifted dropped_fraction rmse_q16_sum "
    "rmse_q16_degraded rmse_q16_drifted "
    "rmse_q16_mean rmse_q16_median "
    "rmse_q16_p90 skew_ms_mean skew_ms_sd skew_ms_p99 longest_drop_run longest_freeze_ms "
    "lip_sync_accepted lip_sync_itu_undetected lip_sync_irritating lip_sync_itu_acceptable "
    "lip_sync_distracting lip_sync_itu_unacceptable "
    "window violations_sliding violations_aligned"
).split()


def clip(name):
    made = subprocess.run([MAKE, name], capture_output=True, text=True, check=False)
    if made.returncode:
        raise unittest.SkipTest(f"no clip {name}: {made.stderr.strip()}")
    return Path(made.stdout.strip())


def environment():
    clean = dict(os.environ)
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
        clean[name] = f"{clean.get(name, '')}:exitcode={SANITIZER_EXIT}:halt_on_error=1".lstrip(":")
    return clean


def qoe(*arguments):
    return subprocess.run(
        [QOE, *map(str, arguments)], capture_output=True, text=True, env=environment(), check=False
    )


def rows_of(playback):
    """Yields the rows of `playback`, in the order of playing: picture number, verdict, and how it was degraded (0)."""
    for index, (number, verdict, *degraded) in enumerate(playback):
        shown = f"{index * FRAME_NS},{1_000_000 * (index % 5)}" if verdict == "shown" else ","
        yield f"{index},{number * FRAME_NS},B,1,1000,0,1000,900,,,{verdict},{shown},{(*degraded, 0)[0]}"


def write_totals(folder):
    """Writes the totals of frames.csv to run.json, as every record has them."""
    with (folder / "frames.csv").open() as file:
        found = [row["verdict"] for row in csv.DictReader(file)]
    totals = {verdict: found.count(verdict) for verdict in ("shown", "aborted", "skipped", "late", "unseen")}
    totals["dropped"] = len(found) - found.count("none") - totals["shown"]
    facts = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(facts | {"totals": totals}))


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.dir = Path(tempfile.mkdtemp(prefix="dlex-qoe-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def record(self, media, playback, name="record", window=None, **changes):
        folder = self.dir / name
        folder.mkdir(parents=True)
        facts = {
            "path": str(media),
            "sha256": hashlib.sha256(media.read_bytes()).hexdigest(),
            "video": {"stream_index": 0},
        } | changes
        (folder / "run.json").write_text(
            json.dumps({"format": 1, "options": {"drop": "deadline", "window": window}, "media": facts})
        )
        (folder / "frames.csv").write_text("\n".join([HEADER, *rows_of(playback)]) + "\n")
        write_totals(folder)
        return folder

    def drops(self, folder, *options):
        run = qoe(folder, "--csv=-", *options)
        self.assertEqual(run.returncode, 0, run.stderr)
        return list(csv.DictReader(run.stdout.splitlines()))

    def summary(self, folder, *options):
        run = qoe(folder, "--json=-", *options)
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)["summary"]

    def expect_refusal(self, run, code, *words):
        self.assertEqual(run.returncode, code, run.stderr)
        for word in words:
            self.assertIn(word, run.stderr)
        self.assertEqual(run.stdout, "")
        self.assertIn("dlex-qoe: ", run.stderr)
        self.assertLessEqual(len(run.stderr.splitlines()), 2, run.stderr)


def decoded(media, numbers, *options):
    """Returns these pictures in RGB24 as Debian's ffmpeg decodes them with these options, {number: bytes}."""
    wanted = sorted(set(numbers))
    choice = "+".join(f"eq(n\\,{number})" for number in wanted)
    scale = "scale=in_color_matrix=bt601:flags=bilinear+accurate_rnd+bitexact"
    chain = f"select={choice},{scale},format=rgb24"
    raw = subprocess.run(
        [
            "ffmpeg",
            "-v",
            "error",
            *options,
            "-i",
            media,
            "-vf",
            chain,
            "-fps_mode",
            "passthrough",
            "-f",
            "rawvideo",
            "-",
        ],
        capture_output=True,
        check=True,
    ).stdout
    size = 3 * WIDTH * HEIGHT
    return {number: raw[i * size : (i + 1) * size] for i, number in enumerate(wanted)}


def rmse_q16(a, b):
    return 257 * math.sqrt(sum((x - y) * (x - y) for x, y in zip(a, b, strict=True)) / len(a))


def main():
    """Runs the tests like unittest.main. A run that skipped every test is reported to Meson as skipped."""
    result = unittest.main(argv=[sys.argv[0], *sys.argv[5:]], verbosity=2, exit=False).result
    if not result.wasSuccessful():
        return 1
    if len(result.skipped) < result.testsRun:
        return 0
    print(result.skipped[0][1])
    return EXIT_SKIPPED
