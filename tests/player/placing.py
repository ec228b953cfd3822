# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which CPU and which queues the tests of --sched and --cpu use, and whether a policy can be tried here."""

import os
import unittest

from dlex_bench.machine.policy import allowed_kinds

GIVEN = os.sched_getaffinity(0)
CPU = max(GIVEN)
AHEAD, SERIAL = "20", "0"  # queues
LIMIT_S = 60


def require(kind):
    if kind not in allowed_kinds():
        raise unittest.SkipTest(f"the policy {kind} is not available here: it needs root and writable control groups")
    if len(GIVEN) < 2:
        raise unittest.SkipTest("there is only one CPU")
