"""bench/nccl_ranks.py with a made NCCL on made GPUs (tests/cli/nccl_app.cpp): what it judges, and its rows."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
BUILD = pathlib.Path(os.environ["WICPROF"]).parents[1]
# A job of the arguments of bench/nccl_ranks/job.py, without what a made GPU cannot have.
JOB = f"""#!/bin/sh
case $1 in none) how=none ;; sleep) how=host ;; compute) how=spin ;; copy) how=copy ;; *) how=kernel ;; esac
exec {os.environ["WICPROF_NCCL_APP"]} --how $how --every 3 --steps $2 --late-ms ${{3%.*}} --times $4 {{more}}
"""


class Smoke(unittest.TestCase):
    def bench(self, more="", *words):
        with tempfile.TemporaryDirectory() as folder:
            job, path = pathlib.Path(folder) / "job", pathlib.Path(folder) / "rows.json"
            job.write_text(JOB.replace("{more}", more))
            job.chmod(0o700)
            # Fewer than 16 late arrivals could be chance.
            done = subprocess.run([sys.executable, "-B", BENCH / "nccl_ranks.py", BUILD, "-o", path, "--job", job,
                                   "--range", "", "--steps", "60", "--rounds", "1", "--commit", "none", *words],
                                  text=True, capture_output=True, timeout=240)
            self.assertIn(done.stdout.splitlines()[-1].split()[0].strip(":"), ("PASS", "FAIL"), done.stderr)
            self.output = done.stdout
            rows = json.loads(path.read_text())["rows"] if path.exists() else []
        self.assertEqual(done.returncode, 1 if not rows or any(row["holds"] is False for row in rows) else 0)
        return {row["name"]: row for row in rows}

    def test_rows(self):
        rows = self.bench()
        self.assertEqual(rows["equal_findings"]["value"], 0)
        self.assertEqual((rows["rank_right"]["value"], rows["rank_right"]["params"]["jobs"]), (7, 7), self.output)
        for cause in ("sleep", "kernel", "data", "copy"):  # a program beside the test may take the CPU from `compute`
            self.assertTrue(rows[f"{cause}_cost"]["params"]["cause_right"], self.output)
            self.assertGreater(rows[f"{cause}_cost"]["ratio"], 0.7, self.output)
        for way in ("recorded_over_bare", "plugin_over_bare", "plugin_over_recorded"):
            self.assertGreater(rows[f"step_{way}"]["ratio"], 0)
            self.assertEqual(rows[f"step_{way}"]["params"]["rounds"], 1)

    def test_wrong_answers_are_shown(self):
        rows = self.bench("--late 0")  # another rank than the one that is said to be late
        self.assertEqual(rows["rank_right"]["value"], 0)
        self.assertIn("WRONG: sleep", self.output)
        self.assertIn("rank 0 came late", self.output)

    def test_a_job_that_fails(self):
        self.assertEqual(self.bench("--version 9"), {})
        self.assertIn("FAILED: plugin none: status", self.output)

    def test_limit(self):
        rows = self.bench("", "--limit", "1")
        self.assertEqual(rows, {})
        self.assertIn("no time left for none", self.output)


if __name__ == "__main__":
    unittest.main()
