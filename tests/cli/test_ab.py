"""Before and after: run --ab, run --repeat, toggle ab, and compare of several traces."""

import json
import re

import harness

LONG = 60  # seconds: each program is ended by the comparison or by its test


class Compared(harness.Case):
    def compare(self, *files, status=0):
        result = self.wic_prof("compare", *files, "--format", "json")
        self.assertEqual(result.returncode, status, result.stderr)
        return json.loads(result.stdout)


class Ab(Compared):
    def meta(self, trace):
        return dict(self.query(trace, "SELECT key, value FROM meta WHERE key LIKE 'ab%'"))

    def run_ab(self, trace, *options, app=()):
        result = self.wic_prof("run", "-o", trace, "--ab", *options, "--end", "--", harness.TRACED_APP,
                               "--seconds", LONG, *app)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def test_finds_a_change_that_only_one_mode_has(self):
        result = self.run_ab("t.wicprof", "--for", "5s", "--precision", "0%", app=("--parked-ms", "8"))
        self.assertIn("Verdict: regression", result.stderr)
        answer = self.compare("t.wicprof")
        self.assertEqual((answer["verdict"], answer["method"], answer["unit"]), ("regression", "blocks", "phase"))
        self.assertLess(answer["speedup"]["high"], 0.9)
        self.assertGreaterEqual(answer["before"]["units"], 6)
        blocks = [s["block"] for s in answer["segments"]]
        self.assertEqual(blocks, sorted(blocks))
        modes = {}
        for segment in answer["segments"]:
            modes.setdefault(segment["block"], []).append(segment["mode"])
        complete = [pair for pair in modes.values() if len(pair) == 2]
        for pair in complete:
            self.assertEqual(sorted(pair), ["park", "poll"])
        meta = self.meta("t.wicprof")
        self.assertEqual(meta["ab_end"], "time")
        self.assertEqual(meta["ab_side"], "device")
        self.assertNotIn("ab_precision", meta)

    def test_the_seed_gives_the_order(self):
        orders = []
        for trace in ("a.wicprof", "b.wicprof"):
            self.run_ab(trace, "--for", "3s", "--seed", 77)
            meta = self.meta(trace)
            self.assertEqual(meta["ab_seed"], "77")
            orders.append([phase.split(":")[0] for phase in meta["ab_phases"].split(",")])
        shared = min(map(len, orders))
        self.assertGreaterEqual(shared, 4)
        self.assertEqual(orders[0][:shared], orders[1][:shared])

    def test_ends_once_the_interval_is_narrow(self):
        self.run_ab("t.wicprof", "--for", "50s", "--precision", "90%", app=("--parked-ms", "3"))
        self.assertEqual(self.meta("t.wicprof")["ab_end"], "precision")
        answer = self.compare("t.wicprof")
        self.assertEqual(answer["method"], "looks")
        self.assertLess(answer["speedup"]["high"] / answer["speedup"]["value"], 2.5)

    def test_every_phase_of_a_long_comparison_counts(self):
        self.run_ab("t.wicprof", "--for", "8s", "--precision", "0%")
        phases = self.meta("t.wicprof")["ab_phases"].split(",")
        self.assertEqual(len(self.compare("t.wicprof")["segments"]), len(phases))

    def test_a_placebo_never_parks(self):
        self.run_ab("t.wicprof", "--for", "3s", "--placebo")
        self.assertEqual(self.query("t.wicprof", "SELECT count(*) FROM intervention WHERE new_mode = 1"), [(0,)])
        answer = self.compare("t.wicprof")
        self.assertEqual({s["side"] for s in answer["segments"]}, {"before", "after"})
        self.assertEqual(answer["after"]["label"], "poll again")
        self.assertTrue(any("placebo" in note for note in answer["notes"]))

    def test_a_program_that_ends_first(self):
        result = self.wic_prof("run", "-o", "t.wicprof", "--ab", "--for", "50s", "--precision", "0%", "--",
                               harness.TRACED_APP, "--seconds", 1.5, "--status", 3)
        self.assertEqual(result.returncode, 3)
        self.assertEqual(self.meta("t.wicprof")["ab_end"], "program")
        self.compare("t.wicprof")

    def test_a_program_without_wic(self):
        result = self.wic_prof("run", "-o", "t.wicprof", "--ab", "--for", "1s", "--", harness.TRACED_APP,
                               "--seconds", 0.2, "--no-runtime")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("nothing was compared: the program has no wic runtime", result.stderr)
        self.assertEqual(self.compare("t.wicprof")["verdict"], "inconclusive")

    def test_runs_without_wic(self):
        result = self.wic_prof("run", "-o", "t.wicprof", "--ab", "--repeat", 2, "--", harness.TRACED_APP,
                               "--seconds", 0.2, "--no-runtime")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("nothing was compared: the program has no wic runtime", result.stderr)
        self.assertNotIn("wic-prof compare", result.stderr)

    def test_options_that_cannot_be_read(self):
        for options, words in ((["--for", "soon"], ("--for", "soon")), (["--precision", "1"], ("--precision", "1%")),
                               (["--precision", "100%"], ("--precision",))):
            with self.subTest(options=options):
                self.assert_refused(self.wic_prof("run", "--ab", *options, "--", "true"), 2, *words)
        for options in (["--ab", "--mode", "park"], ["--ab", "--schedule", "poll:1s,park:1s"], ["--for", "1s"]):
            with self.subTest(options=options):
                self.assertEqual(self.wic_prof("run", *options, "--", "true").returncode, 2)

    def test_toggle_ab_in_a_running_program(self):
        process = self.start_app("--parked-ms", "8", run_options=("-o", "t.wicprof"), seconds=LONG)
        begun = self.wic_prof("toggle", "ab", "--for", "4s", "--precision", "0%")
        self.assertEqual(begun.returncode, 0, begun.stderr)
        self.assert_refused(self.wic_prof("toggle", "park"), 3, "compares both modes now")
        self.assert_refused(self.wic_prof("toggle", "ab"), 3, "compares both modes already")
        self.until(lambda: self.wic_prof("toggle", "poll").returncode == 0, "the comparison's end")
        self.assert_refused(self.wic_prof("toggle", "ab"), 3, "has compared both modes already")
        self.interrupt(process)
        self.assertEqual(self.compare("t.wicprof")["verdict"], "regression")


