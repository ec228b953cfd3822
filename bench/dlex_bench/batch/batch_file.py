# SPDX-License-Identifier: LGPL-2.1-or-later
"""Defines batch.json (the jobs of a batch, and the agenda that they come from) and machines/MACHINE.json."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ..agenda.job import Job
from ..job.loops import Loops
from ..machine.facts import MachineFacts, Program
from ..schema import Stored

VERSION: Literal[1] = 1


class AgendaConfig(Stored):
    name: str | None = None
    about: str | None = None


class AgendaSection(Stored):
    id: str | None = None
    group: str | None = None
    label: str | None = None


class AgendaWorkload(Stored):
    id: str | None = None
    label: str | None = None


class StoredAgenda(Stored):
    """An agenda as it was when its batch began, as far as a report names it. All the rest is kept as it is.

    It is not agenda.model.Agenda, which refuses what this version cannot run.
    """

    config: AgendaConfig = AgendaConfig()
    sections: tuple[AgendaSection, ...] = ()
    workloads: tuple[AgendaWorkload, ...] = ()


class BatchFile(Stored):
    version: Literal[1]
    created: str | None = None  # UTC, such as 2026-11-22T00:20:05.123Z
    commit: str | None = None  # of the project; null: not known
    jobs: list[Job]
    agenda: StoredAgenda | None = None


class MachineFile(MachineFacts):
    """A machine that results come from."""

    programs: dict[str, Program | None] = Field(default_factory=dict)  # null: not installed
    rtapp: Loops | None = None  # absent: no job was beside rt-app
