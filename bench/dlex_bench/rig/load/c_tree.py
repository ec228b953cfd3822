# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes a tree of C files that a compiler takes about as long for as for files that people write. It is the same each time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

FILES = 96
FUNCTIONS = 10
STEPS = 12
CFLAGS = "-O2 -g"
SYSTEM_HEADERS = ("math.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "time.h")
OPERATORS = "+-*^|&"
# Of the generator of pseudo-random numbers that POSIX gives as an example for rand().
FACTOR, SUMMAND, STATES = 1103515245, 12345, 1 << 31


class _Numbers:
    """Pseudo-random numbers that no version of Python changes."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def below(self, limit: int) -> int:
        self.state = (self.state * FACTOR + SUMMAND) % STATES
        return (self.state >> 8) % limit


def write_c_tree(folder: Path, compiler: str) -> None:
    """Writes the files, and a build.ninja that compiles them with `compiler` and links them into `program`."""
    (folder / "tree.h").write_text(_header())
    for number in range(FILES):
        (folder / f"part{number}.c").write_text(_file(number))
    (folder / "main.c").write_text(_main())
    (folder / "build.ninja").write_text(_ninja(compiler))


def _header() -> str:
    rows = [*(f"#include <{name}>" for name in SYSTEM_HEADERS), "struct cell { uint32_t a, b; double x; char name[16]; };"]
    rows += [f"uint32_t part{number}(struct cell *cells, size_t count);" for number in range(FILES)]
    return "\n".join(["#pragma once", *rows, ""])


def _file(number: int) -> str:
    numbers = _Numbers(number + 1)
    functions = [_function(name, numbers) for name in range(FUNCTIONS)]
    calls = " ^ ".join(f"f{name}(cells, count, {numbers.below(1000)}u)" for name in range(FUNCTIONS))
    body = f"uint32_t part{number}(struct cell *cells, size_t count)\n{{\n    return {calls};\n}}\n"
    return "\n".join(['#include "tree.h"\n', *functions, body])


def _function(name: int, numbers: _Numbers) -> str:
    rows = [f"static uint32_t f{name}(struct cell *cells, size_t count, uint32_t sum)", "{",
            "    for (size_t i = 0; i < count; i++) {", "        struct cell *const it = &cells[i];"]
    rows += [f"        {step}" for step in _steps(numbers)]
    return "\n".join([*rows, "    }", "    return sum;", "}\n"])


def _steps(numbers: _Numbers) -> Iterator[str]:
    for _ in range(STEPS):
        kind, one, other = numbers.below(5), numbers.below(1 << 16), numbers.below(31) + 1
        operator = OPERATORS[numbers.below(len(OPERATORS))]
        if kind == 0:
            yield f"if (it->a {operator} {one}u) it->b = (sum >> {other}) {operator} {one}u; else sum {operator}= it->b;"
        elif kind == 1:
            cases = f"case {other}: sum += {one}u; break; case 0: it->a ^= sum; break; default: sum++;"
            yield f"switch (sum % {other + 3}u) {{ {cases} }}"
        elif kind == 2:
            yield f"it->x = sqrt(fabs(it->x * {one}.5 + sum)) + sin(it->x / {other});"
        elif kind == 3:
            yield f'if (it->a == {one}u) snprintf(it->name, sizeof it->name, "%u-{other}", sum);'
        else:
            yield f"for (unsigned k = 0; k < {other + 4}u; k++) sum {operator}= (it->a << (k & 7)) + {one}u;"


def _main() -> str:
    calls = "\n".join(f"    sum += part{number}(cells, 64);" for number in range(FILES))
    return f'#include "tree.h"\n\nint main(void)\n{{\n    static struct cell cells[64];\n    uint32_t sum = 0;\n{calls}\n' \
           '    printf("%u\\n", sum);\n    return 0;\n}\n'


def _ninja(compiler: str) -> str:
    parts = ["main", *(f"part{number}" for number in range(FILES))]
    compiling = f"{compiler} {CFLAGS} -MMD -MF $out.d -c $in -o $out"
    rows = ["rule cc", f"  command = {compiling}", "  description = compiled $in", "  depfile = $out.d", "  deps = gcc",
            "rule link", f"  command = {compiler} $in -o $out -lm", "  description = linked $out"]
    rows += [f"build {part}.o: cc {part}.c" for part in parts]
    return "\n".join([*rows, f"build program: link {' '.join(f'{part}.o' for part in parts)}", ""])
