"""ci: limits, comparisons and baselines, each state in the exit status and in all three reports. The program writes
synthetic times (traced_app's --period-us), so that every figure is known."""

import json
import os
import unittest
import xml.etree.ElementTree as xml

import harness

PLAIN = ["--period-us", 1000, "--wait-us", 500, "--late-us", 10, "--polls", 10]


class Gate(harness.Case):
    def ci(self, config, *app_options, options=(), program=harness.TRACED_APP):
        (self.work / "wic-prof.toml").write_text(config)
        return self.wic_prof("ci", "-f", "--config", "wic-prof.toml", *options, "--", program, *app_options)

    def answer(self, folder="wic-prof-ci"):
        """result.json, after checking that the JUnit file agrees."""
        answer = json.loads((self.work / folder / "result.json").read_text())
        suite = xml.parse(self.work / folder / "junit.xml").getroot().find("testsuite")
        cases = suite.findall("testcase")
        self.assertEqual(int(suite.get("tests")), len(cases))
        element = {"passed": "system-out", "failed": "failure", "inconclusive": "failure", "could not look": "error",
                   "broken": "error"}
        for check, case in zip(answer["checks"], cases, strict=True):
            found = next(iter(case))
            self.assertEqual(found.tag, "skipped" if check["forgiven"] else element[check["state"]])
            if found.tag != "system-out":
                self.assertEqual(found.get("type"), check["state"])
                self.assertEqual(found.text, found.get("message"))
            self.assertEqual(found.text, check["text"])
            self.assertEqual(case.get("classname"), suite.get("name"))
        for name, total in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            self.assertEqual(int(suite.get(total)), sum(case.find(name) is not None for case in cases))
        self.assertIn(f"wic-prof ci: {answer['state']}", (self.work / folder / "summary.md").read_text())
        return answer

    def check(self, answer, name, site=None):
        found = [c for c in answer["checks"] if c["name"] == name and c["site"] == site]
        self.assertEqual(len(found), 1, answer["checks"])
        return found[0]

    def judged(self, status, config, *app_options, **more):
        result = self.ci(config, *app_options, **more)
        self.assertEqual(result.returncode, status, result.stderr + result.stdout)
        return self.answer()


class Limits(Gate):
    def test_kept(self):
        answer = self.judged(0, """
            [run]
            repeat = 2
            [limits]
            wait_share = 0.6
            p99_wake_latency = "20us"
            polls_per_wait = 10
            missed_deadlines = 0
            """, *PLAIN)
        self.assertEqual(answer["state"], "passed")
        self.assertEqual(len(answer["checks"]), 1 + 2 * 4)  # recording, and four limits at two sites
        wake = self.check(answer, "p99_wake_latency", "left")
        self.assertEqual((wake["value"], wake["limit"], wake["unit"]), (10_000, 20_000, "ns"))
        self.assertEqual(self.check(answer, "polls_per_wait", "left")["value"], 10)
        self.assertAlmostEqual(self.check(answer, "wait_share", "left")["value"], 0.5, delta=0.02)
        self.assertEqual(sorted(os.listdir(self.work / "wic-prof-ci")),
                         ["junit.xml", "result.json", "run.1.log", "run.1.wicprof", "run.2.log", "run.2.wicprof",
                          "summary.md"])

    def test_exceeded_limit_fails_and_names_its_site(self):
        for limit, slip in (("wait_share = 0.3", ()), ("polls_per_wait = 9", ()), ('p99_wake_latency = "9us"', ())):
            with self.subTest(limit=limit):
                answer = self.judged(1, f"[run]\nrepeat = 2\n[limits.site.left]\n{limit}\n", *PLAIN, *slip)
                name = limit.split()[0]
                self.assertEqual(answer["state"], "failed")
                self.assertEqual(self.check(answer, name, "left")["state"], "failed")
                self.assertNotIn("right", [c["site"] for c in answer["checks"]])

    def test_site_limit_overrides_the_general_limit(self):
        answer = self.judged(1, '[run]\nrepeat = 1\n[limits]\npolls_per_wait = 5\n'
                                '[limits.site.left]\npolls_per_wait = 50\n', *PLAIN)
        self.assertEqual(self.check(answer, "polls_per_wait", "left")["state"], "passed")
        self.assertEqual(self.check(answer, "polls_per_wait", "right")["state"], "failed")

    def test_site_without_waits_could_not_look(self):
        config = '[run]\nrepeat = 1\n[limits.site."not there"]\nwait_share = 0.5\n'
        answer = self.judged(3, config, *PLAIN)
        self.assertEqual(self.check(answer, "wait_share", "not there")["state"], "could not look")
        answer = self.judged(0, config + "[verdict]\nallow_missing_data = true\n", *PLAIN)
        self.assertIs(self.check(answer, "wait_share", "not there")["forgiven"], True)

    def test_program_without_waits_could_not_look(self):
        answer = self.judged(3, "[run]\nrepeat = 1\n[limits]\nwait_share = 0.5\n", program="true")
        self.assertEqual(self.check(answer, "limits")["state"], "could not look")

    def test_failure_takes_precedence_over_could_not_look(self):
        self.judged(1, '[run]\nrepeat = 1\n[limits.site.left]\nwait_share = 0.1\n'
                       '[limits.site.none]\nwait_share = 0.5\n', *PLAIN)

    def test_limit_on_which_runs_disagree_is_inconclusive(self):
        # A script counts the runs, and every second run polls more.
        script = self.work / "sometimes"
        script.write_text(f'#!/bin/sh\necho >> runs\n[ $(( $(wc -l < runs) % 2 )) = 0 ] && n=30 || n=10\n'
                          f'exec {harness.TRACED_APP} --period-us 1000 --polls $n\n')
        script.chmod(0o755)
        config = "[run]\nrepeat = 3\n[limits.site.left]\npolls_per_wait = 20\n"
        answer = self.judged(1, config, program="./sometimes")
        self.assertEqual(answer["state"], "inconclusive")
        (self.work / "runs").unlink()
        answer = self.judged(0, config + "[verdict]\nallow_inconclusive = true\n", program="./sometimes")
        check = self.check(answer, "polls_per_wait", "left")
        self.assertEqual((check["state"], check["forgiven"], check["low"], check["high"]),
                         ("inconclusive", True, 10, 30))
        summary = (self.work / "wic-prof-ci" / "summary.md").read_text()
        self.assertIn("\n1 of 2 checks passed; the configuration allows what the table says about the other one.\n",
                      summary)
        self.assertNotIn("every check", summary)

    def test_suite_has_the_name_of_program_and_configuration(self):
        def name(config):
            (self.work / config).write_text("[run]\nrepeat = 1\n")
            self.assertEqual(self.wic_prof("ci", "-f", "-c", config, "--", "/bin/true").returncode, 0)
            return xml.parse(self.work / "wic-prof-ci" / "junit.xml").getroot().find("testsuite").get("name")
        self.assertEqual(name("wic-prof.toml"), "true")
        self.assertEqual(name("short.toml"), "true (short)")


