#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Records the traces of real players in tests/sched/traces, which test_period_traces.c reads.

Each player plays films of several rates on the laboratory's screen and sound card, and `dlex-sched period` watches it: its jobs for
4 s, and then its system calls for 1 s, the paper's events. A conversion by ffmpeg is the program that is not periodic. System
calls can be watched by root only, and where tracefs is mounted. Times in the files are integers of 1 us, which keeps them small.

The players need the CPU when a picture is due; on a busy machine run it with nice -n -15. Look at what is printed before you keep a
trace: a rate that is not the film's is a finding, or a machine that was too busy. Findings that are kept are recorded again only if
they are named: mpv-29.97 (a decoder followed the sound), mpv-59.94 (decoders' turns shifted) and mpv-30 (another train of jobs
passed by). The last two were made with --vo=null --ao=null.

Run as: PYTHONPATH=bench tests/sched/record_traces.py BUILD [NAME ...]     for instance build/release mpv-25
"""
import argparse
import csv
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dlex_bench.detect.commands import film_command
from dlex_bench.processes import child
from dlex_bench.rig.players.player import SDL_ENVIRONMENT
from dlex_bench.rig.stage import stage

TRACES = Path(__file__).resolve().parent / "traces"
RATES = {"23.976": "24000/1001", "24": "24", "25": "25", "29.97": "30000/1001", "30": "30", "59.94": "60000/1001",
         "60": "60"}
SIZE = (1280, 720)
STARTING_S, JOBS_S, CALLS_S, FILM_S, CONVERTED_S = 2.0, 4.0, 1.0, 14.0, 60.0
CONVERTING = "ffmpeg-converts"
FINDINGS = ("mpv-29.97", "mpv-30", "mpv-59.94")


def commands(build: Path) -> dict[str, list[str]]:
    return {
        "mplayer": ["mplayer", "-noconfig", "all", "-really-quiet", "-noconsolecontrols", "-nolirc", "-vo", "x11", "-ao", "pulse"],
        "mpv": ["mpv", "--no-config", "--really-quiet", "--no-input-terminal", "--vo=x11", "--ao=pulse"],
        "ffplay": ["ffplay", "-hide_banner", "-loglevel", "error", "-autoexit"],
        "dlex-play": [str(build / "player/dlex-play"), "--quiet", "--vo=sdl", "--ao=pulse"],
    }


def conversion(film: Path) -> list[str]:
    return ["ffmpeg", "-nostdin", "-loglevel", "error", "-i", str(film), "-c:v", "libx264", "-f", "null", "-"]


@contextmanager
def running(argv: list[str], environment: dict[str, str]) -> Iterator[int]:
    """Runs a program while the block runs, and yields its process id when it has started."""
    with child(argv, cpus=os.sched_getaffinity(0), env=environment | SDL_ENVIRONMENT | {"TERM": "dumb"}) as process:
        time.sleep(STARTING_S)
        yield process.pid


def watch(sched: Path, pid: int, seconds: float, record: Path, *options: str) -> dict:
    argv = [sched, "period", f"--pid={pid}", f"--seconds={seconds}", "--json", f"--record={record}", *options]
    said: dict = json.loads(subprocess.run(argv, capture_output=True, text=True, check=True).stdout)
    return said


def us(text: str, unit: float) -> int:
    return round(float(text) * 1e6 * unit)


def heading(about: str, rate: str, paper_hz: float | None) -> str:
    """Returns what the test reads: the film's rate, and what the paper's detector has found in these events (0: nothing)."""
    return f"# {about}\n# rate: {rate}\n# paper: {paper_hz or 0:g}\n"


def write_jobs(path: Path, rows: Iterable[dict[str, str]], names: dict[int, str], head: str) -> None:
    """Writes the jobs. The threads are numbered in the order of their ids."""
    jobs = list(rows)
    ids = sorted({int(job["thread"]) for job in jobs})
    numbers = {thread: number for number, thread in enumerate(ids)}
    threads = ", ".join(f"{numbers[it]} {names[it]}" for it in ids)
    body = [f"{numbers[int(job['thread'])]},{us(job['second'], 1)},{us(job['cpu_ms'], 1e-3)}\n" for job in jobs]
    path.write_text(f"{head}# threads: {threads}\nthread,begin_us,cpu_us\n{''.join(body)}")


def record(sched: Path, name: str, pid: int, about: str, rate: str) -> None:
    """Records the jobs and the system calls of a program."""
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "record.csv"
        said = watch(sched, pid, JOBS_S, rows, "--paper")
        print(f"{name}: {said['verdict']}, {said['hz']} Hz, usual: {said['standard_hz']}, lost: {said['lost_switches']}")
        names = {thread["id"]: thread["name"] for thread in said["threads"]}
        with rows.open(newline="") as file:
            head = heading(f"{about}; jobs of {JOBS_S:g} s", rate, said["paper_hz"])
            write_jobs(TRACES / f"{name}.jobs", csv.DictReader(file), names, head)
        calls = watch(sched, pid, CALLS_S, rows, "--events=syscalls")
        print(f"{name}: by system calls {calls['paper_hz']} Hz, {calls['count']} events, lost: {calls['lost']}")
        with rows.open(newline="") as file:
            times = sorted(us(row["second"], 1) for row in csv.DictReader(file))
        head = heading(f"{about}; entries and exits of system calls of {CALLS_S:g} s", rate, calls["paper_hz"])
        (TRACES / f"{name}.calls").write_text(f"{head}event_us\n" + "".join(f"{it}\n" for it in times))


def make_film(folder: Path, rate: str, seconds: float) -> Path:
    path = folder / f"{rate.replace('/', '_')}-{seconds:g}.mp4"
    if not path.exists():
        subprocess.run(film_command(rate, seconds, path), check=True)
    return path


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--films", type=Path, help="folder that keeps the films")
    arguments = parser.parse_args()
    sched = arguments.build.resolve() / "sched/cmd/dlex-sched"
    about = (f"recorded with dlex-sched period under Linux {os.uname().release.partition('-')[0]} on {os.cpu_count()} CPUs "
             f"at nice {os.nice(0)}")
    with tempfile.TemporaryDirectory() as temporary, stage(SIZE, os.sched_getaffinity(0)) as devices:
        films = arguments.films or Path(temporary)
        for player, command in commands(arguments.build.resolve()).items():
            for name, rate in RATES.items():
                trace = f"{player}-{name}"
                if trace not in arguments.names if arguments.names else trace in FINDINGS:
                    continue
                film = make_film(films, rate, FILM_S)
                with running([*command, str(film)], devices.environment) as pid:
                    record(sched, trace, pid, f"{player}, a film of {rate} pictures/s, {about}", rate)
        if not arguments.names or CONVERTING in arguments.names:
            film = make_film(films, "25", CONVERTED_S)
            with running(conversion(film), devices.environment) as pid:
                record(sched, CONVERTING, pid, f"ffmpeg converts a film, {about}", "0")


if __name__ == "__main__":
    main()
