# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes edit lists of several parts into MP4 files: the ffmpeg program writes only those of one part."""

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

EMPTY = -1
"""The start of an edit in which nothing of the track is shown."""


def boxes(data: bytes, begin: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """Yields the kind, the first byte and the end of each box."""
    while begin + 8 <= end:
        size, kind = struct.unpack_from(">I4s", data, begin)
        yield kind, begin, begin + size
        begin += size


def content(data: bytes, path: Sequence[bytes], begin: int, end: int) -> tuple[int, int]:
    """Returns where the content of the first box with this path begins and ends."""
    for kind in path:
        begin, end = next((first + 8, last) for found, first, last in boxes(data, begin, end) if found == kind)
    return begin, end


def box(kind: bytes, inside: bytes) -> bytes:
    return struct.pack(">I4s", 8 + len(inside), kind) + inside


def edit_list(edits: Sequence[tuple[float, float]], movie_scale: int, media_scale: int) -> bytes:
    entries = []
    for start_s, length_s in edits:
        start = EMPTY if start_s == EMPTY else round(start_s * media_scale)
        entries.append(struct.pack(">IiI", round(length_s * movie_scale), start, 1 << 16))
    return box(b"edts", box(b"elst", struct.pack(">II", 0, len(entries)) + b"".join(entries)))


def track_with(track: bytes, edits: Sequence[tuple[float, float]], movie_scale: int) -> bytes:
    header, _ = content(track, (b"mdia", b"mdhd"), 0, len(track))
    (media_scale,) = struct.unpack_from(">I", track, header + 12)
    kept = [track[first:end] for kind, first, end in boxes(track, 0, len(track)) if kind != b"edts"]
    return box(b"trak", kept[0] + edit_list(edits, movie_scale, media_scale) + b"".join(kept[1:]))


def write_edited(film: Path, edited: Path, edits: Sequence[tuple[float, float]]) -> None:
    """Copies an MP4 file whose index is at its end, as the ffmpeg program writes it. Each track gets these edits: start and length.

    Both are in seconds of the track's own time, whose first picture may be later than 0.
    """
    data = film.read_bytes()
    begin, end = content(data, (b"moov",), 0, len(data))
    if end != len(data):
        raise ValueError(f"{film}: its index is not at its end")
    header, _ = content(data, (b"mvhd",), begin, end)
    (movie_scale,) = struct.unpack_from(">I", data, header + 12)
    parts = [track_with(data[first + 8 : last], edits, movie_scale) if kind == b"trak" else data[first:last]
             for kind, first, last in boxes(data, begin, end)]
    edited.write_bytes(data[: begin - 8] + box(b"moov", b"".join(parts)))
