# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs `./dlex bench throughput`."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

from ..analysis.chapter import Chapter, tell_chapter
from ..analysis.claims import with_interval
from ..clips import make_clip, why_not_makeable
from ..files import write_json
from ..machine.facts import commit, machine_facts
from ..machine.kept_runs import KeptRuns
from ..machine.lock import only_measurement
from ..output import checked_files, output_folder
from ..paths import require_program
from ..progress import tell
from ..table import titled_table
from .findings import Pass, first_later_ms_of, is_certain, speed_of, throughput_findings
from .turns import PACKETS, Pair, Turn, decoder, one_pass

PROGRAMS = ("build/release/bench/timed-segments-gated", "build/release/bench/timed-segments-pristine")
# The same program, with its code at other addresses.
LAYOUTS = ("", "-1", "-2", "-3")
FILMS = {
    "trailer_1080p": "H.264, 1080p",
    "trailer_2160p_hevc10": "HEVC, 2160p, 10 bits",
    "trailer_2160p_av1": "AV1, 2160p",
}
# Played where the trailer is not here.
MADE = {"hard_1080p": "H.264, 1080p, made"}
# Fewer passes have no interval, or a very wide one.
QUICK_PASSES = 5
LEAST_PASSES, MOST_PASSES = 2 * len(LAYOUTS), 30
# Where the interval stays wide, a film is not decoded for longer.
MOST_S = 600.0
MPV_RUNS = 3
MPV = ("mpv", "--no-config", "--no-audio", "--vo=null", "--untimed", "--hwdec=no", "--really-quiet")


Programs = Sequence[Sequence[Path]]  # (patched, pristine), each in all layouts


@dataclass(frozen=True)
class ThroughputOptions:
    root: Path
    out: Path
    quick: bool
    threads: int | None = None


@dataclass(frozen=True)
class FilmSpeed:
    name: str
    about: str
    passes: Sequence[Pass]
    mpv_speeds: Sequence[float]  # pictures a second, with its start; empty: it is not installed, or cannot decode the film

    @property
    def pairs(self) -> list[Pair]:
        return [pair for one in self.passes for pair in one]


def measure_throughput(options: ThroughputOptions) -> Chapter:
    console = Console()
    cpus = os.sched_getaffinity(0)
    threads = len(cpus) if options.threads is None else options.threads
    programs = [[require_program(options.root / f"{it}{layout}") for layout in LAYOUTS] for it in PROGRAMS]
    output_folder(options.out)
    kept = KeptRuns(console, options.out, {"quick": options.quick, "threads": threads})
    with only_measurement(cpus):
        films = [_measure_film(console, options, kept, programs, threads, it) for it in _films(console, options)]
    facts = {"commit": commit(), "machine": machine_facts().to_json(), "threads": threads}
    with checked_files(options.out):
        write_json(options.out / "throughput.json", {**facts, "films": [asdict(film) for film in films]})
        kept.forget()
    chapter = Chapter(
        "Throughput",
        f"{threads} codec threads; the first {PACKETS} packets of each group of pictures, in turn with an unpatched FFmpeg.",
        [throughput_table(films)],
        [finding for film in films for finding in throughput_findings(film.about, film.passes)],
    )
    tell_chapter(console, chapter)
    return chapter


def _films(console: Console, options: ThroughputOptions) -> list[tuple[str, str]]:
    missing = next((why for it in FILMS if (why := why_not_makeable(options.root, it))), None)
    if missing:
        tell(console, f"only a made film is decoded: {missing}")
    films = list((MADE if missing else FILMS).items())
    return films[:1] if options.quick else films


def _measure_film(
    console: Console, options: ThroughputOptions, kept: KeptRuns, programs: Programs, threads: int, film: tuple[str, str]
) -> FilmSpeed:
    name, about = film
    path = make_clip(options.root, name)
    passes: list[Pass] = []
    end_s = time.monotonic() + MOST_S
    for number in range(QUICK_PASSES if options.quick else MOST_PASSES):
        pass_name = f"{about}, pass {number + 1}"
        pairs = kept.run(pass_name, partial(_pass, programs, path, threads, number))
        passes.append([Pair(it["segment"], Turn(**it["patched"]), Turn(**it["pristine"])) for it in pairs])
        tell(console, f"{pass_name}: {median(pair.speed for pair in passes[-1]):.3f} of the unpatched speed")
        if number + 1 >= LEAST_PASSES and (is_certain(passes) or time.monotonic() > end_s):
            break
    mpv_speeds = [] if options.quick else kept.run(f"{about}, mpv", partial(_mpv_speeds, programs[1][0], path, threads))
    return FilmSpeed(name, about, passes, mpv_speeds)


def _pass(programs: Programs, film: Path, threads: int, number: int) -> list[dict[str, Any]]:
    """Returns what the pairs of a pass are made of. Both start first equally often, in each layout and with each of the other's."""
    half, count = number // 2, len(LAYOUTS)
    patched, pristine = programs[0][half % count], programs[1][(half + half // count) % count]
    return [asdict(pair) for pair in one_pass((patched, pristine), film, threads, number % 2 == 0)]


def _mpv_speeds(pristine: Path, path: Path, threads: int) -> list[float]:
    if not shutil.which(MPV[0]):
        return []
    with decoder(pristine, path, threads) as one:
        pictures = one.packets  # of these films, each packet has one
    found = []
    for _run in range(MPV_RUNS):
        start_s = time.monotonic()
        played = subprocess.run([*MPV, f"--vd-lavc-threads={threads}", str(path)], stdin=subprocess.DEVNULL, check=False,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if played.returncode:
            return []
        found.append(pictures / (time.monotonic() - start_s))
    return found


def throughput_table(films: Sequence[FilmSpeed]) -> Table:
    table = titled_table("Pictures a second, medians; ratio and first picture with intervals over the passes")
    for heading in ("", "patched", "unpatched", "ratio", "CPU ratio", "first picture later, ms", "mpv, whole film"):
        table.add_column(heading, justify="right")
    for film in films:
        ours, other = (median(turn.pictures / turn.wall_ms for turn in turns) * 1e3
                       for turns in ([pair.patched for pair in film.pairs], [pair.pristine for pair in film.pairs]))
        table.add_row(film.about, f"{ours:.1f}", f"{other:.1f}", with_interval(speed_of(film.passes), "{:.3f}"),
                      f"{median(pair.patched.cpu_ms / pair.pristine.cpu_ms for pair in film.pairs):.3f}",
                      with_interval(first_later_ms_of(film.passes), "{:+.2f}"),
                      f"{median(film.mpv_speeds):.1f}" if film.mpv_speeds else "-")
    return table
