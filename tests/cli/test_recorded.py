"""demo --recorded: the bundled traces, found relative to wic-prof."""

import contextlib
import gzip
import json
import os
import re
import shutil
import sqlite3
import subprocess
import unittest

import harness


class DependentKernels(harness.Case):
    def pairs(self, name):
        with gzip.open(harness.SOURCE / "samples" / "traces" / f"{name}.wicprof.gz") as packed:
            (self.work / "t.wicprof").write_bytes(packed.read())
        result = self.wic_prof("analyze", "t.wicprof", "--format", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)["dependent_kernels"]

    def test_recordings_of_gpus(self):
        # Blocks that wait inside: what their waves would gain is unknown, and they hold SMs.
        srs = self.pairs("c_srs.poll")
        self.assertEqual(srs["launches"], 0)
        self.assertGreater(srs["waiting"], 0)
        self.assertEqual(len(srs["pairs"]), 1)
        self.assertGreater(srs["pairs"][0]["consumer_held_sm_ns"], 0)
        self.assertIsNone(srs["pairs"][0]["tiles_ns"])
        # One block per SM, beside kernels of another stream.
        gem = self.pairs("g_gem.poll")
        self.assertEqual(gem["launches"], 0)
        self.assertGreater(gem["beside"], 0)
        self.assertTrue(all(pair["producer"]["persistent"] for pair in gem["pairs"]))
        # Kernels in one wave right behind each other: nothing but the gap.
        bfs = self.pairs("g_bfs.poll")
        self.assertGreater(bfs["launches"], 0)
        known = [pair for pair in bfs["pairs"] if pair["tiles_ns"]]
        self.assertEqual(sum(pair["launches"] for pair in known), bfs["launches"])
        for pair in known:
            self.assertEqual((pair["producer"]["blocks"], pair["producer"]["waves"]), (2 * 132, 1))
            self.assertAlmostEqual(pair["tiles_ns"]["value"], pair["gap_ns"], delta=1 + pair["launches"])
        # The host launched them one by one: most were late, whatever the kernel before them did.
        fe = self.pairs("c_fe.poll")
        self.assertGreater(fe["late"], 2 * fe["launches"])


