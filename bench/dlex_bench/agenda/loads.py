# SPDX-License-Identifier: LGPL-2.1-or-later
"""Defines the loads of an agenda: what runs beside the player."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from .entry import Entry, Number, Seconds

TASKS_MAX = 1024
# A writer has a file of its own, and a film decodes as much as the player.
SEVERAL_MAX = 64
NICE_MAX = 19
PERCENT_MIN, PERCENT_MAX = 1, 100_000
# The laboratory looks at a player twice a second, and changes the quota then.
EVERY_S_MIN, EVERY_S = 1.0, 3.0

Tasks = Annotated[int, Field(ge=0, le=TASKS_MAX, strict=True)]  # of stress
Several = Annotated[int, Field(ge=1, le=SEVERAL_MAX, strict=True)]
Percent = Annotated[Number, Field(ge=PERCENT_MIN, le=PERCENT_MAX)]

RTAPP_POLICY = re.compile(r"same|deadline|other|(?:fifo|rr):[1-9]\d?")


def _rtapp_policy(text: Any) -> Any:
    if not isinstance(text, str) or not RTAPP_POLICY.fullmatch(text):
        raise ValueError("rt-app's policy must be same (as the player's), deadline, other, fifo:5 or rr:5")
    return text


def _several(value: Any) -> Any:
    """Returns a list of one for what is no list."""
    return value if isinstance(value, list) else [value]


RtappPolicyText = Annotated[str, BeforeValidator(_rtapp_policy)]


class NoLoad(Entry):
    kind: Literal["none"]


class RtappLoad(Entry):
    kind: Literal["rtapp"]
    sched: RtappPolicyText = "same"
    stress: Annotated[Tasks, Field(ge=1)] | None = None  # tasks of stress that compute beside rt-app, under the policy other


class OrdinaryLoad(Entry):
    """A load of ordinary programs, which runs before the player starts, or starts while it plays."""

    after_s: Seconds | None = None  # how long after the player; None: it is settled when the player starts


class StressLoad(OrdinaryLoad):
    kind: Literal["stress"]
    cpu: Tasks = 0
    vm: Tasks = 0
    nice: Annotated[int, Field(ge=0, le=NICE_MAX, strict=True)] | None = None

    @model_validator(mode="after")
    def _some(self) -> Self:
        if self.cpu + self.vm == 0:
            raise ValueError("stress needs at least one task, of cpu or vm")
        return self


class BuildLoad(OrdinaryLoad):
    kind: Literal["build"]


class IoLoad(OrdinaryLoad):
    kind: Literal["io"]
    writers: Several = 4


class AudioLoad(OrdinaryLoad):
    kind: Literal["audio"]


class BrowserLoad(OrdinaryLoad):
    kind: Literal["browser"]


class FilmsLoad(OrdinaryLoad):
    kind: Literal["films"]
    count: Several = 1  # how many, beside the observed one


class QuotaLoad(Entry):
    """Not a program: the player itself has a part of the CPUs. It needs sched: free."""

    kind: Literal["quota"]
    percent: Annotated[tuple[Percent, ...], BeforeValidator(_several), Field(min_length=1, max_length=SEVERAL_MAX)]  # of one CPU
    every_s: Annotated[Number, Field(ge=EVERY_S_MIN)] = EVERY_S  # how long each holds, if there are several


Load = Annotated[
    NoLoad | RtappLoad | StressLoad | BuildLoad | IoLoad | AudioLoad | BrowserLoad | FilmsLoad | QuotaLoad,
    Field(discriminator="kind"),
]
