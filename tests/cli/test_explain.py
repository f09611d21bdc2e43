"""explain: every column and term of the outputs has a sentence, and docs/words.md is a copy of all of them.

To change the page on purpose: WICPROF_UPDATE_DOCS=1 ctest -R cli.explain, then read the difference in git.
"""

import json
import os
import re
import unittest

import harness

PAGE = harness.SOURCE / "docs" / "words.md"
UPDATE = os.environ.get("WICPROF_UPDATE_DOCS") == "1"
KINDS = {"term": "Terms", "strategy": "Strategies of park", "finding": "Findings", "column": "Columns of tables"}
HEAD = """# Words of the outputs

What the terms and the columns of `wic-prof`'s outputs mean. `wic-prof explain WORD` prints one of them. The page is a
copy of the lists in `reports/parts/terms.h`, `reports/parts/columns.h` and `analyzer/rules/list.h`; the test
`cli.explain` compares them.
"""


def literals(code):
    return [text for text in re.findall(r'"((?:[^"\\]|\\.)*)"', code) if text.strip()]


def heads_in_sources():
    """(file, head) of every column of figures and of the CSV. A head of another table compiles only if it has an
    entry."""
    for part in ("reports", "cli", "analyzer/figures"):
        for path in sorted((harness.SOURCE / part).rglob("*.cpp")) + sorted((harness.SOURCE / part).rglob("*.h")):
            code = path.read_text()
            for found in re.findall(r"\bcolumns = \{(.*?)\};|describe_curves\(\w+, (.*?)\);", code, re.S):
                for text in literals("".join(found)):
                    yield path.name, text
            if path.name == "report_csv.cpp":
                for text in literals(re.search(r"line_of\(\{(.*?)\}\)", code, re.S).group(1)):
                    yield path.name, text


class Explain(harness.Case):
    def words(self):
        result = self.wic_prof("explain", "--format=json")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return json.loads(result.stdout)["words"]

    def test_every_column_has_an_entry(self):
        known = {entry["word"].lower() for entry in self.words() if entry["kind"] == "column"}
        heads = list(heads_in_sources())
        self.assertTrue({"report_csv.cpp", "figure_02.cpp", "figure_06.cpp"} <= {file for file, _ in heads})
        for file, head in heads:
            with self.subTest(file=file, head=head):
                self.assertIn(head.strip().lower(), known)

    def test_the_heads_of_printed_tables_have_entries(self):
        """The first lines of the tables themselves, on a screen where no head takes two lines."""
        traces = harness.SOURCE / "samples" / "traces"
        process = self.start_app(run_options=("--name", "s", "-o", "t.wicprof"))
        listed = self.wic_prof("sessions", env={"COLUMNS": "120"}).stdout
        self.interrupt(process)
        shown = [listed, self.wic_prof("demo", "--recorded", env={"COLUMNS": "120"}).stdout]
        for words in (["analyze", "--verbose", traces / "hot_flag.poll.wicprof.gz"],
                      ["compare", traces / "hot_flag.poll.wicprof.gz", traces / "hot_flag.park.wicprof.gz"]):
            result = self.wic_prof(*words, env={"COLUMNS": "120"})
            self.assertEqual(result.returncode, 0, result.stderr)
            shown.append(result.stdout)
        known = {entry["word"].lower() for entry in self.words()}
        seen = set()
        for text in shown:
            for block in re.split(r"\n\s*\n", text):
                cells = re.split(r" {2,}", block.strip().split("\n")[0].strip())
                if len(cells) < 4:  # prose
                    continue
                for cell in cells:
                    seen.add(cell.lower())
                    with self.subTest(head=cell):
                        self.assertIn(cell.lower(), known)
        for head in ("wait site", "events", "speed-up", "wake latency", "critical path", "per iteration"):
            self.assertIn(head, seen)

    def test_every_strategy_and_finding_has_an_entry(self):
        words = {(entry["kind"], entry["word"]) for entry in self.words()}
        helped = " ".join(self.wic_prof("run", "--help").stdout.split())
        strategies = re.search(r"how park waits: ([\w, ]+); default", helped).group(1).split(", ")
        self.assertIn("shared_watch", strategies)
        for strategy in strategies:
            self.assertIn(("term" if strategy == "poll" else "strategy", strategy), words)
        guide = (harness.SOURCE / "docs" / "user-guide.md").read_text()
        table = guide.split("| finding | appears when |")[1].split("\n\n")[0]
        for finding in re.findall(r"`(\w+)`", "\n".join(line.split("|")[1] for line in table.splitlines()[2:])):
            self.assertIn(("finding", finding), words)

    def test_a_word_however_it_is_written(self):
        for words in (["wake", "latency"], ["Wake latency"], ["WAKE-LATENCY"], ["wake_latency"]):
            result = self.wic_prof("explain", *words)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertIn("wake latency (term): the time from the signal", result.stdout)
            self.assertIn("wake latency (column): ", result.stdout)
        self.assertIn("(term)", self.wic_prof("explain", "t_c").stdout)

    def test_an_unknown_word_names_the_nearest(self):
        self.assert_refused(self.wic_prof("explain", "shard_watch"), 2, "shard_watch", "did you mean shared_watch")
        self.assert_refused(self.wic_prof("explain", "latency"), 2, "wake latency")
        refused = self.wic_prof("explain", "zzzzzz")
        self.assert_refused(refused, 2, "zzzzzz", "wic-prof explain lists all words")
        self.assertNotIn("did you mean", refused.stderr)

    def test_without_a_word_it_lists_all_and_fits_the_width(self):
        entries = self.words()
        for columns in (80, 120):
            shown = self.wic_prof("explain", env={"COLUMNS": str(columns)}).stdout
            self.assertLessEqual(max(map(len, shown.splitlines())), columns)
            one_line = " ".join(shown.split())
            for entry in entries:
                self.assertIn(f"{entry['word']}: {entry['meaning']}", one_line)

    def test_the_page_is_a_copy(self):
        text = HEAD
        entries = self.words()
        for kind, title in KINDS.items():
            text += f"\n## {title}\n\n| word | meaning |\n| --- | --- |\n"
            for entry in entries:
                if entry["kind"] == kind:
                    text += f"| {entry['word']} | {entry['meaning']} |\n"
        if UPDATE:
            PAGE.write_text(text)
        self.assertEqual(text, PAGE.read_text(), "wanted? WICPROF_UPDATE_DOCS=1 ctest -R cli.explain")


if __name__ == "__main__":
    harness.main()
