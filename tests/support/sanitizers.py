# SPDX-License-Identifier: LGPL-2.1-or-later
"""For tests of how processes, threads and the kernel go together, which sanitizers only make slow: the other build has them."""
import os
import unittest

not_sanitized = unittest.skipIf("DLEX_SANITIZED" in os.environ, "runs in the build without sanitizers")
