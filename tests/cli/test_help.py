"""Every help text has an example, and the user guide lists exactly the existing verbs and options."""

import pathlib
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
        for word in ("--version", "-V"):
            result = self.wic_prof(word)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertRegex(result.stdout, r"^wic-prof \d+\.\d+\.\d+\n$")

    def test_help_is_the_help_of_the_verb(self):
        self.assertEqual(self.wic_prof("help").stdout, self.wic_prof("--help").stdout)
        for verb in harness.VERBS:
            with self.subTest(verb=verb):
                result = self.wic_prof("help", verb)
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertEqual(result.stdout, self.wic_prof(verb, "--help").stdout)

    def test_without_a_verb_the_short_help_is_shown(self):
        result = self.wic_prof()
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertEqual(result.stderr, self.wic_prof("--help").stdout + "wic-prof: error: name one of these verbs\n")

    def test_misspelt_verbs_and_options(self):
        for words, meant in (
            (["analyse"], "did you mean analyze? "),
            (["hepl"], "did you mean help? "),
            (["help", "togle"], "did you mean toggle? "),
            (["compair"], "did you mean compare? "),
            (["run", "--schedul=poll:2s", "--", "true"], "did you mean --schedule? "),
            (["run", "--mod", "park", "--", "true"], "did you mean --mode? "),
            (["analyze", "--verbos", "t.wicprof"], "did you mean --verbose? "),
            (["report", "--fromat", "html"], "did you mean --format? "),
            (["ci", "--confg", "c.toml", "--", "true"], "did you mean --config? "),
        ):
            with self.subTest(words=words):
                self.assert_refused(self.wic_prof(*words), 2, meant)
        for words in (["frobnicate"], ["analyze", "--frobnicate", "t.wicprof"]):
            result = self.wic_prof(*words)
            self.assert_refused(result, 2, "frobnicate")
            self.assertNotIn("did you mean", result.stderr)

    def test_options_of_run_stand_in_groups(self):
        text = self.wic_prof("run", "--help").stdout
        groups = dict(re.findall(r"^(\w[^\n]*):\n((?:  .*\n)+)", text, re.M))
        self.assertEqual(options_of_help(groups["Options"]), set())
        self.assertLess({"--mode", "--strategy"}, options_of_help(groups["How the program waits"]))
        self.assertLess({"--ab", "--placebo"}, options_of_help(groups["Comparing poll with park"]))
        self.assertLess({"--trace", "--rewrite"}, options_of_help(groups["What is recorded"]))
        self.assertLess({"--output", "--max-size"}, options_of_help(groups["The trace"]))
        self.assertNotIn("\n\n\n", text)

    def test_gui_without_a_file_and_without_a_session_says_what_to_give(self):
        self.assert_refused(self.wic_prof("gui"), (2, 3), "wic-prof")
        if (pathlib.Path(harness.WICPROF).parent / "wic-prof-gui").exists():
            self.assert_refused(self.wic_prof("gui"), 2, "wic-prof gui halo.wicprof", "wic-prof run -- APP")


class Citations(harness.Case):
    def test_messages_cite_nothing_of_the_source_tree(self):
        """In string literals of the product; figures and pages are in the source tree only."""
        for part in ("protocol", "rewriter", "collector", "wic-backend", "store", "analyzer", "reports", "gui", "cli"):
            for path in (harness.SOURCE / part).rglob("*"):
                if path.suffix not in (".cpp", ".h", ".cu", ".cuh"):
                    continue
                for line in path.read_text().splitlines():
                    if not re.match(r"\s*(#include|//)", line):
                        self.assertNotRegex(line, r'"[^"]*\b(docs|samples|tests|gui)/[a-z][^"]*"', path)

    def test_messages_cite_words_that_are_explained(self):
        for path in (harness.SOURCE / "analyzer" / "rules").glob("*.cpp"):
            text = re.sub(r'"\s*\n?\s*"', "", path.read_text())
            for word in re.findall(r"wic-prof explain (\w+)", text):
                self.assertEqual(self.wic_prof("explain", word).returncode, 0, f"{path}: {word}")


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
