"""Man pages and completions are made from the command line's definitions: they hold what the help texts hold."""

import pathlib
import re
import shutil
import subprocess
import unittest

import harness
from test_help import options_of_help


class Manual(harness.Case):
    def setUp(self):
        super().setUp()
        self.share = self.work / "share"
        result = self.wic_prof("generate", self.share)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        self.bash_script = self.share / "bash-completion" / "completions" / "wic-prof"
        self.fish_script = self.share / "fish" / "vendor_completions.d" / "wic-prof.fish"
        self.zsh_script = self.share / "zsh" / "vendor-completions" / "_wic-prof"

    def pages(self):
        return sorted((self.share / "man" / "man1").iterdir())

    def said(self, *command):
        return subprocess.run([str(word) for word in command], text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=harness.TIMEOUT).stdout

    def bash(self, *words):
        """What bash offers behind these words, the last of which is not finished."""
        script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _wic_prof; echo "${COMPREPLY[@]}"'
        result = subprocess.run(["bash", "--norc", "-c", script, "bash", self.bash_script, "wic-prof", *words],
                                text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=harness.TIMEOUT)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout.split()


class Pages(Manual):
    def test_there_is_one_for_each_verb(self):
        self.assertEqual([page.name for page in self.pages()],
                         sorted(["wic-prof.1", *(f"wic-prof-{verb}.1" for verb in harness.VERBS)]))

    def test_a_page_has_the_options_of_its_verb(self):
        for verb in harness.VERBS:
            with self.subTest(verb=verb):
                page = (self.share / "man" / "man1" / f"wic-prof-{verb}.1").read_text().replace("\\-", "-")
                listed = set(re.findall(r"^\.TP\n(?:\\fB-\w\\fR, )?\\fB(--[\w-]+)", page, re.M)) - {"--help"}
                self.assertEqual(listed, options_of_help(self.wic_prof(verb, "--help").stdout))
                self.assertIn(f".SH EXAMPLE\n.nf\nwic-prof {verb}", page)

    def test_pages_are_rendered_without_warnings(self):
        tools = {"mandoc": ("-Tlint", "-Wwarning"), "groff": ("-man", "-ww", "-Kutf8", "-Tutf8", "-z")}
        there = {tool: words for tool, words in tools.items() if shutil.which(tool)}
        if not there:
            self.skipTest("neither mandoc nor groff is here")
        for page in self.pages():
            for tool, words in there.items():
                with self.subTest(page=page.name, tool=tool):
                    # Pages have no date, so that a build can be repeated.
                    said = [line for line in self.said(tool, *words, page).splitlines() if "missing date" not in line]
                    self.assertEqual(said, [])

    def test_a_rendered_page_reads_as_the_help_text(self):
        if not shutil.which("mandoc"):
            self.skipTest("mandoc is not here")
        rendered = self.said("mandoc", "-Tutf8", self.share / "man" / "man1" / "wic-prof-run.1")
        text = " ".join(re.sub(r".\x08", "", rendered).split())
        for words in ("wic-prof-run - launch a program", "wic-prof run [OPTIONS] -- APP ARGS...",
                      "HOW THE PROGRAM WAITS", "-m, --mode poll|park", "--for TIME", "default: 1m; only with --ab",
                      "not with --ab, --auto, --schedule", "1 to 1000", "wic-prof-analyze(1)", "%q{VAR}"):
            self.assertIn(words, text)


class Completion(Manual):
    def test_bash_completes_verbs(self):
        self.assertEqual(self.bash(""), [*harness.VERBS, "-h", "--help", "-V", "--version"])
        self.assertEqual(self.bash("re"), ["report", "rewrite"])
        self.assertEqual(self.bash("help", "st"), ["stuck"])

    def test_bash_completes_every_option(self):
        for verb in harness.VERBS:
            with self.subTest(verb=verb):
                offered = {word for word in self.bash(verb, "--") if word.startswith("--")} - {"--help"}
                self.assertEqual(offered, options_of_help(self.wic_prof(verb, "--help").stdout))

    def test_bash_completes_values(self):
        self.assertEqual(self.bash("run", "--mode", "p"), ["poll", "park"])
        self.assertEqual(self.bash("run", "-m", "pa"), ["park"])
        self.assertEqual(self.bash("run", "--mode", "=", "pa"), ["park"])
        self.assertEqual(self.bash("run", "--mode", "="), ["poll", "park"])
        self.assertEqual(self.bash("analyze", "t.wicprof", "--format", ""), ["text", "json", "csv"])
        # bash itself completes files.
        self.assertEqual(self.bash("analyze", ""), [])
        self.assertEqual(self.bash("run", "-o", ""), [])

    def test_bash_leaves_the_program_alone(self):
        self.assertEqual(self.bash("run", "--", "app", "--"), [])

    def test_fish(self):
        if not shutil.which("fish"):
            self.skipTest("fish is not here")

        def offered(words):
            script = f"source {self.fish_script}; complete -C '{words}'"
            return {line.split("\t")[0] for line in self.said("fish", "--no-config", "-c", script).splitlines()}

        self.assertEqual(offered("wic-prof "), set(harness.VERBS))
        self.assertEqual(offered("wic-prof run --mode "), {"poll", "park"})
        for verb in harness.VERBS:
            with self.subTest(verb=verb):
                options = {word for word in offered(f"wic-prof {verb} --") if word.startswith("--")} - {"--help"}
                self.assertEqual(options, options_of_help(self.wic_prof(verb, "--help").stdout))

    def test_zsh(self):
        if not shutil.which("zsh"):
            self.skipTest("zsh is not here")
        self.assertEqual(self.said("zsh", "-f", "-n", self.zsh_script), "")
        text = self.zsh_script.read_text()
        for verb in harness.VERBS:
            block = re.search(rf"^    {verb}\)\n(.*?)^      ;;", text, re.M | re.S).group(1)
            listed = set(re.findall(r"(--[\w-]+)[=+]*\[", block)) - {"--help"}
            self.assertEqual(listed, options_of_help(self.wic_prof(verb, "--help").stdout))


if __name__ == "__main__":
    harness.main()
