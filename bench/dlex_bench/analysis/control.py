# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sections with a film that costs next to nothing: the misses of rt-app that are there are no player's fault. Pure."""

from __future__ import annotations

from ..agenda.jobs import section_ids
from .results_frame import Row, Settings

# The id of such a section, also as one of several that are crossed.
CONTROL = "control"


def is_control(section: str) -> bool:
    return CONTROL in section_ids(section)


def control_of(settings: Settings, section: str) -> list[Row]:
    """The runs of the section's control. Where groups are crossed that is the one in which everything else is the same:
    `a-control` of `a-cbs`, and not `b-control`."""
    here = section_ids(section) | {CONTROL}
    found = [runs for (name, _), runs in settings.items() if is_control(name) and section_ids(name) <= here]
    return [run for runs in found for run in runs]
