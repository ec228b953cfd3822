# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that every public header compiles alone, in all usual dialects with strict warnings, and that a C++ program runs.

Not covered: compilers older than the installed ones.

Run as: python3 test_package_headers.py LIBDLEX
"""

from pathlib import Path

from package_testing import STRICT, Case, compilers, installed, main, programs_of_readme, run

POSIX = "-D_POSIX_C_SOURCE=200809L"
C_DIALECTS = (("-std=c11", POSIX), ("-std=gnu11",), ("-std=c17", POSIX), ("-std=gnu17",))
CXX_DIALECTS = (("-std=c++17",), ("-std=gnu++17",), ("-std=gnu++20",))
PROGRAM = Path(__file__).resolve().parent / "constraints.cc"


def public_headers(pattern="**/*.h"):
    return sorted(path.relative_to(installed().include) for path in installed().include.glob(pattern))


def compile_alone(compiler, dialect, header, source, *options, **expected):
    # The second #include tests the include guard.
    source.write_text(f"#include <{header}>\n#include <{header}>\nint main(void) {{ return 0; }}\n", encoding="utf-8")
    return run(compiler, *dialect, *STRICT, "-Wpedantic", "-fsyntax-only", *options, f"-I{installed().include}", source,
               **expected)


class Alone(Case):
    def test_every_header_compiles_alone_in_c(self):
        for compiler in compilers("gcc", "clang"):
            for dialect in C_DIALECTS:
                for header in public_headers():
                    with self.subTest(compiler=compiler, dialect=dialect[0], header=str(header)):
                        compile_alone(compiler, dialect, header, self.dir / "alone.c")

    def test_every_header_compiles_alone_in_cxx(self):
        for compiler in compilers("g++", "clang++"):
            for dialect in CXX_DIALECTS:
                for header in public_headers("dlex/*.h"):
                    with self.subTest(compiler=compiler, dialect=dialect[0], header=str(header)):
                        compile_alone(compiler, dialect, header, self.dir / "alone.cc")

    def test_unsupported_compiler_gets_an_error_that_says_what_is_needed(self):
        for compiler in compilers("gcc", "clang"):
            for header in public_headers("dlex/*.h"):
                with self.subTest(compiler=compiler, header=str(header)):
                    said = compile_alone(compiler, ("-std=gnu11",), header, self.dir / "alone.c", "-U__GNUC__",
                                         expect=1)
                    self.assertIn("compile with gcc or clang", said)

    def test_strict_c_without_posix_gets_an_error_that_says_what_is_needed(self):
        # A macro that is defined after the first system header has no effect.
        for before in ("", "#include <stdio.h>\n", "#include <stdio.h>\n#define _GNU_SOURCE\n",
                       f"#include <stdio.h>\n#define {POSIX[2:].replace('=', ' ')}\n"):
            source = self.write("late.c", f"{before}#include <dlex/dlex.h>\nint main(void) {{ return 0; }}\n")
            for compiler in compilers("gcc", "clang"):
                with self.subTest(compiler=compiler, before=before):
                    self.check_only_error(compiler, source, "-std=c11")

    def test_program_in_too_small_a_dialect_gets_one_error(self):
        source = self.write("first.c", programs_of_readme()[0])
        dialects = (("-ansi",), ("-std=c89", POSIX), ("-std=c99",), ("-std=c11",), ("-std=c17",), ("-std=c2x",),
                    ("-std=c11", "-D_POSIX_C_SOURCE=1"))
        for compiler in compilers("gcc", "clang"):
            for dialect in dialects:
                with self.subTest(compiler=compiler, dialect=dialect):
                    self.check_only_error(compiler, source, *dialect)

    def check_only_error(self, compiler, source, *dialect):
        said = run(compiler, *dialect, "-fsyntax-only", f"-I{installed().include}", source, expect=1)
        errors = [line for line in said.splitlines() if "error:" in line]
        self.assertEqual(len(errors), 1, said)
        self.assertIn(POSIX, errors[0])


class Macros(Case):
    """Tests that use every construct, because a header that compiles alone does not expand its macros."""

    def test_program_that_uses_every_construct_compiles_as_strict_c(self):
        source = self.write("constructs.c", PROGRAM.read_text(encoding="utf-8"))
        for compiler in compilers("gcc", "clang"):
            for dialect in C_DIALECTS:
                with self.subTest(compiler=compiler, dialect=dialect[0]):
                    program = installed().compile(compiler, source, self.dir / "constructs", *dialect, "-O2", *STRICT,
                                                  "-Wpedantic", "-Wshadow", "-Wstrict-prototypes")
                    installed().run(program)

    def test_program_that_uses_every_construct_compiles_in_benchmark_mode(self):
        source = self.write("measured.c", PROGRAM.read_text(encoding="utf-8"))
        for compiler, path in (("gcc", source), ("clang", source), ("g++", PROGRAM), ("clang++", PROGRAM)):
            if compiler in compilers("gcc", "clang", "g++", "clang++"):
                for dialect in CXX_DIALECTS if compiler.endswith("++") else C_DIALECTS:
                    with self.subTest(compiler=compiler, dialect=dialect[0]):
                        run(compiler, *dialect, *STRICT, "-Wpedantic", "-DDLEX_BENCHMARK", "-fsyntax-only",
                            f"-I{installed().include}", path)

    def test_program_that_uses_every_construct_runs_in_cxx(self):
        for compiler in compilers("g++", "clang++"):
            for dialect in CXX_DIALECTS:
                with self.subTest(compiler=compiler, dialect=dialect[0]):
                    program = installed().compile(compiler, PROGRAM, self.dir / "constraints", *dialect, "-O2", *STRICT,
                                                  "-Wpedantic", "-Wshadow")
                    installed().run(program)


if __name__ == "__main__":
    main()