class Sides(Gate):
    GAIN = '[run]\nrepeat = 4\nmodes = ["poll", "park"]\n[gain]\nat_least = 1.5\n'

    def test_gain_of_parking(self):
        answer = self.judged(0, self.GAIN, *PLAIN, "--park-period-us", 600)
        cases = [case.get("name") for case in xml.parse(self.work / "wic-prof-ci" / "junit.xml").iter("testcase")]
        self.assertEqual(len(set(cases)), len(cases), "GitLab leaves out a second case of one name")
        self.assertIn("recording of park", cases)
        gain = self.check(answer, "gain")
        self.assertAlmostEqual(gain["value"], 1000 / 600, places=2)
        self.assertRegex(gain["text"], r"^iterations of park are (39|40) % shorter than those of poll \(95 % interval")
        self.assertEqual([side["label"] for side in answer["sides"]], ["poll", "park"])
        self.assertEqual([run["mode"] for side in answer["sides"] for run in side["runs"]], ["poll"] * 4 + ["park"] * 4)

    def test_sides_alternate(self):
        answer = self.judged(0, self.GAIN, *PLAIN, "--park-period-us", 600)
        self.assertEqual(answer["files"], ["poll.1.wicprof", "park.1.wicprof", "park.2.wicprof", "poll.2.wicprof",
                                           "poll.3.wicprof", "park.3.wicprof", "park.4.wicprof", "poll.4.wicprof"])

    def test_missed_gain_fails(self):
        answer = self.judged(1, self.GAIN, *PLAIN, "--park-period-us", 900)
        self.assertEqual(self.check(answer, "gain")["state"], "failed")

    def test_gain_without_waits_could_not_look(self):
        answer = self.judged(3, self.GAIN, program="true")
        self.assertEqual(self.check(answer, "gain")["state"], "could not look")

    def test_reference_build(self):
        config = f'[run]\nrepeat = 4\nreference = ["{harness.TRACED_APP}", "--period-us", "1000"]\n'
        answer = self.judged(1, config, "--period-us", 1200)
        self.assertEqual(self.check(answer, "regression")["state"], "failed")
        answer = self.judged(0, config, "--period-us", 1010)
        self.assertEqual(answer["between_sides"]["verdict"], "no change")
        answer = self.judged(0, config, "--period-us", 500)
        self.assertEqual(answer["between_sides"]["verdict"], "improvement")


