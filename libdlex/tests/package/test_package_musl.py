# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that the library builds with Debian's musl-gcc, without the guard, and that programs run with it.

Not covered: the other tests of the library with musl, because Debian has no libcheck for it.

Run as: python3 test_package_musl.py LIBDLEX
"""

import functools
from pathlib import Path

from package_testing import STRICT, Case, built, main, need, programs_of_readme

PROGRAM = Path(__file__).resolve().parent / "waits.c"


@functools.cache
def with_musl():
    return built("musl", cc=need("musl-gcc"))


class Musl(Case):
    def run_program(self, source, static):
        program = with_musl().compile("musl-gcc", source, self.dir / "program", "-std=gnu11", "-O2", *STRICT, static=static)
        return with_musl().run(program)

    def test_programs_of_the_quick_start_run(self):
        for number, text in enumerate(programs_of_readme()):
            source = self.write(f"first{number}.c", text)
            for static in (False, True):
                with self.subTest(number=number, static=static):
                    self.assertIn("12 ms", self.run_program(source, static))

    def test_mutex_wcet_and_trigger_have_their_violations(self):
        self.assertEqual(self.run_program(PROGRAM, static=True), "3 violations\n")

    def test_guard_is_left_out(self):
        self.assertEqual([path.name for path in with_musl().dir.rglob("*guard*")], [])


if __name__ == "__main__":
    main()
