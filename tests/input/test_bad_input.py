# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests bad files and bad options: each gets one clear sentence and the documented exit code, and leaves nothing behind.

Not covered: a display or a sound server that dies (tests/sinks).
"""
import os
import random
import shutil
import subprocess
from pathlib import Path
from typing import IO

from playing import NULL, PLAY, UNTIMED, Case, clip, environment, main, play


def full_device(case: Case) -> str:
    if not os.path.exists("/dev/full"):
        case.skipTest("/dev/full does not exist")
    return "/dev/full"


def to_file(file: IO, *arguments) -> subprocess.CompletedProcess:
    """Plays with this file as standard output."""
    return subprocess.run([PLAY, *arguments], env=environment(), text=True, stdin=subprocess.DEVNULL, stdout=file,
                          stderr=subprocess.PIPE, timeout=60, check=False)


class BadFiles(Case):
    def test_missing_file_is_an_error(self):
        self.expect(play(*NULL, self.dir / "none.mp4"), 2, "none.mp4", "No such file or directory")

    def test_empty_file_is_an_error(self):
        path = self.dir / "empty.mp4"
        path.touch()
        self.expect(play(*NULL, path), 2, "empty.mp4")

    def test_text_file_is_an_error(self):
        path = self.dir / "text.mp4"
        path.write_text("This is no film.\n" * 100)
        self.expect(play(*NULL, path), 2, "text.mp4", "as a media file")

    def test_directory_is_an_error(self):
        self.expect(play(*NULL, self.dir), 2, str(self.dir))

    def test_unreadable_file_is_an_error(self):
        if os.geteuid() == 0:
            self.skipTest("root may read every file")
        path = self.dir / "secret.mp4"
        path.touch(mode=0)
        self.expect(play(*NULL, path), 2, "Permission denied")

    def test_a_good_file_after_a_bad_one_plays(self):
        run = play(*UNTIMED, self.dir / "none.mp4", clip("progressive_cabac"))
        self.expect(run, 3, "none.mp4")

    def test_truncated_clip_plays_as_far_as_it_goes(self):
        whole = Path(clip("mpegts_h264")).read_bytes()
        path = self.dir / "truncated.ts"
        path.write_bytes(whole[:len(whole) // 2])
        run = play(*UNTIMED, f"--record={self.dir}/record", path)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertGreater(self.record()[0]["totals"]["shown"], 10)

    def test_clip_cut_before_its_index_is_refused(self):
        whole = Path(clip("progressive_cabac")).read_bytes()
        path = self.dir / "cut.mp4"
        path.write_bytes(whole[:40])
        self.expect(play(*NULL, path), 2, "cut.mp4")

    def test_damaged_clips_never_crash_or_hang(self):
        damage = random.Random(20101)
        for name in ("progressive_cabac", "mbaff", "multislice", "cavlc", "mpegts_h264"):
            whole = Path(clip(name)).read_bytes()
            for number in range(6):
                data = bytearray(whole)
                for _ in range(damage.choice((5, 50, 500))):
                    data[damage.randrange(len(data))] = damage.randrange(256)
                path = self.dir / f"{number}-{Path(clip(name)).name}"
                path.write_bytes(data)
                run = play(*UNTIMED, "--deadline-rule=paper", f"--deadline-base={damage.choice((0, 100, 300))}us", path)
                self.assertIn(run.returncode, (0, 2, 3), f"{path.name}: {run.stderr}")


class BadOptions(Case):
    def test_command_line_without_a_file_is_refused(self):
        self.expect(play(), 1, "no FILE given")

    def test_unknown_option_is_refused(self):
        self.expect(play("--frobnicate", "x.mp4"), 1, "--frobnicate")

    def test_unknown_option_values_are_refused(self):
        for option in ("--drop=often", "--deadline-rule=seed", "--ao=alsa", "--vo=x11"):
            with self.subTest(option):
                self.expect(play(option, "x.mp4"), 1, option, "choose")

    def test_invalid_times_are_refused(self):
        for option in ("--start=soon", "--length=-3", "--length=0", "--deadline-base=37bogus"):
            with self.subTest(option):
                self.expect(play(option, "x.mp4"), 1, option)

    def test_empty_paths_are_refused(self):
        for option in ("--record=", "--framemd5="):
            with self.subTest(option):
                self.expect(play(option, "x.mp4"), 1, option)

    def test_exponents_are_refused(self):
        for option in ("--start=1e3", "--length=1e3s", "--deadline-base=1e3us", "--queue=1e9s", "--queue=1e1"):
            with self.subTest(option):
                self.expect(play(option, "x.mp4"), 1, option)

    def test_invalid_gain_is_refused(self):
        self.expect(play("--deadline-gain=nan", "x.mp4"), 1, "--deadline-gain=nan")

    def test_invalid_windows_are_refused(self):
        for window in ("0/0", "5/3", "-1/2", "1/101", "1000/2000", "1", "1/", "/5", "1/5x", "1/2/3", "often", " 1/5", "1.0/5", ""):
            with self.subTest(window):
                self.expect(play(f"--window={window}", "x.mp4"), 1, f"--window={window} is no window", "write X/Y")

    def test_window_is_refused_with_a_rule_that_cannot_keep_it(self):
        for rule in ("--drop=none", "--drop=heuristic", "--drop=vlc", "--deadline-rule=paper", "--deadline-rule=slack"):
            for options in (("--window=1/5", rule), (rule, "--window=1/5")):
                with self.subTest(options):
                    self.expect(play(*options, "x.mp4"), 1, "--window=1/5 needs", "--deadline-rule=plan")

    def test_unwritable_record_directory_is_refused(self):
        (self.dir / "file").touch()
        run = play(*NULL, f"--record={self.dir}/file/record", clip("progressive_cabac"))
        self.expect(run, 1, "cannot write a record")

    def test_a_record_is_not_overwritten(self):
        arguments = (*UNTIMED, f"--record={self.dir}/record", clip("progressive_cabac"))
        self.expect(play(*arguments), 0)
        before = (self.dir / "record" / "frames.csv").read_bytes()
        self.expect(play(*arguments), 1, "holds a record already")
        self.assertEqual((self.dir / "record" / "frames.csv").read_bytes(), before)

    def test_each_file_of_a_record_is_kept(self):
        (self.dir / "record").mkdir()
        for name in ("run.json", "frames.csv"):
            with self.subTest(name):
                path = self.dir / "record" / name
                path.write_text("of an earlier run")
                run = play(*UNTIMED, f"--record={self.dir}/record", clip("progressive_cabac"))
                self.expect(run, 1, "holds a record already")
                self.assertEqual([(file.name, file.read_text()) for file in path.parent.iterdir()], [(name, "of an earlier run")])
                path.unlink()

    def test_full_disk_is_an_error(self):
        run = play(*UNTIMED, f"--framemd5={full_device(self)}", clip("progressive_cabac"))
        self.expect(run, 1, "cannot write /dev/full: No space left on device", "not complete")

    def test_closed_pipe_is_not_called_empty(self):
        reading, writing = os.pipe()
        os.close(reading)
        with os.fdopen(writing, "wb") as pipe:
            run = to_file(pipe, *UNTIMED, "--framemd5=-", clip("progressive_cabac"))
        self.expect(run, 1, "cannot write to standard output: Broken pipe", "not complete")
        self.assertNotIn("nothing was left", run.stderr)

    def test_texts_that_cannot_be_printed_are_an_error(self):
        for option in ("--help", "--usage", "--version", "--codecs"):
            with self.subTest(option), open(full_device(self), "wb") as full:
                self.expect(to_file(full, option), 1, "cannot write to standard output: No space left on device")

    def test_output_that_would_overwrite_a_film_is_refused(self):
        film = self.dir / "film.mp4"
        shutil.copyfile(clip("progressive_cabac"), film)
        before = film.read_bytes()
        (self.dir / "symbolic").symlink_to("film.mp4")
        (self.dir / "hard").hardlink_to(film)
        for name in ("film.mp4", "symbolic", "hard", "./film.mp4"):
            with self.subTest(name):
                run = play(*UNTIMED, f"--framemd5={self.dir}/{name}", f"--record={self.dir}/record", film)
                self.expect(run, 1, f"--framemd5={self.dir}/{name} is the same file as {film}", "would be overwritten")
        self.expect(play(*UNTIMED, f"--framemd5={film}", f"file:{film}"), 1, "would be overwritten")
        self.expect(play(*UNTIMED, f"--framemd5={film}", clip("progressive_cabac"), film), 1, "would be overwritten")
        for url in ("pipe:", "pipe:0"):
            with self.subTest(url), open(film, "rb") as file:
                self.expect(play(*UNTIMED, f"--framemd5={film}", url, stdin=file), 1, "would be overwritten")
        self.assertEqual(film.read_bytes(), before)
        self.assertFalse((self.dir / "record").exists())

    def test_folder_of_two_records_is_refused(self):
        (self.dir / "record" / "1").mkdir(parents=True)
        (self.dir / "record" / "3").symlink_to("1")
        run = play(*UNTIMED, f"--record={self.dir}/record", *[clip("progressive_cabac")] * 3)
        self.expect(run, 1, f"{self.dir}/record/3 is the folder of another film's record, too")
        self.assertEqual(list((self.dir / "record" / "1").glob("*")), [])

    def test_film_may_have_the_name_of_standard_output(self):
        (self.dir / "-").symlink_to(clip("progressive_cabac"))
        run = subprocess.run([Path(PLAY).resolve(), *UNTIMED, "--framemd5=-", "-"], env=environment(), cwd=self.dir, text=True,
                             capture_output=True, timeout=60)
        self.expect(run, 0)
        self.assertIn("#format: frame checksums", run.stdout)

    def test_messages_do_not_go_into_a_file_if_standard_error_is_closed(self):
        closing = ["sh", "-c", 'exec "$@" 2>&-', "sh", PLAY, *UNTIMED, f"--framemd5={self.dir}/sums", "none.mp4",
                   clip("progressive_cabac")]
        self.assertEqual(subprocess.run(closing, env=environment(), stdout=subprocess.DEVNULL, timeout=60).returncode, 3)
        self.assertEqual((self.dir / "sums").read_text().splitlines()[0], "#format: frame checksums")

    def test_one_file_for_two_outputs_is_refused(self):
        for path in ("record/frames.csv", "record/../record/run.json"):
            with self.subTest(path):
                run = play(*UNTIMED, f"--framemd5={self.dir}/{path}", f"--record={self.dir}/record", clip("progressive_cabac"))
                self.expect(run, 1, "is the same file as --record, and cannot hold both")
                self.assertEqual(list((self.dir / "record").glob("*")), [])
        self.expect(play(*UNTIMED, "--framemd5=/dev/null", clip("progressive_cabac")), 0)

    def test_start_behind_the_last_picture_plays_nothing(self):
        for speed in ((), ("--untimed",)):
            for start in (7.97, 8, 60):  # the last picture begins at 7.96 s, and sound and pictures end at 8 s
                with self.subTest(start, speed=speed):
                    run = play(*NULL, *speed, f"--start={start}", f"--record={self.dir}/record", clip("stamped_small"))
                    self.expect(run, 2, f"there is nothing to play from {start:.3f} s on")
        self.expect(play(*NULL, "--start=7.96", clip("stamped_small")), 0)
        self.expect(play(*NULL, "--start=5.01", "--length=0.01", clip("stamped_small")), 0)

    def test_missing_display_is_an_error(self):
        self.expect(play("--ao=null", "--quiet", "--vo=sdl", clip("progressive_cabac")), 1, "no display", "--vo=null")

    def test_missing_sound_server_is_an_error(self):
        with_no_server = {"PULSE_SERVER": f"unix:{self.dir}/none"}
        run = play("--ao=pulse", "--vo=null", "--quiet", clip("progressive_cabac"), extra=with_no_server)
        self.expect(run, 1, "cannot play sound", "--ao=null")

    def test_bad_file_is_reported_in_one_line(self):
        path = self.dir / "cut.mp4"
        path.write_bytes(Path(clip("progressive_cabac")).read_bytes()[:2000])
        run = play("--ao=null", "--vo=null", path)
        self.expect(run, 2, "cut.mp4")
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)

    def test_missing_sound_server_with_auto_is_reported_in_one_line(self):
        run = play("--vo=null", "--length=0.2", f"--record={self.dir}/record", clip("progressive_cabac"))
        self.assertEqual(run.returncode, 0)
        if self.record()[0]["audio_sink"] == "pulse":
            self.skipTest("this machine has a sound server")
        self.assertEqual(len([line for line in run.stderr.splitlines() if "no sound" in line]), 1, run.stderr)

    def test_help_and_version_are_printed(self):
        self.assertIn("Exit status", play("--help").stdout)
        self.assertRegex(play("--version").stdout, r"^dlex-play \d+\.\d+\.\d+")


if __name__ == "__main__":
    main()
