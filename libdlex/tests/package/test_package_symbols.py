# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that every symbol and every macro of the library has its prefix, so that no name collides with a program's own.

Not covered: names of struct members, and of enumerators without a macro.

Run as: python3 test_package_symbols.py LIBDLEX
"""

import re

from package_testing import Case, compilers, installed, main, need, run

# The compatibility part has the names of the library that it replaces.
SYMBOL = re.compile(r"_?(dlex_|oml_)")
MACRO = re.compile(r"dlex_|DLEX_")
MODES = (("gcc", "c", "gnu11"), ("clang", "c", "gnu11"), ("g++", "c++", "gnu++17"), ("clang++", "c++", "gnu++17"))


def symbols_of(library, *options):
    said = run(need("nm"), *options, "--defined-only", "--format=posix", installed().lib / library)
    return {line.split()[0].split("@")[0] for line in said.splitlines() if line and not line.endswith(":")}


class Symbols(Case):
    def check(self, symbols):
        self.assertIn("dlex_throw_", symbols)
        self.assertEqual({name for name in symbols if not SYMBOL.match(name)}, set())

    def test_exported_symbols_of_the_shared_library_have_the_prefix(self):
        self.check(symbols_of("libdlex.so", "-D"))

    def test_only_symbols_named_in_a_header_are_exported(self):
        headers = "".join(path.read_text(encoding="utf-8") for path in installed().include.rglob("*.h"))
        unknown = {name for name in symbols_of("libdlex.so", "-D") if not re.search(rf"\b{name}\b", headers)}
        self.assertEqual(unknown, set())

    def test_global_symbols_of_the_static_library_have_the_prefix(self):
        self.check(symbols_of("libdlex.a", "-g"))


class Macros(Case):
    def macros(self, mode, headers):
        compiler, language, standard = mode
        source = self.write("included", "".join(f"#include <{header}>\n" for header in headers))
        said = run(compiler, f"-std={standard}", "-x", language, "-dM", "-E", f"-I{installed().include}", source)
        return {line.split()[1].split("(")[0] for line in said.splitlines() if line.startswith("#define")}

    def test_macros_of_the_headers_have_the_prefix(self):
        ours = sorted((installed().include / "dlex").glob("*.h"))
        text = "".join(path.read_text(encoding="utf-8") for path in ours)
        system = sorted(set(re.findall(r"^#\s*include <(?!dlex/)(.*)>", text, re.MULTILINE)))
        present = compilers(*(mode[0] for mode in MODES))
        for mode in MODES:
            if mode[0] in present:
                with self.subTest(compiler=mode[0]):
                    added = self.macros(mode, [f"dlex/{path.name}" for path in ours]) - self.macros(mode, system)
                    self.assertIn("dlex_try", added)
                    self.assertEqual({name for name in added if not MACRO.match(name)}, set())


if __name__ == "__main__":
    main()
