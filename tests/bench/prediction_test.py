"""The report of bench/prediction.py over comparisons that are made up: what is answered, open, right and wrong."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BENCH = pathlib.Path(os.environ["WICPROF_SOURCE"]) / "bench"


def gain(value, low, high):
    return {"value": value, "low": low, "high": high}


def comparison(predicted, measured, bounds=None):
    """`predicted` and `measured` as gain(), or None; an answer is its own bounds."""
    error = predicted and measured and predicted["value"] / measured["value"] - 1
    bounds = bounds or predicted
    return {"predicted": predicted, "predicted_bounds": bounds and {"low": bounds["low"], "high": bounds["high"]},
            "predicted_reason": "a reason", "speedup": measured, "prediction_error": error, "verdict": "no change",
            "reason": "another reason"}


class Report(unittest.TestCase):
    def report(self, cases, draw=False):
        """{name: comparison} -> the exit status, the rows by name and, if asked for, the picture."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for name, said in cases.items():
                (folder / (name + ".json")).write_text(json.dumps(said))
            output = folder / "rows.out"
            command = [sys.executable, "-B", BENCH / "prediction.py", "--machine", "test", "--commit", "none",
                       "-o", output, *sorted(folder.glob("*.json"))]
            done = subprocess.run(command, capture_output=True, text=True, timeout=60)
            rows = {row["name"]: row for row in json.loads(output.read_text())["rows"]}
            if not draw:
                return done.returncode, rows
            subprocess.run([sys.executable, "-B", BENCH / "draw_prediction.py", output, folder / "images"], timeout=60,
                           check=True)
            return done.returncode, rows, (folder / "images" / "prediction.svg").read_text()

    def test_answers_and_open_cases_count_apart(self):
        status, rows, picture = self.report({
            "flag_handoff_b1": comparison(gain(1, 0.95, 1.05), gain(1.01, 1, 1.02)),   # used to improve
            "flag_handoff_b8": comparison(gain(1, 0.95, 1.05), gain(0.98, 0.97, 0.99)),  # judged
            "hot_flag_w8": comparison(None, gain(2.2, 2.1, 2.3), gain(None, 0.99, 3.2)),
            "hot_flag_w33": comparison(None, gain(12, 11, 13), gain(None, 1, 9.5)),
            "c_srs": comparison(None, gain(1, 0.9, 1.1)),
            "c_cg_n96": comparison(gain(1, 0.95, 1.05), gain(1, 0.5, 2)),
        }, draw=True)
        self.assertEqual(status, 0)
        self.assertEqual((rows["answered_all"]["value"], rows["answered_all"]["params"]["cases"]), (2, 4))
        self.assertEqual(rows["open_outside_all"]["value"], 1)
        self.assertAlmostEqual(rows["no_gain_error_judged"]["value"], 1 / 0.98 - 1)
        self.assertEqual({rows[name]["unit"] for name in ("c_srs", "c_cg_n96")}, {"could not look"})
        self.assertTrue(rows["hot_flag_w8"]["params"]["open"])
        self.assertEqual(picture.count("<circle"), 2 * 2 + 2 + 2)  # two answers in two views, two bounds, two legends

    def test_no_gain_that_is_wrong_fails(self):
        wrong = comparison(gain(1, 0.95, 1.05), gain(1.2, 1.19, 1.21))
        status, rows = self.report({"flag_handoff_b1": wrong})
        self.assertEqual(status, 1)
        self.assertFalse(rows["no_gain_error_all"]["holds"])
        self.assertFalse(rows["outside_all"]["holds"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
