# SPDX-License-Identifier: LGPL-2.1-or-later
"""Holds what the tests of stored files share: folders of results, and ways to damage a file. Needs the packages of pydantic."""

import json
import shutil
from pathlib import Path
from unittest import mock

from dlex_bench.errors import EXIT_SETUP, LabError
from dlex_bench.schema import Stored, Torn
from outside import Folder

HUGE = 10**400
FIXTURES = Path(__file__).resolve().parent / "fixtures"
NEW, OLD = FIXTURES / "schema", FIXTURES / "batch"
MACHINE = "7b025c493dba"
JOB = "cbs12-mplayer_soft-r1"
BOTH_SIDES = "cbs12-dlex_paper-r1"


def text_of(content):
    return json.dumps(content.to_json(), indent=2) + "\n"


def with_news(content, name=""):
    """Returns the content of a file with one more key in every object that is not a table of names."""
    if isinstance(content, list):
        return [with_news(value) for value in content]
    if not isinstance(content, dict):
        return content
    is_table = name in ("programs", "cgroups", "rtapp_work_ms") or (name == "rtapp" and "rt-app-1" in content)
    return {key: with_news(value, key) for key, value in content.items()} | ({} if is_table else {"news": {"a": [1, None]}})


def unknown_keys(content, place=""):
    """Yields the keys of a file that no schema names."""
    if isinstance(content, Stored):
        yield from (f"{place}.{key}" for key in content.model_extra or {})
        for key in type(content).model_fields:
            yield from unknown_keys(getattr(content, key), f"{place}.{key}")
    elif isinstance(content, dict):
        for key, value in content.items():
            yield from unknown_keys(value, f"{place}.{key}")
    elif isinstance(content, list | tuple):
        for value in content:
            yield from unknown_keys(value, place)


def named(job_id):
    return mock.Mock(id=job_id)


def edited(**keys):
    return lambda path: path.write_text(json.dumps({**json.loads(path.read_text()), **keys}))


def setting(field, value):
    """Returns what sets a field with a path such as `tries.0.share`."""
    def change(content):
        *names, last = field.split(".")
        for name in names:
            content = content[int(name) if isinstance(content, list) else name]
        content[last] = value

    return change


def replaced(make):
    def change(path):
        path.unlink()
        make(path)

    return change


# Why a result.json, or another file, is not torn but cannot be read either, with the beginning of what is said.
UNREADABLE = [
    ("another version", edited(version=2), "cannot be read: version: another version of this program wrote it; "),
    ("a list", lambda path: path.write_text("[1]"), "cannot be read: Input should be an object; "),
    ("null", lambda path: path.write_text("null"), "cannot be read: Input should be an object; "),
    ("no JSON", lambda path: path.write_text('{"version": 1,}'), "cannot be read: Invalid JSON: trailing comma"),
    ("too deep", lambda path: path.write_text("[" * 200_000), "cannot be read: Invalid JSON: recursion limit exceeded"),
    ("not UTF-8", lambda path: path.write_bytes(b'{"version": "\xff"}'), "cannot be read: Invalid JSON: invalid unicode"),
    ("a folder", replaced(Path.mkdir), "cannot be opened (Is a directory); "),
    ("a link to nowhere", replaced(lambda path: path.symlink_to("nowhere")), "cannot be opened (No such file or directory); "),
    ("a link to itself", replaced(lambda path: path.symlink_to(path.name)), "cannot be opened (Too many levels of symbolic "),
]
EMPTY = ("empty", lambda path: path.write_text(""), "is incomplete; ")
EMPTY_OBJECT = ("an empty object", lambda path: path.write_text("{}"), "cannot be read: version: Field required")
FOREIGN = [
    *UNREADABLE,
    EMPTY_OBJECT,
    ("an unknown status", edited(status="paused"), "cannot be read: status: Input should be 'done', 'failed' or 'skipped'; move "),
    ("a job of another type", edited(job="x"), "cannot be read: job: "),
    ("another job", lambda path: path.write_text((NEW / BOTH_SIDES / path.name).read_text()),
     f"cannot be read: job.id: it is the result of {BOTH_SIDES}, not of {JOB}; move "),
]


class Place(Folder):
    def setUp(self):
        super().setUp()
        self.out = self.folder / "out"
        self.begin_anew()

    def begin_anew(self):
        shutil.rmtree(self.out, ignore_errors=True)
        shutil.copytree(NEW, self.out)

    def content(self, folder=None):
        """Returns what the folder holds: the text of each file, and where each link leads."""
        paths = sorted((folder or self.out).rglob("*"))
        return {path: path.readlink() if path.is_symlink() else path.is_file() and path.read_bytes() for path in paths}

    def assert_refused(self, use, beginning):
        with self.assertRaises(LabError) as caught:
            use()
        self.assertNotIsInstance(caught.exception, Torn)
        self.assertEqual(caught.exception.code, EXIT_SETUP)
        self.assertEqual(str(caught.exception)[: len(beginning)], beginning)
        self.assertRegex(str(caught.exception), r"^[^\n;]+; [^\n;]+$")

    def change(self, name, change):
        path = self.out / name
        content = json.loads(path.read_text())
        change(content)
        path.write_text(json.dumps(content))

    def refusal(self, read, *arguments):
        with self.assertRaises(LabError) as caught:
            read(*arguments)
        self.assertEqual(str(caught.exception).count("\n"), 0)
        return str(caught.exception)
