# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that hostile YAML is refused with one sentence, which names the line. Not covered: what agendas and graphs may say."""

import unittest

from outside import with_packages

with_packages("yaml, pydantic")

from dlex_bench.errors import EXIT_SETUP, LabError
from dlex_bench.plain_yaml import MERGED_MAX, NESTING_MAX, read_plain_yaml


def merges(levels):
    """Returns mappings of which each merges the one before nine times."""
    lines = ["x0: &x0 {a: 1, b: 2}", *(f"x{i}: &x{i} {{<<: [{', '.join([f'*x{i - 1}'] * 9)}]}}" for i in range(1, levels + 1))]
    return "\n".join(lines)


class PlainYaml(unittest.TestCase):
    def refused(self, text):
        with self.assertRaises(LabError) as caught:
            read_plain_yaml(text, "a.yaml")
        self.assertEqual(caught.exception.code, EXIT_SETUP)
        sentence = str(caught.exception)
        self.assertNotIn("\n", sentence)
        self.assertLess(len(sentence), 300)
        return sentence

    def assert_refused(self, text, line, *words):
        sentence = self.refused(text)
        self.assertTrue(sentence.startswith(f"a.yaml, line {line}: "), sentence)
        for word in words:
            self.assertIn(word, sentence)

    def test_values_that_are_not_of_their_type_are_refused(self):
        self.assert_refused("a: 1\nb: !!int abc", 2, "'abc' is not a value of the type int")
        self.assert_refused("a: !!int ''", 1, "type int")
        self.assert_refused(f"\na: {'9' * 5000}", 2, "999...", "type int")
        self.assert_refused("a: [2001-13-45]", 1, "2001-13-45", "type timestamp")
        self.assert_refused("a: !!timestamp x", 1, "type timestamp")
        self.assert_refused("a: !!bool x", 1, "type bool")
        self.assert_refused("a: !!float x", 1, "type float")
        self.assert_refused("a: !!int {=: abc}", 1)
        self.assert_refused("a: !!map abc", 1, "not YAML")
        self.assert_refused("a: !unknown x", 1, "not YAML")
        self.assert_refused("a:\n  ? [x]\n  : y", 2, "not YAML")

    def test_characters_that_no_program_can_be_given_are_refused(self):
        self.assert_refused("a: b\nc: \0", 2, "#x0000")
        self.assert_refused('a: b\nc: "x\\0y"', 2, "U+0000")
        self.assert_refused('a: "\\ud800"', 1, "U+D800")
        self.assert_refused('"\\ud800": a', 1, "U+D800")

    def test_deep_nesting_is_refused(self):
        self.assert_refused("a: 1\nb: " + "[" * 5000, 2, str(NESTING_MAX))
        self.assert_refused("{a: " * 5000, 1, str(NESTING_MAX))
        self.assertEqual(read_plain_yaml("[" * (NESTING_MAX - 1) + "]" * (NESTING_MAX - 1), "a").name, "a")

    def test_merges_that_explode_are_refused(self):
        self.assert_refused(merges(7), 5, str(MERGED_MAX))
        self.assertEqual(read_plain_yaml(merges(3), "a").content["x3"], {"a": 1, "b": 2})
        chain = "\n".join(["x0: &x0 {a: 1}", *(f"x{i}: &x{i} {{<<: *x{i - 1}}}" for i in range(1, 2000))])
        self.assertEqual(read_plain_yaml(chain, "a").content["x1999"], {"a": 1})
        self.assertEqual(read_plain_yaml("a: &a {<<: *a, b: 1}", "a").content["a"], {"b": 1})
        self.assertEqual(read_plain_yaml("a: &a {b: 1}\nc: {<<: *a, d: 2}", "a").content["c"], {"b": 1, "d": 2})

    def test_keys_that_appear_twice_are_refused(self):
        self.assert_refused("a:\n  b: 1\n  b: 2", 3, "the key b appears twice")
        self.assert_refused("[{a: 1}, {c: 1,\n c: 1}]", 2, "the key c appears twice")

    def test_aliases_cost_nothing(self):
        lines = ["x0: &x0 [1, 2]", *(f"x{i}: &x{i} [{', '.join([f'*x{i - 1}'] * 9)}]" for i in range(1, 40))]
        content = read_plain_yaml("\n".join(lines), "a").content
        self.assertIs(content["x39"][0], content["x39"][8])
        self.assert_refused("\n".join([*lines, "m: {<<: *x39}"]), 39, "expected a mapping for merging")
        self.assert_refused("s: &s [*s]\nm: {<<: *s}", 1, "expected a mapping for merging")

    def test_place_is_found_in_its_line(self):
        found = read_plain_yaml("a:\n  b:\n    - c\n    - d: 1\n", "a.yaml")
        for place, line in ((["a", "b", 1, "d"], 4), (["a", "b", 0], 3), (["a", "x"], 1), (["a", "b", "tag", "d"], 2)):
            self.assertEqual(str(found.refusal(place, "no")), f"a.yaml, line {line}: no")
        self.assertEqual(str(read_plain_yaml("", "a.yaml").refusal(["a"], "no")), "a.yaml, line 1: no")


if __name__ == "__main__":
    unittest.main()
