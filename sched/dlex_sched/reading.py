# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads the YAML files of the commands."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from dlex_bench.errors import EXIT_SETUP, LabError
from dlex_bench.plain_yaml import Place, read_plain_yaml
from dlex_bench.schema import field_error

COMMAND_MAX = 100_000  # bytes; the kernel takes 131071 for one argument, which has the name of the option and the process, too

# As the programs in C allow them.
Name = Annotated[str, Field(pattern="^[A-Za-z0-9_-]{1,31}$")]


def shell_command(command: str | tuple[str, ...] | None) -> str | None:
    """Returns a command for a shell. A list is a program with its arguments, which replaces the shell."""
    return f"exec {shlex.join(command)}" if isinstance(command, tuple) else command


def _check_length(command: str | tuple[str, ...]) -> str | tuple[str, ...]:
    if len((shell_command(command) or "").encode()) > COMMAND_MAX:
        raise ValueError(f"the command is longer than {COMMAND_MAX} bytes; put it into a script")
    return command


Command = Annotated[str | tuple[str, ...], AfterValidator(_check_length)]


def _dashed(name: str) -> str:
    return name.replace("_", "-")


class Entry(BaseModel):
    """A part of a file. Its keys have dashes, and an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=_dashed, validate_by_name=True, validate_by_alias=True,
                              allow_inf_nan=False)


Content = TypeVar("Content", bound=Entry)
# Returns where something is wrong that no single field says, and what.
Check = Callable[[Content], tuple[Place, str] | None]


def read_entry(kind: type[Content], path: Path, example: str, check: Check[Content]) -> Content:
    """Returns the content of a file. Raises LabError, which names the file, the line, and where a good `example` is."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as cause:
        raise LabError(f"{path} cannot be read ({cause.strerror}); {example}", EXIT_SETUP) from cause
    except UnicodeDecodeError as cause:
        raise LabError(f"{path} cannot be read (it is not text); {example}", EXIT_SETUP) from cause
    found = read_plain_yaml(text, str(path))
    try:
        content = kind.model_validate(found.content)
    except ValidationError as cause:
        field = cause.errors(include_url=False, include_input=False)[0]["loc"]
        raise found.refusal(field, f"{field_error(cause)}; {example}") from cause
    if mistake := check(content):
        place, reason = mistake
        raise found.refusal(place, f"{'.'.join(map(str, place))}: {reason}")
    return content
