# SPDX-License-Identifier: LGPL-2.1-or-later
"""Turns YAML into an Agenda. An error is one sentence that names the line."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from ..errors import EXIT_SETUP, LabError, nearest, shown
from ..paths import PROJECT
from ..plain_yaml import line_of, node_at, node_child, read_plain_yaml, refusal
from .clip_checks import ClipFolders, check_clips
from .entry import Entry
from .model import Agenda

# The names of a union's members. They are part of pydantic's error paths but are not keys of the file.
LOADS = frozenset({"none", "rtapp", "stress", "build", "io", "audio", "browser", "films", "quota"})
# What is needed in lists that may not be empty.
NEEDED = {"workloads": "name at least one player", "percent": "write at least one number, such as 150"}
TAGS = LOADS | {"dlex-play", "mplayer", "mpv", "ffplay", "vlc", "playbin"}


def read_agenda(path: Path, root: Path = PROJECT, begun: Collection[str] | None = None) -> Agenda:
    """Reads an agenda and checks its clips as well.

    Clip files are relative to the agenda's folder, and recipes are in the project's folder `root`. Files that concern
    only settings that have `begun` are not checked; see check_clips.
    """
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as cause:
        reason = cause.strerror if isinstance(cause, OSError) else "it is not text"
        raise LabError(f"{path} cannot be read ({reason}); name an agenda, such as bench/agendas/smoke.yaml", EXIT_SETUP) \
            from cause
    agenda, tree = _parse(text, str(path))

    def refuse(place: Sequence[int | str], reason: str) -> LabError:
        return refusal(str(path), line_of(tree, place), f"{_spelled(place)} {reason}")

    check_clips(agenda, ClipFolders(path.parent, root), refuse, begun)
    return agenda


def parse_agenda(text: str, name: str) -> Agenda:
    """Returns the agenda in `text`; its clips are not checked."""
    return _parse(text, name)[0]


def _parse(text: str, name: str) -> tuple[Agenda, yaml.Node]:
    found = read_plain_yaml(text, name)
    if found.tree is None:
        raise refusal(name, 1, "the file is empty; bench/agendas/smoke.yaml is an example")
    try:
        agenda = Agenda.model_validate(found.content)
    except ValidationError as cause:
        raise _first_error(name, found.tree, cause) from cause
    _check_ids(name, found.tree, agenda)
    return agenda, found.tree


def _first_error(name: str, tree: yaml.Node, cause: ValidationError) -> LabError:
    error = cause.errors(include_url=False)[0]
    place = _without_tags(tree, error["loc"])
    line = line_of(tree, place)
    return refusal(name, line, f"{_spelled(place)} {_reason(error)}")


def _spelled(place: Sequence[int | str]) -> str:
    """Returns the place as text, for example `sections[0].params.sched`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return text.removeprefix(".") or "the agenda"


def _reason(error: Any) -> str:
    kind, given = error["type"], error["input"]
    if kind == "extra_forbidden":
        return f"is not a key of an agenda at this place{nearest(str(error['loc'][-1]), _known_keys())}"
    if kind == "missing":
        return "is missing"
    if kind == "string_pattern_mismatch":
        return f"is {shown(given)}, which is not an id; use letters, digits, _ and ."
    if kind in ("model_type", "model_attributes_type", "dict_type"):
        return "is not a mapping; write `key: value` pairs"
    if kind == "tuple_type":
        return f"is {shown(given)}, which is no list; write [a, b]"
    if kind == "too_short":
        return f"is empty; {NEEDED.get(str(error['loc'][-1]), 'it needs at least one entry')}"
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        return _wrong_tag(kind, error["ctx"])
    message = str(error["msg"]).removeprefix("Value error, ")
    if kind == "value_error":
        return f"is wrong: {message}"
    return f"is {shown(given)}; {message[0].lower()}{message[1:]}"


def _wrong_tag(kind: str, context: Any) -> str:
    key = context["discriminator"].strip("'")
    if kind == "union_tag_not_found":
        return f"has no {key}"
    known = [word.strip("' ") for word in context["expected_tags"].split(",")]
    tag = str(context["tag"])
    return f"has the {key} {shown(tag)}{nearest(tag, known) or '; choose one of ' + ', '.join(known)}"


def _known_keys() -> list[str]:
    found: set[str] = set()
    kinds: list[type[Entry]] = [Entry]
    while kinds:
        kind = kinds.pop()
        kinds += kind.__subclasses__()
        found |= set(kind.model_fields)
    return sorted(found)


def _without_tags(tree: yaml.Node, place: Sequence[int | str]) -> list[int | str]:
    """Returns the path in the file: the name of a union's member is left out where the file has no such key."""
    kept: list[int | str] = []
    for number, part in enumerate(place):
        is_last_key = number == len(place) - 1 and part not in TAGS
        if part in TAGS and node_child(node_at(tree, kept), part) is None and not is_last_key:
            continue
        kept.append(part)
    return kept


def _check_ids(name: str, tree: yaml.Node, agenda: Agenda) -> None:
    for what, entries in (("sections", agenda.sections), ("workloads", agenda.workloads)):
        seen: set[str] = set()
        for number, entry in enumerate(entries):
            if entry.id in seen:
                reason = f"two {what} have the id {entry.id}; change one of them"
                raise refusal(name, line_of(tree, [what, number, "id"]), reason)
            seen.add(entry.id)
