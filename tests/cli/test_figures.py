"""analyze --figure: tables of the paper's figures, for one trace and for several."""

import csv
import io
import json
import unittest

import harness

NUMBERS = (2, 4, 5, 6, 7, 12, 13, 14, 15, 16, 17)


class Figures(harness.Case):
    def test_every_figure_has_rows_or_says_what_is_missing(self):
        self.record("t.wicprof")
        for number in NUMBERS:
            with self.subTest(figure=number):
                result = self.wic_prof("analyze", "t.wicprof", "--figure", number, "--format=json")
                self.assertEqual(result.returncode, 0, result.stderr)
                figure = json.loads(result.stdout)
                self.assertEqual(figure["figure"], number)
                self.assertEqual(figure["missing"] is None, bool(figure["rows"]))
                for row in figure["rows"]:
                    self.assertEqual(list(row), figure["columns"])
                text = self.wic_prof("analyze", "t.wicprof", "--figure", number).stdout
                self.assertIn(f"Figure {number}: ", text)
                self.assertEqual("could not look" in text, figure["missing"] is not None)

    def test_csv_has_the_rows_of_the_json(self):
        self.record("t.wicprof")
        figure = json.loads(self.wic_prof("analyze", "t.wicprof", "--figure=2", "--format=json").stdout)
        table = self.wic_prof("analyze", "t.wicprof", "--figure=2", "--format=csv").stdout
        rows = list(csv.DictReader(io.StringIO(table)))
        self.assertEqual([row["site"] for row in rows], [row["site"] for row in figure["rows"]])
        self.assertEqual(set(rows[0]), set(figure["columns"]))

    def test_two_traces_give_the_speed_up(self):
        self.record("a.wicprof")
        self.record("b.wicprof", run_options=("--mode", "park"))
        result = self.wic_prof("analyze", "a.wicprof", "b.wicprof", "--figure", 12, "--format=json")
        figure = json.loads(result.stdout)
        self.assertIsNone(figure["missing"])
        self.assertIn("a.wicprof", figure["rows"][0]["trace"])
        self.assertIn("b.wicprof", figure["rows"][0]["trace"])

    def test_invalid_requests(self):
        self.record("t.wicprof")
        for words, message in ((("t.wicprof", "--figure", 3), "figures are 2, 4"),
                               (("t.wicprof", "t.wicprof"), "--figure"),
                               (("t.wicprof", "--format", "csv"), "--figure")):
            with self.subTest(words=words):
                result = self.wic_prof("analyze", *words)
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertIn(message, result.stderr)


if __name__ == "__main__":
    unittest.main()
