# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the libraries dlex-pman and dlex-lbap as they are installed: headers and pkg-config; of dlex-pman also symbols and pages.
Also what an installed dlex-sched says about its commands that are not installed.

    test_pman_package.py BUILD_FOLDER

Not covered: what the library does.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BUILD = Path(sys.argv[1])
# With the package that has each.
HEADERS = {"dlex/pman.h": "dlex-pman", "dlex/pman_types.h": "dlex-pman", "lbap.h": "dlex-lbap", "lbap_process.h": "dlex-lbap"}
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def run(*command, **changes):
    done = subprocess.run([str(word) for word in command], env=os.environ | changes, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise AssertionError(f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def need(tool):
    if not shutil.which(tool):
        raise unittest.SkipTest(f"{tool} is not installed")
    return tool


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory(prefix="dlex-pman-")
        cls.addClassCleanup(holder.cleanup)
        cls.folder = Path(holder.name)
        run(need("meson"), "install", "-C", BUILD, "--no-rebuild", "--quiet", f"--destdir={cls.folder}")
        cls.config = next(cls.folder.rglob("dlex-pman.pc"))
        cls.prefix = cls.config.parents[2] if cls.config.parents[1].name == "lib" else cls.config.parents[3]
        cls.manual = cls.prefix / "share/man"

    def flags(self, *wanted, package="dlex-pman"):
        prefix = f"--define-variable=prefix={self.prefix}"
        return run(need("pkg-config"), *wanted, prefix, package, PKG_CONFIG_PATH=str(self.config.parent)).split()

    def functions(self):
        text = COMMENT.sub("", (self.prefix / "include/dlex/pman.h").read_text())
        return set(re.findall(r"\b(pman_\w+)\(", text))

    def pages(self):
        return [*self.manual.glob("man3/pman_*.3"), self.manual / "man7/dlex_pman.7", *self.manual.glob("man1/dlex-sched-*.1")]

    def program_of_the_manual(self):
        page = (self.manual / "man7/dlex_pman.7").read_text()
        source = page.split(".EX\n")[1].split(".EE")[0].replace("\\&", "").replace("\\e", "\\")
        path = self.folder / "example.c"
        path.write_text(source)
        return path

    def test_program_of_the_manual_works(self):
        program = self.folder / "example"
        flags = self.flags("--cflags", "--libs")
        run(need("cc"), "-Wall", "-Wextra", "-Werror", self.program_of_the_manual(), "-o", program, *flags)
        libraries = self.flags("--variable=libdir")[0].replace("${prefix}", str(self.prefix))
        done = subprocess.run([program], env=os.environ | {"LD_LIBRARY_PATH": libraries}, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (1, "there is no table robot with a process control\n"))

    def test_headers_are_c_and_cpp(self):
        for compiler, language in (("cc", "c"), ("c++", "c++")):
            for header, package in HEADERS.items():
                with self.subTest(compiler=compiler, header=header):
                    path = self.folder / f"alone.{language.replace('+', 'p')}"
                    path.write_text(f"#include <{header}>\n#include <{header}>\n")
                    run(need(compiler), "-x", language, "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", path,
                        *self.flags("--cflags", package=package))

    def test_cpp_programs_link_with_lbap(self):
        source = self.folder / "paced.cpp"
        source.write_text("#include <lbap.h>\nint main() { lbap a; lbap_workload none = {}; return lbap_init(&a, &none) == 0; }\n")
        run(need("c++"), source, "-o", self.folder / "paced", *self.flags("--cflags", "--libs", package="dlex-lbap"))

    def test_library_exports_its_functions_and_no_others(self):
        library = next(self.folder.rglob("libdlex-pman.so"))
        names = {line.split()[-1] for line in run(need("nm"), "-D", "--defined-only", library).splitlines()}
        names = {name for name in names if not name.startswith(("__asan", "__ubsan", "__odr_asan", "_"))}
        self.assertEqual(names, self.functions())
        self.assertEqual(len(names), 18)

    def test_dlex_sched_names_what_is_installed_instead_of_commands_of_the_sources(self):
        programs = self.prefix / "bin"
        for command in ("pman", "dwcs"):
            done = subprocess.run([programs / "dlex-sched", command, "graph.yaml"], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(f"dlex-sched-{command}(1)", done.stderr)
            self.assertTrue(os.access(programs / f"dlex-sched-{command}", os.X_OK))
            self.assertTrue((self.manual / f"man1/dlex-sched-{command}.1").exists())

    def test_each_function_has_a_page(self):
        self.assertEqual(self.functions(), {path.stem for path in (self.manual / "man3").glob("pman_*.3")})
        for path in (self.manual / "man3").glob("pman_*.3"):
            text = path.read_text()
            if text.splitlines()[-1].startswith(".so "):
                page = self.manual / text.splitlines()[-1].split()[1]
                self.assertIn(path.stem, page.read_text().split(".SH SYNOPSIS")[0])

    def test_pages_are_well_formed(self):
        need("mandoc")
        self.assertEqual(len(self.pages()), 18 + 1 + 2)
        for page in self.pages():
            if not page.read_text().splitlines()[-1].startswith(".so "):
                self.assertEqual(run("mandoc", "-T", "lint", "-W", "warning", page), "")

    def test_pages_name_existing_pages(self):
        for page in self.pages():
            for name, number in re.findall(r"\b((?:dlex|pman)[\w-]*) ?\((\d)\)", page.read_text().replace("\\-", "-")):
                self.assertTrue((self.manual / f"man{number}/{name}.{number}").exists(), f"{name}({number}) in {page.name}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
