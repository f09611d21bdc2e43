"""wic-prof stuck: programs that hang on purpose, on the CPU device and on the test's CUDA driver."""

import json
import os
import time

import harness

STUCK_APP = os.environ["WICPROF_STUCK_APP"]
SECONDS = 40  # the programs' own deadline, should a test fail


class Stuck(harness.Case):
    def hang(self, *words, options=()):
        return self.start("run", "-f", "-o", "t.wicprof", "--name", "hung", *options, "--", *words)

    def answer(self):
        result = self.wic_prof("stuck", "--session=hung", "--format=json")
        if result.returncode != 0:
            return None
        return json.loads(result.stdout)

    def until_first(self, kind):
        """Returns the answer once its first cause is of that kind."""
        seen = [None]

        def is_first():
            seen[0] = self.answer()
            return seen[0] is not None and seen[0]["causes"] and seen[0]["causes"][0]["kind"] == kind
        try:
            self.until(is_first, f"{kind} as the first cause")
        except AssertionError as error:
            raise AssertionError(f"{error}; the last answer: {json.dumps(seen[0], indent=1)}") from None
        return seen[0]

    def end(self, run):
        self.interrupt(run)

    def scenario(self, name, kind, devices="simt:1"):
        run = self.hang(STUCK_APP, name, devices, SECONDS)
        answer = self.until_first(kind)
        text = self.wic_prof("stuck", "--session=hung")
        self.assertEqual(text.returncode, 0, text.stderr)
        self.assertTrue(text.stdout.startswith(kind), text.stdout)
        self.end(run)
        return answer

    def test_missing_signal(self):
        answer = self.scenario("missing_signal", "missing_signal")
        cause, wait = answer["causes"][0], answer["waits"][0]
        self.assertEqual(cause["confidence"], "likely")
        self.assertEqual((wait["site"], wait["value"], wait["wanted"], wait["iteration"]), ("first", 3, 4, 4))
        self.assertEqual((wait["blocks"], wait["grid_blocks"], wait["source"]), ([0], 1, "wic"))
        self.assertEqual(wait["last_signal"]["value"], 3)
        self.assertIn(wait["last_signal"]["thread"], [t["thread"] for t in answer["threads"]])
        self.assertGreater(wait["age_ns"], 500_000_000)
        self.assertRegex(wait["address"], "^0x[0-9a-f]+$")
        self.assertIn("host thread", cause["text"])

    def test_wrong_count(self):
        answer = self.scenario("wrong_count", "wrong_count")
        self.assertEqual(answer["causes"][0]["confidence"], "likely")
        wait = answer["waits"][0]
        self.assertEqual((wait["value"], wait["wanted"], wait["blocks"]), (6, 7, list(range(6))))

    def test_grid_larger_than_the_device(self):
        answer = self.scenario("grid_too_large", "grid_too_large")
        wait = answer["waits"][0]
        self.assertEqual(answer["causes"][0]["confidence"], "likely")
        self.assertEqual(len(wait["blocks"]), wait["grid_blocks"] - 5)
        self.assertEqual(wait["value"], len(wait["blocks"]))

    def test_two_kernels_that_wait_for_each_other(self):
        answer = self.scenario("two_kernels", "mutual_wait")
        cause = answer["causes"][0]
        self.assertEqual(cause["confidence"], "likely")
        for site in ("first", "second"):
            self.assertIn(f"of site {site} (wants 3, has 2)", cause["text"])
        self.assertIn("which was due first is unknown", cause["text"])

    def test_kernels_that_never_signalled_are_a_guess(self):
        answer = self.scenario("silent_kernels", "mutual_wait")
        self.assertEqual(answer["causes"][0]["confidence"], "possible")
        others = [cause for cause in answer["causes"][1:] if cause["kind"] == "missing_signal"]
        self.assertEqual([cause["confidence"] for cause in others], ["unknown"] * 2)

    def test_a_writer_behind_the_others(self):
        answer = self.scenario("late_writer", "late_writer")
        cause = answer["causes"][0]
        self.assertIn("for iteration 2", cause["text"])
        self.assertIn("(wants 3, has 2)", cause["text"])

    def test_a_rank_that_never_came(self):
        answer = self.scenario("ranks", "absent_rank")
        cause = answer["causes"][0]
        self.assertEqual(cause["confidence"], "likely")
        self.assertIn("rank 3 of 4 never came", cause["text"])
        self.assertEqual(len(answer["causes"]), 1)  # the ranks that wait see one word at three addresses
        self.assertEqual({(w["value"], w["wanted"]) for w in answer["waits"]}, {(3, 4)})

    def test_a_rank_that_has_ended(self):
        answer = self.scenario("ranks_gone", "absent_rank")
        self.assertRegex(answer["causes"][0]["text"], r"rank 3 of 4 \(process \d+\) has ended")

    def cuda(self, *words, trace="cuda,nvtx,launches"):
        if harness.CUDA_APP is None:
            self.skipTest("built without CUPTI's headers")
        self.env.update({"WICPROF_CUPTI_PATH": harness.FAKE_CUPTI, "WICPROF_FLUSH_MS": "10", "WICPROF_TEST_CUPTI": ""})
        return self.hang(harness.CUDA_APP, "load", "context", *words, options=("--trace", trace))

    def test_a_kernel_of_a_plain_cuda_program(self):
        run = self.cuda("wait", "stream", "3", "5", "wait", "stream", "1", str(SECONDS * 1000))
        answer = self.until_first("running_kernel")
        cause = answer["causes"][0]
        self.assertEqual(cause["confidence"], "unknown")
        self.assertIn("cudaStreamSynchronize", cause["text"])
        self.assertIn("kernel work", cause["text"])
        self.assertEqual([(k["name"], k["grid"], k["stream"]) for k in answer["kernels"]],
                         [("work(float*)", [8, 1, 1], "0x0")])
        call = answer["calls"][0]
        self.assertEqual((call["call"], call["awaited"], call["stream"]), ("cudaStreamSynchronize", "stream", "0x0"))
        self.assertGreater(call["age_ns"], 1_000_000_000)
        self.end(run)

    def test_without_launches_the_kernel_is_unknown(self):
        run = self.cuda("wait", "event", "1", str(SECONDS * 1000), trace="cuda,nvtx")
        answer = self.until_first("waiting_call")
        self.assertEqual(answer["causes"][0]["confidence"], "unknown")
        self.assertEqual((answer["calls"][0]["awaited"], answer["calls"][0]["event"]), ("event", "0x10"))
        self.assertEqual((answer["kernels"], answer["launches_seen"]), ([], False))
        self.end(run)

    def test_a_program_that_does_not_hang(self):
        run = self.start_app(run_options=("--name", "hung"))
        time.sleep(1.5)
        answer = self.answer()
        self.assertEqual((answer["causes"], answer["waits"], answer["calls"]), ([], [], []))
        text = self.wic_prof("stuck", "--session=hung")
        self.assertIn("nothing has waited for long", text.stdout)
        self.end(run)

    def test_no_session(self):
        self.assert_refused(self.wic_prof("stuck"), 2, "no session is running")
        self.assert_refused(self.wic_prof("stuck", "--session=none"), 2, "none")


if __name__ == "__main__":
    harness.main()
