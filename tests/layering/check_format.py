"""Checks that clang-format would not change any C++ or CUDA file, and that no line of these or of Python files exceeds
the column limit.

The version is pinned, because each release of clang-format breaks lines differently.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]

VERSION = 14
COLUMNS = 120
PARTS = ["protocol", "code", "rewriter", "collector", "wic-backend", "store", "import", "analyzer", "reports", "gui",
         "cli", "samples", "bench", "tests", "docs"]
RAW_STRING = re.compile(r'R"(\w*)\(.*?\)\1"', re.S)
SOURCES = {".h", ".cpp", ".cu", ".cuh"}
SCRIPTS = {".py"}


def find_clang_format():
    """The path of the pinned clang-format version, or None if this machine lacks it."""
    for name in (f"clang-format-{VERSION}", "clang-format"):
        path = shutil.which(name)
        if path is None:
            continue
        said = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
        if re.search(rf"version {VERSION}\.", said):
            return path
    return None


CLANG_FORMAT = find_clang_format()


def files_with(root, suffixes):
    return sorted(path for part in PARTS for path in (root / part).rglob("*") if path.suffix in suffixes)


def unformatted(files, style):
    """The names of the files that clang-format would change."""
    found = set()
    for begin in range(0, len(files), 100):
        command = [CLANG_FORMAT, f"--style=file:{style}", "--dry-run", "-Werror", *map(str, files[begin:begin + 100])]
        said = subprocess.run(command, capture_output=True, text=True).stderr
        found |= set(re.findall(r"^([^:\n]+):\d+:\d+: error:", said, re.M))
    return sorted(found)


def long_lines(path):
    """The positions of long lines. Skips raw strings, which hold unmodified output of other programs."""
    code = RAW_STRING.sub(lambda match: "\n" * match.group(0).count("\n"), path.read_text())
    return [f"{path}:{number}" for number, line in enumerate(code.splitlines(), 1) if len(line) > COLUMNS]


class Tree(unittest.TestCase):
    @unittest.skipIf(CLANG_FORMAT is None, f"clang-format {VERSION} is not installed")
    def test_is_formatted(self):
        self.assertEqual(unformatted(files_with(ROOT, SOURCES), ROOT / ".clang-format"), [],
                         f"run: clang-format-{VERSION} -i FILE")

    def test_has_no_long_lines(self):
        files = files_with(ROOT, SOURCES | SCRIPTS)
        for suffixes in (SOURCES, SCRIPTS):
            self.assertGreater(sum(path.suffix in suffixes for path in files), 30)
        self.assertEqual([where for path in files for where in long_lines(path)], [])


class Checker(unittest.TestCase):
    """Plants faults, to prove that the tests above can fail."""

    def planted(self, text):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        folder = pathlib.Path(temporary.name)
        path = folder / "planted.cpp"
        path.write_text(text)
        return path

    @unittest.skipIf(CLANG_FORMAT is None, f"clang-format {VERSION} is not installed")
    def test_unformatted_file(self):
        path = self.planted("int  main( ){return 0 ;}\n")
        self.assertEqual(unformatted([path], ROOT / ".clang-format"), [str(path)])

    def test_long_line(self):
        path = self.planted("// short\n// " + "x" * COLUMNS + "\n")
        self.assertEqual(long_lines(path), [f"{path}:2"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
