"""demo: records, compares and reports the bundled sample."""

import json
import unittest

import harness


class Demo(harness.Case):
    def test_records_compares_and_reports(self):
        environment = {}
        if harness.FAKE_LIBCUDA:  # a driver with a GPU that cannot run the sample
            driver = self.folder / "driver"
            driver.mkdir()
            (driver / "libcuda.so.1").symlink_to(harness.FAKE_LIBCUDA)
            environment = {"LD_LIBRARY_PATH": str(driver), "WICPROF_FAKE_GPUS": "x"}
        result = self.wic_prof("demo", env=environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        if harness.FAKE_LIBCUDA:
            self.assertRegex(result.stderr,
                             r"does not run on GPU x \(cuda:0\) with this driver, of CUDA \S+: hot_flag: \S")
            self.assertIn("demo on the CPU device", result.stderr)
        self.assertEqual(sorted(p.name for p in self.work.iterdir()), ["demo.wicprof", "report.html"])
        self.assertIn("report.html", result.stderr)
        self.assertTrue(result.stdout.startswith("Verdict: "), result.stdout)
        page = (self.work / "report.html").read_text()
        self.assertNotIn('class="cut"', page[page.index('id="comparison"'):page.index('id="findings"')],
                         "lines at so many changes hide what they divide")
        self.assertIn("<summary>All ", page)
        comparison = json.loads(self.wic_prof("compare", "demo.wicprof", "--format=json").stdout)
        self.assertEqual({s["mode"] for s in comparison["segments"]}, {"poll", "park"})
        self.assertGreaterEqual(len(comparison["segments"]), 2)
        for side in ("before", "after"):
            self.assertGreater(comparison[side]["iterations"], 0)
        self.assert_refused(self.wic_prof("demo"), 2, "report.html", "-f")


if __name__ == "__main__":
    harness.main()