class Baseline(Gate):
    CONFIG = '[run]\nrepeat = 6\n[compare]\ntolerance = 0.05\n[baseline]\ntrace = "base.wicprof"\n'

    def setUp(self):
        super().setUp()
        self.record("base.wicprof", *PLAIN)

    def test_planted_regression(self):
        answer = self.judged(1, self.CONFIG, "--period-us", 1100)
        check = self.check(answer, "baseline")
        self.assertEqual(check["state"], "failed")
        self.assertAlmostEqual(check["value"], 1 / 1.1, places=2)
        self.assertAlmostEqual(check["limit"], 0.95)
        self.assertIn("5 %", check["text"])

    def test_within_the_tolerance_passes(self):
        for period in (970, 1000, 1030):
            answer = self.judged(0, self.CONFIG, "--period-us", period)
            self.assertEqual(self.check(answer, "baseline")["state"], "passed")

    def test_too_few_iterations_could_not_look(self):
        answer = self.judged(3, self.CONFIG, "--period-us", 5000, "--iterations", 3)
        self.assertEqual(self.check(answer, "baseline")["state"], "could not look")

    def test_baseline_of_another_device_is_not_compared(self):
        with harness.sqlite3.connect(self.work / "base.wicprof") as database:
            database.execute("UPDATE string SET value = 'another device' WHERE value LIKE 'a device of%'")
        answer = self.judged(3, self.CONFIG, *PLAIN)
        self.assertIn("another device", self.check(answer, "baseline")["text"])
        self.judged(0, self.CONFIG + "any_device = true\n", *PLAIN)

    def test_invalid_baseline_is_reported_before_the_first_run(self):
        for name, content in (("none.wicprof", None), ("text.wicprof", "a letter"), ("cut.wicprof", "")):
            with self.subTest(name=name):
                if content is not None:
                    (self.work / name).write_text(content)
                result = self.ci(f'[baseline]\ntrace = "{name}"\n', "started", program="touch")
                self.assert_refused(result, 2, "baseline", name)
                self.assertFalse((self.work / "started").exists())

    def test_path_is_relative_to_the_configuration(self):
        (self.work / "conf").mkdir()
        (self.work / "conf" / "c.toml").write_text('[run]\nrepeat = 6\n[baseline]\ntrace = ["../base.wicprof"]\n')
        result = self.wic_prof("ci", "-c", "conf/c.toml", "--", harness.TRACED_APP, *PLAIN)
        self.assertEqual(result.returncode, 0, result.stderr)


class Broken(Gate):
    CONFIG = "[run]\nrepeat = 3\n[limits]\nwait_share = 0.9\n"

    def test_program_that_fails(self):
        answer = self.judged(3, self.CONFIG, *PLAIN, "--status", 7)
        self.assertEqual(answer["state"], "broken")
        self.assertIn("status 7", self.check(answer, "runs")["text"])
        self.assertEqual(answer["files"], ["run.1.wicprof"])  # no further runs

    def test_program_that_is_killed(self):
        self.assertIn("signal 11", self.check(self.judged(3, self.CONFIG, "--crash"), "runs")["text"])

    def test_program_that_hangs(self):
        answer = self.judged(3, '[run]\ntimeout = "300ms"\n', "60", program="sleep")
        self.assertIn("exceeded its time limit of 0.3 s", self.check(answer, "runs")["text"])

    def test_broken_run_is_never_allowed(self):
        self.judged(3, self.CONFIG + "[verdict]\nallow_inconclusive = true\nallow_missing_data = true\n", "--status", 1)

    def test_missing_program(self):
        self.assert_refused(self.ci(self.CONFIG, program="no-such-program"), 2, "no-such-program")

    def test_program_output_goes_to_its_log(self):
        result = self.ci("[run]\nrepeat = 1\n", "hello", options=("--format", "json"), program="echo")
        self.assertEqual(json.loads(result.stdout)["state"], "passed")
        self.assertEqual((self.work / "wic-prof-ci" / "run.1.log").read_text(), "hello\n")


class Nothing(Gate):
    def test_empty_configuration_is_refused_before_the_first_run(self):
        for config in ("", "# later\n"):
            result = self.ci(config, "started", program="touch")
            self.assert_refused(result, 2, "wic-prof.toml", "checks nothing", "[limits]", "[baseline]")
        self.assertFalse((self.work / "started").exists())

    def test_gate_without_checks_says_so(self):
        for config in ("[run]\nrepeat = 1\n", "[run]\nrepeat = 1\n[limits]\n",
                       "[run]\nrepeat = 1\n[compare]\ntolerance = 0.1\n"):
            result = self.ci(config, program="true")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("has no limit", result.stderr)
            self.assertTrue(any("has no limit" in note for note in self.answer()["notes"]))
        self.assertNotIn("has no limit", self.ci("[run]\nrepeat = 1\n[limits]\nwait_share = 1\n", *PLAIN).stderr)


