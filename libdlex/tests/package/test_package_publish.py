# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that the anytime idiom keeps its results with dlex_publish at every optimisation level, and loses some without it.

Run as: python3 test_package_publish.py LIBDLEX
"""

from pathlib import Path

from package_testing import STRICT, Case, compilers, installed, main, run

PROGRAM = Path(__file__).resolve().parent / "anytime_store.c"
LEVELS = ("-O0", "-O1", "-O2", "-O3")


class Publish(Case):
    def status(self, compiler, level, *options):
        program = installed().compile(compiler, PROGRAM, self.dir / "anytime", "-std=gnu11", level, *STRICT, *options)
        said = run("sh", "-c", '"$0"; echo "status $?"', program, **installed().environment)
        return int(said.rsplit("status ", 1)[1])

    def test_published_stores_are_kept(self):
        for compiler in compilers("gcc", "clang"):
            for level in LEVELS:
                with self.subTest(compiler=compiler, level=level):
                    self.assertEqual(self.status(compiler, level), 0)

    def test_some_compiler_loses_unpublished_stores(self):
        lost = [(compiler, level) for compiler in compilers("gcc", "clang") for level in LEVELS
                if self.status(compiler, level, "-DPUBLISH()=") != 0]
        self.assertTrue(lost)


if __name__ == "__main__":
    main()
