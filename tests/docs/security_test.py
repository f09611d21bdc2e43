"""Each test that docs/security.md names exists, and each of its rows names one."""

import ast
import os
import pathlib
import re
import unittest

ROOT = pathlib.Path(os.environ["WICPROF_SOURCE"]).resolve()
PAGE = "docs/security.md"
NAMED = re.compile(r"`(tests/[\w/.]+)` `(\w+)\.(\w+)`")


def tests_of(path):
    """{(class, test)} of a test file in Python or C++."""
    text = path.read_text()
    if path.suffix == ".cpp":
        return set(re.findall(r"^TEST(?:_F)?\((\w+), (\w+)\)", text, re.M))
    return {(each.name, test.name) for each in ast.parse(text).body if isinstance(each, ast.ClassDef)
            for test in each.body if isinstance(test, ast.FunctionDef) and test.name.startswith("test_")}


def problems(root, page):
    found = []
    for number, line in enumerate(page.splitlines(), 1):
        if not line.startswith("|") or line.startswith("| what |") or set(line) <= set("| -"):
            continue
        named = NAMED.findall(line.split("|")[-2])
        if not named:
            found.append(f"{PAGE}:{number}: names no test")
        for file, of_class, test in named:
            if not (root / file).is_file() or (of_class, test) not in tests_of(root / file):
                found.append(f"{PAGE}:{number}: there is no {file} {of_class}.{test}")
    return found


class Security(unittest.TestCase):
    maxDiff = None

    def test_each_named_test_exists(self):
        page = (ROOT / PAGE).read_text()
        self.assertGreater(len(NAMED.findall(page)), 30)
        self.assertEqual(problems(ROOT, page), [])

    def test_a_missing_test_is_found(self):
        rows = ["| a | b | `tests/docs/security_test.py` `Security.test_nothing` |", "| a | b | nobody tried |",
                "| a | b | `tests/none.py` `A.test_b` |",
                "| a | b | `tests/docs/security_test.py` `Security.test_a_missing_test_is_found` |"]
        self.assertEqual([each.split(": ")[0] for each in problems(ROOT, "\n".join(rows))],
                         [f"{PAGE}:{line}" for line in (1, 2, 3)])


if __name__ == "__main__":
    unittest.main(verbosity=2)
