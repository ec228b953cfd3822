# SPDX-License-Identifier: LGPL-2.1-or-later
"""Lets a patched and an unpatched decoder take turns over the segments of a film.

The speed of a shared machine changes within a second, so turns are short: of each segment only the beginning is decoded. With
4K HEVC, turns of 20 packets gave an interval half as wide as whole segments of 50 did in the same time.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..errors import LabError

MS = 1e6
PACKETS = 20
# Of each pass. The first one, in which the processes get their memory, does not count.
ROUNDS = 4


@dataclass(frozen=True)
class Turn:
    """The decode of the beginning of a segment. Times are in ms; `first_ms`: until the first picture came out."""

    wall_ms: float
    cpu_ms: float
    first_ms: float
    pictures: int


@dataclass(frozen=True)
class Pair:
    """Both decodes of the beginning of one segment, one right after the other."""

    segment: int
    patched: Turn
    pristine: Turn

    @property
    def speed(self) -> float:
        return self.pristine.wall_ms / self.patched.wall_ms

    @property
    def first_later_ms(self) -> float:
        return self.patched.first_ms - self.pristine.first_ms


class Decoder:
    """A process that decodes segments when it is asked to."""

    def __init__(self, program: Path, process: subprocess.Popen[str], film: Path) -> None:
        self.program = program
        self.process = process
        self.film = film
        self.segments, self.packets = (int(it) for it in self._answer().split())

    def decode(self, segment: int) -> Turn:
        """Decodes the beginning of a segment."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(f"{segment} {PACKETS}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the answer is missing, too
        wall, cpu, first, pictures = self._answer().split()
        return Turn(int(wall) / MS, int(cpu) / MS, int(first) / MS, int(pictures))

    def _answer(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise LabError(f"{self.film} cannot be decoded: {self.program} ended; run it by hand to see why")
        return line


@contextmanager
def decoder(program: Path, film: Path, threads: int) -> Iterator[Decoder]:
    process = subprocess.Popen([program, str(film), str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield Decoder(program, process, film)
    finally:
        process.kill()
        process.wait()


def one_pass(programs: Sequence[Path], film: Path, threads: int, patched_first: bool) -> Iterator[Pair]:
    """Decodes the beginnings of all segments in rounds, with new processes (patched, pristine): each process gets other pages."""
    with ExitStack() as stack:
        if patched_first:
            patched, pristine = (stack.enter_context(decoder(it, film, threads)) for it in programs)
        else:
            pristine, patched = (stack.enter_context(decoder(it, film, threads)) for it in reversed(programs))
        for turn in range(ROUNDS * patched.segments):
            segment = turn % patched.segments
            if patched_first == (turn % 2 == 0):
                ours, other = patched.decode(segment), pristine.decode(segment)
            else:
                other, ours = pristine.decode(segment), patched.decode(segment)
            if ours.pictures != other.pictures or not ours.pictures:
                raise LabError(f"{film}, segment {segment}: {ours.pictures} pictures with the patches and {other.pictures} without "
                               "them; report this as a fault of the patches")
            if turn >= patched.segments:
                yield Pair(segment, ours, other)
