# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the text of policies, and the library that sets them.

Not covered: what the kernel makes of them (test_bench_machine).
"""

import errno
import os
import subprocess
import unittest
from unittest import mock

from outside import with_packages

with_packages("pydantic")

from dlex_bench.errors import LabError
from dlex_bench.machine import thread_policy
from dlex_bench.machine.policy import Policy, policy_of


class Text(unittest.TestCase):
    def test_policies_are_written_in_the_form_in_which_they_are_read(self):
        for text in ("other", "fifo:5", "rr:99", "deadline:15/40", "deadline:3.15/8", "quota:15/40", "quota:calibrated/40",
                     "quota:120%/40", "deadline:87.5%/40", "deadline:tuned", "deadline:15/40/divided", "nice:-11", "nice:5"):
            self.assertEqual(str(Policy.parse(text)), text)

    def test_nonsense_is_refused_with_a_sentence(self):
        for text in ("", "fifo", "fifo:0", "fifo:100", "fifo:-1", "rr:x", "deadline:41/40", "deadline:0/40", "deadline:15",
                     "deadline:1e1/40", "quota:0.5/40", "quota:15/2000", "idle", "other:1", "deadline:15/40/40",
                     "nice:", "nice:20", "nice:-21", "nice:x", "quota:tuned", "deadline:tuned/40", "quota:15/40/divided",
                     "quota:9%/40", "quota:0%/40", "quota:%/40", "quota:120%/2000", "fifo:5%"):
            with self.assertRaises(LabError, msg=text) as caught:
                Policy.parse(text)
            self.assertIn(repr(text), str(caught.exception))
            self.assertIn(";" if ":" not in str(caught.exception) else "", str(caught.exception))

    def test_calibrated_budget_replaces_the_word(self):
        self.assertEqual(str(Policy.parse("deadline:calibrated/40").with_runtime(8.25)), "deadline:8.25/40")
        self.assertEqual(str(Policy.parse("quota:120%/40").with_runtime(8.25)), "quota:8.25/40")

    def test_policies_that_are_found_while_playing_begin_as_ordinary_ones(self):
        expected = {"deadline:tuned": ("other", "deadline"), "deadline:15/40/divided": ("other", "deadline"),
                    "deadline:15/40": ("deadline",), "nice:5": ("other",)}
        self.assertEqual({text: Policy.parse(text).seen_kinds for text in expected}, expected)


class Library(unittest.TestCase):
    def setUp(self):
        thread_policy.sched_calls.cache_clear()
        self.addCleanup(thread_policy.sched_calls.cache_clear)

    def test_library_that_is_missing_is_named_with_the_command_that_builds_it(self):
        with mock.patch.dict(os.environ, DLEX_SCHED_LIBRARY="/nowhere/libdlex-sched.so"), self.assertRaises(LabError) as caught:
            policy_of(0)
        self.assertIn("/nowhere/libdlex-sched.so cannot be loaded", str(caught.exception))
        self.assertIn("./dlex build", str(caught.exception))

    def test_text_that_is_not_a_policy_is_an_invalid_argument(self):
        with self.assertRaises(OSError) as caught:
            thread_policy.set_policy(0, "fifo:100")
        self.assertEqual(caught.exception.errno, errno.EINVAL)

    def test_thread_that_has_ended_is_a_process_lookup_error(self):
        process = subprocess.Popen(["true"])
        process.wait()
        with self.assertRaises(ProcessLookupError):
            thread_policy.set_policy(process.pid, "other")
        with self.assertRaises(ProcessLookupError):
            thread_policy.policy_text(process.pid)


if __name__ == "__main__":
    unittest.main()
