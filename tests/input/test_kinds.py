# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests unusual kinds of files: with a queue of pictures they must play as they do in the serial loop.

Not covered: what most tests here play, films with a constant rate and one size.
"""
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

from playing import NULL, PLAY, UNTIMED, Case, clip, main, play, start

QUEUES = ("0", "auto")
OPEN_GOP = "keyint=10:min-keyint=10:scenecut=0:open-gop=1:bframes=2:b-adapt=0"


class Kinds(Case):
    def make(self, name: str, *arguments) -> Path:
        """Makes a file with the ffmpeg program."""
        if not shutil.which("ffmpeg"):
            self.skipTest("the ffmpeg program is not installed")
        path = self.dir / name
        command = ["ffmpeg", "-v", "error", "-y", *map(str, arguments), path]
        made = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if made.returncode:
            self.skipTest(f"ffmpeg cannot make {name}: {made.stderr.strip().splitlines()[-1:]}")
        return path

    def same(self, path, *options, pictures: int):
        """Plays the file untimed and in time. Every queue must give the same pictures, and this many."""
        first = None
        for queue in QUEUES:
            with self.subTest(queue=queue):
                run = play(*UNTIMED, "--drop=none", "--framemd5=-", f"--queue={queue}", *options, path)
                self.expect(run, 0)
                first = first or run.stdout
                self.assertEqual(run.stdout, first)
                self.assertEqual(sum(not line.startswith("#") for line in run.stdout.splitlines()), pictures)
                record = self.dir / f"timed-{queue}"
                self.expect(play(*NULL, "--drop=none", f"--queue={queue}", f"--record={record}", *options, path), 0)
                found, rows = self.record(record.name)
                self.assertEqual(found["totals"]["shown"], pictures)
                shown = [int(row["shown_ns"]) for row in rows if row["shown_ns"]]
                self.assertEqual(shown, sorted(shown))
                shutil.rmtree(record)
        return first

    def plays_for(self, least_s: float, path):
        """Plays a file whose sound sets the pace."""
        for queue in QUEUES:
            with self.subTest(queue=queue):
                begun = time.monotonic()
                self.expect(play(*NULL, f"--queue={queue}", path), 0)
                self.assertGreater(time.monotonic() - begun, least_s)

    def test_still(self):
        self.same(self.make("still.mp4", "-f", "lavfi", "-i", "testsrc2=s=320x240:r=1", "-frames:v", "1", "-c:v", "libx264"),
                  pictures=1)

    def test_still_beside_sound(self):
        path = self.make("still-sound.mkv", "-f", "lavfi", "-i", "testsrc2=s=320x240:r=1", "-f", "lavfi", "-i", "sine=d=2",
                         "-frames:v", "1", "-c:v", "libx264", "-c:a", "aac")
        self.same(path, pictures=1)

    def test_slides_that_stay_for_two_seconds(self):
        path = self.make("slides.mp4", "-f", "lavfi", "-i", "testsrc2=s=320x240:r=1/2", "-frames:v", "3", "-c:v", "libx264",
                         "-bf", "0")
        self.same(path, pictures=3)

    def test_sound_with_a_cover_picture(self):
        cover = self.make("cover.jpg", "-f", "lavfi", "-i", "testsrc2=s=320x240:r=1", "-frames:v", "1")
        path = self.make("covered.m4a", "-f", "lavfi", "-i", "sine=d=1.5", "-i", cover, "-map", "0", "-map", "1", "-c:a", "aac",
                         "-c:v", "copy", "-disposition:v:0", "attached_pic")
        self.plays_for(1.4, path)

    def test_sound_alone(self):
        path = self.make("sound.m4a", "-f", "lavfi", "-i", "sine=d=1", "-c:a", "aac")
        self.plays_for(0.9, path)

    def test_variable_frame_rate(self):
        path = self.make("variable.mkv", "-i", clip("video_only"), "-frames:v", "40", "-vf",
                         "settb=1/1000,setpts='if(lt(N,20),N*40,800+(N-20)*15+mod(N,3)*5)'", "-fps_mode", "passthrough",
                         "-enc_time_base", "1:1000", "-c:v", "libx264", "-bf", "1")
        self.same(path, pictures=40)

    def test_resolution_changes_in_the_middle(self):
        parts = [self.make(f"{offset}.ts", "-f", "lavfi", "-i", f"testsrc2=s={width}x240:r=25", "-frames:v", "15",
                           "-c:v", "libx264", "-bf", "1", "-output_ts_offset", offset)
                 for width, offset in ((320, 0), (480, 0.6), (320, 1.2))]
        path = self.dir / "sizes.ts"
        path.write_bytes(b"".join(part.read_bytes() for part in parts))
        self.same(path, pictures=45)

    def test_start_in_an_open_group_of_pictures(self):
        path = self.make("open.mp4", "-i", clip("video_only"), "-frames:v", "60", "-c:v", "libx264", "-x264-params", OPEN_GOP)
        whole = self.pictures(play(*UNTIMED, "--drop=none", "--framemd5=-", path).stdout)
        for start_s, count in (("0.4", 50), ("0.8", 40), ("1", 35), ("1.24", 29)):
            with self.subTest(start_s=start_s):
                found = self.same(path, f"--start={start_s}", pictures=count)
                self.assertEqual(self.pictures(found), whole[-count:])

    def test_start_and_length(self):
        self.same(clip("video_only"), "--start=0.5", "--length=0.8", pictures=20)

    @staticmethod
    def pictures(framemd5: str) -> list:
        """Returns the checksums, in the order in which the pictures were shown."""
        return [line.split(",")[-1].strip() for line in framemd5.splitlines() if not line.startswith("#")]


class Inputs(Case):
    def test_several_files_of_different_kinds(self):
        files = [clip("video_only"), clip("audio_only"), clip("cavlc"), clip("mpeg4_small")]
        for queue in QUEUES:
            with self.subTest(queue=queue):
                record = self.dir / queue
                self.expect(play(*NULL, "--drop=none", "--length=0.4", f"--queue={queue}", f"--record={record}", *files), 0)
                shown = [self.record(f"{queue}/{number}")[0]["totals"]["shown"] for number in (1, 2, 3, 4)]
                self.assertEqual(shown[1], 0)
                self.assertTrue(all(shown[number] == 10 for number in (0, 2, 3)), shown)

    def test_standard_input(self):
        file = Path(clip("mpegts_h264")).read_bytes()
        first = None
        for queue in QUEUES:
            with self.subTest(queue=queue):
                found = subprocess.run([PLAY, *UNTIMED, "--drop=none", "--framemd5=-", f"--queue={queue}", "/dev/stdin"],
                                       input=file, capture_output=True, timeout=60, check=False)
                self.assertEqual(found.returncode, 0, found.stderr)
                first = first or found.stdout
                self.assertEqual(found.stdout, first)

    def test_pipe_that_stalls_continues(self):
        data = Path(clip("mpegts_h264")).read_bytes()
        for queue in QUEUES:
            with self.subTest(queue=queue):
                pipe = self.dir / f"pipe-{queue}"
                os.mkfifo(pipe)
                player = start(*NULL, "--drop=none", f"--queue={queue}", f"--record={self.dir}/stalled-{queue}", pipe)
                with pipe.open("wb", buffering=0) as writer:
                    writer.write(data[: len(data) // 2])
                    time.sleep(2.5)
                    writer.write(data[len(data) // 2 :])
                _, err = player.communicate(timeout=60)
                self.assertEqual(player.returncode, 0, err)
                _, rows = self.record(f"stalled-{queue}")
                whole = play(*UNTIMED, "--drop=none", "--framemd5=-", clip("mpegts_h264")).stdout
                verdicts = {row["verdict"] for row in rows}
                self.assertEqual(len(rows), sum(not line.startswith("#") for line in whole.splitlines()))
                self.assertLessEqual(verdicts, {"shown", "late"})

    def test_pipe_that_stalls_can_be_left(self):
        data = Path(clip("mpegts_h264")).read_bytes()
        for queue in QUEUES:
            with self.subTest(queue=queue):
                pipe = self.dir / f"pipe-{queue}"
                os.mkfifo(pipe)
                player = start(*NULL, f"--queue={queue}", pipe)
                with pipe.open("wb", buffering=0) as writer:
                    writer.write(data[: len(data) // 2])
                    time.sleep(1.5)
                    player.send_signal(signal.SIGTERM)
                    _, err = player.communicate(timeout=60)
                self.assertEqual(player.returncode, 4, err)


if __name__ == "__main__":
    main()
