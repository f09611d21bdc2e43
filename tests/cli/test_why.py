"""wic-prof why: the cause, what it costs, the remedy tried, what that brought, and what to do, in one paragraph."""

import json
import os
import pathlib
import shlex
import signal
import unittest

import harness

HOT_FLAG = pathlib.Path(harness.WICPROF).parent / "hot_flag"
TRACES = harness.SOURCE / "samples" / "traces"
UNSAMPLED = ("--trace", "none")  # what the machine does besides is no cause
SPINS = "load context wait stream 9999 5 exit 0".split()


def folded(text):
    return " ".join(text.split())


class Why(harness.Case):
    def why(self, *words, status=0):
        """Returns what the program wrote to stdout, and the answer."""
        result = self.wic_prof("why", *words)
        self.assertEqual(result.returncode, status, result.stderr)
        return result.stdout, folded(result.stderr)

    def document(self, *words, status=0):
        result = self.wic_prof("why", "--format", "json", *words)
        self.assertEqual(result.returncode, status, result.stderr)
        return json.loads(result.stdout)

    def sentence(self, answer, about):
        found = [each for each in answer["sentences"] if each["about"] == about]
        self.assertTrue(found, answer["answer"])
        return found[0]

    def hot_flag(self, *words):
        """A program in which parking helps, whatever the machine does besides."""
        if not HOT_FLAG.exists():
            self.skipTest("built without the samples")
        return [HOT_FLAG, "--devices", "simt:1", *words]

    def short(self):
        """Too short for a comparison, which needs ten iterations of each kind."""
        return self.hot_flag("--iterations", 12)

    def says(self, script, program):
        """A shell that runs the script and becomes the program, without the program's output."""
        return ["sh", "-c", script + '; exec "$@" > /dev/null', "sh", *program]

    def use_fake_cupti(self):
        if harness.CUDA_APP is None:
            self.skipTest("built without CUPTI's headers")
        self.env.update(WICPROF_CUPTI_PATH=harness.FAKE_CUPTI, WICPROF_TEST_CUPTI="", WICPROF_FLUSH_MS="10")

    def check_result(self, answer):
        """The answer says what `compare` says of the second trace."""
        compared = json.loads(self.wic_prof("compare", answer["traces"][1], "--format", "json").stdout)
        self.assertEqual(answer["comparison"], compared)
        result = self.sentence(answer, "result")
        self.assertIn(compared["reason"], result["text"])
        ratio = compared["speedup"]
        self.assertIn(f"{ratio['value']:.4g} ({ratio['low']:.4g} to {ratio['high']:.4g})", result["backed_by"][0])
        self.assertEqual(answer["answer"], " ".join(each["text"] for each in answer["sentences"]))
        return compared


