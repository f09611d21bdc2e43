"""The HTML report where nothing but its text arrives: build services forbid styles and scripts (Jenkins, GitLab)."""

import gzip
import html.parser
import os
import re
import shutil
import unittest

import harness

# Elements that a browser draws in the line of the text around them.
IN_LINE = {"a", "b", "button", "code", "em", "i", "kbd", "label", "span", "strong", "svg"}
TRACES = ("hot_flag.poll", "hot_flag.park", "bare_poll", "c_h3d.poll")


class Words(html.parser.HTMLParser):
    """Finds words of two elements in one line that no space parts, and elements that have a style."""

    def __init__(self, text):
        super().__init__()
        self.joined, self.styled, self.drawings, self.black = [], [], 0, []
        self.before, self.tag_between, self.skipping, self.in_drawing = "", False, 0, False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if "style" in given:
            self.styled.append(self.get_starttag_text())
        if tag == "svg":
            self.drawings += 1
            self.in_drawing = True
        elif self.in_drawing and tag in ("rect", "circle", "path", "line") and not {"fill", "stroke"} & given.keys():
            self.black.append(self.get_starttag_text())
        if tag in ("script", "style", "svg"):
            self.skipping += 1
        self.passed(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)

    def handle_endtag(self, tag):
        if tag in ("script", "style", "svg"):
            self.skipping -= 1
        if tag == "svg":
            self.in_drawing = False
        self.passed(tag)

    def passed(self, tag):
        self.tag_between = True
        if tag not in IN_LINE and not self.skipping:
            self.before = ""

    def handle_data(self, data):
        if self.skipping or not data:
            return
        if self.tag_between and re.search(r"\w$", self.before) and re.match(r"\w", data):
            self.joined.append(f"{self.before[-30:]}|{data[:30]}")
        self.before, self.tag_between = data, False


class ReportText(harness.Case):
    def page(self, *traces):
        result = self.wic_prof("report", *traces, "-f", "-o", "report.html")
        self.assertEqual(result.returncode, 0, result.stderr)
        return (self.work / "report.html").read_text()

    def test_without_a_style_it_has_words_and_colours(self):
        for name in TRACES:
            with gzip.open(harness.SOURCE / "samples" / "traces" / f"{name}.wicprof.gz") as packed:
                (self.work / f"{name}.wicprof").write_bytes(packed.read())
        self.record("both.wicprof", "--seconds", 1, run_options=("--schedule", "poll:500ms,park:500ms"))
        for traces in (["hot_flag.poll.wicprof"], ["bare_poll.wicprof"], ["c_h3d.poll.wicprof"], ["both.wicprof"],
                       ["hot_flag.poll.wicprof", "hot_flag.park.wicprof"]):
            with self.subTest(traces=traces):
                words = Words(self.page(*traces))
                self.assertEqual(words.styled, [])
                self.assertEqual(words.joined, [])
                self.assertGreater(words.drawings, 3)
                self.assertEqual(words.black, [], "drawn black")

    def test_of_a_trace_whose_name_is_no_text(self):
        self.record("t.wicprof", "--seconds", 1, run_options=("--schedule", "poll:500ms,park:500ms"))
        name = os.fsdecode(b"\xff<\xc3.wicprof")
        shutil.copy(self.work / "t.wicprof", self.work / name)
        for traces in ([name], [name, "t.wicprof"], ["t.wicprof", name]):
            page = self.page(*traces)
            self.assertIn("\ufffd&lt;\ufffd.wicprof", page)
            self.assertIn("</html>", page)


class Checker(unittest.TestCase):
    def test_finds_joined_words_styles_and_black_drawings(self):
        self.assertEqual(Words("<p><span>one</span><b>two</b></p>").joined, ["one|two"])
        self.assertEqual(Words("<p><span>one</span> <b>two</b></p><p>three</p>").joined, [])
        self.assertEqual(len(Words('<i style="width:3%"></i>').styled), 1)
        self.assertEqual(len(Words('<svg><rect class="a"/><rect fill="red"/></svg>').black), 1)


if __name__ == "__main__":
    harness.main()
