# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what a program that catches no exception prints before it aborts: one sentence on stderr with cause and advice.

Run as: python3 test_package_messages.py LIBDLEX
"""

import functools
import signal
from pathlib import Path

from package_testing import STRICT, Case, installed, main, need, workshop

SOURCE_FILE = Path(__file__).resolve().parent / "uncaught.c"


@functools.cache
def program():
    return installed().compile(need("cc"), SOURCE_FILE, workshop() / "uncaught", "-std=gnu11", *STRICT)


class Messages(Case):
    def check(self, what, *words):
        said = installed().run(program(), what, expect=-signal.SIGABRT)
        self.assertEqual(said.count("\n"), 1, said)
        self.assertTrue(said.startswith("libdlex: "), said)
        for word in (*words, "aborts"):
            self.assertIn(word, said)

    def place(self, line):
        lines = SOURCE_FILE.read_text(encoding="utf-8").splitlines()
        return f"uncaught.c:{1 + next(i for i, text in enumerate(lines) if line in text)}"

    def test_missing_timer_is_reported(self):
        self.check("no-timers", "dlex_timer_error", self.place("dlex_try_within_rel(INT64_C"), "ulimit -i",
                   "Resource temporarily unavailable")

    def test_signal_taken_by_another_part_of_the_program_is_reported(self):
        self.check("signal-taken", "dlex_timer_error", self.place("dlex_try_within_rel(INT64_C"), "dlex_use_signal")

    def test_uncaught_exception_is_reported(self):
        self.check("exception", "bad_weather", self.place("dlex_throw(bad_weather)"))

    def test_violation_without_a_handler_is_reported(self):
        self.check("violation", "dlex_deadline_violation", self.place("dlex_try_within_rel(0)"))

    def test_return_past_a_finally_part_is_reported(self):
        self.check("return-past-finally", self.place("dlex_try {"), "dlex_return")

    def test_enable_without_disable_is_reported(self):
        self.check("enable", "dlex_try_within_enable")


if __name__ == "__main__":
    main()
