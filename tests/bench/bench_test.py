"""Runs the kernel benchmarks on the CPU device with tiny sizes.

Checks that they end, that their rows are well formed, and claims that do not depend on time. Measured figures are
meaningless here, so a missed bar (exit status 1) is not a failure.
"""

import json
import os
import subprocess
import tempfile
import unittest

FOLDER = os.environ["WICPROF_BENCH"]
KEYS = {"name", "params", "value", "unit", "compared_to", "ratio", "bar", "holds"}


def run(program, *arguments):
    """Returns exit status, rows and stderr."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.json")
        command = [os.path.join(FOLDER, "bench_" + program), *arguments, "--commit", "none", "-o", path]
        # Two SMs on every machine, because the number of blocks depends on them.
        done = subprocess.run(command, capture_output=True, text=True, timeout=200,
                              env={**os.environ, "WIC_SIMT_SMS": "2"})
        if not os.path.exists(path):
            return done.returncode, [], done.stderr
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        assert document["bench"] == program, document
        return done.returncode, document["rows"], done.stderr


class Bench(unittest.TestCase):
    def rows(self, program, *arguments):
        status, rows, errors = run(program, *arguments)
        self.assertIn(status, (0, 1), errors)
        names = [row["name"] for row in rows]
        self.assertEqual(len(names), len(set(names)), names)
        for row in rows:
            self.assertEqual(set(row), KEYS)
            if row["bar"] is not None:
                self.assertIsNotNone(row["ratio"], row)
            if row["ratio"] is not None:
                self.assertTrue(row["compared_to"], row)
        self.assertEqual(status, 1 if any(row["holds"] is False for row in rows) else 0)
        return {row["name"]: row for row in rows}

    @unittest.skipUnless(os.path.exists(os.path.join(FOLDER, "bench_gui_trace")), "built without the window")
    def test_gui_trace(self):
        rows = self.rows("gui_trace", "--events", "450000", "--steps", "1", "--rate", "50000", "--live-seconds", "2",
                         "--live-runs", "2")
        for name in ("first_picture", "frames", "frame_worst", "peak_memory", "live_recorded", "live_behind_worst"):
            self.assertGreater(rows[name]["value"], 0)
        self.assertIn("live_dropped", rows)  # the number depends on the machine

    @unittest.skipUnless(os.path.exists(os.path.join(FOLDER, "wic-prof")), "built without wic-prof")
    def test_analyze_speed(self):
        rows = self.rows("analyze_speed", "--events", "16000", "--repetitions", "1")
        for verb in ("bare", "analyze", "report", "compare"):
            self.assertGreater(rows[f"{verb}_16000"]["value"], 0)
        self.assertGreater(rows["analyze_peak_16000"]["value"], 1)  # MB

    def test_channel(self):
        rows = self.rows("channel", "--devices", "simt:2", "--only", "latency")
        for direction in ("cpu_gpu", "gpu_gpu"):
            for name in (f"latency_flag_{direction}", *(f"latency_{direction}_{w}" for w in ("naive", "poll", "park"))):
                self.assertGreater(rows[name]["value"], 0)

    def test_tiles(self):
        rows = self.rows("tiles", "--rounds", "1", "--launches", "200", "--faults", "4")
        for shape in ("mlp_130", "attention_65", "conv_64_2", "vector_20"):
            self.assertGreater(rows[shape + "_tiles"]["value"], 0)
            self.assertGreater(rows[shape + "_parked"]["ratio"], 0)
            self.assertGreaterEqual(rows[shape + "_predicted"]["value"], 1)
        for shape in ("mlp_130", "attention_65", "conv_64_2"):
            self.assertIn("plan", rows[shape + "_tuned"]["params"])
        for name in ("random_launches", "random_launches_done", "faults", "faults_recovered"):
            self.assertTrue(rows[name]["holds"], rows[name])

    def test_interference(self):
        rows = self.rows("interference", "--tables", "inside,blocks,crowd", "--rounds", "1", "--work-us", "100",
                         "--timeout-ms", "20000")
        for case in ("inside_device_one_fp32", "blocks_device_lines_streaming", "blocks_host_one_l2_latency",
                     "blocks_host_lines_shared_memory", "few_host_one_streaming", "many_device_one_l2_latency"):
            for way in ("absent", "poll", "auto", "absent_again"):
                row = rows[f"{case}_{way}"]
                self.assertGreater(row["value"], 0)
                self.assertEqual(row["params"]["missed_deadlines"], 0)
                has_bar = way == "auto" and row["params"]["table"] in ("inside", "blocks")
                self.assertEqual(row["bar"] is not None, has_bar)
        self.assertEqual(rows["inside_device_one_fp32_auto"]["bar"], 1.01)
        self.assertEqual(rows["blocks_host_one_l2_latency_auto"]["bar"], 1.02)
        # Atomic polls of host memory would lose flags.
        self.assertIn("blocks_device_one_fp32_bare_atomic", rows)
        self.assertNotIn("blocks_host_one_fp32_bare_atomic", rows)

    def test_interference_with_peer(self):
        rows = self.rows("interference", "--devices", "simt:2", "--tables", "peer", "--strategies", "poll,auto",
                         "--rounds", "1", "--work-us", "100", "--timeout-ms", "20000")
        self.assertIn("peer_peer_one_peer_reads_auto", rows)
        self.assertIn("peer_peer_lines_streaming_poll", rows)

    def test_wake_latency(self):
        rows = self.rows("wake_latency", "--rounds", "1", "--cpu-rounds", "1", "--timeout-ms", "20000")
        self.assertGreater(rows["clock_tick"]["value"], 0)
        for name in ("device_few_poll", "device_many_auto", "host_few_auto", "host_many_backoff", "cpu_host_few_auto"):
            p50, p99 = rows[name + "_p50"], rows[name + "_p99"]
            self.assertLessEqual(p50["value"], p99["value"])
            self.assertLessEqual(p99["value"], p99["params"]["longest_us"])
        self.assertGreaterEqual(rows["device_few_poll_p50"]["value"], 0)
        self.assertEqual(rows["device_few_auto_p50"]["params"]["waiters"], 8)

    def test_threads(self):
        rows = self.rows("threads", "--rounds", "1", "--work", "4", "--most-threads", "8192", "--timeout-ms", "20000")
        self.assertEqual(rows["host_64"]["params"]["waiting_groups"], 1)
        # 2 SMs hold 4,096 threads, so the largest grid runs in two waves.
        self.assertEqual(rows["device_8192"]["params"]["threads_at_once"], 4096)
        self.assertIn("speedup_over_atomic", rows["device_8192"]["params"])
        for name in ("host_fall_from_peak", "device_fall_beyond_256_threads"):
            self.assertIsNotNone(rows[name]["bar"])

    def test_own_overhead(self):
        rows = self.rows("own_overhead", "--rounds", "1", "--iterations", "1", "--size", "6", "--small-size", "3")
        self.assertEqual(rows["n6_auto"]["bar"], 1.014)
        self.assertIsNone(rows["n3_auto"]["bar"])
        self.assertIn("n6_auto_recorded", rows)

    def test_block_times(self):
        rows = self.rows("block_times", "--rounds", "1")
        self.assertEqual(len(rows), 8 * 5 + 1)
        for row in rows.values():
            self.assertGreaterEqual(row["value"], 1)
        self.assertEqual(rows["within_uneven"]["params"]["grids"], 6 * 5)  # the others' data is uneven

    def test_made_run(self):
        def made_run(*arguments):
            return subprocess.run([os.path.join(FOLDER, "bench_made_run"), *arguments], capture_output=True, text=True,
                                  timeout=200)
        described = made_run("--seed", "34", "--describe")
        self.assertEqual(json.loads(described.stdout)["model"], "probabilistic")
        # A block of one device per party; a device per party.
        for seed in ("34", "36"):
            ran = made_run("--seed", seed, "--iterations", "1", "--timeout", "100")
            self.assertEqual((ran.returncode, "1 times the program" in ran.stdout), (0, True), ran.stderr)
        refused = made_run("--seed", "1")
        self.assertEqual(refused.returncode, 3)
        self.assertIn("part for the CPU", refused.stderr)

    def test_soak_holds(self):
        rows = self.rows("soak", "--waits", "4000", "--steps", "24", "--longest-delay-ns", "2000",
                         "--timeout-ms", "60000", "--seconds", "150")
        for name, row in rows.items():
            self.assertTrue(row["holds"], (name, row))
        params = rows["claimed"]["params"]
        self.assertEqual(params["wait_records"] + params["signal_records"] + params["lost_records"],
                         rows["claimed"]["value"])

    def test_collector_overhead(self):
        # Without a GPU each table has a "could not look" row without a claim.
        rows = self.rows("collector_overhead", "--rounds", "1", "--launches", "1000", "--tables", "tiny")
        for threads in ("1_thread", "8_threads"):
            whole = rows.get(f"tiny_{threads}")
            if whole is not None:
                self.assertEqual(whole["unit"], "could not look")
                self.assertTrue(whole["params"]["reason"])
                self.assertIsNone(whole["holds"])
            else:
                self.assertGreater(rows[f"tiny_{threads}_wic_prof"]["value"], 0)
                self.assertEqual(rows[f"tiny_{threads}_lost"]["bar"], 0)

    def test_field(self):
        rows = self.rows("field", "--cases", "parameter_server,locks_ticket", "--limit", "1", "--turn-ms", "1")
        self.assertEqual({name.rsplit("_", 2)[0] for name in rows},
                         {"parameter_server", "parameter_server_2_cpus", "locks_ticket"})
        for name in ("parameter_server_rate_poll", "parameter_server_p99_park", "parameter_server_2_cpus_cpus_park",
                     "locks_ticket_beside_naive"):
            self.assertGreater(rows[name]["value"], 0)
            self.assertGreaterEqual(rows[name]["params"]["turns"], 5)
        self.assertGreater(rows["parameter_server_rate_park"]["ratio"], 0)

    def test_refusals(self):
        for program, *arguments in (("interference", "--tables", "peer"), ("interference", "--tables", "chairs"),
                                    ("interference", "--strategies", "poll,hope"),
                                    ("wake_latency", "--strategies", "hope"), ("soak", "--strategies", "hope"),
                                    ("collector_overhead", "--tables", "tiny,hope"),
                                    ("own_overhead", "--size", "4000")):
            status, rows, errors = run(program, *arguments)
            self.assertEqual((status, rows), (2, []), errors)
            self.assertTrue(errors.startswith(program + ": "), errors)


if __name__ == "__main__":
    unittest.main()
