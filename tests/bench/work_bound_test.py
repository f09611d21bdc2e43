"""bench/work_bound.py over recordings that are made up: what the samples say, what bounds the work, who judges."""

import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["WICPROF_SOURCE"])
SMS, WARPS, GHZ = 132, 64, 2
MIB = 1 << 20
CODE = [(0, "LDG.E.STRONG.SYS R1, [R2]", None), (16, "@P0 BRA 0x0", 0),  # the poller
        (32, "LDG.E.128 R4, [R2.64]", None), (48, "IMAD R5, R5, R6, RZ", None), (64, "STG.E.128 [R2.64], R4", None),
        (80, "@P0 BRA 0x20", 32)]


def recording(path, size, polled_ms, parked_ms, multiplications=0):
    """Polled iterations whose kernels stream `size` MiB, and parked ones; a kernel takes all of an iteration."""
    database = sqlite3.connect(path)
    database.executescript(
        "CREATE TABLE device (id, kind, sm_count, clock_khz); CREATE TABLE meta (key, value);"
        "CREATE TABLE string (id, value); CREATE TABLE kernel (name_id, start_ns, end_ns, grid_x, block_x);"
        "CREATE TABLE intervention (new_mode, requested_ns, effective_ns, side);"
        "CREATE TABLE pc_interval (device_id, begin_ns, end_ns);"
        "CREATE TABLE pc_sample (device_id, module, symbol_id, pc_offset, begin_ns, at_ns, stall_reason_id, samples);"
        "CREATE TABLE sass (module, symbol_id, pc_offset, text_id, target_offset);")
    database.execute("INSERT INTO device VALUES (0, 1, ?, ?)", (SMS, GHZ * 10**6))
    database.execute("INSERT INTO meta VALUES ('command', ?)", (f"hot_flag --size {size}",))
    texts = ["HotFlagKernel", "selected", "long_scoreboard"] + [text for _, text, _ in CODE]
    database.executemany("INSERT INTO string VALUES (?, ?)", enumerate(texts))
    polled, parked = polled_ms * 10**6, parked_ms * 10**6
    at = 0
    for length, count in ((polled, 20), (parked, 20)):
        for _ in range(count):
            database.execute("INSERT INTO kernel VALUES (0, ?, ?, ?, 256)", (at, at + length, SMS * WARPS // 8))
            at += length
        if length == polled:
            database.execute("INSERT INTO intervention VALUES (1, ?, ?, NULL)", (at + 1, at + 2))
    span = (0, 20 * polled)
    database.execute("INSERT INTO pc_interval VALUES (0, ?, ?)", span)
    # Each SM is sampled 10 million times, so that rare instructions are seen, too.
    loads = size * MIB / 512
    cycles = SMS * polled * GHZ
    samples = 10**9
    selected = round(samples * loads / cycles / WARPS)
    counts = {(32, 1): selected, (64, 1): selected, (48, 1): multiplications * selected, (80, 1): selected,
              (16, 1): 10**6}
    counts[32, 2] = samples - sum(counts.values())
    for (offset, reason), count in counts.items():
        database.execute("INSERT INTO pc_sample VALUES (0, 7, 0, ?, ?, ?, ?, ?)", (offset, *span, reason, count))
    for i, (offset, _, target) in enumerate(CODE):
        database.execute("INSERT INTO sass VALUES (7, 0, ?, ?, ?)", (offset, 3 + i, target))
    database.commit()
    database.close()


class WorkBound(unittest.TestCase):
    def rows(self, recordings, fit):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for name, words in recordings.items():
                recording(folder / f"{name}.wicprof", *words)
            done = subprocess.run([sys.executable, "-B", SOURCE / "bench" / "work_bound.py", "-o", folder / "rows.json",
                                   "--commit", "none", *[word for name in fit for word in ("--fit", name)],
                                   *[folder / f"{name}.wicprof" for name in recordings]], timeout=60)
            return done.returncode, {r["name"]: r for r in json.loads((folder / "rows.json").read_text())["rows"]}

    def test_samples_show_the_bytes(self):
        rows = self.rows({"a": (1024, 90, 1)}, [])[1]
        self.assertAlmostEqual(rows["a"]["params"]["bytes_seen"] / (2 * 1024 * MIB), 1, delta=0.02)

    def test_the_memory_of_one_recording_predicts_another(self):
        status, rows = self.rows({"a": (1024, 90, 1), "b": (512, 40, 0.5)}, ["a"])
        self.assertEqual(status, 0)
        self.assertAlmostEqual(rows["b"]["value"] / 80, 1, delta=0.05)
        self.assertEqual(rows["b"]["params"]["half"], "judged")
        self.assertEqual(rows["median_error_judged"]["params"]["recordings"], 1)

    def test_arithmetic_bounds_what_the_memory_would_not(self):
        # 2 Mi loads and 512 multiplications for each, two per cycle on each of 132 SMs: 2 ms.
        rows = self.rows({"a": (1024, 90, 1), "b": (1024, 90, 2.03, 512)}, ["a"])[1]
        self.assertAlmostEqual(rows["b"]["value"] / 44.3, 1, delta=0.05)

    def test_a_wrong_prediction_fails(self):
        self.assertEqual(self.rows({"a": (1024, 90, 1), "b": (512, 40, 4)}, ["a"])[0], 1)


if __name__ == "__main__":
    unittest.main()
