"""run --segment: a recording in segments, each a trace by itself."""

import contextlib
import json
import select
import signal
import sqlite3

import harness


class Words(harness.Case):
    def refused(self, *options, words=()):
        self.assert_refused(self.wic_prof("run", "-o", "t.wicprof", *options, "--", "touch", "started"), 2, *words)
        self.assertFalse((self.work / "started").exists())
        self.assertEqual(self.traces(), [])

    def test_times_and_sizes(self):
        for text in ("soon", "2h", "-1s", "0", "5Q", "nan", "M"):
            with self.subTest(text=text):
                self.refused(f"--segment={text}", words=("--segment", text, "10m", "500M"))
        self.refused("--segment=1ms", words=("too short", "100ms"))
        self.refused("--segment=1K", words=("too small", "1M"))

    def test_what_needs_one_trace(self):
        self.refused("--segment=1s", "--ab", words=("--ab", "--segment"))
        self.refused("--segment=1s", "--repeat=2", words=("--repeat", "--segment"))
        self.refused("--segment=1s", "--capture-range=step", words=("--capture-range", "--segment"))

    def test_segments_of_an_earlier_recording(self):
        for number in (1, 3, 12):
            (self.work / f"t.{number:04}.wicprof").write_text("old")
        (self.work / "t.0001x.wicprof").write_text("other")
        result = self.wic_prof("run", "-o", "t.wicprof", "--segment=10s", "--", harness.TRACED_APP)
        self.assert_refused(result, 2, "t.0001.wicprof", "-f")
        result = self.wic_prof("run", "-f", "-o", "t.wicprof", "--segment=10s", "--", harness.TRACED_APP)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.traces(), ["t.0001.wicprof", "t.0001x.wicprof"])

    def test_a_link_is_neither_followed_nor_removed(self):
        (self.work / "target").write_text("mine")
        (self.work / "t.0001.wicprof").symlink_to("target")
        result = self.wic_prof("run", "-f", "-o", "t.wicprof", "--segment=10s", "--", "touch", "started")
        self.assert_refused(result, 2, "symbolic link")
        self.assertEqual((self.work / "target").read_text(), "mine")


