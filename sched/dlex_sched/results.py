# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the folder for the results of a command."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from dlex_bench.errors import EXIT_SETUP, LabError
from dlex_bench.output import refuse_overwriting


def make_results_folder(folder: Path, results: Iterable[str] = (), inputs: Iterable[Path] = ()) -> None:
    """Makes the folder if it is missing. Under sudo it is the user's, so that the user may write there later.

    Raises LabError if it cannot be made, or if one of the files that will be written there (`results`) is one of the inputs.
    """
    refuse_overwriting([folder / name for name in results], inputs)
    user, group = os.environ.get("SUDO_UID", ""), os.environ.get("SUDO_GID", "")
    try:
        is_new = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        if is_new and os.geteuid() == 0 and user.isdecimal() and group.isdecimal():
            os.chown(folder, int(user), int(group), follow_symlinks=False)
    except OSError as cause:
        raise LabError(f"{folder} cannot be made ({cause.strerror}); name another folder with --out", EXIT_SETUP) from cause
