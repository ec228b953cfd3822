# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that each public name has a manual page, and that the pages are well-formed and refer to existing pages.

Every whole program in a page must compile and succeed. Not covered: whether the pages are true.

Run as: python3 test_package_man_pages.py LIBDLEX
"""

import re

from package_testing import STRICT, Case, compilers, installed, main, need, run

ALIAS = re.compile(r"^\.so man3/(\w+)\.3$", re.MULTILINE)
COMMENT_OR_TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"', re.DOTALL)


def pages():
    """Returns the text of all pages by file name, including aliases."""
    return {path.name: path.read_text(encoding="utf-8") for path in installed().man.glob("man*/*")}


def whole_pages():
    return {name: text for name, text in pages().items() if not ALIAS.search(text)}


def section(text, *titles):
    found = re.search(rf'^\.SH "?({"|".join(titles)})"?\n(.*?)(?=^\.SH |\Z)', text, re.MULTILINE | re.DOTALL)
    return found.group(2) if found else ""


def plain(roff):
    return roff.replace("\\-", "-").replace("\\&", "").replace("\\(aq", "'").replace("\\e", "\\")


def programs(text):
    blocks = re.findall(r"^\.EX\n(.*?)^\.EE$", text, re.MULTILINE | re.DOTALL)
    return [plain(block) for block in blocks if "#include" in block and "int main(" in block]


def public_names():
    headers = (installed().include / "dlex").glob("*.h")
    code = "".join(COMMENT_OR_TEXT.sub("", path.read_text(encoding="utf-8")) for path in headers)
    return {name for name in re.findall(r"\bdlex_\w+", code) if not name.endswith("_")}


class Names(Case):
    def test_each_public_name_has_a_page(self):
        names = public_names()
        self.assertIn("dlex_try_within_wcet", names)
        self.assertEqual({name for name in names if f"{name}.3" not in pages()}, set())

    def test_each_page_names_its_aliases(self):
        for name, text in pages().items():
            for page in ALIAS.findall(text):
                names = re.findall(r"[\w-]+", plain(section(pages()[f"{page}.3"], "NAME").split("\\-")[0]))
                self.assertIn(name.rsplit(".", 1)[0], names, f"in NAME of {page}(3)")

    def test_references_between_our_pages_have_a_target(self):
        for name, text in whole_pages().items():
            for page, number in re.findall(r"\b((?:dlex|oml)[\w-]*)\s*\((\d)\)", re.sub(r'[" ]*\\-', "-", text)):
                self.assertIn(f"{page}.{number}", pages().keys(), f"in {name}")


class Form(Case):
    def test_each_page_has_the_usual_sections(self):
        for name, text in whole_pages().items():
            wanted = ("NAME", "DESCRIPTION", "SEE ALSO")
            if name.endswith(".3") and name.startswith("dlex_"):
                wanted += ("SYNOPSIS", "ATTRIBUTES")
            for title in wanted:
                self.assertTrue(section(text, title), f"{name} has no section {title}")

    def test_mandoc_reports_no_warning(self):
        mandoc = need("mandoc")
        for path in sorted(installed().man.glob("man*/*")):
            if path.name in whole_pages():
                # Messages of level STYLE and below are opinions, or depend on the machine (dates, system pages).
                with self.subTest(page=path.name):
                    self.assertEqual(run(mandoc, "-T", "lint", "-W", "warning", path), "")

    def test_groff_reports_no_warning(self):
        groff = need("groff")
        if run(groff, "-man", "-z", "/dev/null", expect=None):
            self.skipTest("this groff has no man macros")
        for path in sorted(installed().man.glob("man*/*")):
            if path.name in whole_pages():
                with self.subTest(page=path.name):
                    self.assertEqual(run(groff, "-man", "-Tutf8", "-ww", "-z", path), "")

    def test_man_finds_a_page_by_its_alias(self):
        shown = run(need("man"), "-M", installed().man, "3", "dlex_checkpoint", MANPAGER="cat", MANWIDTH="100")
        self.assertIn("DLEX_COOPERATIVE(3)", shown)


class Examples(Case):
    def test_each_page_on_a_construct_has_a_whole_program(self):
        for name, text in whole_pages().items():
            if name.startswith("dlex_") and section(text, "EXAMPLES"):
                self.assertTrue(programs(section(text, "EXAMPLES")), f"{name} has none")

    def test_example_programs_compile_and_succeed(self):
        tried = 0
        for name, text in sorted(whole_pages().items()):
            for number, program in enumerate(programs(text)):
                source = self.write(f"{name}.{number}.c", program)
                options = ["-std=gnu11", "-O2", *STRICT, "-Wpedantic"]
                if "pthread.h" in program:
                    options.append("-pthread")
                for compiler in compilers("gcc", "clang"):
                    with self.subTest(page=name, program=number, compiler=compiler):
                        installed().run(installed().compile(compiler, source, self.dir / "program", *options))
                        tried += 1
        self.assertGreater(tried, 10)


if __name__ == "__main__":
    main()
