"""Golden files: texts that the verbs are to say exactly. Used by test_golden.py and test_how_to.py.

To change them on purpose: WICPROF_UPDATE_GOLDEN=1 ctest -R 'cli.(golden|how_to)', then read the difference in git.
"""

import difflib
import os
import re

import harness

GOLDEN = harness.SOURCE / "tests" / "cli" / "golden"
UPDATE = os.environ.get("WICPROF_UPDATE_GOLDEN") == "1"
NEWCOMERS = ("server", "hang", "polling")  # in golden/newcomers, of test_how_to.py


class Case(harness.Case):
    maxDiff = None

    def keep(self, name, text):
        """Compares the text with its golden file, or writes that file."""
        kept = GOLDEN / name
        if UPDATE:
            kept.parent.mkdir(exist_ok=True)
            kept.write_text(text)
        before = kept.read_text()
        if text != before:
            difference = difflib.unified_diff(before.splitlines(True), text.splitlines(True), f"golden/{name}", "now")
            self.fail("".join(difference) + "\nwanted? WICPROF_UPDATE_GOLDEN=1 ctest -R 'cli.(golden|how_to)'")

    def without_numbers(self, text):
        """The text with each number as N and columns two spaces apart."""
        text = re.sub(r"\d+(?:[.:]\d+)*", "N", text.replace(str(self.folder), "/folder"))
        return re.sub(r"(?<=\S) {2,}", "  ", re.sub(r"N (?:ns|us|ms|s)\b", "N TIME", text))