class Segments(harness.Case):
    def check(self, names):
        """Each is complete and readable by itself; their waits are all that the program wrote, each once."""
        iterations = []
        for name in names:
            meta = self.meta(name)
            self.assertEqual(meta["state"], "complete", name)
            self.assertIn(meta["app"], ("traced_app", "sh"))
            self.assertEqual(int(meta["segment"]), int(name.split(".")[-2]))
            self.assertEqual(self.number(name, "SELECT count(*) FROM site"), 2, name)
            self.assertEqual(self.number(name, "SELECT count(*) FROM device"), 1, name)
            self.assertEqual(self.number(name, "SELECT count(*) FROM process p JOIN string s ON s.id = p.name_id "
                                               "WHERE s.value = 'traced_app'"), 1, name)
            self.assertGreaterEqual(self.number(name, "SELECT count(*) FROM clock"), 1, name)
            self.assertEqual(self.number(name, "SELECT count(*) FROM site s LEFT JOIN string t ON t.id = s.name_id "
                                               "WHERE t.value IS NULL"), 0)
            iterations += [row[0] for row in self.query(name, "SELECT iteration FROM wait WHERE site_id = 1 "
                                                              "ORDER BY id")]
        self.assertEqual(iterations, list(range(1, len(iterations) + 1)))
        self.assertGreater(len(iterations), 0)

    def run_segments(self, *options, seconds="1.2", status=0):
        result = self.wic_prof("run", "-o", "t.wicprof", *options, "--", harness.TRACED_APP, "--seconds", seconds,
                               "--status", status)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def test_by_time(self):
        result = self.run_segments("--segment=200ms", "--max-size=100M", status=5)
        names = self.traces()
        self.assertGreaterEqual(len(names), 3)
        self.assertEqual(names, [f"t.{n:04}.wicprof" for n in range(1, len(names) + 1)])  # no log is left
        self.check(names)
        self.assertIn(f"{len(names)} segments, from t.0001.wicprof to {names[-1]}", result.stderr)
        for earlier, later in zip(names, names[1:]):
            self.assertLessEqual(int(self.meta(earlier)["started_ns"]), int(self.meta(later)["started_ns"]))
            self.assertEqual(self.number(earlier, "SELECT count(*) FROM stat WHERE severity > 0 AND value > 0"), 0)
        analysis = self.wic_prof("analyze", "--format=json", names[1])
        self.assertEqual(analysis.returncode, 0, analysis.stderr)
        self.assertEqual(json.loads(analysis.stdout)["complete"], True)
        for format in ("html", "csv", "md"):
            report = self.wic_prof("report", f"--format={format}", "-o", f"r.{format}", names[1])
            self.assertEqual(report.returncode, 0, report.stderr)

    def test_by_size(self):
        result = self.wic_prof("run", "-q", "-o", "t.wicprof", "--segment=1M", "--", harness.TRACED_APP, "--seconds",
                               "0.2", "--burst", "25000")
        self.assertEqual(result.returncode, 0, result.stderr)
        names = self.traces()
        self.assertGreaterEqual(len(names), 2)
        self.check(names)

    def test_keep_last_removes_whole_segments(self):
        self.run_segments("--segment=200ms", "--keep-last=300ms", seconds="2")
        names = self.traces()
        numbers = [int(name.split(".")[1]) for name in names]
        self.assertGreater(numbers[0], 1)
        self.assertEqual(numbers, list(range(numbers[0], numbers[-1] + 1)))
        end = int(self.meta(names[-1])["ended_ns"])
        for name in names[:-1]:  # nothing that is needed is missing, nothing older is left
            self.assertGreaterEqual(int(self.meta(name)["ended_ns"]), end - 400_000_000 - 100_000_000)
        self.assertLess(int(self.meta(names[0])["started_ns"]), end - 300_000_000)
        self.assertEqual(self.meta(names[0])["capture_keep_last_ns"], "300000000")

    def test_ctrl_c_leaves_complete_segments(self):
        process = self.start_app(run_options=("--segment=150ms", "-o", "t.wicprof"))
        self.until(lambda: (self.work / "t.0003.wicprof").exists(), "the third segment")
        result = self.interrupt(process)
        self.assertEqual(result.returncode, 128 + signal.SIGINT)
        self.check(self.traces())

    def test_an_ended_segment_is_complete_while_the_next_is_recorded(self):
        process = self.start_app(run_options=("--segment=300ms", "-o", "t.wicprof"))

        def complete():
            name = self.work / "t.0001.wicprof"
            with contextlib.closing(sqlite3.connect(f"file:{name}?mode=ro", uri=True)) as database:
                return database.execute("SELECT value FROM meta WHERE key = 'state'").fetchone() == ("complete",)
        self.until(lambda: (self.work / "t.0002.wicprof").exists() and complete(), "the first segment")
        self.assertIsNone(process.poll())
        result = self.wic_prof("analyze", "t.0001.wicprof")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("still being recorded", result.stdout)
        self.assertRegex(self.sessions()[0]["trace"], r"/t\.\d{4}\.wicprof$")
        refused = self.wic_prof("toggle", "--ab") if "--ab" in self.wic_prof("toggle", "--help").stdout else None
        if refused is not None:
            self.assertNotEqual(refused.returncode, 0)
        self.interrupt(process)
        self.check(self.traces())

    def test_a_mode_change_holds_in_later_segments(self):
        process = self.start_app(run_options=("--segment=300ms", "-o", "t.wicprof"))
        self.assertEqual(self.wic_prof("toggle", "park").returncode, 0)
        number = max(int(name.split(".")[1]) for name in self.traces() if name.endswith(".wicprof"))
        self.until(lambda: (self.work / f"t.{number + 2:04}.wicprof").exists(), "another segment")
        self.interrupt(process)
        names = self.traces()
        self.check(names)
        self.assertEqual(self.meta(names[0])["mode"], "poll")
        self.assertEqual(self.meta(f"t.{number + 2:04}.wicprof")["mode"], "park")
        self.assertEqual(sum(self.number(name, "SELECT count(*) FROM intervention") for name in names), 1)

    def test_a_name_that_is_taken_meanwhile_lengthens_the_segment(self):
        # The program itself takes the name before it attaches.
        script = f"mkdir t.0002.wicprof; exec {harness.TRACED_APP} --seconds 30"
        process = self.start("run", "-q", "-o", "t.wicprof", "--segment=400ms", "--", "/bin/sh", "-c", script)
        self.assertTrue(select.select([process.stderr], [], [], harness.TIMEOUT)[0], "no warning")
        self.assertIn("the next segment cannot begin", process.stderr.readline())
        self.until(lambda: any(s["wic_runtime"] and int(s["events"]) > 100 for s in self.sessions()), "events")
        result = self.interrupt(process)
        self.assertEqual(result.returncode, 128 + signal.SIGINT)
        self.assertEqual(self.meta("t.0001.wicprof")["state"], "complete")
        self.check(["t.0001.wicprof"])

    def test_kill_9_leaves_segments_that_can_be_read(self):
        process = self.start_app(run_options=("--segment=150ms", "-o", "t.wicprof"), seconds=2)
        self.until(lambda: (self.work / "t.0003.wicprof").exists(), "the third segment")
        process.kill()
        process.wait()
        self.until(lambda: self.processes() == [], "the program's own end")
        for number in (1, 2):
            result = self.wic_prof("analyze", f"t.{number:04}.wicprof")
            self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.sessions(), [])


if __name__ == "__main__":
    harness.main()