class Recorded(harness.Case):
    def setUp(self):
        super().setUp()
        self.traces = self.folder / "prefix" / "share" / "wic-prof" / "traces"
        bin_folder = self.folder / "prefix" / "bin"
        bin_folder.mkdir(parents=True)
        self.tool = bin_folder / "wic-prof"
        try:
            os.link(harness.WICPROF, self.tool)
        except OSError:
            shutil.copy2(harness.WICPROF, self.tool)
        self.env["TMPDIR"] = str(self.folder / "temporary")
        (self.folder / "temporary").mkdir()

    def demo(self, *words):
        return subprocess.run([self.tool, "demo", *words], cwd=self.work, env=self.env, text=True, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=harness.TIMEOUT)

    def bundle(self, name, mode, packed=True):
        """Records the tests' program as if it were an application."""
        trace = self.record(f"{name}.{mode}.wicprof", run_options=("--mode", mode))
        self.traces.mkdir(parents=True, exist_ok=True)
        if packed:
            with gzip.open(self.traces / (trace.name + ".gz"), "wb") as out:
                out.write(trace.read_bytes())
        else:
            shutil.copy(trace, self.traces)
        trace.unlink()

    def test_none_are_bundled(self):
        self.assert_refused(self.demo("--recorded"), 3, "share/wic-prof/traces", "record_traces.sh")
        self.traces.mkdir(parents=True)
        (self.traces / "README").write_text("nothing here\n")
        self.assert_refused(self.demo("--recorded"), 3, "no recorded traces", self.traces)

    def test_lists_and_shows_them(self):
        for mode in ("poll", "park"):
            self.bundle("app_one", mode)
            self.bundle("app_two", mode, packed=False)
        table = self.demo("--recorded")
        self.assertEqual(table.returncode, 0, table.stderr)
        lines = [line.split() for line in table.stdout.splitlines() if line.startswith("app_")]
        self.assertEqual([line[0] for line in lines], ["app_one", "app_two"])
        self.assertIn(str(self.traces), table.stdout)
        self.assertIn("recorded on a device of the test program", table.stdout)

        one = self.demo("--recorded", "app_one")
        self.assertEqual(one.returncode, 0, one.stderr)
        self.assertIn("app_one.poll.wicprof.gz", one.stdout)
        self.assertIn("app_one.park.wicprof.gz", one.stdout)
        self.assertNotIn("app_two", one.stdout)
        self.assert_refused(self.demo("--recorded", "app_three"), 2, "app_three", "app_one, app_two")
        # Nothing was recorded, written or left behind.
        self.assertEqual(list(self.work.iterdir()), [])
        self.assertEqual(list((self.folder / "temporary").iterdir()), [])

    def test_refuses_an_incomplete_pair(self):
        self.bundle("app_one", "poll")
        self.assert_refused(self.demo("--recorded"), 2, "app_one.poll.wicprof.gz", "other mode")
        packed = self.traces / "app_one.poll.wicprof.gz"
        (self.traces / "app_one.park.wicprof.gz").write_bytes(packed.read_bytes()[:-200])
        self.assert_refused(self.demo("--recorded"), 2, "app_one.park.wicprof.gz", "damaged or truncated")

    def test_has_nothing_to_write(self):
        result = self.demo("--recorded", "-f")
        self.assertEqual(result.returncode, 2, result.stderr)

    def test_any_verb_reads_a_packed_trace(self):
        self.bundle("app_one", "poll")
        packed = self.traces / "app_one.poll.wicprof.gz"
        result = self.wic_prof("analyze", packed, "--format", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn('"classification"', result.stdout)


class Bundled(harness.Case):
    """The traces in samples/traces, which bench/record_traces.sh recorded on a GPU."""

    FOLDER = harness.SOURCE / "samples" / "traces"
    APPLICATIONS = {"c_srs", "c_cg", "c_fe", "c_h3d", "g_bfs", "g_bs", "g_c2d", "g_stn", "g_gem", "g_kmn", "hot_flag"}
    WITHOUT_MODES = {"bare_poll", "bare_poll_patched", "torch", "two_ranks"}
    MAX_BYTES = 5 << 20  # in total, because they are part of the source tree

    def setUp(self):
        super().setUp()
        self.files = {path.name: path for path in self.FOLDER.glob("*.wicprof.gz")}
        if not self.files:
            self.skipTest("no traces are bundled yet; bench/record_traces.sh makes them on a machine with a GPU")

    def test_every_application_has_both_modes_and_is_small(self):
        expected = {f"{name}.{mode}.wicprof.gz" for name in self.APPLICATIONS for mode in ("poll", "park")}
        self.assertEqual(set(self.files), expected | {f"{name}.wicprof.gz" for name in self.WITHOUT_MODES})
        self.assertLessEqual(sum(path.stat().st_size for path in self.files.values()), self.MAX_BYTES)

    def test_classification_matches_the_samples(self):
        for file, path in sorted(self.files.items()):
            with self.subTest(trace=file):
                sample = harness.SOURCE / "samples" / file.split(".")[0] / "expect.json"
                expected = json.loads(sample.read_text()) if sample.exists() else {"model": "unknown",
                                                                                  "pattern": "unknown"}
                result = self.wic_prof("analyze", path, "--format", "json")
                self.assertEqual(result.returncode, 0, result.stderr)
                answer = json.loads(result.stdout)
                self.assertEqual(answer["loss"], [])
                for field in ("model", "pattern"):
                    may_be_unknown = field in expected.get("unknown_for_now", [])
                    allowed = {expected[field]} | ({"unknown"} if may_be_unknown else set())
                    self.assertIn(answer["classification"][field], allowed)

    def test_each_kernel_has_the_call_that_launched_it(self):
        for name, path in self.files.items():
            with self.subTest(trace=name):
                (self.work / "t.wicprof").write_bytes(gzip.decompress(path.read_bytes()))
                with contextlib.closing(sqlite3.connect(self.work / "t.wicprof")) as trace:
                    without = trace.execute("SELECT count(*) FROM kernel WHERE graph IS NULL AND correlation NOT IN "
                                            "(SELECT correlation FROM call)").fetchone()[0]
                self.assertEqual(without, 0)

    def test_recorded_on_a_gpu(self):
        result = self.wic_prof("demo", "--recorded")  # the build finds them like an installation does
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("CPU device", result.stdout)
        for name in self.APPLICATIONS | self.WITHOUT_MODES:
            self.assertRegex(result.stdout, rf"(?m)^{name} ")

    def test_begins_with_an_example_of_each_kind_in_three_sentences(self):
        """The figures are those of the bundled traces' own analyses."""
        shown = self.wic_prof("demo", "--recorded", env={"COLUMNS": "100"}).stdout
        narrow = self.wic_prof("demo", "--recorded", env={"COLUMNS": "80"}).stdout.splitlines()
        self.assertLessEqual(max(len(line) for line in narrow if "wicprof.gz" not in line and "/" not in line), 80)
        self.assertNotRegex(shown, r"\d\.\d{4,}", "figures have the digits that matter")
        stories = dict(re.findall(r"(?ms)^(Parking (?:matters|does not matter)): (\w+\n.*?)^  all about it", shown))
        self.assertEqual(list(stories), ["Parking matters", "Parking does not matter"])
        lines = {line.split()[0]: line for line in shown.splitlines() if line.strip()}
        for title, (name, *story) in ((title, text.splitlines()) for title, text in stories.items()):
            with self.subTest(name):
                self.assertLessEqual(max(map(len, story)), 100)
                told = " ".join(line.strip() for line in story)
                self.assertEqual(len(re.findall(r"\.(?: |$)", told)), 3, told)
                answer = json.loads(self.wic_prof("analyze", self.files[f"{name}.poll.wicprof.gz"], "--format",
                                                  "json").stdout)
                site = next(s for s in answer["sites"] if s["max_waiting"] > 0)
                self.assertIn(f"Up to {site['max_waiting']} waiters wait at {site['site']}", told)
                rules = {f["rule"]: f["text"] for f in answer["findings"] if f["site"] == site["site"]}
                self.assertIn(rules["hot_word" if title == "Parking matters" else "no_gain"], told)
                verdict = "improvement" if title == "Parking matters" else "no change"
                self.assertTrue(told.endswith(f": {verdict}."), told)
                self.assertIn(verdict, lines[name])
                self.assertIn(f"So {title[0].lower()}{title[1:]} here", told)
                ratio = re.search(r"speed-up of ([\d.]+)", told).group(1)
                self.assertIn(f" {ratio}", lines[name])

    def test_speed_up_is_the_ratio_of_the_times_beside_it(self):
        scale = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
        time = r"([\d.,]+) (ns|us|ms|s)"
        rows = re.findall(rf"(?m)^(\w+) .*? {time} +{time} +([\d.]+) ", self.wic_prof("demo", "--recorded").stdout)
        self.assertEqual({row[0] for row in rows}, set(self.APPLICATIONS))
        for name, poll, poll_unit, park, park_unit, ratio in rows:
            with self.subTest(program=name):
                polled, parked = (float(text.replace(",", "")) for text in (poll, park))
                shown = polled * scale[poll_unit] / (parked * scale[park_unit])
                self.assertAlmostEqual(shown / float(ratio), 1, delta=0.011)  # both times have three digits

    def test_programs_without_modes_have_the_findings_of_the_samples(self):
        sample = json.loads((harness.SOURCE / "samples" / "bare_poll" / "expect.json").read_text())
        must = {"bare_poll": sample["findings_must"], "bare_poll_patched": ["shared_host_line", "host_spin"],
                "torch": ["host_spin"], "two_ranks": ["late_rank"]}
        self.assertEqual(set(must), self.WITHOUT_MODES)
        for name, rules in must.items():
            shown = self.wic_prof("demo", "--recorded", name)
            self.assertEqual(shown.returncode, 0, shown.stderr)
            for rule in rules:
                self.assertIn(rule, shown.stdout)

    def test_programs_that_nobody_changed_are_told_in_three_sentences(self):
        shown = self.wic_prof("demo", "--recorded", env={"COLUMNS": "200"}).stdout
        stories = dict(re.findall(r"(?ms)^Unchanged: (\w+)\n(.*?)^  all about it: wic-prof demo --recorded \1$", shown))
        self.assertEqual(set(stories), self.WITHOUT_MODES)
        for name, story in stories.items():
            with self.subTest(name):
                about, verdict, *command = (line.strip() for line in story.splitlines())
                self.assertEqual(about, (self.FOLDER / f"{name}.txt").read_text().strip())
                packed = self.files[f"{name}.wicprof.gz"]
                answer = json.loads(self.wic_prof("analyze", packed, "--format", "json").stdout)
                self.assertEqual(verdict, f"wic-prof's verdict: {answer['verdict']['headline']}.")
                self.assertEqual(command[1:], [answer["verdict"]["command"]] if answer["verdict"]["command"] else [])

    def test_runs_with_both_modes_in_turn_have_a_verdict(self):
        """A single run of each mode has a verdict only beyond every known difference of equal runs."""
        compared = sorted(self.FOLDER.glob("*.ab.json"))
        self.assertTrue(compared)
        table = self.wic_prof("demo", "--recorded", env={"COLUMNS": "120"}).stdout.splitlines()
        lines = {line.split()[0]: line for line in table if line.strip()}
        for file in compared:
            verdict = json.loads(file.read_text())["verdict"]
            self.assertIn(f"  {verdict}", lines[file.name.split(".")[0]])
        self.assertIn("  improvement", lines["hot_flag"])

    def test_each_comparison_has_its_machine(self):
        table = " ".join(self.wic_prof("demo", "--recorded").stdout.split())
        elsewhere = 0
        for file in sorted(self.FOLDER.glob("*.ab.json")):
            name = file.name.split(".")[0]
            compared = json.loads(file.read_text())["devices"]
            self.assertTrue(compared, name)
            answer = self.wic_prof("compare", *[self.files[f"{name}.{mode}.wicprof.gz"] for mode in ("poll", "park")],
                                   "--format", "json")
            said = re.search(rf"The longer runs? of [^.]*\b{name}\b[^.]* (?:was|were) on ([^.]+)\.", table)
            if compared != json.loads(answer.stdout)["devices"]:
                self.assertIsNotNone(said, name)
                self.assertEqual(said[1], " and ".join(compared))
                elsewhere += 1
            else:
                self.assertIsNone(said, name)
        self.assertGreater(elsewhere, 0)
        one = " ".join(self.wic_prof("demo", "--recorded", "g_bs").stdout.split())
        self.assertIn("A longer run than these two: with both modes in turn in one run on NVIDIA H200, an iteration",
                      one)


if __name__ == "__main__":
    harness.main()
