# SPDX-License-Identifier: LGPL-2.1-or-later
"""Defines a job: one play of a workload under its conditions. batch.json and result.json hold it."""

from __future__ import annotations

from typing import Any

from ..schema import Amount, Count, Stored

INSIDE = "inside"  # `observe` of jobs that only their own player observes


class PlayerParams(Stored):
    """The settings of a player, as its agenda has them. A player has only some of them; the others are absent."""

    drop: str | None = None  # dlex-play: none, heuristic, vlc, deadline
    rule: str | None = None  # dlex-play with drop: deadline; None: the player's own
    queue: str | None = None  # dlex-play: its --queue; None: the player's own; absent from older batches: 0
    output: str | None = None  # mpv: x11, default; None: x11
    framedrop: str | bool | None = None  # the other players, each in its own words
    threads: int | str | None = None  # the other players: 1, or auto, as many as the player takes by itself
    options: tuple[str, ...] = ()  # further options, as the player's user would give them


class JobLoad(Stored):
    """The load that a job asks for."""

    kind: str = "none"  # as in agenda.loads
    after_s: Amount | None = None  # how long after the player it starts; None: it is settled before
    sched: str | None = None  # rtapp: the policy of its tasks; None or `same`: the player's
    cpu: Count | None = None  # stress: how many tasks compute
    vm: Count | None = None  # stress: how many tasks use memory
    nice: Count | None = None  # stress: the nice value of its tasks; None: 0
    stress: Count | None = None  # rtapp: how many tasks of stress compute beside it
    writers: Count | None = None  # io: how many programs write
    count: Count | None = None  # films: how many, beside the observed one
    percent: tuple[Amount, ...] | None = None  # quota: of one CPU, for the player; several in turn
    every_s: Amount | None = None  # quota: how long each holds


class JobClip(Stored):
    """The part of a clip that a job plays. A clip has either a recipe or a file."""

    recipe: str | None = None
    unstamped: str | None = None  # the recipe of the same film without stamps
    file: str | None = None  # an absolute path
    start_s: Amount = 0.0
    length_s: Amount | None = None  # None: to the end


class Job(Stored):
    """One play. Repetitions of a play are jobs of their own."""

    id: str
    repetition: Count
    section: str
    workload: str
    player: str
    player_params: PlayerParams
    sched: str
    load: JobLoad
    clip: JobClip
    observe: str  # inside, outside, both
    cpu: Count | None = None  # the measured CPU; None: the laboratory chooses
    gl: bool = False  # whether the screen has OpenGL; absent from older batches: it has not

    def but(self, **changes: Any) -> Job:
        """Returns the job with other values of these fields. Raises ValueError if a value does not fit."""
        return Job.model_validate({**self.to_json(), **changes})

    def conditions(self) -> dict[str, Any]:
        """Returns what must be equal for two jobs to be the same play, with the keys that only another version knows.

        The dlex-play of batches without `queue` never decoded ahead.
        """
        content = self.to_json()
        if self.player == "dlex-play":
            content["player_params"].setdefault("queue", "0")
        return content


def rtapp_sched(sched: str, load: JobLoad) -> str:
    """Returns the policy of rt-app's tasks beside a player under `sched`: the load's own, or with `same` the player's.

    Beside a quota, which a thread cannot have, the tasks have their reservations. They have no nice value of their own,
    and where nothing is placed, they are ordinary tasks.
    Reservations are returned without numbers, as `deadline`.
    """
    own = load.sched or "same"
    if own != "same":
        return own
    kind = sched.partition(":")[0]
    return "deadline" if kind in ("deadline", "quota") else "other" if kind in ("nice", "free") else sched
