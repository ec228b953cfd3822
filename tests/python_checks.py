# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the Python code with ruff, and the types of the laboratory with mypy. pyproject.toml has their settings.

    python_checks.py lint|types CACHE_FOLDER

Not covered: the types of media/ and of the tests, which have no annotations.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/bench"))

from outside import with_packages

CHECKED = ("bench", "bench/gates/mutants", "bench/gates/races", "media", "media/make", "sched", "tests")
# mypy needs the packages that the laboratory imports, besides itself.
PACKAGES = {"lint": "ruff", "types": "mypy, jinja2, matplotlib, numpy, pydantic, rich"}


def main():
    what, cache = sys.argv[1:]
    with_packages(PACKAGES[what])
    commands = {
        "lint": ["ruff", "check", f"--cache-dir={cache}/ruff", *CHECKED],
        "types": ["mypy", f"--cache-dir={cache}/mypy"],
    }
    sys.exit(subprocess.run([sys.executable, "-m", *commands[what]], cwd=ROOT, check=False).returncode)


if __name__ == "__main__":
    main()
