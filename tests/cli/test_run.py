"""run: exit status, environment, output, trace and schedule."""

import os
import json
import pty
import re
import sqlite3
import sys
import unittest

import harness


class Status(harness.Case):
    def test_is_the_programs(self):
        for status in (0, 1, 7, 255):
            with self.subTest(status=status):
                result = self.wic_prof("run", "-q", "-f", "-o", "t.wicprof", "--", "sh", "-c", f"exit {status}")
                self.assertEqual(result.returncode, status)
                self.assertEqual(self.meta("t.wicprof")["app_status"], str(status))

    def test_signal_gives_128_more_and_a_message(self):
        result = self.wic_prof("run", "-o", "t.wicprof", "--", "sh", "-c", "kill -TERM $$")
        self.assertEqual(result.returncode, 128 + 15)
        self.assertIn("killed by signal 15 (Terminated)", result.stderr)
        self.assertEqual(self.meta("t.wicprof")["app_signal"], "15")


class Failure(harness.Case):
    """A program that fails before it does anything is reported as that."""

    def run_failing(self, script, *options, **popen):
        """The status, and what wic-prof says on stderr; `popen` may send stderr elsewhere."""
        words = [harness.WICPROF, "run", "-f", "-o", "t.wicprof", *options, "--", "sh", "-c", script]
        return harness.subprocess.run(words, cwd=self.work, env=self.env, stdin=harness.subprocess.DEVNULL,
                                      timeout=harness.TIMEOUT, text=True, **{"capture_output": not popen, **popen})

    def test_is_said_with_the_status_and_nothing_about_wait_sites(self):
        for options in ((), ("--schedule", "poll:1s,park:1s")):
            result = self.run_failing("exit 3", *options)
            self.assertEqual(result.returncode, 3)
            self.assertRegex(result.stderr, r"the program ended with status 3 after [\d.]+ \w+, before it used CUDA")
            for misleading in ("wait sites", "has no wic runtime", "next: wic-prof analyze"):
                self.assertNotIn(misleading, result.stderr)
            self.assertIn("to see its messages alone: sh -c 'exit 3'", result.stderr)

    def test_is_said_with_the_signal(self):
        result = self.run_failing("kill -SEGV $$")
        self.assertEqual(result.returncode, 128 + 11)
        self.assertRegex(result.stderr, r"the program was killed by signal 11 \(Segmentation fault\) after .*, before")

    def test_quotes_the_last_line_from_a_file(self):
        log = self.work / "log"
        with open(log, "a") as file:
            file.write("older line\n")
            file.flush()
            result = self.run_failing("echo first >&2; echo; echo ' no such\tthing ' >&2; exit 4", stderr=file,
                                      stdout=harness.subprocess.DEVNULL)
        self.assertEqual(result.returncode, 4)
        self.assertIn("wic-prof: the last line of its messages: no such thing\n", log.read_text())

    def test_quotes_a_last_line_without_an_end(self):
        log = self.work / "log"
        with open(log, "a") as file:
            self.run_failing("printf 'no such thing' >&2; exit 4", stderr=file, stdout=harness.subprocess.DEVNULL)
        self.assertIn("wic-prof: the last line of its messages: no such thing\n", log.read_text())

    def test_quotes_no_older_and_no_own_line(self):
        log = self.work / "log"
        with open(log, "a") as file:
            file.write("older line\n")
            file.flush()
            self.run_failing("exit 4", stderr=file, stdout=harness.subprocess.DEVNULL)
        self.assertNotIn("last line", log.read_text())
        self.assertIn("to see its messages alone", log.read_text())

    def test_the_program_keeps_its_terminal(self):
        main_end, app_end = pty.openpty()
        self.run_failing("test -t 2 && echo still a terminal >&2; exit 5", stderr=app_end, stdout=app_end)
        os.close(app_end)
        seen = b""
        while True:
            try:
                data = os.read(main_end, 4096)
            except OSError:
                break
            if not data:
                break
            seen += data
        os.close(main_end)
        self.assertIn(b"still a terminal", seen)
        self.assertIn(b"its messages are above", seen)

    def test_after_some_work_the_summary_stays(self):
        result = self.wic_prof("run", "-o", "t.wicprof", "--", harness.TRACED_APP, "--status", 6)
        self.assertEqual(result.returncode, 6)
        self.assertIn("left", result.stderr)
        self.assertRegex(result.stderr, r"the program ended with status 6 after [\d.]+ \w+\n")

    def test_an_interrupted_program_did_not_fail(self):
        process = self.start("run", "-o", "t.wicprof", "--", "sleep", "30")
        self.until(lambda: any(s["answers"] for s in self.sessions()), "the session")
        result = self.interrupt(process)
        self.assertNotIn("before it used CUDA", result.stderr)
        self.assertIn("next: wic-prof analyze", result.stderr)


