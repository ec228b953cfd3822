# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests which failed tests are run again, and how all are counted. The logs are invented. Not covered: Meson itself."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SUMMARY = Path(__file__).with_name("summary.py")
ASAN = "==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x1 at pc 0x2"
UBSAN = "queue.c:12:3: runtime error: signed integer overflow"


class Summary(unittest.TestCase):
    def setUp(self):
        self.build = Path(self.enterContext(tempfile.TemporaryDirectory())) / "asan"
        (self.build / "meson-logs").mkdir(parents=True)

    def write(self, log, *results):
        lines = [json.dumps({"name": f"dlex / {name}", "result": result, **said}) for name, result, said in results]
        (self.build / f"meson-logs/{log}.json").write_text("".join(f"{line}\n" for line in lines))

    def run_summary(self, *arguments):
        done = subprocess.run([sys.executable, SUMMARY, *arguments, self.build], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout.splitlines()

    def test_test_that_passes_alone_counts_as_passed_and_is_shown(self):
        self.write("testlog", ("a", "OK", {}), ("b", "FAIL", {"stdout": "late"}), ("c", "SKIP", {"stdout": "no screen"}))
        self.assertEqual(self.run_summary("--again"), (0, ["b"]))
        self.write("again", ("b", "OK", {}))
        code, said = self.run_summary()
        self.assertEqual((code, said[-1]), (0, "2 passed, 0 failed, 1 skipped"))
        self.assertIn("passed only alone, at the second try: dlex / b (asan): fail at the first", said)
        self.assertIn("    late", said)

    def test_test_that_fails_again_counts_as_failed(self):
        self.write("testlog", ("b", "TIMEOUT", {}))
        self.write("again", ("b", "FAIL", {}))
        code, said = self.run_summary()
        self.assertEqual((code, said[-1]), (1, "0 passed, 1 failed, 0 skipped"))

    def test_report_of_a_sanitizer_is_not_forgiven(self):
        for said in ({"stderr": f"1 test\n{ASAN}\nmore"}, {"stdout": UBSAN}):
            self.write("testlog", ("a", "FAIL", said), ("b", "FAIL", {"stdout": "late"}))
            self.assertEqual(self.run_summary("--again"), (0, ["b"]))
            self.write("again", ("a", "OK", {}), ("b", "OK", {}))  # a was run again by hand
            code, lines = self.run_summary()
            self.assertEqual((code, lines[-1]), (1, "1 passed, 1 failed, 0 skipped"))

    def test_many_failed_tests_are_not_run_again(self):
        self.write("testlog", ("a", "FAIL", {"stdout": ASAN}), *((name, "FAIL", {}) for name in "bcde"))
        self.assertEqual(self.run_summary("--again"), (0, []))

    def test_folder_without_results_counts_as_a_failure(self):
        self.assertEqual(self.run_summary(), (1, ["failed: build/asan ran no tests", "0 passed, 1 failed, 0 skipped"]))
        self.assertEqual(self.run_summary("--broken", "asan")[1][0], "failed: build/asan did not build")


if __name__ == "__main__":
    unittest.main()
