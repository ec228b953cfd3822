# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs `./dlex bench throughput`."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from ..analysis.chapter import Chapter, tell_chapter
from ..analysis.statistics import median_interval
from ..clips import make_clip, why_not_makeable
from ..errors import EXIT_SETUP, LabError
from ..files import write_json
from ..machine.facts import machine_facts
from ..machine.lock import only_one
from ..paths import require_program
from ..progress import tell
from ..table import titled_table
from .findings import is_certain, throughput_findings
from .turns import Pair, one_pass

PROGRAMS = ("build/release/bench/timed-segments-gated", "build/release/bench/timed-segments-pristine")
FILMS = {
    "trailer_1080p": "H.264, 1080p",
    "trailer_2160p_hevc10": "HEVC, 2160p, 10 bits",
    "trailer_2160p_av1": "AV1, 2160p",
}
# Played where the trailer is not here.
MADE = {"hard_1080p": "H.264, 1080p, made"}
LEAST_PASSES, MOST_PASSES, QUICK_PASSES = 3, 30, 2
# Where the interval stays wide, a film is not decoded for longer.
MOST_S = 600.0
MPV_RUNS = 3
MPV = ("mpv", "--no-config", "--no-audio", "--vo=null", "--untimed", "--hwdec=no", "--really-quiet")


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
    pairs: Sequence[Pair]
    mpv_s: Sequence[float]

    @property
    def pictures(self) -> int:
        return sum({pair.segment: pair.pristine.pictures for pair in self.pairs}.values())


def measure_throughput(options: ThroughputOptions) -> Chapter:
    console = Console()
    threads = options.threads or len(os.sched_getaffinity(0))
    if threads < 1:
        raise LabError(f"--threads={threads} is not a number of threads; give 1 or more", EXIT_SETUP)
    programs = [require_program(options.root / it) for it in PROGRAMS]
    options.out.mkdir(parents=True, exist_ok=True)
    with only_one("experiment"):
        films = [_measure_film(console, options, programs, threads, it) for it in _films(console, options)]
    write_json(options.out / "throughput.json", {
        "machine": machine_facts().to_json(), "threads": threads, "films": [asdict(film) for film in films]})
    chapter = Chapter(
        "Throughput",
        f"{threads} codec threads; groups of pictures in turn with an unpatched FFmpeg.",
        [throughput_table(films)],
        [finding for film in films for finding in throughput_findings(film.about, film.pairs)],
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
    console: Console, options: ThroughputOptions, programs: Sequence[Path], threads: int, film: tuple[str, str]
) -> FilmSpeed:
    name, about = film
    path = make_clip(options.root, name)
    pairs: list[Pair] = []
    end_s = time.monotonic() + MOST_S
    most = QUICK_PASSES if options.quick else MOST_PASSES
    for number in range(most):
        pairs += one_pass(programs, path, threads, number % 2 == 0)
        tell(console, f"{about}, pass {number + 1}: {median(pair.speed for pair in pairs):.3f} of the unpatched speed")
        if number + 1 >= LEAST_PASSES and (is_certain(pairs) or time.monotonic() > end_s):
            break
    return FilmSpeed(name, about, pairs, [] if options.quick else _mpv_s(path, threads))


def _mpv_s(path: Path, threads: int) -> list[float]:
    """Returns how long mpv takes for the whole film, with its start. Empty: it is not installed, or cannot decode the film."""
    if not shutil.which(MPV[0]):
        return []
    found = []
    for _run in range(MPV_RUNS):
        start_s = time.monotonic()
        played = subprocess.run([*MPV, f"--vd-lavc-threads={threads}", str(path)], stdin=subprocess.DEVNULL, check=False,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if played.returncode:
            return []
        found.append(time.monotonic() - start_s)
    return found


def throughput_table(films: Sequence[FilmSpeed]) -> Table:
    table = titled_table("Pictures a second, medians")
    for heading in ("", "patched", "unpatched", "ratio", "CPU ratio", "first picture later, ms", "mpv, whole film"):
        table.add_column(heading, justify="right")
    for film in films:
        ours, other = (median(turn.pictures / turn.wall_ms for turn in turns) * 1e3
                       for turns in ([pair.patched for pair in film.pairs], [pair.pristine for pair in film.pairs]))
        speed = median_interval([pair.speed for pair in film.pairs])
        assert speed is not None
        spread = f" ({speed.low:.3f} to {speed.high:.3f})" if speed.known else ""
        table.add_row(film.about, f"{ours:.1f}", f"{other:.1f}", f"{speed.value:.3f}{spread}",
                      f"{median(pair.patched.cpu_ms / pair.pristine.cpu_ms for pair in film.pairs):.3f}",
                      f"{median(pair.first_later_ms for pair in film.pairs):+.2f}",
                      f"{film.pictures / median(film.mpv_s):.1f}" if film.mpv_s else "-")
    return table
