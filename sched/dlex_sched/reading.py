# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads the YAML files of the commands."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dlex_bench.errors import EXIT_SETUP, LabError
from dlex_bench.schema import field_error

# As the programs in C allow them.
Name = Annotated[str, Field(pattern="^[A-Za-z0-9_-]{1,31}$")]


def shell_command(command: str | tuple[str, ...] | None) -> str | None:
    """Returns a command for a shell. A list is a program with its arguments, which replaces the shell."""
    return f"exec {shlex.join(command)}" if isinstance(command, tuple) else command


def _dashed(name: str) -> str:
    return name.replace("_", "-")


class Entry(BaseModel):
    """A part of a file. Its keys have dashes, and an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=_dashed, validate_by_name=True, validate_by_alias=True,
                              allow_inf_nan=False)


Content = TypeVar("Content", bound=Entry)


def read_entry(kind: type[Content], path: Path, example: str) -> Content:
    """Returns the content of a file. Raises LabError, which names the file, the field, and where a good `example` is."""
    try:
        content = yaml.safe_load(path.read_text())
    except OSError as cause:
        raise LabError(f"{path} cannot be read ({cause.strerror}); {example}", EXIT_SETUP) from cause
    except UnicodeDecodeError as cause:
        raise LabError(f"{path} cannot be read (it is not text); {example}", EXIT_SETUP) from cause
    except yaml.YAMLError as cause:
        raise LabError(f"{path}: this is not YAML: {str(cause).splitlines()[0]}", EXIT_SETUP) from cause
    try:
        return kind.model_validate(content)
    except ValidationError as cause:
        raise LabError(f"{path}: {field_error(cause)}; {example}", EXIT_SETUP) from cause
