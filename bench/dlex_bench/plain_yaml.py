# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads YAML that people write. Each error is one sentence that names the file and the line.

Also refused is what YAML allows, but what would fail later: a value that is not of its type, characters that cannot be given to a
program, a key that appears twice, of which PyYAML would take the last one, deep nesting, and merges that grow without bounds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from .errors import EXIT_SETUP, LabError, shown

NESTING_MAX = 50  # Python allows a thousand nested calls, and PyYAML needs several for a level
MERGED_MAX = 10_000  # keys of a mapping with those that its merge keys (<<) copy
MERGE = "tag:yaml.org,2002:merge"
NOT_FOR_PROGRAMS = re.compile("[\0\ud800-\udfff]")  # the end of an argument; half of a character
# PyYAML raises these for a value such as `!!int abc`, and not an error of its own.
NOT_OF_ITS_TYPE = (ValueError, ArithmeticError, LookupError, AttributeError, TypeError)

# A part of a path in a file: a key, or the number of an entry.
Place = Sequence[int | str]


@dataclass(frozen=True)
class PlainYaml:
    """What a file says. The tree knows in which line."""

    name: str
    content: Any
    tree: yaml.Node | None  # None: the file is empty

    def refusal(self, place: Place, reason: str) -> LabError:
        """Returns an error with the line of the deepest part of the path that the file has."""
        return refusal(self.name, 1 if self.tree is None else line_of(self.tree, place), reason)


def refusal(name: str, line: int, reason: str) -> LabError:
    return LabError(f"{name}, line {line}: {reason}", EXIT_SETUP)


def read_plain_yaml(text: str, name: str) -> PlainYaml:
    """Returns what a text says. Raises LabError; `name` is that of its file."""
    try:
        _check_events(text, name)
        tree = yaml.compose(text, Loader=yaml.SafeLoader)
        if tree is None:
            return PlainYaml(name, None, None)
        _check_nodes(tree, name)
        return PlainYaml(name, yaml.SafeLoader("").construct_document(tree), tree)
    except yaml.reader.ReaderError as cause:
        line = text.count("\n", 0, cause.position) + 1
        raise refusal(name, line, f"this is not YAML: {str(cause).splitlines()[0]}") from cause
    except yaml.MarkedYAMLError as cause:
        line = cause.problem_mark.line + 1 if cause.problem_mark else 1
        raise refusal(name, line, f"this is not YAML: {cause.problem}") from cause
    except (RecursionError, ValueError, ArithmeticError, LookupError, AttributeError, TypeError) as cause:
        # Of a value that the checks do not know, such as `!!int {=: abc}`.
        raise refusal(name, 1, f"this cannot be read ({type(cause).__name__})") from cause


def _check_events(text: str, name: str) -> None:
    """Refuses what cannot be composed, and characters. An event needs no nested calls."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        line = event.start_mark.line + 1
        if depth > NESTING_MAX:
            raise refusal(name, line, f"it is nested more than {NESTING_MAX} levels deep")
        if isinstance(event, yaml.ScalarEvent) and (found := NOT_FOR_PROGRAMS.search(event.value)):
            raise refusal(name, line, f"the character U+{ord(found[0]):04X} is not possible here")


def _nodes(tree: yaml.Node) -> Iterator[yaml.Node]:
    """Yields each node once, in any order; an alias may make a node a part of several others, or of itself."""
    seen: set[int] = set()
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        if isinstance(node, yaml.SequenceNode):
            waiting += node.value
        elif isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                waiting += [value] if key.tag == MERGE else [key, value]


def _check_nodes(tree: yaml.Node, name: str) -> None:
    constructor = yaml.SafeLoader("")
    sizes: dict[int, int] = {}
    for node in sorted(_nodes(tree), key=lambda each: each.start_mark.index):
        if isinstance(node, yaml.ScalarNode):
            _check_value(constructor, node, name)
        elif isinstance(node, yaml.MappingNode):
            _check_keys(node, name)
            if _size(node, sizes) > MERGED_MAX:
                raise refusal(name, node.start_mark.line + 1, f"with its merge keys (<<) this has more than {MERGED_MAX} keys")


def _check_value(constructor: yaml.SafeLoader, node: yaml.ScalarNode, name: str) -> None:
    try:
        constructor.construct_object(node)
    except NOT_OF_ITS_TYPE as cause:
        reason = f"{shown(node.value)} is not a value of the type {node.tag.rpartition(':')[2]}"
        raise refusal(name, node.start_mark.line + 1, reason) from cause


def _check_keys(node: yaml.MappingNode, name: str) -> None:
    seen = set()
    for key, _value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            continue
        if key.value in seen:
            raise refusal(name, key.start_mark.line + 1, f"the key {key.value} appears twice; remove one of them")
        seen.add(key.value)


def _size(node: yaml.Node, known: dict[int, int]) -> int:
    """Returns how many keys a mapping has with those that it merges, in the worst case."""
    if isinstance(node, yaml.SequenceNode):  # of mappings to merge; PyYAML refuses other entries
        return sum(_size(each, known) for each in node.value if isinstance(each, yaml.MappingNode))
    if not isinstance(node, yaml.MappingNode):
        return 0
    if id(node) not in known:
        known[id(node)] = 0  # if it merges itself
        known[id(node)] = sum(_size(value, known) if key.tag == MERGE else 1 for key, value in node.value)
    return known[id(node)]


def node_child(node: yaml.Node | None, part: int | str) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == str(part)), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        found: yaml.Node = node.value[part]
        return found
    return None


def node_at(tree: yaml.Node, place: Place) -> yaml.Node | None:
    node: yaml.Node | None = tree
    for part in place:
        node = node_child(node, part)
    return node


def line_of(tree: yaml.Node, place: Place) -> int:
    """Returns the line of the deepest part of the path that the file has."""
    node, line = tree, int(tree.start_mark.line)
    for part in place:
        found = node_child(node, part)
        if found is None:
            break
        node, line = found, _key_line(node, part, found)
    return line + 1


def _key_line(parent: yaml.Node, part: int | str, value: yaml.Node) -> int:
    if isinstance(parent, yaml.MappingNode):
        return next(int(key.start_mark.line) for key, _value in parent.value if key.value == str(part))
    return int(value.start_mark.line)
