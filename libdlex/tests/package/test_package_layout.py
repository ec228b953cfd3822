# SPDX-License-Identifier: LGPL-2.1-or-later
"""A program whose headers are not those of the library, and differ in the records that both work on, aborts with one
sentence at its first block. Not here: files without a block, which are not checked.

Run as: python3 test_package_layout.py LIBDLEX
"""

import re
import shutil
import signal
from pathlib import Path

from package_testing import STRICT, Case, compilers, installed, main, need, run

PROGRAM = Path(__file__).resolve().parent / "layout.c"
HOST = Path(__file__).resolve().parent / "plugin_host.c"
SHARED = Path(__file__).resolve().parent / "shared_function.cc"
RECORD = re.compile(r"^struct (dlex_\w+_) \{\n(.*?)^\};", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
OWN, OTHER = "0.1.0", "0.1.77"


def block_h():
    return (installed().include / "dlex/block.h").read_text(encoding="utf-8")


def with_one_more_member():
    """Yields a description and a block.h in which a record has one more member, for each line of a record. Without
    dlex_site_: the macros initialise it, and would not compile."""
    text = block_h()
    for record in RECORD.finditer(text):
        if record[1] == "dlex_site_":
            continue
        position = record.start(2)
        for line in record[2].splitlines(keepends=True):
            yield f"{record[1]}: {line.strip()}", f"{text[:position]}    char added_[16];\n{text[position:]}"
            position += len(line)


class Layout(Case):
    def other_headers(self, text):
        """A copy of the installed headers with this block.h, which has another version."""
        include = self.dir / "include"
        shutil.rmtree(include, ignore_errors=True)
        shutil.copytree(installed().include, include)
        (include / "dlex/block.h").write_text(text, encoding="utf-8")
        version = include / "dlex/version.h"
        version.write_text(version.read_text(encoding="utf-8").replace("VERSION_PATCH 0", "VERSION_PATCH 77"),
                           encoding="utf-8")
        return f"-I{include}"

    def build(self, compiler, include, *options, static=False):
        source = self.write("layout.cc", PROGRAM.read_text(encoding="utf-8")) if compiler.endswith("++") else PROGRAM
        return installed().compile(compiler, source, self.dir / "program", include, *options, *STRICT, static=static)

    def check(self, *command, before=""):
        said = installed().run(*command, expect=-signal.SIGABRT)
        self.assertTrue(said.startswith(before + "libdlex: "), said)
        self.assertEqual(said.removeprefix(before).count("\n"), 1, said)
        line = 1 + PROGRAM.read_text(encoding="utf-8").split("/* the place */", maxsplit=1)[0].count("\n")
        for words in (f":{line}: ", f"headers of libdlex {OTHER}", f"is libdlex {OWN};", "aborts"):
            self.assertIn(words, said)

    def changed(self):
        return self.other_headers(block_h().replace("    int phase;\n", "    int phase;\n    int64_t added_;\n"))

    def test_the_list_has_every_member_of_every_record(self):
        text = block_h()
        members = [(record[1], name) for record in RECORD.finditer(text) if record[1] != "dlex_samples_"
                   for line in COMMENT.sub("", record[2]).splitlines()
                   for name in re.findall(r"(\w+)(?:\[\w+\])?[,;]", line)]
        self.assertEqual(members, re.findall(r"DLEX_MEMBER_\((\w+), (\w+)\)$", text, re.MULTILINE))
        for record in RECORD.finditer(text):
            self.assertIn(f"DLEX_ADD_(sizeof(struct {record[1]}))", text)

    def test_one_more_member_anywhere_is_seen(self):
        compiler = need("cc")
        tried = 0
        for what, text in with_one_more_member():
            with self.subTest(member=what):
                self.check(self.build(compiler, self.other_headers(text), "-std=gnu11"))
                tried += 1
        self.assertGreater(tried, 45)

    def test_another_order_is_seen(self):
        text = block_h().replace("    int handled;\n", "").replace("    int phase;\n", "    int handled;\n    int phase;\n")
        self.check(self.build(need("cc"), self.other_headers(text), "-std=gnu11"))

    def test_another_meaning_is_seen(self):
        text = block_h().replace("#define DLEX_MEANING_ 1", "#define DLEX_MEANING_ 2")
        self.check(self.build(need("cc"), self.other_headers(text), "-std=gnu11"))

    def test_another_version_with_the_same_records_runs(self):
        program = self.build(need("cc"), self.other_headers(block_h()), "-std=gnu11")
        self.assertEqual(installed().run(program), "1\n")

    def test_with_each_compiler_and_optimisation_measured_or_not(self):
        include = self.changed()
        for compiler in compilers("gcc", "clang", "g++", "clang++"):
            standard = "-std=gnu++17" if compiler.endswith("++") else "-std=gnu11"
            for options in (["-O0"], ["-O2"], ["-O2", "-DDLEX_BENCHMARK"]):
                with self.subTest(compiler=compiler, options=options):
                    self.check(self.build(compiler, include, standard, *options))

    def test_with_the_static_library(self):
        self.check(self.build(need("cc"), self.changed(), "-std=gnu11", static=True))

    def test_of_a_plugin_in_a_program_that_fits(self):
        compiler = need("cc")
        host = installed().compile(compiler, HOST, self.dir / "host", "-std=gnu11", *STRICT, "-ldl")
        plugin = self.dir / "plugin.so"
        make = [compiler, "-std=gnu11", "-DPLUGIN", "-shared", "-fPIC", PROGRAM, "-o", plugin]
        run(*make, *installed().flags("--cflags", "--libs"))
        self.assertEqual(installed().run(host, plugin), "host 1\n1\n")
        run(*make, self.changed(), *installed().flags("--cflags", "--libs"))
        self.check(host, plugin, before="host 1\n")

    def test_of_a_plugin_whose_function_another_plugin_has_too(self):
        host = installed().compile(need("cc"), HOST, self.dir / "host", "-std=gnu11", *STRICT, "-ldl")
        flags = installed().flags("--cflags", "--libs")
        for compiler in compilers("g++", "clang++"):
            for optimisation in ("-O0", "-O2"):
                with self.subTest(compiler=compiler, optimisation=optimisation):
                    one, other = self.dir / "one.so", self.dir / "other.so"
                    make = [compiler, "-std=gnu++17", optimisation, "-shared", "-fPIC", SHARED, "-o"]
                    run(*make, one, *flags)
                    run(*make, other, self.changed(), *flags)
                    said = installed().run(host, one, other, expect=-signal.SIGABRT)
                    self.assertTrue(said.startswith("host 1\n1\nlibdlex: "), said)
                    self.assertIn(f"headers of libdlex {OTHER}", said)
                    self.assertEqual(installed().run(host, one, one), "host 1\n1\n1\n")


if __name__ == "__main__":
    main()
