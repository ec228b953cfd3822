# SPDX-License-Identifier: LGPL-2.1-or-later
"""The packages of the laboratory know each other in one direction.

Not covered: imports of the modules beside the packages among each other.
"""

import ast
import unittest
from pathlib import Path

LABORATORY = Path(__file__).resolve().parents[2] / "bench/dlex_bench"
# A package imports only those before it, and the modules beside the packages. Those import no package.
PACKAGES = ("machine", "agenda", "rig", "job", "batch", "analysis", "report", "latency", "agreement", "demo")
COMMANDS = "__main__"


def imported(path):
    """The first names below dlex_bench that a module imports."""
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


if __name__ == "__main__":
    unittest.main()