class Configuration(Gate):
    def test_errors_name_file_line_and_key_before_the_first_run(self):
        for config, expected in (
            ("repeat = 3\n", "wic-prof.toml:1: unknown key repeat; the keys are"),
            ("[run]\nrepeet = 3\n", "wic-prof.toml:2: unknown key run.repeet; the keys of run are"),
            ("[run]\nrepeat = 0\n", "run.repeat needs a whole number from 1"),
            ("[run]\nrepeat = 'six'\n", "run.repeat needs"),
            ("[run]\nmodes = ['sideways']\n", "'sideways'"),
            ("[run]\nmodes = ['poll', 'poll']\n", "names one mode twice"),
            ("[run]\nmodes = ['poll', 'park']\nreference = ['x']\n", "run.reference"),
            ("[run]\nstrategy = 'hope'\n", "hope"),
            ("[run]\ntrace = 'hope'\n", "run.trace"),
            ("[run]\ntimeout = 5\n", "run.timeout needs a time"),
            ("[limits]\nwait_share = -1\n", "limits.wait_share needs a number of at least 0"),
            ("[limits]\np99_wake_latency = '50'\n", "limits.p99_wake_latency needs a time"),
            ("[limits.site.left]\nshare = 1\n", "unknown key limits.site.left.share"),
            ("[gain]\nat_least = 1.1\n", "gain.at_least needs two sides"),
            ("[compare]\ntolerance = 5\n", "compare.tolerance is a share"),
            ("[baseline]\nany_device = true\n", "baseline.trace is missing"),
            ("[verdict]\nallow_inconclusive = 'yes'\n", "verdict.allow_inconclusive needs true or false"),
            ("limits = 3\n", "limits needs a table"),
            ("[run\n", "invalid TOML"),
        ):
            with self.subTest(config=config):
                self.assert_refused(self.ci(config, "started", program="touch"), 2, "wic-prof.toml", expected)
                self.assertFalse((self.work / "started").exists())
                self.assertFalse((self.work / "wic-prof-ci").exists())

    def test_keys_of_many_parts_are_refused_before_the_stack_ends(self):
        parts = 100_000
        key = ".".join(["a"] * parts)
        for config in (f"{key} = 1", f"[{key}]", f"[[{key}]]",
                       "\n[" + " . ".join(['"."'] * parts) + "]", "a" + ".\'b\'" * parts + "=1",
                       's = """\n"" ""\\""" """\n' + key + "=1"):
            self.assert_refused(self.ci(config), 2, "wic-prof.toml:", "ci --example")
        # Dots elsewhere are none of a key's.
        config = '[limits."a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s"]\nshare = "1.2.3.4.5.6.7.8.9.0.1.2.3.4.5.6.7.8.9"'
        config += " # ................................"
        self.assertNotIn("16 parts", self.ci(config).stderr)

    def test_missing(self):
        self.assert_refused(self.wic_prof("ci", "--config", "none.toml", "--", "true"), 2, "none.toml", "ci --example")
        self.assert_refused(self.wic_prof("ci", "--", "true"), 2, "--config", "ci --example")

    def test_example_is_a_configuration(self):
        example = self.wic_prof("ci", "--example")
        self.assertEqual((example.returncode, example.stderr), (0, ""))
        result = self.ci(example.stdout, program="false")
        self.assertEqual(result.returncode, 3, result.stderr)  # read, and then a broken run
        with_baseline = example.stdout.replace("# [baseline]", "[baseline]").replace("# trace", "trace")
        self.assert_refused(self.ci(with_baseline), 2, "the baseline: ", "baseline.wicprof")

    def test_reports_are_overwritten_only_with_force(self):
        (self.work / "c.toml").write_text("[run]\nrepeat = 1\n")
        self.assertEqual(self.wic_prof("ci", "-c", "c.toml", "-o", "out", "--", "true").returncode, 0)
        self.assert_refused(self.wic_prof("ci", "-c", "c.toml", "-o", "out", "--", "true"), 2, "junit.xml", "-f")
        self.assertEqual(self.wic_prof("ci", "-f", "-c", "c.toml", "-o", "out", "--", "true").returncode, 0)


if __name__ == "__main__":
    harness.main()
