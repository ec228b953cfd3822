# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds or downloads the real trailer, which is too large to be part of the project.

Big Buck Bunny, (c) Blender Foundation, CC-BY 3.0.
"""

import os
import urllib.error
import urllib.request
from pathlib import Path

from workshop import EXIT_NOT_HERE, CannotMake, Progress, cache_folder, make_folder, sha256_of, written_whole

PAGE = "https://peach.blender.org/trailer-page/"
URL = "https://download.blender.org/peach/trailer/trailer_720p.mov"

# The trailer's pictures exist in two files: an MP4 file, and the file that the film's makers offer.
SHA256_OF_MP4 = "e6bda0563cc2c44b1ade3a490bd690e12098766cafa01d3af7da7be0fa51dcf4"
SHA256_OF_MOV = "cb7be60feb4fd4ff5b006e35e824201a48361b7ebc2f2bbcaf3351912035561a"
FILES = {"bbb_trailer_720p.mp4": SHA256_OF_MP4, "trailer_720p.mov": SHA256_OF_MOV}


def _places():
    for folder in filter(None, [os.environ.get("DLEX_MEDIA"), cache_folder()]):
        for name, checksum in FILES.items():
            yield Path(folder) / name, checksum


def path():
    """Returns the path of the trailer after comparing its checksum."""
    for place, checksum in _places():
        if place.is_file():
            if sha256_of(place) != checksum:
                raise CannotMake(
                    f"{place} is not the expected trailer (SHA-256 {checksum}); replace it"
                )
            return place
    raise CannotMake(
        f"the trailer is not here; get {URL} (SHA-256 {SHA256_OF_MOV}, from {PAGE}) or "
        f"bbb_trailer_720p.mp4 (SHA-256 {SHA256_OF_MP4}) into a folder named by DLEX_MEDIA, "
        "or try media/make --download",
        EXIT_NOT_HERE,
    )


def _fetch(path):
    with urllib.request.urlopen(URL, timeout=30) as source, open(path, "wb") as file:
        while block := source.read(1 << 16):
            file.write(block)
    if sha256_of(path) != SHA256_OF_MOV:
        raise CannotMake(
            f"the file from {URL} is not the expected trailer (SHA-256 {SHA256_OF_MOV}); "
            f"see {PAGE}"
        )


def download():
    """Fetches the file that the film's makers offer into the cache. Returns its path."""
    target = cache_folder() / "trailer_720p.mov"
    progress = Progress(f"fetching {URL}")
    try:
        make_folder(target.parent)
        with written_whole(target) as part:
            _fetch(part)
    except (urllib.error.URLError, OSError) as error:
        raise CannotMake(
            f"cannot fetch {URL}: {error}; fetch it by hand from {PAGE}", EXIT_NOT_HERE
        ) from error
    progress.finished()
    return target
