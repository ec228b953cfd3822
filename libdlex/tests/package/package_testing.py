# SPDX-License-Identifier: LGPL-2.1-or-later
"""Holds what the tests of the library as a package share.

Meson installs the folder libdlex into a prefix, and programs are compiled against that. The first test that needs it installs
it in the folder DLEX_TEST_PREFIXES, for all tests of these sources. Without that folder, and for other builds, the prefix is in
a directory that is removed when the process ends. Nothing here needs a network.
"""

import atexit
import fcntl
import functools
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
EXIT_SKIPPED = 77
# The limit is long even for a loaded machine: it only ends a command that hangs.
COMMAND_LIMIT_S = 300
STRICT = ("-Wall", "-Wextra", "-Werror")
INSTALLED_FROM = ("meson.build", "meson_options.txt", "include", "src", "guard", "man")


@functools.cache
def workshop():
    directory = Path(tempfile.mkdtemp(prefix="dlex-package-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return directory


def need(tool):
    """Returns the path of a tool. If the tool is missing, skips the test."""
    path = shutil.which(tool)
    if not path:
        raise unittest.SkipTest(f"{tool} is not installed")
    return path


def compilers(*names):
    """Returns the named compilers that are installed. If there are none, skips the test."""
    there = [name for name in names if shutil.which(name)]
    if not there:
        raise unittest.SkipTest(f"none of these compilers is installed: {', '.join(names)}")
    return there


def run(*command, expect=0, cwd=None, **changes):
    """Returns the command's output on both streams. Fails if the exit code is not `expect` (None: any code)."""
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=os.environ | changes, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=COMMAND_LIMIT_S, check=False)
    if expect is not None and done.returncode != expect:
        shown = " ".join(str(word) for word in command)
        raise AssertionError(f"{shown}\nended with {done.returncode}, not {expect}, and said:\n{done.stdout[-4000:]}")
    return done.stdout


def install(prefix, build, *options, cc=None):
    """Builds libdlex in the directory `build` and installs it into the prefix."""
    compiler = {"CC": cc} if cc else {}
    meson = need("meson")
    need("ninja")
    run(meson, "setup", build, SOURCE, f"--prefix={prefix}", "-Dlibdir=lib", "-Dtests=disabled", *options, **compiler)
    run(meson, "install", "-C", build)


class Prefix:
    """An installed libdlex."""

    def __init__(self, folder):
        self.dir = Path(folder)
        self.include = self.dir / "include"
        self.lib = self.dir / "lib"
        self.man = self.dir / "share" / "man"
        self.environment = {"PKG_CONFIG_PATH": str(self.lib / "pkgconfig"), "LD_LIBRARY_PATH": str(self.lib)}

    def flags(self, *wanted, package="dlex"):
        return run(need("pkg-config"), *wanted, package, **self.environment).split()

    def compile(self, compiler, source, program, *options, static=False, package="dlex"):
        """Compiles a program as the manual says. `static`: without any shared library."""
        wanted = ("--cflags", "--libs", "--static") if static else ("--cflags", "--libs")
        run(compiler, *options, *(("-static",) if static else ()), source, "-o", program,
            *self.flags(*wanted, package=package))
        return program

    def run(self, *command, **expected):
        return run(*command, **expected, **self.environment)


def built(name, *options, cc=None):
    """Returns an own installation, of a build with these options."""
    install(workshop() / name, workshop() / f"build-{name}", *options, cc=cc)
    return Prefix(workshop() / name)


def checksum_of_sources():
    """Returns a checksum of everything that is installed or decides how it is built."""
    found = hashlib.sha256(str(SOURCE).encode())
    for part in INSTALLED_FROM:
        for path in sorted((SOURCE / part).rglob("*")) or [SOURCE / part]:
            if path.is_file():
                found.update(str(path).encode() + path.read_bytes())
    return found.hexdigest()[:16]


def shared(folder):
    """Returns the installation in this folder. Makes it if it is not there, while others that need it wait."""
    place = folder / checksum_of_sources()
    place.mkdir(parents=True, exist_ok=True)
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "complete").exists():
            for part in ("prefix", "build"):
                shutil.rmtree(place / part, ignore_errors=True)
            install(place / "prefix", place / "build")
            (place / "complete").touch()
    return Prefix(place / "prefix")


@functools.cache
def installed():
    """Returns the installation that tests only look at."""
    folder = os.environ.get("DLEX_TEST_PREFIXES")
    return shared(Path(folder)) if folder else built("prefix")


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = Path(tempfile.mkdtemp(dir=workshop()))

    def write(self, name, text):
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


def programs_of_readme():
    """Returns the C programs in the quick start."""
    text = (SOURCE / "README.md").read_text(encoding="utf-8")
    blocks = [part.split("\n```", 1)[0] for part in text.split("```c\n")[1:]]
    return [block + "\n" for block in blocks if "int main(" in block]


def main():
    """Runs the tests like unittest.main. If all were skipped, Meson gets this status, and the reason is the last line."""
    result = unittest.main(module="__main__", argv=sys.argv[:1], verbosity=2, exit=False).result
    if not result.wasSuccessful():
        sys.exit(1)
    reasons = [reason for _, reason in result.skipped]
    if reasons and len(reasons) == result.testsRun:
        print(reasons[0])
        sys.exit(EXIT_SKIPPED)
