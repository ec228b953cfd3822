# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what dlex-qoe makes of pictures that were decoded without their loop filter.

The real ffmpeg program provides expected values where it leaves out the same loop filters, and the player's own checksums
where it does not. Not covered: pictures whose fields are packets of their own.
"""

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from qoe_cases import PAIRS, PLAY, Case, clip, decoded, environment, main, qoe, rmse_q16
from starting import await_reading

PLAYED_PICTURES = Path(PAIRS).with_name("played_pictures")
WHOLE, ITSELF, BY_OTHERS = 0, 1, 2
PLAYS = 5
ALL = ("-skip_loop_filter", "all")


def sums_of(path):
    """Returns the lines of a framemd5 file without its header."""
    return [line for line in path.read_text().splitlines() if not line.startswith("#")]


class Degraded(Case):
    def all_degraded(self, media, numbers, name="record", **facts):
        """Records a run of the first 30 pictures, all without their loop filter; `numbers` are shown, the others are late."""
        playback = [(number, "shown" if number in numbers else "late", ITSELF) for number in range(30)]
        return self.record(media, playback, name, **facts)

    def test_shown_picture_is_compared_with_the_one_that_should_have_been_shown(self):
        media, numbers = clip("progressive_cabac"), [3, 11, 12, 26]
        whole, degraded = decoded(media, numbers), decoded(media, numbers, *ALL)
        found = [drop for drop in self.drops(self.all_degraded(media, numbers)) if drop["verdict"] == "shown"]
        self.assertEqual([int(drop["index"]) for drop in found], numbers)
        for drop, number in zip(found, numbers, strict=True):
            self.assertEqual(drop["shown_index"], drop["index"])
            wanted = rmse_q16(whole[number], degraded[number])
            self.assertGreater(wanted, 0)
            self.assertAlmostEqual(float(drop["rmse_q16"]) / wanted, 1, 6, drop)

    def test_dropped_picture_is_compared_with_the_degraded_one_on_the_screen(self):
        media = clip("progressive_cabac")
        found = self.drops(self.all_degraded(media, [12]))
        wanted = rmse_q16(decoded(media, [13])[13], decoded(media, [12], *ALL)[12])
        self.assertAlmostEqual(float(found[13]["rmse_q16"]) / wanted, 1, 6)

    def test_summary_counts_them_and_the_sum_has_their_errors(self):
        media, numbers = clip("progressive_cabac"), [3, 11, 12, 26]
        folder = self.all_degraded(media, numbers)
        drops, summary = self.drops(folder), self.summary(folder)
        errors = {
            verdict: [float(drop["rmse_q16"]) for drop in drops if drop["verdict"] == verdict]
            for verdict in ("shown", "late")
        }
        self.assertEqual((summary["degraded"], summary["drifted"], summary["dropped"]), (4, 0, 26))
        self.assertAlmostEqual(summary["rmse_q16_degraded"], sum(errors["shown"]), 2)
        self.assertAlmostEqual(summary["rmse_q16_sum"], sum(errors["shown"] + errors["late"]), 2)
        self.assertAlmostEqual(summary["rmse_q16_mean"], sum(errors["late"]) / 26, 2)

    def test_drift_is_measured_and_reported(self):
        media = clip("progressive_cabac")
        folder = self.record(media, [(0, "shown", ITSELF), *((number, "shown", BY_OTHERS) for number in range(1, 10))])
        summary = self.summary(folder)
        self.assertEqual((summary["degraded"], summary["drifted"], summary["dropped"]), (1, 9, 0))
        self.assertGreater(summary["rmse_q16_degraded"], 0)
        self.assertGreater(summary["rmse_q16_drifted"], 0)
        self.assertAlmostEqual(summary["rmse_q16_sum"], summary["rmse_q16_degraded"] + summary["rmse_q16_drifted"], 4)
        text = qoe(folder).stdout
        self.assertIn("shown without the loop filter 1; 9 more may refer to such pictures", text)
        self.assertIn("of drift", text)

    def test_whole_pictures_contribute_nothing(self):
        folder = self.record(clip("progressive_cabac"), [(0, "shown", WHOLE), (1, "shown", BY_OTHERS), (2, "shown", WHOLE)])
        self.assertEqual(self.summary(folder)["rmse_q16_sum"], 0)
        self.assertEqual([drop["index"] for drop in self.drops(folder)], ["1"])

    def test_what_was_degraded_before_a_seek_is_whole_behind_it(self):
        media = clip("progressive_cabac")
        once = [(number, "shown", ITSELF) for number in range(10)]
        again = [(0, "shown", WHOLE), (1, "shown", WHOLE), (2, "shown", BY_OTHERS)]
        drops = self.drops(self.record(media, [*once, *again]))
        self.assertEqual(len(drops), 11)
        self.assertGreater(float(drops[2]["rmse_q16"]), 0)
        self.assertEqual(float(drops[10]["rmse_q16"]), 0)

    def test_film_without_stamps_does_not_show_it(self):
        media, film = clip("stamped_small"), clip("progressive_cabac")
        facts = {"duration_s": 8.0, "video": {"stream_index": 0, "width": 640, "height": 360}}
        folder = self.all_degraded(media, range(30), **facts)
        run = qoe(folder, "--json=-", f"--unstamped={film}")
        self.assertEqual(run.returncode, 0, run.stderr)
        summary = json.loads(run.stdout)["summary"]
        self.assertEqual((summary["degraded"], summary["rmse_q16_degraded"], summary["rmse_q16_sum"]), (30, None, 0))
        self.assertIn("not known", qoe(folder, f"--unstamped={film}").stdout)

    def test_pictures_are_those_that_the_player_showed(self):
        """Stops the player for a while, so that it leaves out loop filters to catch up."""
        for queue, name in (("0", "bpyramid"), ("2", "video_only")):
            folder, sums = self.dir / f"run{queue}", self.dir / f"sums{queue}"
            degraded = 0
            for _ in range(PLAYS):  # a stop that a busy machine makes longer is forgotten, but not each is
                self.play_with_a_stop(folder, sums, queue, name)
                degraded = self.summary(folder)["degraded"]
                if degraded > 3:
                    break
                shutil.rmtree(folder)
            self.assertGreater(degraded, 3)
            again = self.dir / f"again{queue}"
            subprocess.run([PLAYED_PICTURES, folder, again], check=True, env=environment())
            self.assertEqual(sums_of(again), sums_of(sums))

    def play_with_a_stop(self, folder, sums, queue, name):
        options = ("--ao=null", "--vo=null", "--quiet", "--degrade=auto", "--skip-to-key=never", f"--queue={queue}")
        process = subprocess.Popen([PLAY, *options, f"--record={folder}", f"--framemd5={sums}", clip(name)], env=environment())
        await_reading(process)
        time.sleep(1.2)
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.9)
        process.send_signal(signal.SIGCONT)
        self.assertEqual(process.wait(timeout=60), 0)


if __name__ == "__main__":
    sys.exit(main())
