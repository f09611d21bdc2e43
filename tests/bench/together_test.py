"""bench/together.py: what rows are together."""

import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))
import together  # noqa: E402


def row(ratio, error, name="a_hybrid_over_block"):
    wide = math.exp(together.NORMAL * error)
    return {"name": name, "ratio": ratio, "params": {"low": ratio / wide, "high": ratio * wide}}


class Together(unittest.TestCase):
    def test_equal_rows_have_a_narrower_interval(self):
        ratio, low, high = together.together([row(1.1, 0.02)] * 4)
        self.assertAlmostEqual(ratio, 1.1)
        self.assertAlmostEqual(math.log(high / low), 2 * together.NORMAL * 0.02 / 2)

    def test_a_row_counts_by_its_interval(self):
        ratio, _, _ = together.together([row(1.0, 0.01), row(1.2, 0.1)])
        self.assertAlmostEqual(math.log(ratio), math.log(1.2) / 101)

    def test_rows_are_chosen_by_their_names(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({"rows": [row(1.1, 0.01), row(5, 0.01, "b_hybrid_over_block"), row(5, 0.01, "a_other")]}, file)
            file.flush()
            words = [sys.executable, BENCH / "together.py", file.name, "--only", "a_"]
            self.assertTrue(subprocess.check_output(words, text=True).startswith("1 rows: 1.1000 ("))
            none = subprocess.run([*words[:-1], "c_"], text=True, capture_output=True, check=False)
            self.assertEqual(none.returncode, 1)
            self.assertIn("'c_'", none.stderr)


if __name__ == "__main__":
    unittest.main()