class Programs(Why):
    def test_parking_helps(self):
        app = self.hot_flag("--seconds", 30)
        answer = self.document(*UNSAMPLED, "--for", "6s", "-o", "t.wicprof", "--", *app)
        self.assertEqual(answer["traces"], ["t.wicprof", "t.ab.wicprof"])
        self.assertEqual(self.traces(), ["t.ab.wicprof", "t.wicprof"])
        compared = self.check_result(answer)
        self.assertEqual(compared["verdict"], "improvement")
        self.assertIn("Parking made the program faster: iterations of park are", answer["answer"])
        self.assertIn("say nothing about a GPU", answer["answer"])
        self.assertIn(answer["cause"]["text"], self.sentence(answer, "cause")["text"])
        worst = json.loads(self.wic_prof("analyze", "t.wicprof", "--format", "json").stdout)["findings"][0]
        self.assertEqual(answer["cause"], worst)
        keep = shlex.split(answer["command"])
        self.assertEqual(keep[:4], ["wic-prof", "run", "--mode", "park"])
        self.assertEqual(keep[-5:], [str(word) for word in app])

    def test_host_threads_that_spin(self):
        self.use_fake_cupti()
        answer = self.document("--for", "2s", "--", harness.CUDA_APP, *SPINS)
        if answer["tried"] is None:
            cpu, wall = self.query(answer["traces"][0], "SELECT sum(cpu_ns), sum(end_ns - begin_ns) FROM host_wait")[0]
            self.assertLess(cpu, 0.9 * wall, answer["answer"])
            self.skipTest("the machine is too busy for a thread to spin")
        compared = self.check_result(answer)
        self.assertEqual(self.meta(answer["traces"][1])["ab_side"], "host")
        self.assertEqual(answer["tried"]["rule"], "host_spin")
        site, = [site for site in compared["sites"] if site["before_cpu"] is not None]
        self.assertIn(f"{site['before_cpu']:.2f} of a CPU polled and {site['after_cpu']:.2f} parked",
                      self.sentence(answer, "cpus")["text"])
        self.assertGreater(site["before_cpu"], 2 * site["after_cpu"])
        # What parking does to the pace of the machine's other threads is not this program's: the advice follows it.
        if compared["verdict"] == "regression":
            self.assertIsNone(answer["command"])
        else:
            self.assertIn("--side host", answer["command"])
        self.assertIn("wic-prof run --ab --for 2s --precision 0.5% --end --side host -o ",
                      self.sentence(answer, "tried")["backed_by"][0])

    def test_the_programs_output_passes_through(self):
        app = self.says("echo hello", self.short())
        said, answer = self.why(*UNSAMPLED, "--", *app)
        self.assertEqual(said, "hello\n" * 2)
        self.assertIn("A second run let the waits at the program's wait sites poll and park in turn.", answer)
        self.assertNotIn("session '", answer)  # progress is for terminals
        verbose = self.why(*UNSAMPLED, "--verbose", "--", *app)[1]
        for row in ("finding hot_word (", "--precision 0.5% --end "):
            self.assertIn(row, verbose)
            self.assertNotIn(row, answer)
        result = self.wic_prof("why", "--format", "json", "--", *app)
        self.assertTrue(json.loads(result.stdout)["traces"][0].startswith("sh."))
        self.assertEqual(result.stderr.count("hello\n"), 2)

    def test_a_program_that_ends_too_early(self):
        answer = self.document("--", *self.short())
        self.assertIn("What parking brings is unknown: ", answer["answer"])
        self.assertNotIn("advice", [each["about"] for each in answer["sentences"]])
        # The second where the machine was too slow for the program's end within the time of the comparison.
        self.assertRegex(answer["command"], "^wic-prof (run --ab --repeat 6|why --for 5m) ")

    def test_nothing_waits(self):
        _, answer = self.why(*UNSAMPLED, "--", "true")
        self.assertIn("Why the program is slow is unknown: nothing to judge. The trace has no wait sites", answer)
        _, answer = self.why(*UNSAMPLED, "--", harness.TRACED_APP, "--period-us", 1000, "--wait-us", 500)
        self.assertIn("No wait is known to make the program slow: no problem found", answer)
        self.assertNotIn("second run", answer)

    def test_nothing_is_known_to_wic_prof_of_processes_outside(self):
        _, answer = self.why(*UNSAMPLED, "--", "env", "-i", "sleep", "0.3")
        self.assertRegex(answer, r"Mind that process \d+ \(sleep\) has lost WICPROF_SESSION from its environment")
        self.assertIn("Why the program is slow is unknown: nothing to judge.", answer)

    def test_a_program_that_fails(self):
        for options, status, words in ((["--status", 3], 3, "ended with status 3"),
                                       (["--crash"], 139, "was killed by signal 11 (Segmentation fault)")):
            _, answer = self.why("-f", "-o", "t.wicprof", "--", harness.TRACED_APP, *options, status=status)
            self.assertIn(f"The program failed: it {words}", answer)
            self.assertIn("Nothing was tried, since a program that fails cannot be compared", answer)
            self.assertEqual(self.traces(), ["t.wicprof"])

    def test_a_program_that_fails_in_the_second_run_only(self):
        answer = self.document("--", *self.says("test ! -e again || exit 5; touch again", self.short()), status=5)
        self.assertIn("unknown: the program ended with status 5 in the second run, and not in the first",
                      answer["answer"])
        self.assertIsNone(answer["comparison"])
        self.assertEqual(answer["tried"]["command"], answer["tried"]["remedy"])  # although the script has semicolons

    def test_polling_that_samples_show(self):
        answer = self.document("--trace=cuda,pcsampling", "--", os.environ["WICPROF_SAMPLED_APP"])
        self.assertEqual(answer["tried"]["rule"], "polling_kernel")
        self.assertIn("--rewrite --ab", self.sentence(answer, "tried")["backed_by"][0])
        self.assertIn("unknown: no waiting loop was patched in the second run", answer["answer"])
        self.assertIsNone(answer["command"])

    def test_an_interruption_in_the_first_run(self):
        run = self.start("why", "-o", "t.wicprof", "--", *self.hot_flag("--seconds", 30))
        self.until(lambda: any(s.get("waits", 0) > 1000 for s in self.sessions()), "waits")
        done = self.interrupt(run)
        answer = folded(done.stderr)
        self.assertEqual(done.returncode, 128 + signal.SIGTERM)
        self.assertIn("The recording was interrupted after", answer)
        self.assertIn("poll one word in pinned host memory at hot.flag at once", answer)
        self.assertIn("Nothing was tried, since you interrupted the first run. To try it: wic-prof why -- ", answer)
        self.assertEqual(self.traces(), ["t.wicprof"])

    def test_an_interruption_in_the_second_run(self):
        run = self.start("why", "-o", "t.wicprof", "--",
                         *self.says("test ! -e again || { touch second; exec sleep 30; }; touch again", self.short()))
        self.until((self.work / "second").exists, "the second run")
        done = self.interrupt(run)
        self.assertIn("unknown: you interrupted the second run before both ways were compared", folded(done.stderr))
        self.assertEqual(done.returncode, 128 + signal.SIGTERM)
        self.assertEqual(self.traces(), ["t.ab.wicprof", "t.wicprof"])


