"""The report of bench/calibration.py over measured pairs that are made up: what it counts, and when a claim fails."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["WICPROF_SOURCE"])


def pair(kind="single", verdict="inconclusive", value=1.1, program="g_bs", gpus=0):
    return {"kind": kind, "program": program, "gpus": gpus, "verdict": verdict, "why": None, "method": "spread",
            "value": value, "low": 0.5, "high": 2, "units": 1, "waits": 3.0, "latencies": 2.0, "seconds": 1}


class Report(unittest.TestCase):
    def report(self, pairs, compared=None):
        with tempfile.TemporaryDirectory() as folder:
            state, output = pathlib.Path(folder) / "state", pathlib.Path(folder) / "rows.json"
            state.write_text("".join(json.dumps(line) + "\n" for line in pairs))
            for name, answer in (compared or {}).items():
                (pathlib.Path(folder) / f"{name}.ab.json").write_text(json.dumps(answer))
            done = subprocess.run([sys.executable, SOURCE / "bench" / "calibration.py", "report", "--state", state,
                                   "--machine", "test", "--commit", "none", "-o", output,
                                   *(["--traces", folder] if compared else [])],
                                  capture_output=True, text=True, timeout=60)
            rows = {row["name"]: row for row in json.loads(output.read_text())["rows"]} if output.exists() else {}
            return done.returncode, rows

    def test_counts_false_verdicts(self):
        status, rows = self.report([pair()] * 290 + [pair("ab", "improvement")] * 10)
        self.assertEqual(status, 0)
        self.assertAlmostEqual(rows["false_verdicts"]["value"], 10 / 300)
        self.assertTrue(rows["false_verdicts"]["holds"])
        self.assertEqual(rows["false_verdicts_ab"]["value"], 1)
        self.assertEqual(rows["false_verdicts_single"]["params"]["inconclusive"], 290)

    def test_kinds_of_programs_and_numbers_of_gpus_are_rows_of_their_own(self):
        rows = self.report([pair(), pair(verdict="regression"), pair("several", program="torch", gpus=2)])[1]
        self.assertEqual(rows["false_applications_gpus0_single"]["params"]["pairs"], 2)
        self.assertEqual(rows["false_applications_gpus0_single"]["value"], 1)
        self.assertEqual(rows["false_torch_gpus2_several"]["value"], 0)

    def test_comparisons_of_both_modes_become_rows(self):
        speedup = {"value": 1.001, "low": 0.99, "high": 1.01}
        rows = self.report([pair()], {"g_stn": {"speedup": speedup, "verdict": "no change"}})[1]
        self.assertEqual(rows["ab_g_stn"]["value"], 1.001)
        self.assertTrue(rows["ab_g_stn"]["holds"])

    def test_too_many_false_verdicts_fail(self):
        status, rows = self.report([pair()] * 280 + [pair("several", "regression")] * 20)
        self.assertEqual(status, 1)
        self.assertFalse(rows["false_verdicts"]["holds"])

    def test_too_few_pairs_prove_nothing(self):
        status, rows = self.report([pair()] * 299)
        self.assertEqual(status, 0)
        self.assertIsNone(rows["false_verdicts"]["holds"])

    def test_a_delay_must_be_found_and_in_the_right_direction(self):
        found = [pair("delay", "regression", 0.97)] * 8
        self.assertTrue(self.report([pair()] + found + [pair("delay")] * 2)[1]["found_delay"]["holds"])
        self.assertFalse(self.report([pair()] + found + [pair("delay", "improvement")] * 3)[1]["found_delay"]["holds"])

    def test_the_spread_is_the_largest_ratio_in_either_direction(self):
        rows = self.report([pair(), pair("spread_runs", value=1.5), pair("spread_runs", value=0.25),
                            pair("spread_phases", "improvement", value=1.2)])[1]
        self.assertEqual(rows["false_verdicts"]["params"]["pairs"], 1)
        self.assertEqual(rows["spread_runs_iterations"]["value"], 4)
        self.assertEqual(rows["spread_runs_iterations"]["params"]["pairs"], 3)
        self.assertEqual(rows["spread_phases_iterations"]["value"], 1.2)

    def test_without_pairs_there_is_no_report(self):
        self.assertEqual(self.report([])[0], 2)


class Ci(unittest.TestCase):
    ANSWER = {"between_sides": {"speedup": None, "verdict": "inconclusive", "why": "", "method": "welch",
                                "reason": "none", "before": {"units": 6}, "sites": [], "edges": []}}

    def ci(self, program, answer):
        """Runs the kind `ci` with a wic-prof that keeps its configuration. Returns the configuration and the pairs."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "bin").mkdir()
            (folder / "answer.json").write_text(json.dumps(answer))
            fake = folder / "bin" / "wic-prof"
            fake.write_text(f"#!/bin/sh\ncp ci.toml {folder}\ncat {folder}/answer.json\nexit 3\n")
            fake.chmod(0o755)
            state = folder / "state"
            subprocess.run([sys.executable, "-B", SOURCE / "bench/calibration.py", "measure", folder, "--state", state,
                            "--minutes", "0.01", "--kind", "ci", "--program", program, "--gpus", "1"], check=True)
            pairs = state.read_text().splitlines() if state.exists() else []
            return (folder / "ci.toml").read_text(), pairs

    def test_ranges_are_a_key_of_the_comparison(self):
        text, pairs = self.ci("torch", self.ANSWER)
        self.assertNotIn("nvtx =", text.partition("[compare]")[0])
        self.assertIn("nvtx =", text.partition("[compare]")[2])
        self.assertGreaterEqual(len(pairs), 1)

    def test_runs_without_iterations_are_no_pair(self):
        between = {**self.ANSWER["between_sides"], "before": {"units": 0}}
        self.assertEqual(self.ci("torch", {"between_sides": between})[1], [])
        self.assertEqual(self.ci("torch", {"between_sides": None, "notes": []})[1], [])


if __name__ == "__main__":
    unittest.main()
