# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests rule plan in the player: skips to a key picture, in streams of different kinds, and loop filters that are left out.

Both are provoked by stopping the player: it is late afterwards. Not covered: how well the rule does under load, which the
laboratory measures, and its decisions one by one (tests/player/test_plan.c).
"""
import os
import shutil
import signal
import subprocess
import time

from playing import NULL, Case, clip, main, play, start, sums_of
from starting import await_reading

PLAN = (*NULL, "--deadline-rule=plan")
STOP_S = 0.9  # without sound, the clock would forget a stop of a second
AWAY_MAX_S = 0.96  # from the stop to the player's next act; the player may have looked at the clock a little before
PLAYS = 5
GOP = "keyint=30:min-keyint=30:scenecut=0"
OPEN_GOP = f"{GOP}:open-gop=1:bframes=2:b-adapt=0:b-pyramid=none"
INTRA_REFRESH = "intra-refresh=1:keyint=25:bframes=0"


def away_s(rows: list, stopped_ns: int, resumed_ns: int) -> float:
    """Returns how long after its stop the player did something again, as its record says."""
    acts = [int(row[key]) for row in rows for key in ("decode_start_ns", "shown_ns") if row[key]]
    return (min((act for act in acts if act > resumed_ns), default=resumed_ns) - stopped_ns) / 1e9


def violations(lost: list[bool], x: int, y: int) -> dict[str, int]:
    """Counts the lost pictures with which more than x of the y pictures up to them, or of their aligned window, are lost."""
    places = [place for place, it in enumerate(lost) if it]
    return {
        "violations_sliding": sum(sum(lost[max(0, place - y + 1): place + 1]) > x for place in places),
        "violations_aligned": sum(sum(lost[place - place % y: place + 1]) > x for place in places),
    }


class LateCase(Case):
    """A case in which the player is late."""

    def make(self, name: str, params: str, *options: str, codec: str = "libx264"):
        """Makes a clip of 6 s with this kind of GOP."""
        path = self.dir / name
        kind = "-x265-params" if codec == "libx265" else "-x264-params"
        command = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=320x180:r=25:d=6", "-c:v", codec,
                   "-preset", "veryfast", kind, params, *options, path]
        if not shutil.which("ffmpeg") or subprocess.run(command, check=False, capture_output=True).returncode:
            self.skipTest(f"ffmpeg cannot make {name}")
        return path

    def ideal(self, file, *options) -> dict[str, str]:
        """Returns the checksums of all pictures by time stamp."""
        run = play(*NULL, "--untimed", "--drop=none", "--framemd5=-", *options, file)
        self.expect(run, 0)
        return sums_of(run.stdout)

    def late(self, file, *options, after_s: float = 1.2, plan=PLAN) -> tuple[dict[str, str], list]:
        """Plays the file and stops the player once for a while. Returns the checksums of shown pictures, and all rows.

        self.messages has what the player printed. On a busy machine a stop may become too long, but not each time.
        """
        sums, record = self.dir / "sums", self.dir / "record"
        for _ in range(PLAYS):
            shutil.rmtree(record, ignore_errors=True)
            process = start(*plan, *options, f"--framemd5={sums}", f"--record={record}", file)
            await_reading(process)
            time.sleep(after_s)
            stopped_ns = time.monotonic_ns()
            process.send_signal(signal.SIGSTOP)
            time.sleep(STOP_S)
            resumed_ns = time.monotonic_ns()
            process.send_signal(signal.SIGCONT)
            _, self.messages = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, self.messages)
            rows = self.record()[1]
            if away_s(rows, stopped_ns, resumed_ns) < AWAY_MAX_S:
                break
        return sums_of(sums.read_text()), rows


class Skips(LateCase):
    def expect_skip(self, file, *options, pictures: int, after_s: float = 1.2) -> list:
        """Expects that pictures are passed over, that every picture has its row, and that those shown are exact."""
        ideal = self.ideal(file)
        shown, rows = self.late(file, *options, after_s=after_s)
        passed = [row for row in rows if row["verdict"] == "skipped" and not row["decode_start_ns"]]
        self.assertGreater(len(passed), 2)
        self.assertEqual(len(rows), pictures)
        self.assertEqual([row for row in rows if row["verdict"] == "none"], [])
        self.assertEqual([row["index"] for row in rows], [str(number) for number in range(pictures)])
        self.assertEqual(sum(row["verdict"] == "shown" for row in rows), len(shown))
        self.assertEqual({pts: ideal[pts] for pts in shown}, shown)
        return rows

    def test_serial_loop_skips_to_the_next_key_picture_and_is_in_time_again(self):
        rows = self.expect_skip(clip("video_only"), "--queue=0", pictures=200)
        last = max(number for number, row in enumerate(rows) if row["verdict"] == "skipped" and not row["decode_start_ns"])
        self.assertEqual((rows[last + 1]["type"], rows[last + 1]["verdict"]), ("I", "shown"))
        skews = [int(row["skew_ns"]) for row in rows[last + 1:] if row["verdict"] == "shown"]
        self.assertLess(min(map(abs, skews)), 100e6, skews)

    def test_decoding_ahead_skips_too(self):
        self.expect_skip(clip("video_only"), "--queue=2", pictures=200)

    def test_pictures_held_back_are_shown_before_the_skip(self):
        rows = self.expect_skip(clip("bpyramid"), "--queue=0", "--strict", pictures=200, after_s=1.9)
        self.assertTrue(all(row["type"] == "?" for row in rows if row["verdict"] == "skipped" and not row["decode_start_ns"]))

    def test_leading_pictures_of_an_open_group_are_passed_over(self):
        rows = self.expect_skip(self.make("open.mp4", OPEN_GOP), "--queue=0", "--strict", pictures=150, after_s=0.8)
        keys = [number for number, row in enumerate(rows) if row["type"] == "I"]
        passed = [number for number, row in enumerate(rows) if row["verdict"] == "skipped" and not row["decode_start_ns"]]
        self.assertTrue({key - 1 for key in keys} & set(passed))

    def test_stream_without_droppable_pictures(self):
        rows = self.expect_skip(self.make("clip.mkv", f"{GOP}:bframes=0:log-level=error:pools=none", codec="libx265"),
                                "--queue=0", "--strict", pictures=150, after_s=0.8)
        self.assertEqual({row["droppable"] for row in rows}, {"0"})

    def test_time_stamps_that_do_not_begin_at_zero(self):
        self.expect_skip(clip("mpegts_h264"), "--queue=2", pictures=200)

    def test_stream_that_is_refreshed_bit_by_bit(self):
        # Its key pictures are points of recovery: the decoder gives out no picture until the whole of it is new.
        file = self.make("refresh.ts", INTRA_REFRESH)
        ideal = self.ideal(file)
        shown, rows = self.late(file, "--queue=0")
        self.assertEqual({pts: ideal[pts] for pts in shown}, shown)
        self.assertEqual(len(rows), 150)
        # So they are no place to go on.
        self.assertEqual([row for row in rows if row["verdict"] == "skipped" and not row["decode_start_ns"]], [])

    def test_never_means_never(self):
        for queue in ("0", "2"):
            _, rows = self.late(clip("video_only"), "--skip-to-key=never", f"--queue={queue}")
            self.assertEqual([row for row in rows if row["verdict"] == "skipped" and not row["decode_start_ns"]], [])

    def test_no_skip_is_longer_than_three_seconds(self):
        _, rows = self.late(self.make("long.mp4", "keyint=120:min-keyint=120:scenecut=0"), "--queue=0", "--strict")
        passed = [row for row in rows if row["verdict"] == "skipped" and not row["decode_start_ns"]]
        self.assertLessEqual(len(passed), 75)

    def test_losses_beyond_the_window_are_counted_and_reported(self):
        for queue in ("0", "2"):
            loud = [option for option in PLAN if option != "--quiet"]
            _, rows = self.late(clip("video_only"), f"--queue={queue}", "--window=1/4", plan=loud)
            lost = [row["verdict"] != "shown" for row in rows if row["verdict"] != "none"]
            found = self.record()[0]["window"]
            self.assertEqual(found, {"x": 1, "y": 4, **violations(lost, 1, 4)})
            self.assertGreater(found["violations_sliding"], 0)  # a skip loses many in a row
            self.assertRegex(self.messages, r"video_only\S*: \d+ lost pictures violate --window=1/4")

    def test_untimed_play_refuses_and_skips_nothing(self):
        file, pipe = self.make("clip.ts", f"{GOP}:bframes=2:b-adapt=0"), self.dir / "pipe"
        ideal, data = self.ideal(file), file.read_bytes()
        os.mkfifo(pipe)
        for queue in ("0", "auto"):
            sums, record = self.dir / "sums", self.dir / f"record{queue}"
            process = start(*PLAN, "--untimed", f"--framemd5={sums}", f"--queue={queue}", f"--record={record}", pipe)
            with open(pipe, "wb") as stream:
                stream.write(data[:len(data) // 4])
                stream.flush()
                time.sleep(4 * STOP_S)  # later than all pictures of the first quarter are due, if any were
                stream.write(data[len(data) // 4:])
            _, errors = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, errors)
            shown, rows = sums_of(sums.read_text()), self.record(record)[1]
            self.assertEqual({pts: ideal[pts] for pts in shown}, shown)
            self.assertEqual({row["verdict"] for row in rows} - {"aborted"}, {"shown"})  # a slow machine may abort some
            self.assertEqual(len(ideal) - len(shown), sum(row["verdict"] == "aborted" for row in rows))


class Degrades(LateCase):
    def degraded(self, file, *options) -> tuple[dict[str, str], list]:
        return self.late(file, "--skip-to-key=never", "--queue=0", *options)

    def test_pictures_lose_their_loop_filter_only_if_wanted(self):
        file = clip("video_only")
        for option, values in (("--degrade=auto", {"0", "1", "2"}), ("--degrade=never", {"0"})):
            _, rows = self.degraded(file, option)
            self.assertLessEqual({row["degraded"] for row in rows}, values)
            self.assertEqual("1" in {row["degraded"] for row in rows}, option == "--degrade=auto")

    def test_what_differs_from_the_file_is_in_the_record(self):
        file = clip("video_only")
        ideal = self.ideal(file)
        shown, rows = self.degraded(file, "--degrade=auto")
        sums = [shown[pts] == ideal[pts] for pts in shown]
        kinds = [row["degraded"] for row in rows if row["verdict"] == "shown"]
        self.assertEqual(len(kinds), len(sums))
        self.assertTrue(all(kind != "0" for kind, same in zip(kinds, sums, strict=True) if not same))
        self.assertGreater(sums.count(False), 3)

    def test_next_key_picture_is_whole_again(self):
        _, rows = self.degraded(clip("video_only"), "--degrade=auto")
        last = max(number for number, row in enumerate(rows) if row["degraded"] == "1" and row["droppable"] == "0")
        after = [row for row in rows[last + 1:] if row["degraded"] != "1" and row["verdict"] == "shown"]
        if after:  # a slow machine may never catch up
            self.assertEqual(after[0]["type"], "I")
            self.assertEqual({row["degraded"] for row in after}, {"0"})

    def test_codec_without_such_a_filter_is_played_whole(self):
        _, rows = self.degraded(clip("mpeg4_small"), "--degrade=auto")
        self.assertEqual({row["degraded"] for row in rows}, {"0"})


class Options(Case):
    def test_rule_and_its_options_are_checked(self):
        self.expect(play("--deadline-rule=plans", "x"), 1, "choose paper, slack or plan")
        self.expect(play("--skip-to-key=yes", "x"), 1, "choose auto or never")
        self.expect(play("--degrade=always", "x"), 1, "--degrade=always", "choose auto or never")

    def test_record_names_the_rule(self):
        self.expect(play(*PLAN, "--strict", "--skip-to-key=never", "--length=0.3", f"--record={self.dir}/record", clip("cavlc")), 0)
        settings = self.record()[0]["options"]
        self.assertEqual((settings["deadline_rule"], settings["strict"], settings["skip_to_key"]), ("plan", True, "never"))
        self.assertEqual((settings["window"], self.record()[0]["window"]), (None, None))
        self.assertEqual(settings["degrade"], "never")  # the default

    def test_record_names_a_window_that_was_kept(self):
        run = play("--ao=null", "--vo=null", "--window=1/5", "--length=0.3", f"--record={self.dir}/record", clip("cavlc"))
        self.expect(run, 0)
        facts = self.record()[0]
        self.assertEqual(facts["options"]["window"], "1/5")
        if not facts["totals"]["dropped"]:
            self.assertEqual(facts["window"], {"x": 1, "y": 5, "violations_sliding": 0, "violations_aligned": 0})
            self.assertNotIn("violate", run.stderr)


main()
