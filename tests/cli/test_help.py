"""Every help text has an example, and the user guide lists exactly the existing verbs and options."""

import re
import unittest

import harness


def options_of_help(text):
    """The long options (short options without a long form) that a help text declares."""
    return set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", text, re.M)) - {"--help"}


def sections_of_guide():
    """verb -> the text under its heading "### wic-prof VERB"."""
    text = (harness.SOURCE / "docs" / "user-guide.md").read_text()
    parts = re.split(r"^### `wic-prof (\w+)`$", text, flags=re.M)
    return {verb: re.split(r"^##? ", body, flags=re.M)[0] for verb, body in zip(parts[1::2], parts[2::2])}


class Help(harness.Case):
    def test_general_help_lists_every_verb_and_an_example(self):
        result = self.wic_prof("--help")
        self.assertEqual(result.returncode, 0)
        listed = re.findall(r"^  (\w+)  +\w", result.stdout.split("Subcommands:")[1], re.M)
        self.assertEqual(listed, harness.VERBS)
        self.assertIn("Example:\n  wic-prof run", result.stdout)

    def test_every_verb_ends_its_help_with_an_example(self):
        for verb in harness.VERBS:
            with self.subTest(verb=verb):
                result = self.wic_prof(verb, "--help")
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertRegex(result.stdout.rstrip(), rf"Example:\n  wic-prof {verb}[^\n]*$")

    def test_version(self):
        result = self.wic_prof("--version")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"^wic-prof \d+\.\d+\.\d+\n$")


class Guide(harness.Case):
    def test_lists_exactly_the_verbs(self):
        self.assertEqual(list(sections_of_guide()), harness.VERBS)

    def test_lists_exactly_the_options_of_every_verb(self):
        for verb, section in sections_of_guide().items():
            with self.subTest(verb=verb):
                listed = set(re.findall(r"^\| .*?`(--[\w-]+)", section, re.M))
                self.assertEqual(listed, options_of_help(self.wic_prof(verb, "--help").stdout))


if __name__ == "__main__":
    harness.main()
