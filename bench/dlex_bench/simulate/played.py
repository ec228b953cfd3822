# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds what the pictures of a film cost in a play without drops, from which the model of a section takes its costs.

That is a job of the section with `drop: none`, under the same load, or else a play by which the film's demand was measured,
alone on the CPU. What a picture costs besides its decode is the rest of the process's CPU time in that play.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..agenda.job import Job
from ..clips import make_clip
from ..job.demand import demand_files, parse_demands
from ..job.measure_demand import FOLDER as DEMAND
from ..job.result import JobResult
from ..record import read_frames, read_run
from .policies import simulated_policy
from .program import find_trace


@dataclass(frozen=True)
class PlayedFilm:
    """What one play without drops says. `draw_ns`: CPU time of a picture besides its decode."""

    trace: Path
    draw_ns: int
    decode_ns: Mapping[int, int]  # CPU time by the picture's PTS in ns

    def cost_part(self, play: Path) -> float:
        """Returns the CPU time of decoding the pictures that another play showed, in relation to this one; 1 if there are none."""
        shown = [(frame.decode_cpu_ns, self.decode_ns.get(frame.pts_ns, 0))
                 for frame in read_frames(play / "own") if frame.verdict == "shown"]
        known = [(there_ns, here_ns) for there_ns, here_ns in shown if there_ns and here_ns]
        return sum(there_ns for there_ns, _ in known) / sum(here_ns for _, here_ns in known) if known else 1


def played_film(folder: Path, groups: Sequence[Sequence[JobResult]], root: Path) -> PlayedFilm | None:
    """Returns the play in the middle by the cost of drawing, so that neither a fast nor a slow one decides."""
    plays = sorted((_film_of(play, job, root) for play, job in _whole_plays(folder, groups)), key=lambda film: film.draw_ns)
    return plays[len(plays) // 2] if plays else None


def _whole_plays(folder: Path, groups: Sequence[Sequence[JobResult]]) -> list[tuple[Path, Job]]:
    whole = [results for results in groups if simulated_policy(results[0].job) == "none"]
    if not whole:
        job = groups[0][0].job
        return [(play, job) for play in _demand_plays(folder, job)]
    # Without a queue nothing else waits on the CPU meanwhile.
    results = min(whole, key=lambda it: it[0].job.player_params.queue != "0")
    return [(folder / one.job.id, one.job) for one in results]


def _demand_plays(folder: Path, job: Job) -> Iterator[Path]:
    for path in demand_files(folder):
        content = parse_demands(path)
        of_job = [number for number, film in enumerate(content.films, start=1) if film.is_of(job)]
        if of_job:  # earlier ones are of another film of the same name
            yield from (folder / DEMAND / content.machine).glob(f"film-{of_job[-1]}-*")


def _film_of(play: Path, job: Job, root: Path) -> PlayedFilm:
    unstamped = make_clip(root, job.clip.unstamped) if job.clip.unstamped and job.observe != "inside" else None
    frames = read_frames(play / "own")
    process_ns = read_run(play / "own").process_cpu_ns or 0
    decode_ns = {frame.pts_ns: frame.decode_cpu_ns for frame in frames}
    draw_ns = max(0, process_ns - sum(frame.decode_cpu_ns for frame in frames)) // len(frames)
    return PlayedFilm(find_trace(root, play, unstamped), draw_ns, decode_ns)
