# SPDX-License-Identifier: LGPL-2.1-or-later
"""What all entries of an agenda have in common."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Entry(BaseModel):
    """A mapping in an agenda. It has no other keys than its fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)
