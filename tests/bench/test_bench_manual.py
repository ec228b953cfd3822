# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that the laboratory's manual page and docs/laboratory.md name all commands, options and keys of agendas.

Not covered: whether what they say is true.
"""

import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from outside import with_packages

with_packages("numpy, scipy, pydantic, yaml, rich")

import yaml

from dlex_bench import __main__ as program
from dlex_bench.agenda import jobs, model, reader

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/man/dlex-bench.1"
GUIDE = (ROOT / "docs/laboratory.md").read_text()
# These commands have their own pages.
ELSEWHERE = {"demo", "latency"}


def plain(roff):
    return re.sub(r"\\f[BIRP]", "", roff).replace("\\-", "-")


def commands():
    return {name: make() for name, (make, _run) in program.COMMANDS.items() if name not in ELSEWHERE}


class ManualPage(unittest.TestCase):
    def test_mandoc_reports_no_warning(self):
        if not shutil.which("mandoc"):
            self.skipTest("mandoc is not installed")
        told = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", PAGE], capture_output=True, text=True)
        self.assertEqual(told.stdout + told.stderr, "")

    def test_every_command_and_option_is_named(self):
        text = plain(PAGE.read_text())
        for name, parser in commands().items():
            self.assertIn(f"\n.B {name}\n", text)
            for action in parser._actions:
                for option in action.option_strings:
                    if option not in ("-h", "--help"):
                        self.assertRegex(text, rf"{option}\b", f"of {name}")

    def test_every_named_option_exists(self):
        actions = [action for parser in commands().values() for action in parser._actions]
        known = {option for action in actions for option in action.option_strings}
        named = set(re.findall(r"(?<![\w-])--[a-z-]+", plain(PAGE.read_text())))
        self.assertEqual(named - known, set())


class Guide(unittest.TestCase):
    def test_agenda_in_the_guide_can_be_read(self):
        text = re.search(r"```yaml\n(.*?)```", GUIDE, re.DOTALL)[1]
        found = jobs.expand(reader.parse_agenda(text, "laboratory.md"))
        self.assertEqual(len(found), 20)
        self.assertEqual(set(yaml.safe_load(text)), {"config", "sections", "workloads"})

    def test_every_key_of_an_agenda_is_named(self):
        keys, kinds = set(), [model.Entry]
        while kinds:
            kind = kinds.pop()
            kinds += kind.__subclasses__()
            keys |= set(kind.model_fields)
        self.assertEqual({key for key in keys if not re.search(rf"\b{key}\b", GUIDE)}, set())

    def test_every_link_has_a_target(self):
        for target in re.findall(r"\]\(([^)#]+)", GUIDE):
            self.assertTrue(os.path.exists(ROOT / "docs" / target), target)


if __name__ == "__main__":
    unittest.main()
