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
    def report(self, cases, draw=False, earlier=None):
        """{name: comparison} -> the exit status, the rows by name and, if asked for, the picture. `earlier`: rows."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for name, said in cases.items():
                (folder / (name + ".json")).write_text(json.dumps(said))
            output = folder / "rows.out"
            command = [sys.executable, "-B", BENCH / "prediction.py", "--machine", "test", "--commit", "none",
                       "-o", output, *sorted(folder.glob("*.json"))]
            if earlier is not None:
                (folder / "earlier.rows").write_text(json.dumps({"rows": earlier}))
                command += ["--with", folder / "earlier.rows"]
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

    def test_cases_of_an_earlier_result_count_unless_they_are_new(self):
        cases = {"flag_handoff_b1": comparison(gain(1, 0.95, 1.05), gain(1.01, 1, 1.02)),
                 "hot_flag_w8": comparison(None, gain(2.2, 2.1, 2.3), gain(None, 0.99, 3.2))}
        earlier = list(self.report(cases)[1].values())
        new = {"flag_handoff_b1": comparison(gain(1, 0.95, 1.05), gain(1.04, 1.03, 1.05)),
               "flag_handoff_b8": comparison(gain(1, 0.95, 1.05), gain(0.98, 0.97, 0.99))}
        rows = self.report(new, earlier=earlier)[1]
        self.assertEqual((rows["answered_all"]["value"], rows["answered_all"]["params"]["cases"]), (2, 3))
        self.assertAlmostEqual(rows["no_gain_error_improve"]["value"], 1 - 1 / 1.04)
        self.assertEqual(rows["open_outside_all"]["value"], 0)

    def test_classes_of_made_programs_are_sums(self):
        def made(kind, truth, said, confidence):
            answer = comparison(gain(1, 0.95, 1.05), gain(1, 0.99, 1.01))
            answer["made"] = {"program": {"kind": kind, "model": truth, "pattern": "random", "pattern_shown": False},
                              "said": {"model": said, "model_confidence": confidence, "pattern": "unknown",
                                       "pattern_confidence": 0}}
            return answer
        rows = self.report({"made_4": made("pair", "multiple", "multiple", 0.9),
                            "made_10": made("ring", "multiple", "alternating", 0.6),
                            "made_16": made("ring, a greeting", "multiple", "unknown", 0)})[1]
        self.assertEqual((rows["made_model"]["value"], rows["made_model"]["params"]["wrong"]), (1, 1))
        self.assertEqual(rows["made_model"]["params"]["most_confidence_of_wrong"], 0.6)
        self.assertEqual(rows["made_model_changed_by_repeating"]["params"]["unknown"], 1)
        self.assertNotIn("made_pattern", rows)


if __name__ == "__main__":
    unittest.main(verbosity=2)