class Program(harness.Case):
    def test_gets_its_arguments_and_stdout(self):
        result = self.wic_prof("run", "-o", "t.wicprof", "--", "printf", "%s|", "--help", "-o", "a b", "--", "x")
        self.assertEqual(result.stdout, "--help|-o|a b|--|x|")
        self.assertIn("'a b'", self.meta("t.wicprof")["command"])

    def test_needs_no_dashes_before_it(self):
        result = self.wic_prof("run", "-o", "t.wicprof", "echo", "-n", "hello")
        self.assertEqual((result.returncode, result.stdout), (0, "hello"))

    def test_environment(self):
        result = self.wic_prof("run", "-q", "-o", "t.wicprof", "--", "env")
        self.assertRegex(result.stdout, r"(?m)^WICPROF_SESSION=.*/env\.session$")

    def test_only_the_program_prints_in_a_quiet_run(self):
        result = self.wic_prof("run", "-q", "-o", "t.wicprof", "--", "echo", "hello")
        self.assertEqual((result.stdout, result.stderr), ("hello\n", ""))

    def test_inherits_signals_unblocked(self):
        result = self.wic_prof("run", "-q", "-o", "t.wicprof", "--", "grep", "-E", "SigBlk|SigIgn", "/proc/self/status")
        self.assertEqual(re.findall(r"SigBlk:\s*(\w+)", result.stdout), ["0" * 16])


class Trace(harness.Case):
    def test_default_name_holds_program_and_pid(self):
        result = self.wic_prof("run", "--", "sh", "-c", "echo $$")
        self.assertEqual(self.traces(), [f"sh.{result.stdout.strip()}.wicprof"])
        self.assertIn(self.traces()[0], result.stderr)

    def test_name_placeholders(self):
        result = self.wic_prof("run", "-o", "%q{WHO}-%p-%h-%%.wicprof", "--", "sh", "-c", "echo $$", env={"WHO": "me"})
        pid, host = result.stdout.strip(), os.uname().nodename
        self.assertEqual(self.traces(), [f"me-{pid}-{host}-%.wicprof"])

    def test_is_overwritten_only_with_force(self):
        trace = self.record("t.wicprof")
        before = trace.read_bytes()
        result = self.wic_prof("run", "-o", "t.wicprof", "--", "touch", "started")
        self.assert_refused(result, 2, "t.wicprof", "-f")
        self.assertEqual(trace.read_bytes(), before)
        self.assertFalse((self.work / "started").exists())
        self.assertEqual(self.wic_prof("run", "-f", "-o", "t.wicprof", "--", "true").returncode, 0)

    def test_holds_what_the_program_wrote(self):
        trace = self.record("t.wicprof", "--burst", 1000)
        with sqlite3.connect(trace) as database:
            waits = database.execute("SELECT count(*), min(iteration), max(iteration) FROM wait").fetchone()
            signals = database.execute("SELECT count(*) FROM signal").fetchone()
        self.assertGreater(waits[0], 2000)
        self.assertEqual(waits[0], 2 * waits[2])
        self.assertEqual((waits[1], signals[0]), (1, waits[0]))
        self.assertEqual(self.traces(), ["t.wicprof"])
        meta = self.meta(trace)
        self.assertEqual((meta["state"], meta["app"], meta["app_status"]), ("complete", "traced_app", "0"))

    def test_reports_the_loss_of_a_full_ring(self):
        trace = self.record("t.wicprof", "--burst", 300000, run_options=("--buffer-size", "1"))
        answer = json.loads(self.wic_prof("analyze", "--format=json", trace).stdout)
        with sqlite3.connect(trace) as database:
            waits, last = database.execute("SELECT count(*), max(iteration) FROM wait").fetchone()
        if waits == 2 * last:
            self.skipTest("the recorder kept up and lost nothing")
        self.assertTrue(answer["loss"])


