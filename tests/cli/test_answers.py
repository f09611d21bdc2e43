"""analyze, compare, report and doctor: one document on stdout, with the documented fields."""

import csv
import io
import json
import os
import re
import sqlite3
import subprocess
import unittest

import harness


class Answers(harness.Case):
    def one_document(self, *words):
        result = self.wic_prof(*words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def test_a_trace_with_many_keys(self):
        trace, keys = self.record("t.wicprof", "--waits", "3"), 250_000  # where each is looked for, over a minute
        with sqlite3.connect(trace) as database:
            database.executemany("INSERT INTO meta (key, value) VALUES (?, 'x')", ((f"k{i}",) for i in range(keys)))
        answer = self.one_document("report", trace, "--format", "json", "-o", "-")
        self.assertGreater(len(answer["meta"]), keys)

    def test_a_recording_that_stopped_after_its_last_event_lacks_no_record(self):
        trace = self.record("t.wicprof", "--waits", "3")
        with sqlite3.connect(trace) as database:
            number, = database.execute("SELECT max(id) + 1 FROM string").fetchone()
            database.execute("INSERT INTO string (id, value) VALUES (?, 'store_stopped')", (number,))
            database.execute("INSERT INTO stat SELECT max(id) + 1, ?, NULL, 2, 1 FROM stat", (number,))
        for verb in (["analyze"], ["report", "--format", "html", "-o", "-"], ["report", "--format", "md", "-o", "-"]):
            text = self.wic_prof(*verb, trace).stdout.lower()
            self.assertIn("the recording ended early", text)
            self.assertNotIn("records are missing", text)

    def test_analyze(self):
        self.record("t.wicprof")
        answer = self.one_document("analyze", "t.wicprof", "--format", "json")
        fields = {"model", "pattern", "model_confidence", "pattern_confidence", "evidence"}
        self.assertEqual(set(answer["classification"]) & fields, fields)
        self.assertEqual({site["site"] for site in answer["sites"]}, {"left", "right"})
        for field in ("count", "total_ns", "p50_ns", "p99_ns", "polls", "strategy", "predicted_gain"):
            self.assertIn(field, answer["sites"][0])
        self.assertEqual((answer["loss"], type(answer["findings"])), ([], list))
        self.assertIn("left", self.wic_prof("analyze", "t.wicprof").stdout)

    def test_compare(self):
        self.record("a.wicprof", "--seconds", 1, run_options=("--schedule", "poll:300ms,park:300ms"))
        self.record("b.wicprof", run_options=("--mode", "park"))
        for files in (["a.wicprof"], ["a.wicprof", "b.wicprof"]):
            with self.subTest(files=files):
                answer = self.one_document("compare", *files, "--format=json")
                self.assertIn("verdict", answer)
                self.assertIn("speedup", answer)
                for field in ("mode", "begin_ns", "end_ns", "iterations", "iteration_ns_p50"):
                    self.assertIn(field, answer["segments"][0])

    def test_report(self):
        self.record("t.wicprof")
        self.one_document("report", "t.wicprof", "--format=json")
        self.assertTrue(self.wic_prof("report", "t.wicprof", "--format=md").stdout.startswith("#"))
        result = self.wic_prof("report", "t.wicprof", "--format", "html", "-o", "t.html")
        self.assertEqual((result.returncode, result.stdout), (0, ""))
        self.assertTrue((self.work / "t.html").read_text().lower().startswith("<!doctype html>"))
        self.assertEqual(self.wic_prof("report", "t.wicprof", "--format", "html", "-f", "-o", "t.html").returncode, 0)

    def test_a_document_that_is_no_text(self):
        words = [harness.WICPROF, "report", self.record("t.wicprof"), "--format", "pftrace", "-o"]

        def report(output, **given):
            return subprocess.run([*words, output], cwd=self.work, env=self.env, stderr=subprocess.PIPE,
                                  timeout=harness.TIMEOUT, **given)
        piped = report("-", stdout=subprocess.PIPE)
        self.assertEqual((piped.returncode, report("t.pftrace").returncode), (0, 0))
        self.assertEqual((self.work / "t.pftrace").read_bytes(), piped.stdout, "changed for a terminal")
        self.assertNotIn(b"\xef\xbf\xbd", piped.stdout)
        terminal, shown = os.openpty()
        refused = report("-", stdout=shown)
        os.close(shown), os.close(terminal)
        self.assertEqual(refused.returncode, 2)
        self.assertIn(b"name a file with -o", refused.stderr)

    def test_csv_has_the_columns_of_the_user_guide(self):
        self.record("t.wicprof")
        rows = list(csv.DictReader(io.StringIO(self.wic_prof("report", "t.wicprof", "--format=csv").stdout)))
        self.assertEqual({row["site"] for row in rows}, {"left", "right"})
        guide = (harness.SOURCE / "docs" / "user-guide.md").read_text()
        table = guide[guide.index("| column | content |"):].split("\n\n")[0]
        self.assertEqual(list(rows[0]), re.findall(r"^\| `(\w+)` \|", table, re.M))

    def test_output_file_equals_stdout(self):
        self.record("t.wicprof")
        shown = self.wic_prof("analyze", "t.wicprof", "-o", "-").stdout
        self.assertEqual(self.wic_prof("analyze", "t.wicprof", "--output=a%%.txt").returncode, 0)
        self.assertEqual((self.work / "a%.txt").read_text(), shown)

    def test_trace_of_a_program_without_waits(self):
        self.assertEqual(self.wic_prof("run", "-o", "t.wicprof", "--", "true").returncode, 0)
        self.assertEqual(self.one_document("analyze", "t.wicprof", "--format=json")["sites"], [])
        self.assertEqual(self.one_document("compare", "t.wicprof", "--format=json")["verdict"], "inconclusive")
        self.one_document("report", "t.wicprof", "--format=json")

    def test_trace_that_is_still_being_recorded(self):
        process = self.start_app(run_options=("-o", "t.wicprof"))
        self.until(lambda: self.sessions()[0]["waits"] > 100, "waits")
        self.until(lambda: self.one_document("analyze", "t.wicprof", "--format=json")["sites"], "committed waits")
        self.assertIn("is still recording", self.wic_prof("analyze", "t.wicprof").stderr)
        self.interrupt(process)

    def test_doctor(self):
        answer = self.one_document("doctor", "--format", "json")
        self.assertIs(answer["able"], True)
        states = {check["name"]: check["state"] for check in answer["checks"]}
        self.assertEqual((states["session folder"], states["session"], states["shared memory"]), ("ok", "ok", "ok"))
        for check in answer["checks"]:
            self.assertIn(check["state"], ("ok", "missing", "not applicable"))
            self.assertEqual(bool(check["cure"]), check["state"] == "missing", check)
        for name in ("CUDA driver", "GPU", "CUDA collector", "CUPTI", "patched code", "clock", "scheduler statistics",
                     "container", "display", "nvdisasm", "module loading", "concurrent kernels", "other profilers",
                     "GPU profiling rights"):
            self.assertIn(name, states)
        self.assertEqual("injection" in states, states["CUDA collector"] == "ok")

    def test_doctor_follows_the_environment(self):
        def line(name, **variables):
            answer = json.loads(self.wic_prof("doctor", "--format", "json", env=variables).stdout)
            return next(check for check in answer["checks"] if check["name"] == name)
        self.assertEqual(line("display", DISPLAY=":7", WAYLAND_DISPLAY="")["state"], "ok")
        self.assertEqual(line("display", DISPLAY="", WAYLAND_DISPLAY="")["state"], "not applicable")
        self.assertEqual(line("module loading", CUDA_MODULE_LOADING="LAZY")["detail"], "as the program has it")
        self.assertIn("at start", line("module loading", CUDA_MODULE_LOADING="EAGER")["detail"])
        self.assertEqual(line("concurrent kernels", CUDA_LAUNCH_BLOCKING="0")["state"], "ok")
        blocking = line("concurrent kernels", CUDA_LAUNCH_BLOCKING="1")
        self.assertEqual((blocking["state"], blocking["cure"]), ("missing", "unset CUDA_LAUNCH_BLOCKING"))
        self.assertEqual(line("other profilers", CUDA_INJECTION64_PATH="")["state"], "ok")
        other = line("other profilers", CUDA_INJECTION64_PATH="/opt/tool.so")
        self.assertEqual(other["state"], "missing")
        self.assertIn("/opt/tool.so", other["detail"])
        self.assertIn("podcraft", line("container", container="podcraft")["detail"])
        tools = self.work / "bin"
        tools.mkdir()
        (tools / "nvdisasm").write_text("")
        (tools / "nvdisasm").chmod(0o755)
        self.assertEqual(line("nvdisasm", PATH=f"/none:{tools}")["detail"], str(tools / "nvdisasm"))
        library = self.work / "libcupti.so"
        library.write_text("no library")
        self.assertEqual(line("CUPTI", WICPROF_CUPTI_PATH=str(library))["state"], "missing")

    def test_doctor_asks_whether_the_driver_takes_patched_code(self):
        if harness.FAKE_LIBCUDA is None:
            self.skipTest("built without CUPTI's headers")
        (self.work / "libcuda.so.1").symlink_to(harness.FAKE_LIBCUDA)
        driver = {"LD_LIBRARY_PATH": str(self.work), "WICPROF_CUPTI_PATH": harness.FAKE_CUPTI, "WICPROF_FAKE_GPUS": "x",
                  "WICPROF_TEST_CUPTI": ""}

        def line(**variables):
            answer = json.loads(self.wic_prof("doctor", "--format", "json", env={**driver, **variables}).stdout)
            return next(check for check in answer["checks"] if check["name"] == "patched code")
        taken = line()
        self.assertEqual((taken["state"], taken["cure"]), ("ok", None), taken)
        self.assertEqual(line(CUDA_INJECTION64_PATH="/none.so")["state"], "ok")
        closed = line(WICPROF_FAKE_DOOR="closed")
        self.assertEqual(closed["state"], "missing")
        self.assertIn("does not take the image", closed["detail"])
        self.assertIn("pcsampling", closed["cure"])
        for lack, variables in {"there is no GPU": {"WICPROF_FAKE_GPUS": ""},
                                "CUPTI": {"WICPROF_CUPTI_PATH": str(self.work)},
                                "cuptiSubscribe": {"WICPROF_TEST_CUPTI": "fail=cuptiSubscribe"}}.items():
            answer = line(**variables)
            self.assertEqual(answer["state"], "not applicable", answer)
            self.assertIn(lack, answer["detail"])


if __name__ == "__main__":
    harness.main()
