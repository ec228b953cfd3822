# SPDX-License-Identifier: LGPL-2.1-or-later
"""Defines what the laboratory needs to know about any player."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ...record import CpuTime, TimeOfPlaying
from .status_line import OwnView
from .threads import Works

if TYPE_CHECKING:
    from ...agenda.job import Job

# All programs that use SDL get these settings. The CPU converts and copies pictures in the calling thread. Pictures are
# shown at once (by itself, SDL would let its software renderer wait for a beat of its own). PulseAudio plays the sound.
SDL_ENVIRONMENT = {
    "SDL_VIDEODRIVER": "x11",
    "SDL_RENDER_DRIVER": "software",
    "SDL_FRAMEBUFFER_ACCELERATION": "0",
    "SDL_RENDER_VSYNC": "0",
    "SDL_AUDIODRIVER": "pulseaudio",
}


# On a screen with OpenGL they choose by themselves how they draw, as on their user's screen.
SDL_BY_ITSELF = {name: SDL_ENVIRONMENT[name] for name in ("SDL_VIDEODRIVER", "SDL_AUDIODRIVER")}


class Adapter(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def package(self) -> str:
        """Returns the name of the package that contains the player."""

    @property
    def places_itself(self) -> bool:
        """Returns whether the player puts its threads under the policy and on the CPU by itself, as its options say."""

    @property
    def refuses_root(self) -> bool:
        """Returns whether the player does not run as root, and so needs a guest on the stage (rig/guest.py)."""

    def prepare(self, job: Job, clip: Path) -> Path:
        """Does what has to be done before anything is measured. Returns the file to play in place of `clip`.

        Raises NotInstalled if the player, or a part of it, is not installed.
        """

    def works(self, job: Job, out: Path) -> Works:
        """Returns what the player's threads do, by patterns (fnmatch) of their names; the main thread's key is "main".

        A name that fits no pattern belongs to a version of the player that is not known here: the player is played
        all the same, and the thread is called unknown.
        """

    def argv(self, job: Job, clip: Path, out: Path) -> list[str]:
        """Returns the command that plays `clip` as the job says, in an unscaled window at 0,0.

        The job's policy and CPU are those that apply: no word `calibrated` is left. The command's output belongs in
        `out`/player.log.
        """

    def environment(self, job: Job) -> dict[str, str]:
        """Returns the variables that the player needs in addition to the stage's environment."""

    def applicable(self, job: Job) -> str | None:
        """Returns why the job's policy has no meaning for this player; None if it has one."""

    def complaint(self, status: int, out: Path) -> str | None:
        """Returns what is wrong with how the player ended; None if it has played to the end."""

    def own_view(self, job: Job, out: Path) -> OwnView | None:
        """Returns what the player's status line said; None if it said nothing."""

    def cpu_of_playing(self, out: Path) -> CpuTime | None:
        """Returns the CPU time that the player reports for playing alone.

        None means that all the CPU time that it used until it ended counts.
        """

    def time_of_playing(self, out: Path) -> TimeOfPlaying | None:
        """Returns when playing began and ended, as the player reports it; None if it does not report it."""


def sdl_environment(job: Job) -> dict[str, str]:
    return SDL_BY_ITSELF if job.gl else SDL_ENVIRONMENT


def extra_options(job: Job) -> list[str]:
    """Returns the agenda's own options for the player. They come last, so that they override the others."""
    return list(job.player_params.options)


def extent(job: Job) -> tuple[float, float | None]:
    """Returns the start and the length of the part to play, in s. Length None means: to the end."""
    return job.clip.start_s, job.clip.length_s


def log_of(out: Path) -> Path:
    return out / "player.log"


def unhappy_end(name: str, status: int, last_words: str) -> str | None:
    """Returns the sentence about an exit status; None if it was 0."""
    if status == 0:
        return None
    how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
    return f"{name} {how} ({last_words.removeprefix(f'{name}: ')}); try it by hand"


def never_played(name: str, last_words: str) -> str:
    """Returns the sentence about a player that reports success but has shown nothing."""
    return f"{name} did not play to the end ({last_words}); try it by hand"


def one_reservation_is_too_few(name: str) -> str:
    return (
        f"{name} decodes and presents in different threads, which one reservation cannot hold; use deadline:tuned or "
        "deadline:15/40/divided, which give each of them one, or quota, which constrains the whole process"
    )
