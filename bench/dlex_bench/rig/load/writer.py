# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes a block to a file and waits until it is on the disk (fsync), again and again.

    python writer.py FOLDER BLOCK_BYTES FILE_BYTES

The file has no name, so that nothing is left of it however this program ends. It begins again when it has FILE_BYTES. Writes the
count of blocks.
"""

import contextlib
import os
import sys
import tempfile


def write_forever(file: int, block: bytes, blocks: int) -> None:
    written = 0
    while True:
        place = written % blocks
        if place == 0:
            os.ftruncate(file, 0)
        os.pwrite(file, block, place * len(block))
        os.fsync(file)
        written += 1
        os.pwrite(1, b"%12d" % written, 0)


def main() -> None:
    folder, block_bytes, file_bytes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    try:
        file, path = tempfile.mkstemp(dir=folder)
        os.unlink(path)
        write_forever(file, os.urandom(block_bytes), file_bytes // block_bytes)
    except OSError as cause:
        with contextlib.suppress(NameError):
            os.ftruncate(file, 0)
        sys.exit(f"{folder} cannot be written: {cause.strerror}")


if __name__ == "__main__":
    main()
