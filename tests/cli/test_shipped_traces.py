"""What the verbs say about every trace that is shipped: the verdict has a size, all formats begin with it, and each
next command can be run as it is printed and brings something new."""

import gzip
import html
import json
import os
import re
import shlex
import subprocess
import unittest

import harness

NAMES = sorted(path.name[:-len(".wicprof.gz")]
               for path in (harness.SOURCE / "samples" / "traces").glob("*.wicprof.gz"))
WORTH_NAMING = 0.01


def folded(text):
    return " ".join(text.split())


class Shipped(harness.Case):
    def unpack(self, name):
        packed = harness.SOURCE / "samples" / "traces" / f"{name}.wicprof.gz"
        (self.work / f"{name}.wicprof").write_bytes(gzip.decompress(packed.read_bytes()))
        return f"{name}.wicprof"

    def answer(self, *words):
        result = self.wic_prof(*words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def each(self):
        self.assertGreaterEqual(len(NAMES), 26)
        for name in NAMES:
            with self.subTest(trace=name):
                yield self.unpack(name)


class Verdicts(Shipped):
    def check_order(self, findings):
        negligible = [f["cost"] is not None and f["cost"]["amount"] < WORTH_NAMING for f in findings]
        self.assertEqual(negligible, sorted(negligible), "what costs less than 1 % comes last")
        self.assertTrue(all(f["severity"] == "info" for f, tiny in zip(findings, negligible) if tiny))
        serious = [f["cost"] for f in findings if f["severity"] != "info" and f["cost"] is not None]
        self.assertEqual(serious, sorted(serious, key=lambda cost: (cost["unit"] == "cpus", -cost["amount"])))

    def test_predictions_have_the_words_of_measurements(self):
        for trace in self.each():
            text = folded(self.answer("analyze", trace, "--verbose"))
            self.assertNotIn("as fast", text)
            if "is predicted to be" in text or "Parked, the run would be" in text:
                self.assertRegex(text, r"(predicted to|would) be [^.]*(shorter|longer|equally long)")

    def test_a_verdict_has_a_size(self):
        for trace in self.each():
            analysis = json.loads(self.answer("analyze", trace, "--format", "json"))
            verdict = analysis["verdict"]
            self.check_order(analysis["findings"])
            if verdict["tone"] in ("bad", "warn"):
                self.assertGreaterEqual(verdict["cost"]["amount"], WORTH_NAMING)
                size = r" \((\d[\d.]* % of the time|\d+\.\d\d CPUs)\)"
                self.assertRegex(verdict["headline"], size)
            if trace.startswith("bare_poll_patched"):  # both ways were measured, and that counts more
                self.assertTrue(verdict["headline"].startswith("no change: park against poll"))
                continue
            self.assertEqual(sum(sum(f["severity"] == s for f in analysis["findings"])
                                 for s in ("critical", "warning")) > 0, verdict["tone"] in ("bad", "warn"))

    def test_no_verdict_rests_on_a_trifle(self):
        # Less than a millisecond of CPU time in a program of 800 ms.
        analysis = json.loads(self.answer("analyze", self.unpack("c_h3d.poll"), "--format", "json"))
        self.assertTrue(analysis["verdict"]["headline"].startswith("no problem found"), analysis["verdict"])
        text = self.answer("analyze", "c_h3d.poll.wicprof")
        self.assertIn("[info] host_spin", text)
        self.assertNotIn("[warning]", text)

    def test_the_start_is_not_late(self):
        # The program computed for most of its time before its iterations.
        analysis = json.loads(self.answer("analyze", self.unpack("c_h3d.poll"), "--format", "json"))
        late = sum(cause["late_ns"] for cause in analysis["lateness"]["causes"])
        iterations = analysis["classification"]["period"]["count"] * analysis["classification"]["period"]["ns"]
        self.assertLess(late, iterations)

    def test_every_format_begins_with_it(self):
        for trace in self.each():
            headline = json.loads(self.answer("analyze", trace, "--format", "json"))["verdict"]["headline"]
            self.assertTrue(folded(self.answer("analyze", trace)).startswith(f"Verdict: {headline}"))
            report = json.loads(self.answer("report", trace, "--format", "json"))
            self.assertEqual((next(iter(report)), report["verdict"]["headline"]), ("verdict", headline))
            markdown = self.answer("report", trace, "--format", "md").replace("\\", "")
            self.assertEqual(markdown.split("\n")[2], f"**Verdict: {headline}**")
            page = self.answer("report", trace, "--format", "html")
            shown = html.unescape(page)
            self.assertLess(shown.index(f"<b>{headline}</b>"), shown.index('class="tiles summary"'))
            self.check_counts(page)

    def check_counts(self, page):
        """The tile of findings counts what the page lists."""
        tile = re.search(r'href="#findings".*?<b>(.*?)</b>.*?small">(.*?)</span>', page).group(1, 2)
        listed = re.findall(r'class="finding".*?class="badge[a-z ]*">(\w+)<', page)
        counted = {word: int(number) for number, word in re.findall(r"(\d+) (critical|warning|for)", " ".join(tile))}
        self.assertEqual(counted.get("critical", 0), listed.count("critical"))
        self.assertEqual(counted.get("warning", 0), listed.count("warning"))
        self.assertEqual(counted["for"], listed.count("info"))

    def test_what_is_inconclusive_has_no_factor(self):
        page = self.answer("report", self.unpack("c_cg.poll"), self.unpack("c_cg.park"), "--format", "html")
        tile = re.search(r'href="#comparison"><span class="faint">after.*?<b>(.*?)</b>', page).group(1)
        self.assertEqual(tile, "inconclusive")
        self.assertIn("<b>inconclusive, ", page[:page.index('class="tiles summary"')])


def printed_commands(text):
    """The commands on lines of their own; a backslash continues one on the next line."""
    commands = []
    for line in text.replace(" \\\n", " ").split("\n"):
        found = re.fullmatch(r"\s+(?:do +|run +)?(wic-prof \S.*)", line)
        if found:
            commands.append(re.sub(r" {2,}", " ", found.group(1)))
    return commands


class NextCommands(Shipped):
    def setUp(self):
        super().setUp()
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        (self.bin / "wic-prof").symlink_to(harness.WICPROF)
        self.env["PATH"] = f"{self.bin}:{os.environ['PATH']}"
        self.done = set()

    def stand_in(self, program):
        """A program of that name, which is not there where a trace is only read."""
        path = self.bin / program
        if not path.exists():
            path.write_text("#!/bin/sh\nexit 0\n")
            path.chmod(0o755)

    def check(self, command, program_of=None, just_run=()):
        """The command is new, and runs as it is printed. `program_of`: the trace whose program it starts."""
        words = shlex.split(command)
        self.assertNotEqual(words, list(just_run), "the answer is on the screen already")
        verb = words[1]
        # Of a program that ended, nothing can be toggled.
        self.assertIn(verb, ("run", "why", "analyze", "compare", "report", "demo", "gui"))
        if verb in ("run", "why"):
            own, _, program = command.partition(" -- ")
            self.assertEqual(program, self.meta(program_of)["command"])
            self.stand_in(shlex.split(program)[0])
            if verb == "run":
                new = {"--ab", "--repeat", "--rewrite", "--trace=cuda,nvtx,pcsampling"}
                self.assertTrue(new & set(shlex.split(own)))
        elif verb != "demo":
            for trace in (word for word in words if ".wicprof" in word):
                self.assertTrue((self.work / trace).exists(), command)
        if command in self.done or verb == "gui":  # tests/gui has the window
            return
        self.done.add(command)
        there = set(self.work.iterdir())
        result = subprocess.run(command, shell=True, cwd=self.work, env=self.env, text=True, capture_output=True,
                                stdin=subprocess.DEVNULL, timeout=harness.TIMEOUT)
        self.assertEqual(result.returncode, 0, f"{command}\n{result.stderr}")
        for made in set(self.work.iterdir()) - there:  # another trace's command may write the same
            made.unlink()

    def test_each_can_be_run_and_is_new(self):
        for trace in self.each():
            answer = json.loads(self.answer("analyze", trace, "--format", "json"))
            printed = printed_commands(self.answer("analyze", trace))
            self.assertIn(f"wic-prof analyze --verbose {trace}", printed)
            offered = [each["command"] for each in (answer["verdict"], *answer["findings"]) if each["command"]]
            for command in set(printed + offered):
                self.check(command, trace, ["wic-prof", "analyze", trace])
            if answer["verdict"]["command"]:
                self.assertEqual(printed[0], answer["verdict"]["command"])
            for finding in answer["findings"]:
                self.assertNotIn("wic-prof toggle", finding["remedy"])
                self.assertNotIn("cudaSetDeviceFlags", finding["remedy"] if finding["rule"] == "host_spin" else "")
            for words in (["why", trace], ["compare", trace], ["compare", trace, trace]):
                for command in printed_commands(self.answer(*words)):
                    self.check(command, trace, ["wic-prof", *words])
        for name in (name.removesuffix(".poll") for name in NAMES if name.endswith(".poll")):
            compare = ["compare", f"{name}.poll.wicprof", f"{name}.park.wicprof"]
            for command in printed_commands(self.answer(*compare)):
                self.check(command, f"{name}.poll.wicprof", ["wic-prof", *compare])

    def test_those_of_the_bundle(self):
        whole = self.answer("demo", "--recorded")
        told = re.split(r"(?m)^(?:Parking (?:matters|does not matter)|Unchanged): (\w+)$", whole)
        self.assertGreater(len(told), 2)
        for name, story in zip(told[1::2], told[2::2]):
            with self.subTest(name):
                trace = self.unpack(name if name in NAMES else f"{name}.poll")
                shown = f"wic-prof demo --recorded {name}"
                self.assertIn(f"all about it: {shown}\n", story)
                for command in (shown, *printed_commands(story), *printed_commands(self.answer(*shown.split()[1:]))):
                    self.check(command, trace, ["wic-prof", "demo", "--recorded"])

    def test_after_a_run(self):
        self.stand_in("app")
        result = self.wic_prof("run", "-o", "t.wicprof", "--", "app")
        command = re.search(r"next: (wic-prof .*)", result.stderr).group(1)
        self.assertEqual(self.wic_prof(*shlex.split(command)[1:]).returncode, 0)


if __name__ == "__main__":
    unittest.main()