class Summary(harness.Case):
    def test_names_the_sites_and_the_next_step(self):
        result = self.wic_prof("run", "-o", "t.wicprof", "--", harness.TRACED_APP)
        self.assertIn("left", result.stderr)
        self.assertIn("right", result.stderr)
        self.assertIn("wic-prof analyze t.wicprof", result.stderr)
        self.assertEqual(result.stdout, "ready\n")

    def test_ends_with_what_was_found(self):
        said = self.wic_prof("run", "-o", "t.wicprof", "--", harness.TRACED_APP).stderr
        self.assertLess(said.index("Wait site"), said.index("Findings"))
        self.assertLess(said.index("Findings"), said.index("next: wic-prof analyze"))

    def test_of_a_plain_program_shows_its_threads_over_its_whole_run(self):
        """A program without CUDA and wic that sleeps, computes and sleeps."""
        script = ("import time; time.sleep(.4); end = time.process_time() + .5\n"
                  "while time.process_time() < end: pass\ntime.sleep(.4)")
        said = self.wic_prof("run", "-o", "t.wicprof", "--", sys.executable, "-c", script).stderr
        run = int(self.meta("t.wicprof")["ended_ns"]) - int(self.meta("t.wicprof")["started_ns"])
        self.assertGreater(run, 1_300_000_000)
        found = re.search(r"neither kernels nor waits through wic in ([\d.]+) s\n", said)
        self.assertAlmostEqual(float(found.group(1)), run / 1e9, delta=0.01 * run / 1e9)
        thread = re.search(r"(?m)^main thread +([\d.]+) (ms|s) +([\d.]+) %", said)
        ran = float(thread.group(1)) * {"ms": 1e6, "s": 1e9}[thread.group(2)]
        self.assertAlmostEqual(float(thread.group(3)) / 100, ran / run, delta=0.01)
        self.assertLess(said.index("main thread"), said.index("no wait sites"), "what was found comes first")
        self.assertIn("main thread", self.wic_prof("analyze", "t.wicprof").stdout)

    def test_progress_only_on_terminals(self):
        main_end, app_end = pty.openpty()
        process = harness.subprocess.Popen(
            [harness.WICPROF, "run", "-o", "t.wicprof", "--", harness.TRACED_APP, "--seconds", "1"], cwd=self.work,
            env=self.env, stdin=harness.subprocess.DEVNULL, stdout=harness.subprocess.DEVNULL, stderr=app_end)
        os.close(app_end)
        seen = b""
        while True:
            try:
                data = os.read(main_end, 4096)
            except OSError:
                break
            if not data:
                break
            seen += data
        os.close(main_end)
        self.assertEqual(process.wait(timeout=harness.TIMEOUT), 0)
        self.assertRegex(seen.decode(), r"\r\x1b\[K +[\d.]+ s  poll  \d+ waits")
        plain = self.wic_prof("run", "-f", "-o", "t.wicprof", "--", harness.TRACED_APP, "--seconds", "1")
        self.assertNotIn("\r", plain.stderr)


class Mode(harness.Case):
    def test_is_in_force_before_the_program_starts(self):
        for mode in ("poll", "park"):
            with self.subTest(mode=mode):
                process = self.start_app(run_options=("--mode", mode, "-o", f"{mode}.wicprof"))
                self.assertEqual([s["mode"] for s in self.sessions()], [mode])
                self.interrupt(process)
                self.assertEqual(self.meta(f"{mode}.wicprof")["mode"], mode)

    def test_strategy_is_passed_on(self):
        process = self.start_app(run_options=("--mode", "park", "--strategy", "backoff"))
        self.assertEqual([s["strategy"] for s in self.sessions()], ["backoff"])
        self.interrupt(process)


class Schedule(harness.Case):
    def test_is_applied(self):
        result = self.wic_prof("run", "-o", "t.wicprof", "--schedule=poll:200ms,park:0.2s,poll:200ms", "--",
                               harness.TRACED_APP, "--seconds", "1")
        self.assertEqual(result.returncode, 0, result.stderr)
        with sqlite3.connect(self.work / "t.wicprof") as database:
            rows = database.execute("SELECT old_mode, new_mode, requested_ns, effective_ns FROM intervention "
                                    "ORDER BY id").fetchall()
        self.assertEqual([row[:2] for row in rows], [(0, 1), (1, 0)])
        for _, _, requested, effective in rows:
            self.assertLessEqual(requested, effective)
        self.assertEqual(self.meta("t.wicprof")["schedule"], "poll:200ms,park:0.2s,poll:200ms")

    def test_reports_a_schedule_cut_short(self):
        result = self.wic_prof("run", "--schedule", "poll:30s,park:1s", "--", harness.TRACED_APP)
        self.assertIn("ended before 1 of the schedule's changes", result.stderr)

    def test_reports_a_missing_runtime(self):
        result = self.wic_prof("run", "--schedule", "poll:10ms,park:1s", "--", harness.TRACED_APP, "--no-runtime")
        self.assertEqual(result.returncode, 0)
        self.assertIn("the schedule was not applied", result.stderr)


if __name__ == "__main__":
    harness.main()
