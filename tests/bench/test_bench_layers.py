# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that the packages of the laboratory import each other in one direction, and that a public name has one meaning.

Not covered: imports between the modules that are in no package; names of constants, methods and private helpers.
"""

import ast
import unittest
from collections import defaultdict
from pathlib import Path

LABORATORY = Path(__file__).resolve().parents[2] / "bench/dlex_bench"
# A package imports only packages that come earlier here, and modules that are in no package. These modules import no package.
PACKAGES = (
    *("machine", "agenda", "rig", "job", "batch", "analysis", "report"),
    *("latency", "laxity", "detect", "heartbeat", "agreement", "seeking", "simulate", "throughput", "graphs",
      "windows", "demo"),
)
COMMANDS = "__main__"


def imported(path):
    """Yields, for each import of a module, the name directly below dlex_bench."""
    folders = path.relative_to(LABORATORY).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = list(folders[: len(folders) - node.level + 1])
            if node.module:
                yield (base + node.module.split("."))[0]
            else:
                yield from ([*base, alias.name][0] for alias in node.names)


class Layers(unittest.TestCase):
    def test_every_folder_is_a_known_package(self):
        found = {path.parent.name for path in LABORATORY.glob("*/__init__.py")}
        self.assertEqual(found, set(PACKAGES))

    def test_imports_go_one_way(self):
        seen = 0
        for path in LABORATORY.rglob("*.py"):
            parts = path.relative_to(LABORATORY).parts
            if len(parts) == 1 and path.stem == COMMANDS:
                continue
            allowed = set(PACKAGES[: PACKAGES.index(parts[0])]) | {parts[0]} if len(parts) > 1 else set()
            for name in imported(path):
                seen += 1
                if name in PACKAGES:
                    self.assertIn(name, allowed, f"{'/'.join(parts)} imports {name}")
        self.assertGreater(seen, 100)


class Names(unittest.TestCase):
    def test_public_class_or_function_is_defined_once(self):
        found = defaultdict(list)
        for path in LABORATORY.rglob("*.py"):
            for node in ast.parse(path.read_text()).body:
                if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
                    found[node.name].append(str(path.relative_to(LABORATORY)))
        del found["main"]  # of the programs
        self.assertEqual({name: paths for name, paths in found.items() if len(paths) > 1}, {})
        self.assertGreater(len(found), 300)


if __name__ == "__main__":
    unittest.main()
