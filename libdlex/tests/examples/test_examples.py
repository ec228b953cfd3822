# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that the examples of libdlex print what they should, and that their Makefile builds them.

Not covered: how many frames, starts or parts they process, which depends on the machine.
"""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path


def output_of(name):
    return subprocess.run([os.environ["EXAMPLE_" + name.upper()]], check=True, text=True, stdout=subprocess.PIPE).stdout


class Examples(unittest.TestCase):
    def test_decoder_shows_easy_frames_and_gives_up_those_that_cannot_be_decoded(self):
        outcomes, totals, kept = output_of("video_decoder").splitlines()
        self.assertRegex(outcomes, r"^[.WD]{50}$")
        self.assertEqual(
            totals,
            f"50 frames: {outcomes.count('.')} shown, {outcomes.count('W')} over their WCET (W), "
            f"{outcomes.count('D')} past their deadline (D)",
        )
        self.assertIn(".", outcomes)
        # These frames exceed their WCET. On a busy machine their deadline may come first.
        self.assertNotIn(".", outcomes[4::10])
        # The data of these frames comes too late. Waiting costs no CPU time, so only the deadline is violated.
        self.assertEqual(outcomes[8::10], "DDDDD")
        self.assertTrue(kept.startswith(f"{50 - outcomes.count('.')} times the picture before stayed;"), kept)

    def test_tables_made_in_a_protected_section_are_freed_once(self):
        *rounds, balance = output_of("protected_allocation").splitlines()
        made, given_back = re.fullmatch(r"(\d+) tables made, (\d+) given back", balance).groups()
        self.assertEqual(made, given_back)
        self.assertGreater(int(made), 0)
        self.assertEqual([int(line.split()[0]) for line in rounds], [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 100])
        self.assertTrue(rounds[0].endswith("longest chain 0, of starts up to 0"), rounds[0])
        self.assertTrue(rounds[-1].endswith("no room for a table of 1048577"), rounds[-1])
        for line in rounds[1:-1]:
            self.check_chain(*map(int, re.search(r"longest chain (\d+), of starts up to (\d+)$", line).groups()))

    def check_chain(self, longest, starts):
        """Checks a chain against the known longest chains of all starts up to 2^k, and of the interrupted round."""
        known = [(0, 0), (1, 1), (9, 20), (97, 119), (871, 179), (6171, 262), (77031, 351), (837799, 525)]
        at_least = max(length for start, length in known if start <= starts)
        self.assertGreaterEqual(longest, at_least)
        self.assertLessEqual(longest, 525)

    def test_results_of_the_anytime_algorithm_are_whole_and_get_better(self):
        *periods, summary = output_of("anytime").splitlines()
        self.assertEqual(summary, "10 results, 0 broken")
        parts = [int(re.search(r"after +(\d+) of them$", line).group(1)) for line in periods]
        self.assertEqual(len(parts), 10)
        self.assertEqual(parts[0], 0)
        self.assertGreater(max(parts), 0)

    def test_player_follows_every_seek(self):
        summary, latency = output_of("seek").splitlines()
        self.assertEqual(summary, "20 seeks, 20 followed, then quit")
        self.assertRegex(latency, r"^a picture was left \d+ us after the seek on average$")

    @unittest.skipUnless("EXAMPLES_BUILD" in os.environ, "a library with a sanitizer is not for the Makefile")
    @unittest.skipUnless(shutil.which("make") and shutil.which("pkg-config"), "needs make and pkg-config")
    def test_makefile_builds_the_examples_with_the_flags_of_pkg_config(self):
        build = Path(os.environ["EXAMPLES_BUILD"])
        env = dict(os.environ)
        env["PKG_CONFIG_PATH"] = str(build / "meson-uninstalled")
        env["LD_LIBRARY_PATH"] = str(Path(os.environ["EXAMPLES_LIBRARY"]).parent)
        for inherited in ("CFLAGS", "LDFLAGS", "MAKEFLAGS"):
            env.pop(inherited, None)
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "examples"
            shutil.copytree(os.environ["EXAMPLES_SOURCE"], copy)
            made = subprocess.run(["make", "-C", copy], env=env, text=True, capture_output=True)
            self.assertEqual((made.returncode, made.stderr), (0, ""))
            run = subprocess.run([copy / "anytime"], env=env, text=True, capture_output=True)
            self.assertEqual(run.returncode, 0, run.stderr)


if __name__ == "__main__":
    unittest.main()
