"""bench/guest_cost.py: its rows, from processes that are made up; and a run with programs that stand in for all."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))
import guest_cost  # noqa: E402


def rates(*values):
    return [{"rate": value, "value": value, "unit": "steps/s"} for value in values]


def times(value, memory):
    return [{"seconds": value, "value": value, "unit": "s", "gpu_mb": memory}] * 3


class Rows(unittest.TestCase):
    def rows(self, program, found):
        return {row["name"]: row for row in guest_cost.rows_of(program, found)}

    def test_a_rate_must_be_high(self):
        rows = self.rows("engine", {"bare": rates(170, 171, 172), "default": rates(169, 170, 171),
                                    "host_waits": rates(150, 151, 152), "nsys": rates(160, 160, 160)})
        self.assertAlmostEqual(rows["engine_default"]["ratio"], 170 / 171)
        self.assertTrue(rows["engine_default"]["holds"])
        self.assertFalse(rows["engine_host_waits"]["holds"])
        self.assertIsNone(rows["engine_nsys"]["holds"])
        self.assertTrue(rows["engine_default_over_nsys"]["holds"])
        worse = self.rows("engine", {"bare": rates(170), "default": rates(150, 151, 152), "nsys": rates(160, 160, 160)})
        self.assertFalse(worse["engine_default_over_nsys"]["holds"])

    def test_a_time_and_memory_must_be_low(self):
        rows = self.rows("start", {"bare": times(0.8, 764), "default": times(0.85, 779), "nsys": times(3, 900)})
        self.assertTrue(rows["start_default"]["holds"])
        self.assertTrue(rows["start_memory_default"]["holds"])
        self.assertTrue(rows["start_default_over_nsys"]["holds"])
        rows = self.rows("start", {"bare": times(0.8, 764), "default": times(6.5, 2090)})
        self.assertFalse(rows["start_default"]["holds"])
        self.assertFalse(rows["start_memory_default"]["holds"])

    def test_without_the_bare_program_there_is_nothing_to_compare(self):
        self.assertEqual(guest_cost.rows_of("engine", {"bare": [], "default": rates(1)}), [])


class Runs(unittest.TestCase):
    def test_ways_get_what_they_are_called(self):
        with tempfile.TemporaryDirectory() as folder:
            build = pathlib.Path(folder)
            (build / "bin").mkdir()
            for name, text in (("bench_tiny_launches", "echo ns_per_launch ${PRICE:-1000}\n"),
                               ("wic-prof", 'echo "$@" >> "$SAID"; while [ "$1" != -- ]; do shift; done\n'
                                            'shift; "$@"\n')):
                (build / "bin" / name).write_text("#!/bin/sh\n" + text)
                (build / "bin" / name).chmod(0o755)
            said = build / "said"
            done = subprocess.run([sys.executable, BENCH / "guest_cost.py", build, "--only", "launches", "--rounds=3",
                                   "-o", build / "rows.json", "--ways", "bare", "default,PRICE=2000", "calls+syncs"],
                                  env={**os.environ, "SAID": str(said)}, text=True, capture_output=True, check=False)
            rows = {row["name"]: row for row in json.loads((build / "rows.json").read_text())["rows"]}
            self.assertEqual(rows["launches_bare"]["value"], 1e6, done.stdout + done.stderr)
            self.assertEqual(rows["launches_default,PRICE=2000"]["ratio"], 0.5)
            self.assertEqual(rows["launches_calls+syncs"]["ratio"], 1)
            self.assertEqual(sum("--trace=calls,syncs" in line for line in said.read_text().splitlines()), 3)

    def test_an_unknown_program_is_named(self):
        done = subprocess.run([sys.executable, BENCH / "guest_cost.py", ".", "--only", "motor"], text=True,
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("not motor", done.stderr)


if __name__ == "__main__":
    unittest.main()
