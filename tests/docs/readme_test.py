"""Checks README.md and docs/: measured figures, result files, commands, links."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from commands import command_problems
from figures import Wrong, file_problems, marker_problems, with_block
from markdown import anchors, code_spans, links

ROOT = pathlib.Path(os.environ["WICPROF_SOURCE"]).resolve()
TOOL = os.environ["WICPROF"]
PAGES = ("tutorial", "how-to", "design")  # folders of docs/ that hold pages


def documents(root):
    """Every Markdown file that people read, README.md first."""
    readme = root / "README.md"
    return [*([readme] if readme.is_file() else []), *sorted(p for p in root.glob("*.md") if p != readme),
            *sorted((root / "docs").glob("*.md")),
            *(page for folder in PAGES for page in sorted((root / "docs" / folder).rglob("*.md"))),
            *(root / "docs" / "results").glob("README.md"),  # other Markdown files in results are reports
            *sorted((root / "samples").rglob("*.md"))]


def name_of(path, root):
    return path.relative_to(root).as_posix()


def figure_problems(root):
    results, problems, in_readme = root / "docs" / "results", [], 0
    for path in documents(root):
        count, wrong = marker_problems(path.read_text(), results, name_of(path, root))
        in_readme += count if path == root / "README.md" else 0
        problems += wrong
    if in_readme == 0:
        problems.append("README.md: no figure is marked as measured; see docs/results/README.md")
    return problems


def result_problems(root):
    """Each file backs a figure, a table or a sentence of a document, and its rows are told."""
    texts = [path.read_text() for path in documents(root) if path.name != "CHANGELOG.md"]
    problems = []
    for path in sorted((root / "docs" / "results").iterdir()):
        mentions = [text for text in texts if path.name in text]
        if path.name != "README.md" and not mentions:
            problems.append(f"{path.name}: no document names it; remove it, or say what it shows")
        if path.suffix == ".json":
            problems += file_problems(path, root / "bench", mentions)
    return problems


def link_problems(root):
    problems = []
    for path in documents(root):
        for number, target in links(path.read_text()):
            url = urllib.parse.urlsplit(target)
            if url.scheme or url.netloc:
                continue
            aim = path if not url.path else path.parent / urllib.parse.unquote(url.path)
            where = f"{name_of(path, root)}:{number}"
            if not aim.exists():
                problems.append(f"{where}: {target} leads nowhere")
            elif url.fragment and aim.suffix == ".md" and url.fragment not in anchors(aim.read_text()):
                problems.append(f"{where}: {name_of(aim.resolve(), root)} has no heading #{url.fragment}")
    return problems


def file_name_problems(root):
    """Paths in code spans that begin in a folder of the tree and do not exist, except those with a NAME to fill in."""
    folders = {p.name for p in root.iterdir() if p.is_dir() and not p.name.startswith(("build", "."))}
    problems = []
    for path in documents(root):
        for number, span in code_spans(path.read_text()):
            is_path = re.fullmatch(r"[\w.-]+/[\w./-]*", span) and span.split("/")[0] in folders
            if is_path and not re.search(r"[A-Z]{4,}(?!\.md)", span) and not (root / span).exists():
                problems.append(f"{name_of(path, root)}:{number}: there is no {span}")
    return problems


class Documents(unittest.TestCase):
    maxDiff = None

    def test_there_is_a_readme(self):
        self.assertTrue((ROOT / "README.md").is_file())

    def test_measured_figures_come_from_the_results(self):
        self.assertEqual(figure_problems(ROOT), [])

    def test_result_files_are_complete_and_hold(self):
        self.assertEqual(result_problems(ROOT), [])

    def test_tables_equal_the_results(self):
        tables = sorted((ROOT / "docs" / "results").glob("applications*.md"))
        self.assertGreaterEqual(len(tables), 3)
        for table in tables:
            written = subprocess.run([sys.executable, "-B", ROOT / "bench" / "applications_table.py",
                                      table.with_suffix(".json")],
                                     capture_output=True, text=True, timeout=60)
            self.assertEqual(written.returncode, 0, written.stderr)
            self.assertEqual(table.read_text(), written.stdout, table.name)

    def test_commands_exist(self):
        problems = []
        for path in documents(ROOT):
            problems += command_problems(path.read_text(), ROOT, TOOL, name_of(path, ROOT))[1]
        self.assertEqual(problems, [])

    def test_readme_shows_commands(self):
        self.assertGreater(command_problems((ROOT / "README.md").read_text(), ROOT, TOOL, "README.md")[0], 0)

    def test_named_files_exist(self):
        self.assertEqual(file_name_problems(ROOT), [])

    def test_link_targets_exist(self):
        self.assertEqual(link_problems(ROOT), [])


def result(**changes):
    row = {"name": "park", "params": {"blocks": 132, "kind": "one word"}, "value": 1.2345e9, "unit": "bytes/s",
           "compared_to": "poll", "ratio": 9.0512, "bar": 2, "holds": True}
    document = {"bench": "wait", "date": "2000-01-01T00:00:00Z", "machine": "m", "driver": "none", "commit": "c",
                "command": "wait", "rows": [row]}
    row.update({name[4:]: value for name, value in changes.items() if name.startswith("row_")})
    document.update({name: value for name, value in changes.items() if not name.startswith("row_")})
    return document


class Planted(unittest.TestCase):
    """A small tree with planted mistakes: each of the tests above can fail."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="wicprof-docs-")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        (self.root / "docs" / "results").mkdir(parents=True)
        (self.root / "bench").mkdir()
        self.write("bench/wait.cpp", 'claim.option("rounds", 7);\n')
        self.write("Makefile", "X := 1\ndemo: build\n\techo\ntest:\n")
        self.put(result())

    def write(self, name, text):
        (self.root / name).write_text(text)

    def put(self, document, name="wait.m.json"):
        self.write(f"docs/results/{name}", json.dumps(document))

    def assert_one(self, problems, *words):
        self.assertEqual(len(problems), 1, problems)
        for word in words:
            self.assertIn(word, problems[0])

    def figure(self, line):
        self.write("README.md", with_block(f"# T\n\n{line}\n"))
        return figure_problems(self.root)

    def test_right_figures(self):
        for line in ("park is 9.05 times shorter <!-- figure: wait.m.json park ratio %.2f -->",
                     "| park | 9.05x | <!-- figure: wait.m.json park ratio %.2fx -->",
                     "1.23 GB/s <!-- figure: wait.m.json park value %.2f /1e9 -->",
                     "**132** blocks, one word <!-- figure: wait.m.json park params.blocks -->",
                     "one 9.1, other 9.1 <!-- figure: wait.m.json park ratio %.1f --> "
                     "<!-- figure: wait.m.json park[blocks=132] ratio %.1f -->"):
            with self.subTest(line=line):
                self.assertEqual(self.figure(line), [])

    def test_wrong_figures(self):
        marker = "<!-- figure: wait.m.json park ratio %.2f -->"
        for line in (f"9.06 {marker}", f"19.05 {marker}", f"9.051 {marker}", f"1,9.05 {marker}", f"none {marker}",
                     f"`9.05` is elsewhere: 9.5 {marker}", f"hidden <!-- 9.05 --> {marker}",
                     f"one 9.05 only {marker} {marker}"):
            with self.subTest(line=line):
                self.assert_one(self.figure(line), "README.md:3", "9.05")

    def test_markers_without_a_target(self):
        for marker, word in (("other.json park ratio", "other.json"), ("wait.m.json poll ratio", "0 rows"),
                             ("wait.m.json park unit", "unit"), ("wait.m.json park params.threads", "params.threads"),
                             ("wait.m.json park[blocks=1] ratio", "0 rows"), ("wait.m.json park", "FIELD"),
                             ("wait.m.json park ratio %q", "%q"), ("wait.m.json park ratio %.1f 9", "scale")):
            with self.subTest(marker=marker):
                self.assert_one(self.figure(f"9.05 <!-- figure: {marker} -->"), word)

    def test_rows_of_one_name_need_a_parameter(self):
        document = result()
        document["rows"].append({**document["rows"][0], "params": {"blocks": 1}, "ratio": 5.0})
        self.put(document)
        self.assert_one(self.figure("9.05 <!-- figure: wait.m.json park ratio %.2f -->"), "2 rows")
        self.assertEqual(self.figure("5.00 <!-- figure: wait.m.json park[blocks=1] ratio %.2f -->"), [])

    def test_a_rows_name_with_spaces_is_in_quotation_marks(self):
        document = result()
        document["rows"][0]["name"] = "park, all of them"
        self.put(document)
        self.assertEqual(self.figure('9.05 <!-- figure: wait.m.json "park, all of them" ratio %.2f -->'), [])
        self.assert_one(self.figure('9.05 <!-- figure: wait.m.json "park, all ratio %.2f -->'), "quotation")

    def test_a_block_belongs_to_lines(self):
        block = "<!-- figures\n{}\n  wait.m.json park ratio %.2f\n-->\n"
        for text, words in (("9.05 <!-- figure: wait.m.json park ratio %.2f -->\n", ("README.md:1", "block")),
                            ("it is 9.05\n\n" + block.format("it was"), ("README.md:5", "0 lines begin with 'it was'")),
                            ("it is 9.05\nit is it\n\n" + block.format("it is"), ("README.md:6", "2 lines")),
                            ("it is 9.05\n\n" + block.format("") , ("README.md:5", "0 lines")),
                            (block.format("it is") + "it is 9.05\n", ("README.md:1", "at the end"))):
            with self.subTest(text=text):
                self.write("README.md", text)
                self.assert_one([each for each in figure_problems(self.root) if "no figure" not in each], *words)
        self.write("README.md", "it is 9.05\n\n" + block.format("it is"))
        self.assertEqual(figure_problems(self.root), [])

    def test_marks_are_moved_into_the_block(self):
        once = with_block("the first 9.05 <!-- figure: wait.m.json park ratio %.2f -->, once\n")
        self.assertEqual(once, "the first 9.05, once\n\n<!-- figures\nthe first 9.05, once\n"
                               "  wait.m.json park ratio %.2f\n-->\n")
        twice = with_block("the first 9.1 <!-- figure: wait.m.json park ratio %.1f -->, and\n" + once)
        self.assertEqual(twice.count("<!--"), 1)
        self.assertEqual(twice.count("  wait.m.json park ratio"), 2)
        self.assertEqual(with_block(twice), twice)
        for line in ("another begin 9.05", "the first 9.05, once\n\nthe first 9.05, once more"):
            with self.subTest(line), self.assertRaises(Wrong):
                with_block(once.replace("the first 9.05, once", line, 1))

    def test_no_marker_at_all(self):
        self.assert_one(self.figure("it is 9.05 times shorter"), "README.md")
        self.assert_one(self.figure("`<!-- figure: wait.m.json park ratio %.2f -->`"), "README.md")

    def test_result_files(self):
        self.write("README.md", "wait.m.json, wait.json")
        self.assertEqual(result_problems(self.root), [])
        bare = result()
        del bare["driver"], bare["rows"][0]["unit"]
        for document, word in ((bare, "driver"), (result(rows=[]), "no rows"),
                               (result(bench="other"), "bench/other.cpp"),
                               (result(row_value="fast"), "value"), (result(row_value=True), "value"),
                               (result(row_extra=1), "extra"), (result(row_bar=None), "without"),
                               (result(row_holds=False), "does not hold")):
            with self.subTest(word=word):
                self.put(document)
                self.assert_one(result_problems(self.root), word)
        self.write("docs/results/wait.m.json", "{")
        self.assert_one(result_problems(self.root), "not JSON")
        (self.root / "docs/results/wait.m.json").unlink()
        self.put(result(), "wait.json")
        self.assert_one(result_problems(self.root), "NAME.MACHINE.json")

    def test_a_row_that_does_not_hold_must_be_mentioned(self):
        self.put(result(row_holds=False))
        self.write("README.md", "the parking lot, wait.m.json")
        self.write("docs/results/README.md", "`park` is below another bar.")
        self.assert_one(result_problems(self.root), "park")
        self.write("docs/results/README.md", "`park` in wait.m.json is below its bar.")
        self.assertEqual(result_problems(self.root), [])

    def test_a_file_that_no_document_names(self):
        self.write("README.md", "wait.json and CHANGELOG.md")
        self.write("CHANGELOG.md", "wait.m.json")
        self.assert_one(result_problems(self.root), "wait.m.json", "no document")

    def commands(self, *lines, language="sh"):
        return command_problems("\n".join([f"```{language}", *lines, "```"]), self.root, TOOL, "README.md")

    def test_right_commands(self):
        count, problems = self.commands(
            "make demo && make test",
            "$ wic-prof run --schedule poll:2s,park:2s \\", "    -o a.wicprof -- ./app --any -x",
            "X=1 build/bin/wic-prof analyze a.wicprof --format=json > a.json  # --not-an-option", "wic-prof --version",
            "cd build; ls --color", "build/bin/bench_wait --rounds 3 -o -")
        self.assertEqual((count, problems), (6, []))

    def test_wrong_commands(self):
        for line, word in (("wic-prof dance", "'dance'"), ("wic-prof run --mood park -- app", "--mood"),
                           ("true; wic-prof compare -z a b", "-z"), ("wic-prof --loud", "--loud"),
                           ("make coffee", "'coffee'"), ("wic-prof analyze 'a", "shell"), ("bench_none", "none"),
                           ("bench_wait --turns 3", "--turns")):
            with self.subTest(line=line):
                self.assert_one(self.commands("echo", line)[1], "README.md:3", word)

    def test_other_code_is_not_a_command(self):
        self.assertEqual(self.commands("wic-prof dance", language="text"), (0, []))

    def test_named_files(self):
        self.write("README.md", "`bench/wait.cpp`, `docs/results/`, `bench/NAME.cpp`, `a/b`\n"
                                "```\n`bench/no.cpp`\n```\n")
        self.assertEqual(file_name_problems(self.root), [])
        self.write("README.md", "\nsee `bench/late.cpp`\n")
        self.assert_one(file_name_problems(self.root), "README.md:2", "bench/late.cpp")

    def test_links(self):
        self.write("docs/a.md", "# The A\n## B & C: `d`\n[up](../README.md) [b](#b--c-d)\n"
                                "[w](https://example.org/x) `[n](none)`\n")
        self.write("README.md", "[a](docs/a.md) [h](docs/a.md#the-a) ![r](docs/results/)\n[ref]: docs/a.md\n")
        self.assertEqual(link_problems(self.root), [])
        for text, word in (("[a](docs/b.md)", "docs/b.md"), ("[a](docs/a.md#z)", "#z"), ("[r]: gone.md", "gone.md")):
            with self.subTest(text=text):
                self.write("README.md", f"\n{text}\n")
                self.assert_one(link_problems(self.root), "README.md:2", word)


if __name__ == "__main__":
    unittest.main(verbosity=2)
