# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads what the laboratory stores as JSON, as checked objects in place of dictionaries.

A field that was added later has a default, so that older files can be read. A key that is not known here (of a newer version)
is ignored, and it is written again unchanged when its file is.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from .errors import EXIT_UNFIT, LabError


class Stored(BaseModel):
    """The content of a file, or a part of it. Field names are the keys in the file, unless an alias states the key."""

    model_config = ConfigDict(extra="allow", frozen=True, validate_by_name=True, validate_by_alias=True)

    def to_json(self) -> dict[str, Any]:
        """Returns what the file holds. A field that was absent, or that was never given, stays absent: absent is not null."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)

    @classmethod
    def parse(cls, text: str, path: Path, advice: str, code: int = EXIT_UNFIT) -> Self:
        """Returns the content of the file `path`, which has this `text`.

        Raises LabError, which names the file and the field, if the text does not fit. `advice` says what to do then.
        """
        try:
            return cls.model_validate_json(text, strict=True)
        except ValidationError as cause:
            raise LabError(f"{path} cannot be read: {field_error(cause)}; {advice}", code) from cause


def field_error(cause: ValidationError) -> str:
    """Returns the first error with the path of its field, such as `figures.dropped: Input should be a valid integer`."""
    first = cause.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    more = f" (and {cause.error_count() - 1} more)" if cause.error_count() > 1 else ""
    return f"{place}: {first['msg']}{more}" if place else f"{first['msg']}{more}"


def is_of_version(text: str, version: int) -> bool:
    """Returns whether the text is a whole JSON object that says that it is of this version."""
    try:
        content = json.loads(text)
    except ValueError:
        return False
    return isinstance(content, dict) and content.get("version") == version
