# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that the library builds without a warning with each compiler, each C standard and NDEBUG, and runs the quick start.

Not covered: the library's own tests in all these builds.

Run as: python3 test_package_strict_builds.py LIBDLEX
"""

from package_testing import STRICT, Case, built, compilers, main, programs_of_readme

BUILDS = {
    "gnu11": ("-Dc_std=gnu11", "-Dbuildtype=debugoptimized"),
    "gnu17": ("-Dc_std=gnu17", "-Dbuildtype=debug"),
    "ndebug": ("-Dc_std=gnu11", "-Dbuildtype=release", "-Db_ndebug=true"),
}


class Builds(Case):
    def check(self, compiler):
        compilers(compiler)
        source = self.write("first.c", programs_of_readme()[0])
        for name, options in BUILDS.items():
            with self.subTest(build=name):
                prefix = built(f"{compiler}-{name}", "--werror", "-Dwarning_level=2", *options, cc=compiler)
                program = prefix.compile(compiler, source, self.dir / "first", "-std=gnu11", *STRICT)
                prefix.run(program)

    def test_library_builds_with_gcc(self):
        self.check("gcc")

    def test_library_builds_with_clang(self):
        self.check("clang")


if __name__ == "__main__":
    main()
