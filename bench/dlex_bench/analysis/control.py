# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds the control sections, whose film costs almost nothing: rt-app's misses there are not the fault of a player.

The functions are pure.
"""

from __future__ import annotations

from ..agenda.jobs import section_ids
from .results_frame import Row, Settings

# The id of a control section. It may also be one of several crossed section ids.
CONTROL = "control"


def is_control(section: str) -> bool:
    return CONTROL in section_ids(section)


def control_of(settings: Settings, section: str) -> list[Row]:
    """Returns the runs of the section's control.

    Where groups are crossed, that is the control in which everything else is the same: `a-control` for `a-cbs`, and not
    `b-control`.
    """
    here = section_ids(section) | {CONTROL}
    found = [runs for (name, _), runs in settings.items() if is_control(name) and section_ids(name) <= here]
    return [run for runs in found for run in runs]
