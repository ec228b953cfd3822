# SPDX-License-Identifier: LGPL-2.1-or-later
"""Defines an agenda as data. The checks here concern one entry alone; jobs.py sees the entries together."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from ..errors import LabError
from ..machine.policy import FORMS, Policy
from ..parser import CPU_MAX, NUMBER_MAX
from .entry import Entry, Seconds
from .loads import Load

# Job ids consist of these ids, joined by "-", and are used as the names of folders.
Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.]+$", max_length=80)]
Observe = Literal["outside", "inside", "both"]
Times = Annotated[int, Field(ge=1, le=NUMBER_MAX, strict=True)]
Cpu = Annotated[int, Field(ge=0, le=CPU_MAX, strict=True)]

QUEUE = re.compile(r"auto|\d{1,18}|\d{1,18}(?:\.\d{1,18})?(?:ms|s|KiB|MiB|GiB)")


def _policy(text: Any) -> Any:
    if not isinstance(text, str):
        raise ValueError(f"the policies are {FORMS}")
    try:
        return str(Policy.parse(text))
    except LabError as cause:
        raise ValueError(str(cause)) from cause


def _word(value: Any) -> Any:
    """Returns `no` in place of False, because YAML reads the word `no` as a truth value."""
    return "no" if value is False else value


def _queue(value: Any) -> Any:
    """Returns the depth of a queue as dlex-play's --queue has it. The player checks it in detail."""
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or not QUEUE.fullmatch(text):
        raise ValueError("a queue is 0, auto, a number of pictures, a time (300ms, 2s) or a size (64MiB)")
    return text


PolicyText = Annotated[str, BeforeValidator(_policy)]
QueueText = Annotated[str, BeforeValidator(_queue)]


class MadeClip(Entry):
    recipe: str
    unstamped: str | None = None


class Clip(Entry):
    recipe: str | None = None
    unstamped: str | None = None  # the same film without stamps; jobs that are observed only from inside play it
    without_film: MadeClip | None = None  # played where the real trailer is missing
    file: str | None = None
    start_s: Seconds = 0.0
    length_s: Seconds | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.recipe is None) == (self.file is None):
            raise ValueError("a clip needs either a recipe or a file")
        if self.file is not None and (self.unstamped or self.without_film):
            raise ValueError("unstamped and without_film belong to a recipe, not to a file")
        if self.length_s == 0:
            raise ValueError("a clip's length_s must be above 0")
        return self


class Screen(Entry):
    gl: Annotated[bool, Field(strict=True)] = False  # whether it has OpenGL, which the CPU draws


class Conditions(Entry):
    """The conditions of a play. Where a section has no value, the agenda's default applies, then this program's."""

    sched: PolicyText | None = None
    load: Load | None = None
    clip: Clip | None = None
    observe: Observe | None = None
    screen: Screen | None = None


PlayerOptions = tuple[str, ...]  # options of the player, as its user would give them
# The number of decoding threads. None: 1 on the measured CPU, and auto under `free`.
Threads = Literal[1, "auto"]


class DlexPlayParams(Entry):
    drop: Literal["none", "heuristic", "vlc", "deadline"] = "deadline"
    rule: Literal["paper", "slack", "plan"] | None = None
    queue: QueueText | None = None  # how far it decodes ahead; None: as far as it does by itself
    options: PlayerOptions = ()

    @model_validator(mode="after")
    def _rule_of_deadline(self) -> Self:
        if self.rule and self.drop != "deadline":
            raise ValueError("only drop: deadline has a rule")
        return self


class MplayerParams(Entry):
    framedrop: Literal["none", "soft", "hard"] = "none"
    threads: Threads | None = None
    options: PlayerOptions = ()


class MpvParams(Entry):
    output: Literal["x11", "default"] = "x11"  # default: what mpv takes by itself, with its own settings for it
    framedrop: Annotated[Literal["no", "vo", "decoder+vo"], BeforeValidator(_word)] = "vo"
    threads: Threads | None = None
    options: PlayerOptions = ()


class FfplayParams(Entry):
    framedrop: Annotated[bool, Field(strict=True)] = True
    threads: Threads | None = None
    options: PlayerOptions = ()


class VlcParams(Entry):
    framedrop: Annotated[bool, Field(strict=True)] = True
    threads: Threads | None = None
    options: PlayerOptions = ()


class PlaybinParams(Entry):
    options: PlayerOptions = ()


class WorkloadBase(Entry):
    id: Id
    label: str | None = None
    iterations: Times | None = None


class DlexPlay(WorkloadBase):
    name: Literal["dlex-play"]
    params: DlexPlayParams = DlexPlayParams()


class Mplayer(WorkloadBase):
    name: Literal["mplayer"]
    params: MplayerParams = MplayerParams()


class Mpv(WorkloadBase):
    name: Literal["mpv"]
    params: MpvParams = MpvParams()


class Ffplay(WorkloadBase):
    name: Literal["ffplay"]
    params: FfplayParams = FfplayParams()


class Vlc(WorkloadBase):
    name: Literal["vlc"]
    params: VlcParams = VlcParams()


class Playbin(WorkloadBase):
    name: Literal["playbin"]
    params: PlaybinParams = PlaybinParams()


# A player and its settings. `name` states which player, as in Workload Automation.
Workload = Annotated[DlexPlay | Mplayer | Mpv | Ffplay | Vlc | Playbin, Field(discriminator="name")]


class Section(Entry):
    """Conditions with a name. Sections of one group exclude each other; groups are crossed."""

    id: Id
    group: str | None = None
    label: str | None = None
    params: Conditions = Conditions()
    only: tuple[str, ...] = ()  # patterns of workload ids; empty: all workloads
    iterations: Times | None = None


class Config(Entry):
    name: str | None = None
    about: str | None = None
    iterations: Times = 1
    cpu: Cpu | None = None
    observe: Observe = "outside"
    defaults: Conditions = Conditions()


class Agenda(Entry):
    config: Config = Config()
    sections: tuple[Section, ...] = ()
    workloads: Annotated[tuple[Workload, ...], Field(min_length=1)]
