# SPDX-License-Identifier: LGPL-2.1-or-later
"""The ordinary user under whom a root laboratory runs a player that refuses to run as root.

The guest reaches the sockets and cookies of a job's screen and sound card, and owns its empty home. It can change nothing else.
"""

from __future__ import annotations

import os
import pwd
from dataclasses import dataclass
from pathlib import Path

from ..errors import EXIT_SETUP, LabError

NOBODY = "nobody"


@dataclass(frozen=True)
class Guest:
    uid: int
    gid: int

    @property
    def prefix(self) -> list[str]:
        """Returns the command that becomes the one after it, as this user, without privileges and other groups.

        The kernel forgets that a process has to end with its parent when the user changes; setpriv asks for it again.
        """
        ids = [f"--reuid={self.uid}", f"--regid={self.gid}", "--clear-groups"]
        return ["setpriv", *ids, "--no-new-privs", "--pdeathsig=KILL", "--"]

    def let_in(self, folder: Path) -> None:
        """Lets the guest's group open what it knows by name in a private folder. It can neither list nor change the folder."""
        os.chown(folder, -1, self.gid)
        folder.chmod(0o710)

    def own(self, folder: Path) -> None:
        os.chown(folder, self.uid, self.gid)


def guest() -> Guest | None:
    """Returns the user who called sudo, else `nobody`. None: this process is not root's, so players run as its user."""
    if os.geteuid() != 0:
        return None
    try:
        uid = int(os.environ.get("SUDO_UID", "0"))
        found = pwd.getpwuid(uid) if uid else pwd.getpwnam(NOBODY)
    except (KeyError, ValueError) as cause:
        sentence = f"no ordinary user is known to run the player as (SUDO_UID, or {NOBODY}); call the laboratory with sudo"
        raise LabError(sentence, EXIT_SETUP) from cause
    return Guest(found.pw_uid, found.pw_gid)
