"""Traces of other tools: what they hold becomes a trace like any other, and damaged files leave nothing."""

import gzip
import html
import json
import os
import pickle
import re
import shlex
import signal
import sqlite3
import time
import unittest

import harness
from others_traces import BASE, QUARTER, SECRET, SHIFT, UTC, Nsys, flight, kineto, nsys, pid_bits


class Import(harness.Case):
    def take(self, *files, output="out.wicprof"):
        result = self.wic_prof("import", *files, "-o", output)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertEqual(self.traces(), [output])
        self.said = result.stderr
        return sqlite3.connect(self.work / output)

    def rows(self, trace, sql):
        return trace.execute(sql).fetchall()

    def analysis(self, output="out.wicprof"):
        result = self.wic_prof("analyze", output, "--format", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def refused(self, file, *words):
        before = sorted(os.listdir(self.work))
        result = self.wic_prof("import", file, "-o", "none.wicprof")
        self.assert_refused(result, 2, *words)
        self.assertEqual(sorted(os.listdir(self.work)), before)


class Nsight(Import):
    def test_each_version_gives_the_same_trace(self):
        for version in ("2.9.1", "3.1.7", "3.4.0", "3.16.1", "3.17.2", "3.24.0", "3.24.7", "3.25.0"):
            with self.subTest(version=version):
                trace = self.take(nsys(self.work / f"{version}.sqlite", version))
                self.assertEqual(self.rows(trace, "SELECT value, start_ns, end_ns, correlation, grid_x, block_x, "
                                                  "stream FROM kernel JOIN string ON string.id = name_id "
                                                  "ORDER BY start_ns"),
                                 [("first(int)", SHIFT + 1000, SHIFT + 3000, 1, 4, 64, 7),
                                  ("second(int)", SHIFT + 4000, SHIFT + 9000, 2, 4, 64, 7)])
                calls = "SELECT value, thread FROM call JOIN string ON string.id = name_id ORDER BY start_ns"
                self.assertEqual(self.rows(trace, calls),
                                 [("cudaLaunchKernel", 101)] * 2 + [("cudaStreamSynchronize", 101)])
                self.assertEqual(self.rows(trace, "SELECT kind, stream, correlation FROM sync"), [(3, 7, 3)])
                self.assertEqual(self.rows(trace, "SELECT process.id, value FROM process JOIN string ON string.id = "
                                                  "name_id"), [(100, "app")])
                self.assertIn(f"schema {version}", self.said)
                (self.work / "out.wicprof").unlink()

    def test_a_call_that_waits_is_a_wait_of_the_range_around_it(self):
        trace = self.take(nsys(self.work / "a.sqlite"))
        waits = self.rows(trace, "SELECT name.value, place.value, begin_ns, end_ns, thread, awaited, cpu_ns, "
                                 "correlation FROM host_wait JOIN site ON site.id = site_id "
                                 "JOIN string name ON name.id = name_id JOIN string place ON place.id = place_id")
        # Neither a library's own range nor one that never closes names the wait.
        self.assertEqual(waits, [("cudaStreamSynchronize in step", "NVTX range", SHIFT + 1000, SHIFT + 9100, 101, 1,
                                  None, 3)])
        domains = self.rows(trace, "SELECT n.value, d.value FROM nvtx JOIN string n ON n.id = name_id "
                                   "LEFT JOIN string d ON d.id = domain_id ORDER BY start_ns")
        self.assertEqual(domains, [("step", None), ("ncclGroupEnd", "NCCL"), ("never closed", None)])

    def test_all_verbs_read_the_result(self):
        self.take(nsys(self.work / "a.sqlite"))
        answer = self.analysis()
        self.assertEqual([site["site"] for site in answer["sites"]], ["cudaStreamSynchronize in step"])
        lacks = [finding["text"] for finding in answer["findings"] if "not recorded by" in finding["text"]]
        self.assertEqual(len(lacks), 1, answer["findings"])
        for words in ("Nsight Systems 2026.1", "wic-prof run --rewrite -- APP", "pcsampling", "CPU times"):
            self.assertIn(words, lacks[0])
        for verb in (["report", "--format", "html"], ["report", "--format", "perfetto"], ["compare", "--nvtx", "step"]):
            files = ["out.wicprof"] * (2 if verb[0] == "compare" else 1)
            result = self.wic_prof(verb[0], *files, *verb[1:])
            self.assertEqual(result.returncode, 0, (verb, result.stderr))

    def test_has_no_record_of_a_hang(self):
        self.take(nsys(self.work / "t.sqlite", "3.25.0"))
        self.assert_refused(self.wic_prof("stuck", "out.wicprof"), 3, "was imported", "wic-prof run")

    def test_without_waits_the_answer_names_what_the_import_lacks(self):
        made = Nsys(self.work / "a.sqlite")
        made.call("cudaMalloc_v3020", 1000, 9000, 1)
        self.take(made.close())
        lacks = ("no wait sites: waits inside kernels are not recorded by Nsight Systems", "wic-prof run --rewrite -- ")
        for words in (["analyze"], ["report", "--format", "md"], ["report", "--format", "html"]):
            said = self.wic_prof(words[0], "out.wicprof", *words[1:]).stdout
            text = " ".join(html.unescape(said).replace("\\", "").split())
            self.assertNotIn("wait.h", text)
            self.assertNotIn("does not wait through wic", text)
            for each in lacks:
                self.assertIn(each, text, words)

    def test_scheduling_gives_the_cpu_time_of_waits(self):
        made = Nsys(self.work / "a.sqlite")
        made.call("cudaDeviceSynchronize_v3020", 1000, 9000, 1)
        made.make("SCHED_EVENTS", "start", "cpu", "isSchedIn", "globalTid")
        for at, begins in ((0, 1), (3000, 0), (8000, 1), (9500, 0)):
            made.put("SCHED_EVENTS", at, 5, begins, pid_bits(100, 101))
        trace = self.take(made.close())
        self.assertEqual(self.rows(trace, "SELECT cpu_ns FROM host_wait"), [(3000,)])
        self.assertEqual(self.rows(trace, "SELECT thread, sum(cpu_ns), sum(voluntary_switches) FROM thread_sample"),
                         [(101, 4500, 2)])
        self.assertNotIn("CPU times", self.said)

    def test_copies_that_wait(self):
        made = Nsys(self.work / "a.sqlite")
        pageable, pinned = 0, 1
        # Name, kind, memory of source and destination, bytes, end of the copy; the call ends at 100.
        for number, (name, kind, source, destination, size, ends) in enumerate((
                ("cudaMemcpy_v3020", "DtoH", 2, pinned, 64, 90),            # 0 waits
                ("cudaMemcpy_v3020", "DtoD", 2, 2, 64, 90),                 # 1 between devices
                ("cudaMemcpyAsync_ptsz_v7000", "DtoH", 2, pageable, 64, 90),  # 2 waits
                ("cudaMemcpyAsync_v3020", "DtoH", 2, pinned, 64, 90),       # 3 not
                ("cudaMemcpyAsync_v3020", "HtoD", pageable, 2, 64, 90),     # 4 the driver's buffers hold it
                ("cudaMemcpyAsync_v3020", "HtoD", pageable, 2, 8 << 20, 90),  # 5 waits
                ("cudaMemcpy_v3020", "HtoD", pageable, 2, 64, 500))):       # 6 returned before the copy
            made.call(name, 1000 * number, 1000 * number + 100, number + 1)
            made.copy(kind, 1000 * number + 10, 1000 * number + ends, correlationId=number + 1, bytes=size,
                      srcKind=source, dstKind=destination)
        made.copy("UvmHtoD", 9000, 9100, bytes=4096)
        trace = self.take(made.close())
        self.assertEqual(self.rows(trace, "SELECT correlation, awaited FROM host_wait ORDER BY 1"),
                         [(1, 4), (3, 4), (6, 4)])
        self.assertEqual(self.rows(trace, "SELECT count(*), sum(bytes) FROM copy"), [(7, 5 * 64 + 64 + (8 << 20))])
        self.assertEqual(self.rows(trace, "SELECT kind, bytes, peer_device_id FROM uvm"), [(2, 4096, -1)])

    def test_a_call_of_the_driver_within_one_of_the_runtime_is_one_wait(self):
        made = Nsys(self.work / "a.sqlite")
        made.call("cuStreamSynchronize", 1010, 1990, 2)
        made.call("cudaStreamSynchronize_v3020", 1000, 2000, 1)
        trace = self.take(made.close())
        self.assertEqual(self.rows(trace, "SELECT correlation FROM host_wait"), [(1,)])

    def test_processes_that_number_one_gpu_differently(self):
        made = Nsys(self.work / "a.sqlite")
        made.make("TARGET_INFO_GPU", "id", "name", "uuid", "smCount", "totalMemory")
        made.make("TARGET_INFO_CUDA_DEVICE", "gpuId", "cudaId", "pid")
        for gpu in (0, 1):
            made.put("TARGET_INFO_GPU", gpu, f"GPU {gpu}", f"aaaa-{gpu}", 132, 1 << 30)
        for pid, gpu in ((100, 0), (200, 1), (300, 1)):
            made.put("TARGET_INFO_CUDA_DEVICE", gpu, 0, pid)
            made.process(pid, "rank")
            made.kernel("k", pid, pid + 10, pid=pid)
        trace = self.take(made.close())
        self.assertEqual(self.rows(trace, "SELECT process_id, uuid.value FROM kernel JOIN device ON device.id = "
                                          "device_id JOIN string uuid ON uuid.id = uuid_id ORDER BY 1"),
                         [(100, "GPU-aaaa-0"), (200, "GPU-aaaa-1"), (300, "GPU-aaaa-1")])

    def test_secrets_stay_behind(self):
        self.take(nsys(self.work / "a.sqlite"))
        self.assertNotIn(SECRET.encode(), (self.work / "out.wicprof").read_bytes())

    def test_rows_that_cannot_be_are_counted(self):
        made = Nsys(self.work / "a.sqlite")
        made.kernel("good", 1, 2)
        made.kernel("ends before it begins", 10, 5)
        made.kernel("in the year 300 billion", 1 << 62, (1 << 63) - 1)
        trace = self.take(made.close())
        self.assertEqual(self.rows(trace, "SELECT count(*) FROM kernel"), [(1,)])
        self.assertEqual(self.rows(trace, "SELECT stat.value FROM stat JOIN string ON string.id = name_id WHERE "
                                          "string.value = 'impossible_rows'"), [(2,)])

    def test_hostile_databases(self):
        cases = {
            "a view": "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS "
                      "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x FROM r) SELECT x AS start FROM r",
            "a trigger": "CREATE TRIGGER t AFTER INSERT ON StringIds BEGIN DELETE FROM StringIds; END",
            "a generated column": "CREATE TABLE MPI_P2P_EVENTS (start, end AS (length(zeroblob(1000000000))))",
        }
        for what, sql in cases.items():
            with self.subTest(what=what):
                path = nsys(self.work / f"{what[2:5]}.sqlite")
                with sqlite3.connect(path) as database:
                    database.executescript(sql)
                database.close()
                self.refused(path.name, path.name, "nsys export --type sqlite")

    def test_damaged_database(self):
        made = Nsys(self.work / "a.sqlite")
        for i in range(2000):
            made.kernel(f"kernel {i}", i, i + 1)
        whole = made.close().read_bytes()
        (self.work / "cut.sqlite").write_bytes(whole[:len(whole) // 2])
        self.refused("cut.sqlite", "cut.sqlite", "damaged")
        broken = bytearray(whole)
        for page in range(8, len(broken) // 4096):
            broken[page * 4096:page * 4096 + 64] = b"\xff" * 64
        (self.work / "broken.sqlite").write_bytes(broken)
        self.refused("broken.sqlite", "broken.sqlite", "damaged", "row", "table")

    def test_other_databases_and_exports_without_events(self):
        with sqlite3.connect(self.work / "other.sqlite") as database:
            database.execute("CREATE TABLE people (name)")
        self.refused("other.sqlite", "no export of Nsight Systems")
        Nsys(self.work / "empty.sqlite").close()
        self.refused("empty.sqlite", "holds nothing")


class Kineto(Import):
    def test_plain_packed_old_and_new(self):
        for name, absolute in (("new.json", False), ("new.json.gz", False), ("old.json", True), ("old.json.gz", True)):
            with self.subTest(name=name):
                trace = self.take(kineto(self.work / name, absolute=absolute, rank=3))
                begin = 7_000_000_000 + 1_000_000 + 20_000
                # Old files count from 1970, new ones from the quarter of a year: the trace's clock is the latter.
                self.assertEqual(self.rows(trace, "SELECT value, start_ns, end_ns - start_ns, grid_x, grid_y, block_x, "
                                                  "registers_per_thread, stream FROM kernel JOIN string ON string.id = "
                                                  "name_id ORDER BY start_ns"),
                                 [("gemm", begin, 30_250, 4, 2, 128, 32, 7),
                                  ("ncclDevKernel_AllReduce", begin + 40_000, 40_500, 4, 2, 128, 32, 7)])
                self.assertEqual(self.rows(trace, "SELECT id, rank FROM process"), [(4321, 3)])
                self.assertEqual(self.rows(trace, "SELECT string.value, sm_count, compute_major FROM device "
                                                  "JOIN string ON string.id = name_id"), [("NVIDIA H100", 132, 9)])
                self.assertEqual(self.rows(trace, "SELECT value FROM meta WHERE key = 'started_utc'"),
                                 [(time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(BASE / 1e9 + 7)),)])
                self.assertNotIn(SECRET.encode(), (self.work / "out.wicprof").read_bytes())
                (self.work / "out.wicprof").unlink()

    def test_fractions_of_a_microsecond_are_exact(self):
        text = ('{"traceEvents": [{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, '
                '"ts": 1712195495519689.123, "dur": 0.875}]}')
        (self.work / "a.json").write_text(text)
        trace = self.take("a.json")
        self.assertEqual(self.rows(trace, "SELECT start_ns, end_ns - start_ns FROM call"),
                         [(1712195495519689123 % QUARTER, 875)])

    def test_waits_are_named_by_the_function(self):
        trace = self.take(kineto(self.work / "a.json"))
        self.assertEqual(self.rows(trace, "SELECT name.value, place.value FROM host_wait JOIN site ON site.id = "
                                          "site_id JOIN string name ON name.id = name_id JOIN string place "
                                          "ON place.id = place_id ORDER BY begin_ns"),
                         [("cudaMemcpyAsync in step", "train.py:12"), ("cudaStreamSynchronize in step", "train.py:12")])
        self.assertEqual(len(self.analysis()["sites"]), 2)

    def test_many_ranks_are_one_trace(self):
        # Both ranks have one pid, in their containers, and call their GPU 0.
        files = [kineto(self.work / f"rank{rank}.json.gz", rank=rank, begin_us=1000 + 5 * rank) for rank in range(3)]
        trace = self.take(*files)
        rows = self.rows(trace, "SELECT process.rank, kernel.device_id, min(start_ns) FROM kernel JOIN process ON "
                                "process.id = process_id GROUP BY 1, 2 ORDER BY 1")
        first = rows[0][2]
        self.assertEqual(rows, [(rank, rank, first + 5_000 * rank) for rank in range(3)])
        waits = self.rows(trace, "SELECT count(*), count(DISTINCT site_id) FROM host_wait")
        self.assertEqual(waits, [(6, 2)])  # ranks of one program wait at the same sites

    def test_ranks_of_different_runs_are_refused(self):
        kineto(self.work / "a.json")
        kineto(self.work / "b.json", baseTimeNanoseconds=BASE + QUARTER)
        result = self.wic_prof("import", "a.json", "b.json", "-o", "out.wicprof")
        self.assert_refused(result, 2, "b.json", "another quarter")
        self.assertEqual(self.traces(), [])

    def test_streams_that_wait_for_events(self):
        wait = {"ph": "X", "cat": "cuda_sync", "name": "Stream Wait Event", "pid": 0, "tid": 9, "ts": 7_001_200,
                "dur": 1, "args": {"cuda_sync_kind": "Stream Wait Event", "stream": 9, "wait_on_stream": 7,
                                   "correlation": 21, "wait_on_cuda_event_record_corr_id": 20,
                                   "wait_on_cuda_event_id": 5, "device": 0, "context": 1}}
        trace = self.take(kineto(self.work / "a.json", more=[wait, {**wait, "ts": 7_001_300}]))
        self.assertEqual(self.rows(trace, "SELECT kind, stream, event, event_sync FROM sync"), [(2, 9, 5, 20)] * 2)
        self.assertEqual(self.rows(trace, "SELECT stream, event, event_sync FROM cuda_event"), [(7, 5, 20)])

    def test_hostile_files(self):
        whole = kineto(self.work / "whole.json").read_bytes()
        packed = gzip.compress(whole)
        cases = {
            "cut.json": (whole[:len(whole) // 2], "byte"),
            "cut.json.gz": (packed[:len(packed) // 2], "byte"),
            "broken.json.gz": (packed[:100] + b"\x00" * 100 + packed[200:], "gzip"),
            "deep.json": (b'{"traceEvents": ' + b"[" * 100_000, "nested"),
            "other.json": (b'{"people": []}', "traceEvents"),
            "text.json": (b"a letter", "no kind"),
            "empty.json": (b"", "empty"),
            "no_events.json": (b'{"traceEvents": []}', "holds nothing"),
            "long.json.gz": (gzip.compress(b'{"a": "' + b"x" * (65 << 20)), "64 MiB"),
            "packed.json.gz": (gzip.compress(gzip.compress(whole)), "byte"),
        }
        for name, (data, word) in cases.items():
            with self.subTest(name=name):
                (self.work / name).write_bytes(data)
                self.refused(name, name, word)

    def test_odd_values_do_not_stop_it(self):
        odd = [{}, {"ph": "X"}, {"ph": "X", "cat": "kernel"}, {"ph": 5, "cat": [1], "ts": "x", "args": "none"},
               {"ph": "X", "cat": "kernel", "name": "k", "ts": 1e300, "dur": -5, "args": {"grid": [[1], "x"]}},
               {"ph": "X", "cat": "cuda_runtime", "name": "c", "pid": -3, "tid": 1 << 63, "ts": 7e6, "dur": 2.5}]
        trace = self.take(kineto(self.work / "a.json", more=odd))
        self.assertEqual(self.rows(trace, "SELECT count(*) FROM kernel"), [(2,)])
        self.assertEqual(self.rows(trace, "SELECT count(*) FROM call"), [(5,)])


class FlightRecorder(Import):
    def test_collectives_of_each_rank(self):
        files = [flight(self.work / f"_dump_{rank}", protocol) for rank, protocol in ((0, 2), (1, 4))]
        trace = self.take(*files)
        rows = self.rows(trace, "SELECT rank, name.value, end_ns - start_ns FROM nvtx JOIN process ON process.id = "
                                "process_id JOIN string name ON name.id = nvtx.name_id ORDER BY rank, start_ns")
        self.assertEqual(rows, [(rank, name, length) for rank in (0, 1) for name, length in
                                (("nccl:all_reduce #41 of default_pg", 5000),
                                 ("nccl:all_reduce #42 of default_pg, started", 0))])
        self.assertIn("rank 1: 1 collective was started and not complete", self.said)

    def test_nothing_of_a_pickle_is_run(self):
        class Evil:
            def __reduce__(self):
                return os.system, ("touch ran",)

        for protocol in (2, 3, 4, 5):
            with self.subTest(protocol=protocol):
                (self.work / "_dump_0").write_bytes(pickle.dumps({"entries": [Evil()]}, protocol=protocol))
                self.refused("_dump_0", "_dump_0", "may run code", "byte")
                self.assertFalse((self.work / "ran").exists())

    def test_damaged_dumps(self):
        whole = flight(self.work / "_dump_0").read_bytes()
        for end in (3, len(whole) // 3, len(whole) - 1):
            (self.work / "cut_0").write_bytes(whole[:end])
            self.refused("cut_0", "cut_0", "byte")
        (self.work / "other_0").write_bytes(pickle.dumps([1, 2], protocol=2))
        self.refused("other_0", "no dump of PyTorch's Flight Recorder")


class HowTo(Import):
    """The commands of docs/how-to/import.md, on made files with the page's names."""

    def test_commands_run(self):
        page = (harness.SOURCE / "docs" / "how-to" / "import.md").read_text()
        blocks = dict(re.findall(r"<!-- test: (\w+) -->\n```sh\n(.*?)```", page, re.S))
        self.assertEqual(page.count("```sh"), len(blocks))
        for name in ("report1", "before", "after"):
            nsys(self.work / f"{name}.sqlite")
        for rank in (0, 1):
            kineto(self.work / f"rank{rank}.json.gz", rank=rank)
            flight(self.work / f"_dump_{rank}")
        made = {"nsys": "app.wicprof", "kineto": "job.html", "flight": "hang.wicprof", "compare": "after.wicprof"}
        self.assertEqual(set(blocks), set(made))
        for block, file in made.items():
            for line in blocks[block].splitlines():
                with self.subTest(line=line):
                    tool, *words = shlex.split(line)
                    if tool == "wic-prof":
                        result = self.wic_prof(*words)
                        self.assertEqual(result.returncode, 0, result.stderr)
                    else:
                        self.assertEqual(tool, "nsys")
            self.assertTrue((self.work / file).is_file(), file)


class Files(Import):
    def test_reports_that_only_nvidia_reads_name_the_command(self):
        for name, command in (("my report.nsys-rep", "nsys export --type sqlite 'my report.nsys-rep'"),
                              ("old.qdrep", "nsys export --type sqlite old.qdrep"),
                              ("k.ncu-rep", "ncu --import k.ncu-rep")):
            head = b"NVR\0\1" if "ncu" in name else b"NVIDIA Tegra Profiler Report 1.\0\1\2"
            (self.work / name).write_bytes(head)
            self.refused(name, name, command)

    def test_output(self):
        path = nsys(self.work / "report1.sqlite")
        self.assertEqual(self.wic_prof("import", path).returncode, 0)
        self.assertEqual(self.traces(), ["report1.wicprof"])
        before = (self.work / "report1.wicprof").read_bytes()
        self.assert_refused(self.wic_prof("import", path), 2, "report1.wicprof exists", "-f")
        (self.work / "cut.sqlite").write_bytes(path.read_bytes()[:9000])
        self.assertEqual(self.wic_prof("import", "cut.sqlite", "-f", "-o", "report1.wicprof").returncode, 2)
        self.assertEqual((self.work / "report1.wicprof").read_bytes(), before)  # a failure leaves the old trace
        self.assertEqual(self.wic_prof("import", path, "-f").returncode, 0)
        self.assert_refused(self.wic_prof("import", path, "-o", "-"), 2, "-o")
        self.assert_refused(self.wic_prof("import", "missing.sqlite"), 2, "missing.sqlite")
        self.assert_refused(self.wic_prof("import", "."), 2, "no file")
        self.assert_refused(self.wic_prof("import", path, kineto(self.work / "a.json"), "-o", "b.wicprof"), 2, "a.json",
                            "different tools")
        self.assertEqual(self.traces(), ["report1.wicprof"])

    def test_interrupted_it_leaves_nothing(self):
        event = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "dur": 1, "args": {}}
        with open(self.work / "large.json", "w") as file:
            file.write('{"traceEvents": [')
            file.write(",\n".join(json.dumps({**event, "ts": i}) for i in range(400_000)))
            file.write("]}")
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start("import", "large.json", "-o", "out.wicprof")
            self.until(lambda: list(self.work.glob("out.wicprof.*.part")), "the unfinished trace")
            process.send_signal(number)
            self.assertEqual(self.finish(process).returncode, -number)
            self.assertEqual(sorted(os.listdir(self.work)), ["large.json"])


if __name__ == "__main__":
    unittest.main()
