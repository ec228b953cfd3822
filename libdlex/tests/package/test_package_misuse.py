# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that misuse of the constructs does not compile if the language allows this check, and else aborts with file and line.

Run as: python3 test_package_misuse.py LIBDLEX
"""

import signal
from pathlib import Path

from package_testing import STRICT, Case, compilers, installed, main, run

UNWINDING = Path(__file__).resolve().parent / "unwinding.cc"
C = {"gcc": "-std=gnu11", "clang": "-std=gnu11"}
CXX = {"g++": "-std=gnu++17", "clang++": "-std=gnu++17"}


class Compiling(Case):
    """Tests that compile a body inside a function with the parameters int ms, int64_t ns, double s."""

    def check(self, body, *words, languages=C | CXX, options=(), header="dlex/dlex.h"):
        text = f"#include <{header}>\nvoid f(int ms, int64_t ns, double s);\n" \
               f"void f(int ms, int64_t ns, double s)\n{{\n(void)ms; (void)ns; (void)s;\n{body}\n}}\n"
        for compiler in compilers(*languages):
            source = self.write("body.cc" if compiler.endswith("++") else "body.c", text)
            with self.subTest(compiler=compiler, body=body):
                said = run(compiler, languages[compiler], "-fsyntax-only", *options, f"-I{installed().include}", source,
                           expect=1 if words else 0)
                for word in words:
                    self.assertIn(word, said)

    def test_handler_without_dlex_handle_is_an_error(self):
        for body in ("dlex_try { } dlex_when(dlex_exception) { } dlex_end",
                     "dlex_try_within_rel(ns) { } dlex_when_any { } dlex_end",
                     # The dlex_handle of the outer construct does not count.
                     "dlex_try { } dlex_handle dlex_when_any { dlex_try { } dlex_when_any { } dlex_end } dlex_end"):
            self.check(body, "dlex_when_must_stand_after_dlex_handle")

    def test_finally_after_the_handlers_is_an_error(self):
        for body in ("dlex_try { } dlex_handle dlex_when_any { } dlex_finally { } dlex_end",
                     "dlex_try { } dlex_handle dlex_finally { } dlex_end"):
            self.check(body, "before_dlex_handle", languages=C)
            self.check(body, "dlex_finally must stand before dlex_handle", languages=CXX)

    def test_second_finally_is_an_error(self):
        self.check("dlex_try { } dlex_finally { } dlex_finally { } dlex_end", "redefinition", "may_stand_once")

    def test_dlex_return_with_clang_in_cxx_is_an_error(self):
        for body in ("dlex_try { dlex_return_void(); } dlex_end", "dlex_try { dlex_return(ms); } dlex_end"):
            self.check(body, "does not work with clang in C++", languages={"clang++": "-std=gnu++17"})

    def test_non_integer_time_in_the_compatible_header_is_an_error(self):
        self.check("oml_try_within_rel(s) { } oml_end", "error", header="oml_exceptions.h")
        for time in ("12000", "ns", "(short)12", "(unsigned char)12", "((struct timespec){ 0, 1 })"):
            self.check(f"oml_try_within_rel({time}) {{ }} oml_end", header="oml_exceptions.h")

    def test_computed_time_of_a_narrow_type_is_an_error(self):
        for body in ("dlex_try_within_rel(ms * 1000 * 1000) { } dlex_end", "dlex_try_within_wcet(ms) { } dlex_end",
                     "dlex_try_within_abs(ms) { } dlex_end", "dlex_try_within_rel_cooperative(ms) { } dlex_end"):
            self.check(body, "DLEX_MS")
            self.check(body, "DLEX_MS", options=["-DDLEX_BENCHMARK", "-O2"])

    def test_overflowed_constant_is_reported(self):
        for body in ("dlex_try_within_rel(3 * 1000 * 1000 * 1000) { } dlex_end",
                     "dlex_try_within_rel(5 * 1000 * 1000 * 1000) { } dlex_end"):
            self.check(body, "overflow", languages={"gcc": "-std=gnu11", "g++": "-std=gnu++17"})
            self.check(body, "overflow", languages={"clang": "-std=gnu11", "clang++": "-std=gnu++17"},
                       options=["-Werror"])

    def test_correct_code_compiles_without_a_warning(self):
        c_only = ["-Wc++-compat", "-Wdeclaration-after-statement", "-Wbad-function-cast"]
        for time in ("12 * 1000 * 1000", "0", "-1", "ns", "s", "0.5e9", "DLEX_MS(ms)", "DLEX_US(250)", "DLEX_S(0.5)",
                     "DLEX_S(3)", "INT64_MAX", "ms ? ns : 0"):
            self.check(f"dlex_try_within_rel({time}) {{ }} dlex_finally {{ }} dlex_handle dlex_when_any {{ "
                       "dlex_try { } dlex_finally { } dlex_handle dlex_when(dlex_exception) { } dlex_end } dlex_end",
                       options=[*STRICT, "-Wpedantic", "-Wshadow"])
        self.check("dlex_try_within_rel(ns) { dlex_checkpoint(); dlex_publish(); } dlex_finally { } dlex_handle "
                   "dlex_when_any { } dlex_end", languages=C, options=[*STRICT, "-Wpedantic", *c_only])


class Leaving(Case):
    """Tests on leaving a body past its finally part, in code that is compiled for unwinding."""

    def programs(self):
        c = [(compiler, self.write("unwinding.c", UNWINDING.read_text(encoding="utf-8")), C[compiler], "-fexceptions")
             for compiler in compilers(*C)]
        cxx = [(compiler, UNWINDING, CXX[compiler], "-fexceptions") for compiler in compilers(*CXX)]
        for compiler, source, *options in c + cxx:
            for level in ("-O0", "-O2"):
                yield compiler, installed().compile(compiler, source, self.dir / f"{compiler}{level}", *options, level,
                                                    *STRICT, "-pthread")

    def check_abort(self, program, way):
        said = installed().run(program, way, expect=-signal.SIGABRT)
        self.assertRegex(said, r"unwinding\.cc?:\d+: a body was left")
        self.assertIn("dlex_return", said)

    def test_return_and_cxx_exception_abort(self):
        for compiler, program in self.programs():
            self.check_abort(program, "return")
            if compiler.endswith("++"):
                self.check_abort(program, "throw")

    def test_end_of_a_thread_does_not_abort(self):
        for compiler, program in self.programs():
            for way in ("pthread_exit", "cancel"):
                self.assertEqual(installed().run(program, way), "end\n")
            if compiler != "clang++":
                self.assertEqual(installed().run(program, "dlex_return"), "finally\nwent on\nend\n")


if __name__ == "__main__":
    main()
