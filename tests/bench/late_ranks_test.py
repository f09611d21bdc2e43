"""bench/late_ranks.py: a few jobs, and its rows. How many answers are right is for the benchmark."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
BUILD = pathlib.Path(os.environ["WICPROF"]).parents[1]


class Smoke(unittest.TestCase):
    @unittest.skipUnless(shutil.which("mpicc.openmpi") or shutil.which("mpicc.mpich"), "no MPI is installed")
    def test_rows(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "rows.json"
            done = subprocess.run([sys.executable, "-B", BENCH / "late_ranks.py", BUILD, "-o", path, "--jobs", "3",
                                   "--equal", "1", "--only", "sleep,compute,loader", "--commit", "none"],
                                  text=True, capture_output=True, timeout=240)
            self.assertIn(done.stdout.splitlines()[-1].split()[0], ("PASS", "FAIL"), done.stderr)
            document = json.loads(path.read_text())
        rows = {row["name"]: row for row in document["rows"]}
        self.assertEqual(done.returncode, 1 if any(row["holds"] is False for row in rows.values()) else 0)
        self.assertIn("--jobs 3 --equal 1", document["command"])
        for half in ("improve", "judge"):
            row = rows[f"{half}_all_rank_right"]
            self.assertLessEqual(row["params"]["jobs"], 3)
            self.assertEqual(row["holds"] is None, half == "improve", "only the judged half has bars")
            self.assertEqual(rows[f"{half}_drawn_again"]["params"]["drawn"],
                             row["params"]["jobs"] + rows[f"{half}_drawn_again"]["value"])
            of_kinds = sum(rows[f"{half}_{kind}_rank_right"]["params"]["jobs"]
                           for kind in ("sleep", "compute", "loader") if f"{half}_{kind}_rank_right" in rows)
            self.assertEqual(of_kinds, row["params"]["jobs"])
        self.assertEqual(rows["equal_findings"]["params"]["jobs"], 1)


if __name__ == "__main__":
    unittest.main()
