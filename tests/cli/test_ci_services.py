"""The examples for build services in docs/examples/ci: their commands, run as the services' runners run them. The
program writes synthetic times, so that what the gate says of it is known."""

import os
import pathlib
import subprocess
import unittest
import xml.etree.ElementTree as xml

import yaml

import harness

EXAMPLES = harness.SOURCE / "docs" / "examples" / "ci"
SAME, SLOWER = 1000, 1500  # microseconds per iteration; the baseline has those of SAME


class Services(harness.Case):
    def setUp(self):
        super().setUp()
        (self.work / "gate.toml").write_text((EXAMPLES / "gate.toml").read_text())
        (self.work / "Makefile").write_text("halo: halo.in\n\tinstall -m 755 halo.in halo\n")
        # `wic-prof` is in the runner's PATH, as the page says.
        path = f"{pathlib.Path(harness.WICPROF).parent}{os.pathsep}{os.environ['PATH']}"
        self.runner = {**self.env, "PATH": path, "GITHUB_STEP_SUMMARY": str(self.work / "step_summary")}
        self.program(SAME)
        page = (harness.SOURCE / "docs" / "ci.md").read_text()
        baseline = next(line for line in page.splitlines() if line.startswith("wic-prof run ") and "./halo" in line)
        self.assertEqual(self.shell("make"), 0)
        self.assertEqual(self.shell(baseline), 0)

    def program(self, period_us):
        (self.work / "halo.in").write_text(
            f"#!/bin/sh\nexec {harness.TRACED_APP} --iterations 200 --period-us {period_us}\n")

    def shell(self, script):
        """As both services run a script: bash ends it at the first command that fails."""
        return subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script], cwd=self.work,
                              env=self.runner, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=harness.TIMEOUT).returncode

    def kept(self, path):
        """An artifact's path, which names something in the job's folder."""
        found = self.work / path
        self.assertTrue(found.exists(), path)
        return found

    def assert_junit(self, path, failures):
        suites = xml.parse(self.kept(path)).getroot()
        self.assertEqual(suites.tag, "testsuites")
        suite = suites.find("testsuite")
        self.assertEqual(int(suite.get("failures")), failures)
        self.assertEqual((suite.get("name"), int(suite.get("errors"))), ("halo (gate)", 0))
        for case in suite.findall("testcase"):
            self.assertTrue(case.get("name") and case.get("classname"))
        for failure in suite.iter("failure"):
            # GitLab shows the text, viewers for GitHub the attribute.
            self.assertIn("longer than those of the baseline", failure.text)
            self.assertEqual(failure.get("message"), failure.text)

    def test_github(self):
        steps = yaml.safe_load((EXAMPLES / "github.yml").read_text())["jobs"]["waiting"]["steps"]
        for period, fails in ((SAME, False), (SLOWER, True)):
            with self.subTest(period=period):
                self.program(period)
                (self.work / "step_summary").unlink(missing_ok=True)
                failed, uploaded = [], []
                for step in steps:
                    if failed and step.get("if") != "always()":
                        continue
                    if step.get("uses", "").startswith("actions/upload-artifact@"):
                        uploaded.append(self.kept(step["with"]["path"]))
                    elif "run" in step and self.shell(step["run"]) != 0:
                        failed.append(step["name"])
                self.assertEqual(failed, ["Check how the program waits"] if fails else [])
                self.assertEqual([path.name for path in uploaded], ["wic-prof-ci"])
                self.assertIn("run.6.wicprof", os.listdir(uploaded[0]))
                self.assertIn(f"wic-prof ci: {'failed' if fails else 'passed'}",
                              (self.work / "step_summary").read_text())
                self.assert_junit("wic-prof-ci/junit.xml", 1 if fails else 0)

    def test_gitlab(self):
        job = yaml.safe_load((EXAMPLES / "gitlab.yml").read_text())["waiting"]
        self.assertEqual(job["artifacts"]["when"], "always")  # by default they are kept of jobs that pass alone
        for period, status in ((SAME, 0), (SLOWER, 1)):
            with self.subTest(period=period):
                self.program(period)
                self.assertEqual(self.shell("\n".join(job["script"])), status)
                for path in job["artifacts"]["paths"]:
                    self.kept(path)
                self.assert_junit(job["artifacts"]["reports"]["junit"], status)


if __name__ == "__main__":
    unittest.main()
