# SPDX-License-Identifier: LGPL-2.1-or-later
"""What all entries of an agenda have in common."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


def _no_truth_value(value: Any) -> Any:
    """Refuses True and False, which Python takes for 1 and 0: YAML reads `yes` and `on` as truth values."""
    if isinstance(value, bool):
        raise ValueError("a number is needed, and this is a truth value")
    return value


Number = Annotated[float, BeforeValidator(_no_truth_value), Field(allow_inf_nan=False)]
Seconds = Annotated[Number, Field(ge=0)]


class Entry(BaseModel):
    """A mapping in an agenda. It has no other keys than its fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)