class Several(Compared):
    APP = (harness.TRACED_APP, "--period-us", "1000", "--park-period-us", "1500")

    def test_repeat_and_compare_by_mode(self):
        result = self.wic_prof("run", "-q", "-o", "t.wicprof", "--ab", "--repeat", 4, "--seed", 5, "--", *self.APP)
        self.assertEqual(result.returncode, 0, result.stderr)
        traces = sorted(p.name for p in self.work.glob("*.wicprof"))
        self.assertEqual(traces, [f"t.{mode}.{i}.wicprof" for mode in ("park", "poll") for i in range(1, 5)])
        answer = self.compare(*traces)
        self.assertEqual((answer["verdict"], answer["method"], answer["unit"]), ("regression", "welch", "run"))
        self.assertAlmostEqual(answer["speedup"]["value"], 1 / 1.5, places=3)
        self.assertEqual((answer["before"]["label"], answer["before"]["units"]), ("poll", 4))

    def test_repeat_and_compare_after(self):
        for name, period in (("a", 1000), ("b", 900)):
            result = self.wic_prof("run", "-q", "-o", f"{name}.wicprof", "--repeat", 4, "--",
                                   harness.TRACED_APP, "--period-us", period)
            self.assertEqual(result.returncode, 0, result.stderr)
        before, after = ([f"{name}.{i}.wicprof" for i in range(1, 5)] for name in "ab")
        answer = self.compare(*before, "--after", *after)
        self.assertEqual((answer["verdict"], answer["method"]), ("improvement", "welch"))
        self.assertTrue(any("one side were recorded before" in note for note in answer["notes"]))
        one = self.compare(before[0], "--after", after[0])
        self.assertEqual((one["verdict"], one["why"]), ("inconclusive", "one run each"))
        self.assertEqual(one["speedup"], self.compare(before[0], after[0])["speedup"])
        self.assertTrue(one["settle"].startswith("wic-prof run "))

    def test_what_is_printed_for_the_other_side_works(self):
        def record(*options):
            result = self.wic_prof("run", *options, "--repeat", 2, "--", *self.APP, "--seconds", 0.3)
            self.assertEqual(result.returncode, 0, result.stderr)
            return re.search(r"next: record the other side the same way with (-o \S+), then wic-prof (compare .*)",
                             result.stderr).groups()
        other, compare = record()
        self.assertEqual(other, "-o after.wicprof")
        record(*other.split())
        self.assertEqual(self.wic_prof(*compare.split()).returncode, 0)

    def test_traces_of_one_mode_need_after(self):
        for i in range(3):
            self.wic_prof("run", "-q", "-o", f"{i}.wicprof", "--", harness.TRACED_APP, "--period-us", 1000)
        self.assert_refused(self.wic_prof("compare", "0.wicprof", "1.wicprof", "2.wicprof"), 2, "--after")

    def test_a_failing_run_ends_the_repetition(self):
        result = self.wic_prof("run", "-q", "-o", "t.wicprof", "--repeat", 3, "--", harness.TRACED_APP,
                               "--period-us", 1000, "--status", 5)
        self.assertEqual(result.returncode, 5)
        self.assertEqual([p.name for p in self.work.glob("*.wicprof")], ["t.1.wicprof"])


if __name__ == "__main__":
    harness.main()
