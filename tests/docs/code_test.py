"""The code blocks of PAGES are pieces of sources that a test compiles.

A block comes after a line `<!-- code: FILE [NAME] -->`: the whole file, or the part between its comment lines
`[NAME]` and `[end]`.
"""

import os
import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from markdown import FENCE

ROOT = pathlib.Path(os.environ["WICPROF_SOURCE"]).resolve()
PAGES = ["README.md", "docs/waiting.md", "docs/channels.md", "docs/classification.md", "docs/ci.md"]
EXAMPLES = "docs/examples"
CODE = {"cpp", "c++", "cuda", "cmake", "c", ""}
MARKER = re.compile(r"<!-- code: (\S+)(?: (\S+))? -->\s*$")
PIECE = re.compile(r"^\s*(?://|#) \[(\w+)\]\s*$")


def pieces(text):
    """{name: text} of the marked pieces of a source; "" is the whole source without the marking lines."""
    found, name, whole = {}, None, []
    for line in text.splitlines():
        mark = PIECE.match(line)
        if not mark:
            whole.append(line)
            if name:
                found[name].append(line)
        elif mark.group(1) == "end":
            name = None
        else:
            name = mark.group(1)
            found[name] = []
    return {"": "\n".join(whole), **{name: "\n".join(lines) for name, lines in found.items()}}


def blocks(text):
    """(number of its first line, language, text, the marker before it or None) of every code block."""
    marker, block = None, None
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if block is None and fence:
            block = (number, fence.group(2), [], marker)
        elif block is not None and fence and not fence.group(2):
            yield block[0], block[1], "\n".join(block[2]), block[3]
            block, marker = None, None
        elif block is not None:
            block[2].append(line)
        elif line.strip():
            marker = MARKER.match(line)


def page_problems(root, page):
    problems, shown = [], set()
    for number, language, text, marker in blocks((root / page).read_text()):
        where = f"{page}:{number}"
        if marker is None:
            if language in CODE:
                problems.append(f"{where}: no <!-- code: FILE --> says where this is compiled")
            continue
        source, name = root / marker.group(1), marker.group(2) or ""
        if not marker.group(1).startswith(EXAMPLES + "/") or not source.is_file():
            problems.append(f"{where}: there is no {marker.group(1)} in {EXAMPLES}")
            continue
        shown.add((marker.group(1), name))
        piece = pieces(source.read_text()).get(name)
        if piece is None:
            problems.append(f"{where}: {marker.group(1)} has no piece {name}")
        elif piece != text:
            problems.append(f"{where}: this is not what {marker.group(1)} {name} holds")
    return problems, shown


def all_problems(root, pages):
    problems, shown = [], set()
    for page in pages:
        wrong, here = page_problems(root, page)
        problems += wrong
        shown |= here
    if not shown:
        problems.append("no code block was compared with anything")
    for source in sorted(p for p in (root / EXAMPLES).rglob("*") if p.is_file()):
        name = source.relative_to(root).as_posix()
        for piece in [piece for piece in pieces(source.read_text()) if piece] or [""]:
            if (name, piece) not in shown:
                problems.append(f"{name} {piece}: no page shows it".replace(" :", ":"))
    return problems


class Code(unittest.TestCase):
    maxDiff = None

    def test_code_blocks_equal_the_compiled_sources(self):
        self.assertEqual(all_problems(ROOT, PAGES), [])

    def test_every_source_is_compiled(self):
        compiled = "".join((ROOT / path).read_text() for path in (
            "tests/docs/CMakeLists.txt", "tests/docs/waiting_examples_test.cpp",
            "tests/docs/channels_examples_test.cpp", "tests/package/package_test.py",
            "tests/wic-backend/adoption_test.cpp"))
        for source in (ROOT / EXAMPLES).rglob("*"):
            if source.suffix in {".cu", ".h"}:
                self.assertIn(source.relative_to(ROOT).as_posix(), compiled)
        self.assertIn('"docs" / "examples" / "app"', compiled)


class Planted(unittest.TestCase):
    """A small tree with planted mistakes: each of the checks above can fail."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="wicprof-code-")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / EXAMPLES).mkdir(parents=True)
        self.write("docs/examples/a.h", "int before;\n// [one]\nint one;\n\nint two;\n// [end]\n")
        self.write("docs/examples/CMakeLists.txt", "project(p)\n")
        self.right = ("# P\n\n<!-- code: docs/examples/a.h one -->\n```cpp\nint one;\n\nint two;\n```\n"
                      "<!-- code: docs/examples/CMakeLists.txt -->\n\n```cmake\nproject(p)\n```\n```sh\nls\n```\n")

    def write(self, name, text):
        (self.root / name).write_text(text)

    def problems(self, text):
        self.write("docs/page.md", text)
        return all_problems(self.root, ["docs/page.md"])

    def test_right(self):
        self.assertEqual(self.problems(self.right), [])

    def test_wrong(self):
        for old, new, word in (("int one;", "int  one;", "not what"), ("int two;", "int two;\nint three;", "not what"),
                               ("a.h one", "a.h three", "no piece three"), ("a.h one", "b.h one", "there is no"),
                               ("docs/examples/a.h", "docs/page.md", "there is no"),
                               ("<!-- code: docs/examples/CMakeLists.txt -->", "text", "no <!-- code"),
                               ("```sh", "```cpp", "no <!-- code"), ("```sh", "```", "no <!-- code")):
            with self.subTest(new=new):
                problems = self.problems(self.right.replace(old, new))
                self.assertIn(word, "\n".join(problems))

    def test_a_piece_that_no_page_shows(self):
        self.write("docs/examples/late.h", "int late;\n")
        self.assertEqual(self.problems(self.right), ["docs/examples/late.h: no page shows it"])

    def test_an_empty_page(self):
        self.assertIn("no code block was compared with anything", self.problems("# P\n"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