class Traces(Why):
    def test_shipped_traces(self):
        commands = set()
        for path in sorted(TRACES.glob("*.wicprof.gz")):
            with self.subTest(trace=path.name):
                answer = self.document(path)
                analysis = json.loads(self.wic_prof("analyze", path, "--format", "json").stdout)
                serious = [f for f in analysis["findings"] if f["severity"] != "info"]
                self.assertEqual(answer["cause"], next((f for f in serious if f["cost"]), next(iter(serious), None)))
                if answer["cause"] is None:
                    self.assertIn("No wait is known to make the program slow", answer["answer"])
                elif answer["tried"] is None:
                    self.assertIn("Nothing was tried, since no finding names a remedy", answer["answer"])
                elif path.name.startswith("bare_poll_patched"):  # it has both ways
                    self.assertIn("Parking made no difference that counts", answer["answer"])
                    self.assertIsNone(answer["command"])
                else:
                    self.assertIn("Nothing was tried, since a trace can only be read", answer["answer"])
                    self.assertTrue(answer["command"].startswith("wic-prof why "), answer["command"])
                self.assertEqual(answer["traces"], [])
                for each in answer["sentences"]:
                    self.assertTrue(each["backed_by"], each)
                commands.add(answer["command"])
        self.assertIn("wic-prof why --trace=cuda,pcsampling -- bare_poll --iterations 40", commands)
        self.assertEqual(self.traces(), [])

    def test_a_trace_with_both_ways(self):
        self.assertEqual(self.wic_prof("run", "-o", "t.wicprof", "--ab", "--for", "2s", "--end", "--",
                                       harness.TRACED_APP, "--seconds", 30, "--parked-ms", 4).returncode, 0)
        answer = self.document("t.wicprof")
        compared = json.loads(self.wic_prof("compare", "t.wicprof", "--format", "json").stdout)
        self.assertIn("The trace has the waits at the program's wait sites polled as well as parked.",
                      answer["answer"])
        self.assertEqual(compared["verdict"], "regression")
        self.assertIn(f"Parking made the program slower: {compared['reason']} (timed: {compared['measured_at']}).",
                      answer["answer"])
        self.assertIn("Leave these waits as they are.", answer["answer"])
        self.assertIsNone(answer["command"])

    def test_bad_usage(self):
        for words, status, message in (
            ([], 2, "why needs a program or a trace"),
            (["t.wicprof", "--", "true"], 2, "leave t.wicprof out"),
            (["t.wicprof", "-o", "answer.txt"], 2, "the answer goes to stdout"),
            ([harness.TRACED_APP], 2, "a program follows --"),
            (["--for", "soon", "--", "true"], 2, "cannot read --for 'soon'"),
            (["-o", "-", "--", "true"], 2, "cannot go to stdout"),
            (["--", "no-such-program"], 2, "no-such-program"),
        ):
            self.assert_refused(self.wic_prof("why", *words), status, message)
        (self.work / "t.ab.wicprof").touch()
        self.assert_refused(self.wic_prof("why", "-o", "t.wicprof", "--", "touch", "ran"), 2, "t.ab.wicprof")
        self.assertEqual(sorted(path.name for path in self.work.iterdir()), ["t.ab.wicprof"])


if __name__ == "__main__":
    harness.main()
