"""Recording a part of a run: sources, times, NVTX ranges, --keep-last and --max-size."""

import json
import re
import signal

import harness


class Words(harness.Case):
    def refused(self, *options, words=()):
        self.assert_refused(self.wic_prof("run", "-o", "t.wicprof", *options, "--", "touch", "started"), 2, *words)
        self.assertFalse((self.work / "started").exists())
        self.assertEqual(self.traces(), [])

    def test_unknown_source(self):
        known = "cuda, nvtx, uvm, pcsampling, graphs, nodes, launches, mpi, nccl, host"
        self.refused("--trace", "cuda,osrt", words=("'osrt'", known))

    def test_graphs(self):
        """(kernels in graphs, launches as a whole) by the words."""
        def recorded(trace):
            result = self.run_cuda("load", "context", "graphs", "0.5", options=("--trace", trace))
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(self.losses(), [])
            nodes, whole, named = self.query("t.wicprof", "SELECT count(*) FILTER (WHERE graph_node > 0), "
                                             "count(*) FILTER (WHERE graph_node = 0), "
                                             "count(*) FILTER (WHERE value = 'CUDA graph 9') "
                                             "FROM kernel JOIN string ON string.id = name_id")[0]
            self.assertEqual(whole, self.number("t.wicprof", "SELECT count(*) FROM graph"))
            self.assertEqual(whole, named)
            return nodes, whole
        nodes, whole = recorded("cuda,nodes")
        self.assertGreater(nodes, 0)
        self.assertEqual(whole, 0)
        graph, = json.loads(self.wic_prof("analyze", "t.wicprof", "--format=json").stdout)["graphs"]
        self.assertEqual((graph["name"], graph["launches"]), ("CUDA graph 9", nodes / 3))
        self.assertEqual([part["name"] for part in graph["parts"]], ["tight(float*)", "work(float*)"])
        self.assertIn("CUDA graph 9: 3 kernels per launch, of whose time tight 66.7 %, work 33.3 %",
                      " ".join(self.wic_prof("analyze", "t.wicprof").stdout.split()))
        for words in ("cuda", "cuda,graphs"):
            nodes, whole = recorded(words)
            self.assertEqual(nodes, 0)
            self.assertGreater(whole, 0)
            self.assertIn("its kernels are not known", " ".join(self.wic_prof("analyze", "t.wicprof").stdout.split()))

    def test_no_source(self):
        self.refused("--trace", ",", words=("--trace names nothing",))

    def test_times(self):
        for option in ("--delay", "--duration", "--keep-last"):
            for text in ("soon", "2h", "-1s", "0", "1e99s", "s"):
                with self.subTest(option=option, text=text):
                    self.refused(f"{option}={text}", words=(option, text, "500ms"))

    def test_size(self):
        for text in ("5", "M", "-5M", "1Q", "nan"):
            with self.subTest(text=text):
                self.refused(f"--max-size={text}", words=("--max-size", text, "500M"))
        self.refused("--max-size", "1K", words=("--max-size", "1M"))

    def test_ranges_without_nvtx(self):
        self.refused("--trace", "cuda", "--capture-range", "step", words=("--capture-range", "add nvtx"))

    def test_program_gets_only_the_collectors_words(self):
        def variable(*options, env=None):
            result = self.wic_prof("run", "-q", "-f", "-o", "t.wicprof", *options, "--", "env", env=env)
            return dict(re.findall(r"(?m)^(WICPROF_TRACE|WICPROF_NVTX_OPEN)=(.*)$", result.stdout))
        self.assertEqual(variable(), {"WICPROF_TRACE": "cuda,nvtx"})
        self.assertEqual(variable("--trace", "uvm, host,kernels"), {"WICPROF_TRACE": "uvm,kernels"})
        self.assertEqual(self.meta("t.wicprof")["trace"], "uvm, host,kernels")
        self.assertEqual(variable("--trace=host"), {"WICPROF_TRACE": "none"})
        self.assertEqual(variable("--trace=none"), {"WICPROF_TRACE": "none"})
        self.assertNotIn("rewrite", self.meta("t.wicprof"))
        self.assertEqual(variable("--rewrite"), {"WICPROF_TRACE": "cuda,nvtx,rewrite"})
        self.assertEqual(self.meta("t.wicprof")["rewrite"], "1")
        self.assertEqual(variable("--rewrite", "--trace=none"), {"WICPROF_TRACE": "rewrite"})
        self.assertEqual(variable(env={"WICPROF_TRACE": "calls"}), {"WICPROF_TRACE": "calls"})
        self.assertEqual(variable("--capture-range", "x"), {"WICPROF_TRACE": "cuda,nvtx", "WICPROF_NVTX_OPEN": "1"})

    def test_choose_what_the_collector_records(self):
        result = self.run_cuda("load", "kernels", "5", options=("--trace", "copies,host"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.number("t.wicprof", "SELECT count(*) FROM kernel"), 0)
        self.assertEqual(self.losses(), [])


class Times(harness.Case):
    def span(self, table, begin, end):
        return self.query("t.wicprof", f"SELECT count(*), min({end}), max({begin}) FROM {table}")[0]

    def window(self):
        meta = self.meta("t.wicprof")
        return int(meta["capture_from_ns"]), int(meta.get("capture_until_ns", meta["ended_ns"]))

    def test_delay_and_duration_of_waits(self):
        result = self.wic_prof("run", "-o", "t.wicprof", "--delay", "0.5", "--duration=500ms", "--",
                               harness.TRACED_APP, "--seconds", "2")
        self.assertEqual(result.returncode, 0, result.stderr)
        begin, end = self.window()
        self.assertEqual(end - begin, 500_000_000)
        count, first, last = self.span("wait", "arrived_ns", "resumed_ns")
        self.assertGreater(count, 10)
        self.assertGreaterEqual(first, begin)
        self.assertLessEqual(last, end)
        self.assertGreater(self.stats("t.wicprof")["rows_left_out"], count)
        self.assertEqual(self.number("t.wicprof", "SELECT count(*) FROM site"), 2)
        self.assertIn("recording begins", result.stderr)
        self.assertIn("recording ends; the program continues", result.stderr)
        answer = self.wic_prof("analyze", "t.wicprof", "--format=json")
        self.assertIn('"loss": []', answer.stdout)

    def test_collector_records_nothing_outside(self):
        result = self.run_cuda("load", "context", "stream", "3", "_exit", "0",
                               options=("--delay", "1s", "--duration", "1s"))
        self.assertEqual(result.returncode, 0, result.stderr)
        begin, end = self.window()
        count, first, last = self.span("kernel", "start_ns", "end_ns")
        self.assertGreater(count, 50)
        self.assertGreaterEqual(first, begin)
        self.assertLessEqual(last, end)
        # Twice as many happened outside the window; the collector dropped nearly all of them itself.
        left_out = self.stats("t.wicprof").get("rows_left_out", 0) - self.number(
            "t.wicprof", "SELECT count(*) FROM thread_sample") * 3
        self.assertLess(left_out, count)
        self.assertEqual(self.losses(), [])

    def test_program_ends_before_the_window(self):
        result = self.run_cuda("load", "kernels", "5", options=("--delay", "60s"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.number("t.wicprof", "SELECT count(*) FROM kernel"), 0)
        self.assertEqual(self.meta("t.wicprof")["state"], "complete")


class Ranges(harness.Case):
    def test_by_name(self):
        result = self.run_cuda("load", "context", "stream", "0.2", "range", "step", "0.3", "stream", "0.2",
                               "range", "other", "0.3", "range", "step", "0.2",
                               options=("--capture-range", "step", "--capture-range=none of these"))
        self.assertEqual(result.returncode, 0, result.stderr)
        ranges = self.query("t.wicprof", "SELECT start_ns, end_ns FROM nvtx ORDER BY start_ns")
        self.assertEqual(len(ranges), 2)
        kernels = self.query("t.wicprof", "SELECT start_ns, end_ns FROM kernel")
        for begin, end in ranges:
            self.assertGreater(sum(begin <= k[0] <= end for k in kernels), 10)
        for start, end in kernels:
            self.assertTrue(any(start <= r[1] and end >= r[0] for r in ranges))
        meta = self.meta("t.wicprof")
        self.assertEqual((meta["capture_ranges"], meta["capture_windows"]), ("step, none of these", "2"))
        self.assertEqual(self.losses(), [])

    def test_of_another_domain(self):
        result = self.run_cuda("load", "context", "range", "step", "0.1", options=("--capture-range", "step@solver"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.number("t.wicprof", "SELECT count(*) FROM kernel"), 0)


class KeepLast(harness.Case):
    def test_bounds_the_file_of_a_long_run(self):
        app = (harness.TRACED_APP, "--seconds", "9")
        everything = self.start("run", "-o", "all.wicprof", "--", *app)
        result = self.wic_prof("run", "-o", "last.wicprof", "--keep-last", "1s", "--", *app)
        self.assertEqual((result.returncode, self.finish(everything).returncode), (0, 0), result.stderr)
        size = lambda name: (self.work / name).stat().st_size
        self.assertLess(size("last.wicprof"), size("all.wicprof") / 2)
        meta = self.meta("last.wicprof")
        self.assertEqual(meta["state"], "complete")
        self.assertGreater(self.number("last.wicprof", "SELECT count(*) FROM wait"), 50)
        self.assertGreaterEqual(self.number("last.wicprof", "SELECT min(resumed_ns) FROM wait"),
                                int(meta["ended_ns"]) - 1_000_000_000)
        self.assertGreater(self.stats("last.wicprof")["rows_left_out"],
                           self.number("all.wicprof", "SELECT count(*) FROM wait"))
        self.assertEqual(self.number("last.wicprof", "SELECT count(*) FROM site"), 2)

    def test_shrinks_after_a_burst(self):
        process = self.start_app("--burst", 60000, run_options=("-o", "t.wicprof", "--keep-last", "1s"))
        removed = lambda: (self.stats("t.wicprof").get("rows_left_out", 0) > 240_000 and
                           self.number("t.wicprof", "SELECT count(*) FROM wait") < 10_000)
        self.until(removed, "the burst's removal")
        self.interrupt(process)
        self.assertLess((self.work / "t.wicprof").stat().st_size, 4 << 20)

    def test_stays_small_during_recording(self):
        process = self.start_app(run_options=("-o", "t.wicprof", "--keep-last", "1s"))
        self.until(lambda: self.stats("t.wicprof").get("rows_left_out", 0) > 8_000, "four seconds' rows to go")
        self.assertLess(self.number("t.wicprof", "SELECT count(*) FROM wait"), 8_000)
        self.interrupt(process)
        self.assertEqual(self.meta("t.wicprof")["capture_keep_last_ns"], "1000000000")


class Size(harness.Case):
    def test_is_respected(self):
        result = self.wic_prof("run", "-o", "t.wicprof", "--max-size", "2M", "--", harness.TRACED_APP,
                               "--burst", "60000")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("it may not grow beyond 2097152 bytes", result.stderr)
        self.assertLess((self.work / "t.wicprof").stat().st_size, 3 << 20)
        self.assertGreater(self.stats("t.wicprof")["store_lost"], 1000)
        self.assertGreater(self.number("t.wicprof", "SELECT count(*) FROM wait"), 1000)


class Interrupted(harness.Case):
    def test_leaves_a_valid_trace(self):
        for options in (("--delay", "30s"), ("--duration", "30s"), ("--keep-last", "30s"), ("--capture-range", "x"),
                        ("--max-size", "1G")):
            with self.subTest(options=options):
                process = self.start_app(run_options=("-f", "-o", "t.wicprof", *options))
                self.assertEqual(self.interrupt(process).returncode, 128 + signal.SIGINT)
                self.assertEqual(self.meta("t.wicprof")["state"], "complete")
                self.assertEqual(self.wic_prof("analyze", "t.wicprof").returncode, 0)


if __name__ == "__main__":
    harness.main()
