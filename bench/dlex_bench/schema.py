# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads what the laboratory stores as JSON, as checked objects in place of dictionaries.

A field that was added later has a default, so that older files can be read. A key that is not known here (of a newer version)
is ignored, and it is written again unchanged when its file is. There are two exceptions. Two jobs that differ in such a key are
different jobs, because the key may say how to play. Where `merge` finds a file in several folders, it keeps one of them, with its
keys.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json

from .errors import EXIT_UNFIT, LabError

# How the JSON parser's message begins when the text ends too early.
CUT_OFF = "Invalid JSON: EOF"

# The numbers that are possible in a field. Only differences and positions may be negative.
Count = Annotated[int, Field(ge=0)]
Amount = Annotated[float, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]
Part = Annotated[float, Field(ge=0, le=1)]
# Is part of the names of files.
MachineId = Annotated[str, Field(pattern="^[^/]*$")]


class Torn(LabError):
    """A file ends too early: its writing was interrupted. No other error allows anybody to replace a file."""


class Stored(BaseModel):
    """The content of a file, or a part of it. Field names are the keys in the file, unless an alias states the key."""

    # Without infinity, a figure that cannot be read again fails its job before it is written.
    model_config = ConfigDict(extra="allow", frozen=True, validate_by_name=True, validate_by_alias=True, allow_inf_nan=False)

    def to_json(self) -> dict[str, Any]:
        """Returns what the file holds. A field that was absent, or that was never given, stays absent: absent is not null."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)

    @classmethod
    def find(cls, path: Path, advice: str, code: int = EXIT_UNFIT) -> Self | None:
        """Returns the content of the file, or None if there is no file. A link that leads nowhere is a file.

        Raises the errors of `read`.
        """
        try:
            path.lstat()
        except FileNotFoundError:
            return None
        except OSError as cause:
            raise _not_opened(path, cause, advice, code) from cause
        return cls.read(path, advice, code)

    @classmethod
    def read(cls, path: Path, advice: str, code: int = EXIT_UNFIT) -> Self:
        """Returns the content of the file.

        Raises Torn if the file ends too early. Raises another LabError, which names the file and the field, if the file cannot
        be opened or does not fit. `advice` says what to do then.
        """
        try:
            text = path.read_bytes()
            content = cls.model_validate_json(text, strict=True)
        except OSError as cause:
            raise _not_opened(path, cause, advice, code) from cause
        except ValidationError as cause:
            reason = field_error(cause)
            if reason.startswith(CUT_OFF):
                raise Torn(f"{path} is incomplete; {advice}", code) from cause
            raise LabError(f"{path} cannot be read: {reason}; {advice}", code) from cause
        if place := _place_of_infinity(from_json(text)):
            raise LabError(f"{path} cannot be read: {place}: Input should be a finite number; {advice}", code)
        return content


def _place_of_infinity(content: Any, place: str = "") -> str | None:
    """Returns the place of the first number that is not finite or too large for a float, in known and unknown keys alike."""
    if isinstance(content, dict | list):
        parts = content.items() if isinstance(content, dict) else enumerate(content)
        found = (_place_of_infinity(value, f"{place}.{key}".removeprefix(".")) for key, value in parts)
        return next(filter(None, found), None)
    return place if isinstance(content, int | float) and not abs(content) <= sys.float_info.max else None


def _not_opened(path: Path, cause: OSError, advice: str, code: int) -> LabError:
    return LabError(f"{path} cannot be opened ({cause.strerror}); {advice}", code)


def field_error(cause: ValidationError) -> str:
    """Returns the first error with the path of its field, such as `figures.dropped: Input should be a valid integer`."""
    first = cause.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    if place == "version" and first["type"] == "literal_error":
        return "version: another version of this program wrote it"
    more = f" (and {cause.error_count() - 1} more)" if cause.error_count() > 1 else ""
    return f"{place}: {first['msg']}{more}" if place else f"{first['msg']}{more}"
