"""wic-prof stuck: programs that hang on purpose, on the CPU device and on the test's CUDA driver."""

import json
import os
import shutil
import subprocess
import sys
import time

import harness
import stuck_case

STUCK_APP = os.environ["WICPROF_STUCK_APP"]
SECONDS = 90  # the programs' own deadline, should a test fail


class Stuck(stuck_case.Asks, harness.Case):
    def scenario(self, name, kind, confidence, check, note=0):
        self.env["WICPROF_LONG_WAIT_MS"] = "500"
        run = self.hang(STUCK_APP, name, "simt:1", SECONDS)
        self.until_answer(self.is_first(kind, confidence, check))
        text = self.wic_prof("stuck", "--session=hung")
        self.assertEqual(text.returncode, 0, text.stderr)
        self.assertTrue(text.stdout.startswith(kind), text.stdout)
        time.sleep(note)
        return self.end(run).stderr

    def test_missing_signal(self):
        def check(answer):
            cause, wait = answer["causes"][0], answer["waits"][0]
            self.assertEqual((wait["site"], wait["value"], wait["wanted"], wait["iteration"]), ("first", 3, 4, 4))
            self.assertEqual((wait["blocks"], wait["grid_blocks"], wait["source"]), ([0], 1, "wic"))
            self.assertEqual(wait["last_signal"]["value"], 3)
            self.assertIn(wait["last_signal"]["thread"], [t["thread"] for t in answer["threads"]])
            self.assertGreater(wait["age_ns"], 500_000_000)
            self.assertRegex(wait["address"], "^0x[0-9a-f]+$")
            self.assertIn("host thread", cause["text"])
        said = self.scenario("missing_signal", "missing_signal", "likely", check, note=1.2)
        self.assertRegex(said, r"a warp waits at first for \d.*: wic-prof stuck --session hung\n")
        self.assertEqual(said.count("should the program hang"), 1)
        self.assertIn("next: wic-prof stuck t.wicprof", said)
        self.ask_the_trace()

    def ask_the_trace(self):
        """Of what test_missing_signal() has recorded: somebody else has the trace alone."""
        answer = json.loads(self.wic_prof("stuck", "t.wicprof", "--format=json").stdout)
        self.assertEqual((answer["causes"][0]["kind"], answer["trace"]), ("missing_signal", "t.wicprof"))
        self.assertEqual((answer["session"], answer["app"]), ("hung", os.path.basename(STUCK_APP)))
        self.assertEqual((answer["waits"][0]["site"], answer["waits"][0]["wanted"]), ("first", 4))
        text = self.wic_prof("stuck", "t.wicprof").stdout
        self.assertTrue(text.startswith("missing_signal (likely): "), text)
        analysis = json.loads(self.wic_prof("analyze", "t.wicprof", "--format=json").stdout)
        self.assertEqual(analysis["hang"], answer["causes"])
        self.assertEqual(analysis["verdict"]["headline"], "the program hung: missing_signal (likely)")
        self.assertEqual(analysis["verdict"]["command"], "wic-prof stuck t.wicprof")
        why = self.wic_prof("why", "t.wicprof").stdout
        self.assertIn("The program hung: missing signal: block 0 of 1 waits", " ".join(why.split()))
        self.assertIn("wic-prof stuck t.wicprof", why)
        kept = json.loads(self.query("t.wicprof", "SELECT value FROM meta WHERE key = 'open_work'")[0][0])
        hostile = {"process": 1, "value": {"name": "k\033[2Jernel"}}
        self.keep({**kept, "kernels": [hostile]})
        text = self.wic_prof("stuck", "t.wicprof").stdout
        self.assertIn("ernel", text)
        self.assertNotIn("\033", text)
        deep = '{"waits": ' + "[" * 100_000 + "]" * 100_000 + "}"
        for damage in ("{", deep, "[]", '{"waits": [{"value": 3}], "now": "x"}', '{"threads": [{"name": 3}]}'):
            self.keep(damage)
            with self.subTest(damage=damage):
                self.assert_refused(self.wic_prof("stuck", "t.wicprof"), 2, "t.wicprof", "cannot be read")
                for format in ("text", "json"):
                    self.assertEqual(self.wic_prof("analyze", "t.wicprof", "--format", format).returncode, 0)

    def keep(self, view):
        text = view if isinstance(view, str) else json.dumps(view)
        self.query("t.wicprof", f"UPDATE meta SET value = '{text}' WHERE key = 'open_work'")

    def test_wrong_count(self):
        def check(answer):
            wait = answer["waits"][0]
            self.assertEqual((wait["value"], wait["wanted"], wait["blocks"]), (6, 7, list(range(6))))
        self.scenario("wrong_count", "wrong_count", "likely", check)

    def test_grid_larger_than_the_device(self):
        def check(answer):
            wait = answer["waits"][0]
            self.assertEqual(len(wait["blocks"]), wait["grid_blocks"] - 5)
            self.assertEqual(wait["value"], len(wait["blocks"]))
        self.scenario("grid_too_large", "grid_too_large", "likely", check)

    def test_two_kernels_that_wait_for_each_other(self):
        def check(answer):
            text = answer["causes"][0]["text"]
            for site in ("first", "second"):
                self.assertIn(f"of site {site} (wants 3, has 2)", text)
            self.assertIn("which was due first is unknown", text)
        self.scenario("two_kernels", "mutual_wait", "likely", check)

    def test_kernels_that_never_signalled_are_a_guess(self):
        def check(answer):
            others = [cause for cause in answer["causes"][1:] if cause["kind"] == "missing_signal"]
            self.assertEqual([cause["confidence"] for cause in others], ["unknown"] * 2)
        self.scenario("silent_kernels", "mutual_wait", "possible", check)

    def test_a_writer_behind_the_others(self):
        def check(answer):
            text = answer["causes"][0]["text"]
            self.assertIn("for iteration 2", text)
            self.assertIn("(wants 3, has 2)", text)
        self.scenario("late_writer", "late_writer", "likely", check)

    def test_a_rank_that_never_came(self):
        def check(answer):
            self.assertIn("rank 3 of 4 never came", answer["causes"][0]["text"])
            self.assertEqual(len(answer["causes"]), 1)  # the ranks that wait see one word at three addresses
            self.assertEqual({(w["value"], w["wanted"]) for w in answer["waits"]}, {(3, 4)})
        self.scenario("ranks", "absent_rank", "likely", check)

    def test_a_rank_that_has_ended(self):
        def check(answer):
            self.assertRegex(answer["causes"][0]["text"], r"rank 3 of 4 \(process \d+\) has ended")
        self.scenario("ranks_gone", "absent_rank", "likely", check)

    def cuda(self, *words, trace="cuda,nvtx,launches"):
        if harness.CUDA_APP is None:
            self.skipTest("built without CUPTI's headers")
        self.env.update({"WICPROF_CUPTI_PATH": harness.FAKE_CUPTI, "WICPROF_FLUSH_MS": "10", "WICPROF_TEST_CUPTI": ""})
        return self.hang(harness.CUDA_APP, "load", "context", *words, options=("--trace", trace))

    def test_a_kernel_of_a_plain_cuda_program(self):
        def check(answer):
            text = answer["causes"][0]["text"]
            self.assertIn("cudaStreamSynchronize", text)
            self.assertIn("kernel work", text)
            self.assertEqual([(k["name"], k["grid"], k["stream"]) for k in answer["kernels"]],
                             [("work(float*)", [8, 1, 1], "0x0")])
            call = answer["calls"][0]
            self.assertEqual((call["call"], call["awaited"], call["stream"]),
                             ("cudaStreamSynchronize", "stream", "0x0"))
            self.assertGreater(call["age_ns"], 1_000_000_000)
        run = self.cuda("wait", "stream", "3", "5", "wait", "stream", "1", str(SECONDS * 1000))
        self.until_answer(self.is_first("running_kernel", "unknown", check))
        self.end(run)

    def test_without_launches_the_kernel_is_unknown(self):
        def check(answer):
            self.assertEqual((answer["calls"][0]["awaited"], answer["calls"][0]["event"]), ("event", "0x10"))
            self.assertEqual((answer["kernels"], answer["launches_seen"]), ([], False))
        self.env["WICPROF_LONG_WAIT_MS"] = "500"
        run = self.cuda("wait", "event", "1", str(SECONDS * 1000), trace="cuda,nvtx")
        self.until_answer(self.is_first("waiting_call", "unknown", check))
        self.assertRegex(self.end(run).stderr, r"thread \d+ waits in cudaEventSynchronize for \d.*s; should")

    def test_a_program_that_does_not_hang(self):
        def check(answer):
            self.assertEqual((answer["causes"], answer["waits"], answer["calls"]), ([], [], []))
        self.env["WICPROF_LONG_WAIT_MS"] = "500"
        run = self.start_app(run_options=("-o", "t.wicprof", "--name", "hung"), seconds=SECONDS, start_new_session=True)
        time.sleep(1.5)
        self.until_answer(check)
        self.until(lambda: "nothing has waited for long" in self.wic_prof("stuck", "--session=hung").stdout, "the text")
        self.assertNotIn("should the program hang", self.end(run).stderr)
        self.assert_refused(self.wic_prof("stuck", "t.wicprof"), 3, "t.wicprof has no record of a hang")
        self.assert_refused(self.wic_prof("stuck", "t.wicprof", "--session=hung"), 2, "--session")

    def test_where_threads_are_in_python(self):
        candidates = ["/usr/bin/python3", sys.executable, *os.environ.get("WICPROF_TEST_PYTHONS", "").split(":")]
        tried = 0
        for interpreter in sorted({os.path.realpath(found) for found in map(shutil.which, candidates) if found}):
            version = subprocess.run([interpreter, "-c", "import sys; print(sys.version_info[1])"], text=True,
                                     capture_output=True, check=True).stdout
            if not 11 <= int(version) <= 13:
                continue
            tried += 1
            with self.subTest(interpreter):
                self.of_python(interpreter)
        if tried == 0:
            self.skipTest("no CPython 3.11 to 3.13")

    def of_python(self, interpreter):
        app = harness.SOURCE / "tests" / "cli" / "python_stacks_app.py"
        run = self.start("run", "-f", "-o", "t.wicprof", "--name", "hung", "--", interpreter, app,
                         stdin=subprocess.PIPE)
        said = json.loads(run.stdout.readline())
        expected = {int(thread): lines[:32] for thread, lines in said["threads"].items()}
        self.assertEqual(len(expected), 9)

        def check(answer):
            found = {thread["thread"]: [[line["function"], line["file"], line["line"]] for line in thread["python"]]
                     for thread in answer["threads"]}
            for thread, lines in expected.items():
                self.assertEqual(found[thread], lines)
            self.assertEqual(found[said["forked"]][0][0], "main")
        self.until_answer(check)
        text = self.wic_prof("stuck", "--session=hung").stdout
        self.assertRegex(text, r"(?m)^ .*python_stacks_app.py:\d+ in ask$")
        self.finish(run)

    def test_no_session(self):
        self.assert_refused(self.wic_prof("stuck"), 2, "no session is running")
        self.assert_refused(self.wic_prof("stuck", "--session=none"), 2, "none")


if __name__ == "__main__":
    harness.main()
