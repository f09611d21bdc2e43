"""Checks the classification of recorded applications.

Complete traces must be classified correctly, traces with half of their rows removed correctly or as unknown, and
damaged traces never wrongly. The whole matrix takes minutes (bench/classification.py,
docs/results/classification.*.json); this test records every application once, in one of the three ways of waiting, at
one of its sizes.
"""

import collections
import contextlib
import json
import os
import pathlib
import random
import sqlite3
import sys
import unittest

SOURCE = pathlib.Path(os.environ["WICPROF_SOURCE"])
os.environ.setdefault("WICPROF_TRACED_APP", "")  # the harness requires it; unused here
sys.path += [str(SOURCE / "tests" / "cli"), str(SOURCE / "bench")]

import classification
import harness

TOOLS = {"wic_prof": pathlib.Path(harness.WICPROF), "programs": pathlib.Path(os.environ["WICPROF_SAMPLES"])}


class Applications(harness.Case):
    maxDiff = None

    def setUp(self):
        super().setUp()
        os.environ["XDG_RUNTIME_DIR"] = str(self.runtime)  # for the commands of bench/classification.py

    def cases(self):
        apps = classification.applications(TOOLS["programs"])
        self.assertGreaterEqual(len(apps), 5)
        for number, app in enumerate(apps):
            yield classification.Case(app, classification.WAYS[number % 3], classification.SIZES[app][number % 2], 6)

    def test_right_as_recorded_and_not_wrong_with_half_of_the_rows(self):
        for case in self.cases():
            with self.subTest(case=case):
                trace = classification.record(TOOLS, case, self.work)
                for said in classification.ask(TOOLS, case, trace, self.work, seeds=range(2)):
                    self.assertFalse(classification.is_wrong(said), said)
                    self.assertGreaterEqual(said.confidence, 0.5 if said.answer != "unknown" else 0, said)
                    if said.removed == 0:
                        self.assertEqual(said.answer, said.truth, said)

    def test_a_parked_block_was_released_by_its_own_message(self):
        """Several messages share a word, one bit each: each wait must name the signal of its own bit and its time."""
        trace = classification.record(TOOLS, classification.Case("g_bs", "park", 2048, 6), self.work)
        with contextlib.closing(sqlite3.connect(trace)) as file:
            waits = file.execute("SELECT w.site_id, w.iteration, w.word_tag, w.value, w.ready_ns, w.resumed_ns"
                                 " FROM wait w JOIN site s ON s.id = w.site_id WHERE s.purpose = 1").fetchall()
            self.assertGreater(len({value for _, _, _, value, _, _ in waits}), 1, "several messages share a word")
            for site, iteration, word, value, ready, resumed in waits:
                sent = file.execute("SELECT at_ns FROM signal"
                                    " WHERE site_id = ? AND iteration = ? AND word_tag = ? AND value = ?",
                                    (site, iteration, word, value)).fetchall()
                self.assertEqual([(ready,)], sent)
                self.assertLessEqual(ready, resumed)

    def test_a_damaged_trace_gives_an_error_or_no_wrong_answer(self):
        case = next(self.cases())
        truth = classification.truth_of(case.app)
        trace = classification.record(TOOLS, case, self.work)
        whole = trace.read_bytes()
        draw = random.Random(5)
        for number in range(12):
            damaged = bytearray(whole)
            if number % 2 == 0:
                del damaged[draw.randrange(len(whole)):]
            else:
                for _ in range(40):
                    damaged[draw.randrange(100, len(whole))] = draw.randrange(256)
            (self.work / "damaged.wicprof").write_bytes(damaged)
            result = self.wic_prof("analyze", "damaged.wicprof", "--format", "json")
            self.assertIn(result.returncode, (0, 2), result.stderr)
            if result.returncode == 0:
                said = json.loads(result.stdout)["classification"]
                self.assertIn(said["model"], (truth["model"], "unknown"))
                self.assertIn(said["pattern"], (truth["pattern"], "unknown"))
            else:
                self.assertIn("damaged.wicprof", result.stderr)


class Matrix(unittest.TestCase):
    """The rows that the benchmark derives from answers; wrong answers must show."""

    CASE = classification.Case("g_bs", "poll", 1024, 6)

    def said(self, answer, removed=0.0):
        return classification.Said(self.CASE, removed, 0, "model", "multiple", answer, 0.9)

    def rows(self, *said):
        both = list(said) + [one._replace(dimension="pattern") for one in said]
        found = collections.defaultdict(list)
        for row in classification.rows_of(both):
            found[row["name"]].append(row)
        return found

    def test_all_right(self):
        rows = self.rows(self.said("multiple"), self.said("multiple"))
        self.assertTrue(all(row["holds"] for row in rows["right"] + rows["wrong"]))
        self.assertEqual([row["value"] for row in rows["confusion"]], [2, 2])

    def test_unknown_is_allowed_where_rows_are_missing(self):
        rows = self.rows(self.said("unknown", removed=0.5))
        self.assertTrue(all(row["holds"] is not False for row in rows["right"] + rows["wrong"]))
        rows = self.rows(self.said("unknown"))
        self.assertFalse(all(row["holds"] for row in rows["right"]))

    def test_a_wrong_answer_does_not_hold(self):
        rows = self.rows(self.said("multiple", removed=0.5), self.said("alternating", removed=0.5))
        self.assertFalse(any(row["holds"] for row in rows["wrong"]))


if __name__ == "__main__":
    harness.main()
