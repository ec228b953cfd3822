# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the laboratory wants to know of a player, whichever it is."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ...errors import EXIT_SETUP, LabError
from ...record import CpuTime
from .status_line import OwnView

if TYPE_CHECKING:
    from ...agenda.jobs import Job

# SDL as all its users get it here: pictures converted and copied by the CPU in the calling thread, shown at once (SDL
# would let its software renderer wait for a beat of its own), sound by PulseAudio.
SDL_ENVIRONMENT = {
    "SDL_VIDEODRIVER": "x11",
    "SDL_RENDER_DRIVER": "software",
    "SDL_FRAMEBUFFER_ACCELERATION": "0",
    "SDL_RENDER_VSYNC": "0",
    "SDL_AUDIODRIVER": "pulseaudio",
}


class Adapter(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def package(self) -> str:
        """Which package brings it."""

    @property
    def threads(self) -> Mapping[str, str]:
        """What its threads do, by patterns (fnmatch) of their names; the main one's is "main". A name that no pattern
        fits belongs to a version of the player that is not known here: the thread is played, and called unknown."""

    def argv(self, job: Job, clip: Path, out: Path) -> list[str]:
        """The command that plays `clip` as the job says, with a window at 0,0, unscaled. The job's policy and CPU are
        those that apply: no word `calibrated` is left. What the command says belongs into `out`/player.log."""

    def environment(self, job: Job) -> dict[str, str]:
        """What it needs beside the stage's environment."""

    def reserved_threads(self, pid: int) -> str | None:
        """Whom a policy is put on from outside: "main", "all", or None where the player does it by itself."""

    def applicable(self, job: Job) -> str | None:
        """Why the job's policy means nothing for this player; None: it does."""

    def complaint(self, status: int, out: Path) -> str | None:
        """What is wrong with how it ended; None: it has played to the end."""

    def own_view(self, job: Job, out: Path) -> OwnView | None:
        """What its status line said; None where it said nothing."""

    def cpu_of_playing(self, out: Path) -> CpuTime | None:
        """Returns the CPU time that it reports of playing alone; None: all that it used until it ended counts."""


def require_player(program: str, package: str) -> str:
    path = shutil.which(program)
    if not path:
        raise LabError(f"{program} is not installed; install it with `apt install {package}`", EXIT_SETUP)
    return path


def extra_options(job: Job) -> list[str]:
    """The agenda's own options for the player. They come last, so that they win."""
    return [str(option) for option in job.player_params.get("options", ())]


def extent(job: Job) -> tuple[float, float | None]:
    """Start and length of what is to be played, in s; no length: to the end."""
    length_s = job.clip.get("length_s")
    return float(job.clip.get("start_s") or 0.0), None if length_s is None else float(length_s)


def log_of(out: Path) -> Path:
    return out / "player.log"


def unhappy_end(name: str, status: int, last_words: str) -> str | None:
    """The sentence about an exit status; None: it was 0."""
    if status == 0:
        return None
    how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
    return f"{name} {how} ({last_words.removeprefix(f'{name}: ')}); try it by hand"


def never_played(name: str, last_words: str) -> str:
    """The sentence about a player that is content with itself and has shown nothing."""
    return f"{name} did not play to the end ({last_words}); try it by hand"


def one_reservation_is_too_few(name: str) -> str:
    return (
        f"{name} decodes and presents in threads of their own, which one reservation cannot hold; the policy quota "
        "constrains it as a whole"
    )
