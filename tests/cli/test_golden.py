"""The exact output of analyze, compare and report for a trace in which every time is known; golden/ holds it.

To change the output on purpose: WICPROF_UPDATE_GOLDEN=1 ctest -R cli.golden, then read the difference in git.
"""

import difflib
import os
import sqlite3
import subprocess

import harness

GOLDEN = harness.SOURCE / "tests" / "cli" / "golden"
MAKE_TRACE = os.environ["WICPROF_MAKE_TRACE"]
UPDATE = os.environ.get("WICPROF_UPDATE_GOLDEN") == "1"
ANSWERS = {
    "analyze.txt": ["analyze", "both.wicprof"],
    "analyze.json": ["analyze", "both.wicprof", "--format", "json"],
    "compare.txt": ["compare", "both.wicprof"],
    "compare.json": ["compare", "both.wicprof", "--format", "json"],
    "compare_two.txt": ["compare", "poll.wicprof", "park.wicprof"],
    "compare_two.json": ["compare", "poll.wicprof", "park.wicprof", "--format", "json"],
    "report.md": ["report", "both.wicprof", "--format", "md"],
    "report.json": ["report", "both.wicprof", "--format", "json"],
    "report.csv": ["report", "both.wicprof", "--format", "csv"],
}


class Golden(harness.Case):
    maxDiff = None

    def setUp(self):
        super().setUp()
        for mode in ("both", "poll", "park"):
            trace = self.work / f"{mode}.wicprof"
            subprocess.run([MAKE_TRACE, trace, "48", mode], check=True)
            # Differs between recordings and machines.
            with sqlite3.connect(trace) as database:
                for key, value in (("pid", "4242"), ("host", "machine"), ("started_ns", "1000000000"),
                                   ("ended_ns", "2000000000"), ("started_utc", "2025-01-01T00:00:00Z"),
                                   ("wic_prof_version", "0.0.0")):
                    database.execute("UPDATE meta SET value = ? WHERE key = ?", (value, key))
            database.close()

    def test_answers(self):
        for name, words in ANSWERS.items():
            with self.subTest(name):
                result = self.wic_prof(*words)
                self.assertEqual(result.returncode, 0, result.stderr)
                kept = GOLDEN / name
                if UPDATE:
                    kept.write_text(result.stdout)
                before = kept.read_text()
                if result.stdout != before:
                    difference = difflib.unified_diff(before.splitlines(True), result.stdout.splitlines(True),
                                                      f"golden/{name}", "now")
                    self.fail("".join(difference) + "\nwanted? WICPROF_UPDATE_GOLDEN=1 ctest -R cli.golden")

    def test_damaged(self):
        """On a damaged trace, the verbs answer or fail with the name of the file. tests/analyzer tries hundreds."""
        whole = (self.work / "both.wicprof").read_bytes()
        middle = len(whole) // 2
        damages = {
            "cut": whole[:middle],
            "empty pages": whole[:middle] + bytes(8192) + whole[middle + 8192:],
            "turned": bytes(b ^ (0x55 if i % 997 == 500 else 0) for i, b in enumerate(whole)),
            "begins only": whole[:4096],
        }
        for what, data in damages.items():
            (self.work / "damaged.wicprof").write_bytes(data)
            self.answer_or_error(what)
        for sql in ("UPDATE wait SET arrived_ns = resumed_ns, resumed_ns = arrived_ns",
                    "UPDATE wait SET resumed_ns = 9223372036854775807 WHERE id % 3 = 0",
                    "UPDATE kernel SET start_ns = -9223372036854775808",
                    "UPDATE signal SET site_id = 4000000000, value = -1",
                    "UPDATE wait SET device_id = 31000, strategy_id = 200, polls = 4294967295",
                    "DELETE FROM string", "DELETE FROM device", "DELETE FROM meta", "DROP TABLE signal"):
            (self.work / "damaged.wicprof").write_bytes(whole)
            with sqlite3.connect(self.work / "damaged.wicprof") as database:
                database.execute(sql)
            database.close()
            self.answer_or_error(sql)

    def answer_or_error(self, what):
        for words in (["analyze", "damaged.wicprof", "--format", "json"], ["compare", "damaged.wicprof"],
                      ["compare", "poll.wicprof", "damaged.wicprof"],
                      ["report", "damaged.wicprof", "--format", "html"]):
            with self.subTest(damage=what, verb=words[0]):
                result = self.wic_prof(*words)
                self.assertIn(result.returncode, (0, 2), result.stderr)
                if result.returncode == 0:
                    self.assertTrue(result.stdout)
                else:
                    self.assertIn("damaged.wicprof", result.stderr)


if __name__ == "__main__":
    harness.main()
