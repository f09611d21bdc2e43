"""Every path in code spans of CONTRIBUTING.md and docs/architecture.md exists."""

import os
import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from markdown import code_spans

ROOT = pathlib.Path(os.environ["WICPROF_SOURCE"]).resolve()
PAGES = ("CONTRIBUTING.md", "docs/architecture.md")
FILE = re.compile(r"[\w./-]+\.(h|cpp|cu|py|md|txt|json|sh|cmake)")


def is_path(span, root):
    """Paths begin in a folder of the tree, or have a slash and a source file's extension."""
    if not re.fullmatch(r"[\w.-]+/[\w./-]*", span) or span.startswith("build"):
        return False
    if re.search(r"[A-Z]{4,}(?!\.md)", span):  # a NAME to fill in
        return False
    return (root / span.split("/")[0]).is_dir() or FILE.fullmatch(span) is not None


def missing_paths(root, page):
    return [f"{page}:{number}: there is no {span}" for number, span in code_spans((root / page).read_text())
            if is_path(span, root) and not (root / span).exists()]


class Paths(unittest.TestCase):
    maxDiff = None

    def test_exist(self):
        self.assertEqual([problem for page in PAGES for problem in missing_paths(ROOT, page)], [])

    def test_contributing_names_paths(self):
        spans = [span for _, span in code_spans((ROOT / "CONTRIBUTING.md").read_text()) if is_path(span, ROOT)]
        self.assertGreater(len(spans), 20)

    def test_a_missing_path_is_found(self):
        with tempfile.TemporaryDirectory(prefix="wicprof-docs-") as folder:
            root = pathlib.Path(folder)
            (root / "store").mkdir()
            (root / "a.md").write_text("`store/` `store/no.h` `none/b.cpp` `poll/park` `store/NAME`\n")
            self.assertEqual(missing_paths(root, "a.md"),
                             ["a.md:1: there is no store/no.h", "a.md:1: there is no none/b.cpp"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
