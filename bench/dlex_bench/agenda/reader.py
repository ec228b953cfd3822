# SPDX-License-Identifier: LGPL-2.1-or-later
"""Turns YAML into an Agenda. An error is one sentence that names the line."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from ..errors import EXIT_SETUP, LabError, nearest
from ..paths import PROJECT
from .clip_checks import ClipFolders, check_clips
from .model import Agenda, Entry

# The names of a union's members. They are part of pydantic's error paths but are not keys of the file.
TAGS = frozenset({"none", "rtapp", "stress", "dlex-play", "mplayer", "mpv", "ffplay"})


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
        return _refusal(str(path), _line_of(tree, place), f"{_spelled(place)} {reason}")

    check_clips(agenda, ClipFolders(path.parent, root), refuse, begun)
    return agenda


def parse_agenda(text: str, name: str) -> Agenda:
    """Returns the agenda in `text`; its clips are not checked."""
    return _parse(text, name)[0]


def _parse(text: str, name: str) -> tuple[Agenda, yaml.Node]:
    try:
        tree = yaml.compose(text, Loader=yaml.SafeLoader)
        if tree is None:
            raise _refusal(name, 1, "the file is empty; bench/agendas/smoke.yaml is an example")
        for line, key in _repeated_keys(tree):
            raise _refusal(name, line, f"the key {key} appears twice; remove one of them")
        content = yaml.safe_load(text)
    except yaml.MarkedYAMLError as cause:
        line = cause.problem_mark.line + 1 if cause.problem_mark else 1
        raise _refusal(name, line, f"this is not YAML: {cause.problem}") from cause
    except yaml.YAMLError as cause:
        raise _refusal(name, 1, f"this is not YAML: {str(cause).splitlines()[0]}") from cause
    try:
        agenda = Agenda.model_validate(content)
    except ValidationError as cause:
        raise _first_error(name, tree, cause) from cause
    _check_ids(name, tree, agenda)
    return agenda, tree


def _refusal(name: str, line: int, reason: str) -> LabError:
    return LabError(f"{name}, line {line}: {reason}", EXIT_SETUP)


def _repeated_keys(node: yaml.Node, seen: frozenset[int] = frozenset()) -> Iterator[tuple[int, str]]:
    """Yields the line and the name of repeated keys; PyYAML would silently take the last one.

    `seen` prevents endless recursion, because an alias may make an entry a part of itself.
    """
    if id(node) in seen or isinstance(node, yaml.ScalarNode):
        return
    seen |= {id(node)}
    children = node.value
    if isinstance(node, yaml.MappingNode):
        keys = [key for key, _value in node.value if isinstance(key, yaml.ScalarNode)]
        for number, key in enumerate(keys):
            if any(key.value == earlier.value for earlier in keys[:number]):
                yield key.start_mark.line + 1, key.value
        children = [value for _key, value in node.value]
    for child in children:
        yield from _repeated_keys(child, seen)


def _first_error(name: str, tree: yaml.Node, cause: ValidationError) -> LabError:
    error = cause.errors(include_url=False)[0]
    place = _without_tags(tree, error["loc"])
    line = _line_of(tree, place)
    return _refusal(name, line, f"{_spelled(place)} {_reason(error)}")


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
        return f"is {given!r}, which is not an id; use letters, digits, _ and ."
    if kind in ("model_type", "model_attributes_type", "dict_type"):
        return "is not a mapping; write `key: value` pairs"
    if kind == "too_short":
        return "is empty; name at least one player"
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        return _wrong_tag(kind, error["ctx"])
    message = str(error["msg"]).removeprefix("Value error, ")
    if kind == "value_error":
        return f"is wrong: {message}"
    return f"is {given!r}; {message[0].lower()}{message[1:]}"


def _wrong_tag(kind: str, context: Any) -> str:
    key = context["discriminator"].strip("'")
    if kind == "union_tag_not_found":
        return f"has no {key}"
    known = [word.strip("' ") for word in context["expected_tags"].split(",")]
    tag = str(context["tag"])
    return f"has the {key} {tag!r}{nearest(tag, known) or '; choose one of ' + ', '.join(known)}"


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
        if part in TAGS and _child(_node_at(tree, kept), part) is None and not is_last_key:
            continue
        kept.append(part)
    return kept


def _child(node: yaml.Node | None, part: int | str) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == str(part)), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        found: yaml.Node = node.value[part]
        return found
    return None


def _node_at(tree: yaml.Node, place: Sequence[int | str]) -> yaml.Node | None:
    node: yaml.Node | None = tree
    for part in place:
        node = _child(node, part)
    return node


def _line_of(tree: yaml.Node, place: Sequence[int | str]) -> int:
    """Returns the line of the deepest part of the path that the file has."""
    node, line = tree, int(tree.start_mark.line)
    for part in place:
        found = _child(node, part)
        if found is None:
            break
        node, line = found, _key_line(node, part, found)
    return line + 1


def _key_line(parent: yaml.Node, part: int | str, value: yaml.Node) -> int:
    if isinstance(parent, yaml.MappingNode):
        return next(int(key.start_mark.line) for key, _value in parent.value if key.value == str(part))
    return int(value.start_mark.line)


def _check_ids(name: str, tree: yaml.Node, agenda: Agenda) -> None:
    for what, entries in (("sections", agenda.sections), ("workloads", agenda.workloads)):
        seen: set[str] = set()
        for number, entry in enumerate(entries):
            if entry.id in seen:
                reason = f"two {what} have the id {entry.id}; change one of them"
                raise _refusal(name, _line_of(tree, [what, number, "id"]), reason)
            seen.add(entry.id)
