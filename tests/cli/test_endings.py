"""However a run ends, its trace is readable, the next command reports the loss, and no files are left behind."""

import json
import os
import pty
import signal
import subprocess
import unittest

import harness


class DiskFull(harness.Case):
    def test_program_continues_and_the_trace_reports_the_loss(self):
        disk = self.folder / "small-disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", disk], capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("this user may not mount a small disk")
        self.addCleanup(subprocess.run, ["umount", "-l", disk], check=True)
        trace = disk / "t.wicprof"
        result = self.wic_prof("run", "-o", trace, "--", harness.TRACED_APP, "--burst", 60000, "--status", 7)
        self.assertEqual(result.returncode, 7, result.stderr)  # the program's own status
        self.assertIn("RECORDING STOPPED", result.stderr)
        self.assertIn(str(trace), result.stderr)
        self.assertIn("-o", result.stderr)  # the cure
        answer = json.loads(self.wic_prof("analyze", "--format=json", trace).stdout)
        self.assertGreater(sum(site["count"] for site in answer["sites"]), 100)
        self.assertIn("store_lost", [loss["name"] for loss in answer["loss"]])


class Killed(harness.Case):
    def test_program(self):
        process = self.start_app(run_options=("-o", "t.wicprof"))
        self.until(lambda: self.sessions()[0]["waits"] > 100, "waits")
        os.kill(self.sessions()[0]["pid"], signal.SIGKILL)
        result = self.finish(process)
        self.assertEqual(result.returncode, 128 + 9)
        self.assertIn("killed by signal 9 (Killed)", result.stderr)
        self.assertEqual(self.meta("t.wicprof")["state"], "complete")
        answer = json.loads(self.wic_prof("analyze", "--format=json", "t.wicprof").stdout)
        self.assertGreater(sum(site["count"] for site in answer["sites"]), 100)

    def test_program_that_crashes(self):
        result = self.wic_prof("run", "-o", "t.wicprof", "--", harness.TRACED_APP, "--crash")
        self.assertEqual(result.returncode, 128 + 11)
        answer = json.loads(self.wic_prof("analyze", "--format=json", "t.wicprof").stdout)
        self.assertEqual([site["count"] for site in answer["sites"]], [1, 1])

    def test_wic_prof(self):
        process = self.start_app(seconds=3, run_options=("-o", "t.wicprof", "--name", "halo"))
        self.until(lambda: self.sessions()[0]["waits"] > 100, "waits")
        app = self.sessions()[0]["pid"]
        process.kill()
        process.wait()
        self.assertIn(app, [pid for pid, _ in self.processes()], "the program must continue")
        self.assertNotEqual(self.session_files(), [])
        result = self.wic_prof("sessions")
        self.assertEqual(result.returncode, 0)
        self.assertIn("removed session 'halo' of a wic-prof that died", result.stderr)
        self.assertIn("no session is running", result.stdout)
        self.assertEqual(self.session_files(), [])
        result = self.wic_prof("analyze", "--format=json", "t.wicprof")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("incomplete", result.stderr)
        answer = json.loads(result.stdout)
        self.assertGreater(sum(site["count"] for site in answer["sites"]), 0)
        self.assertTrue(answer["loss"], "the trace's end is missing, and the answer must say so")
        self.until(lambda: self.processes() == [], "the program's end")


class Interrupted(harness.Case):
    def test_program_gets_the_signal_and_the_trace_is_finished(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number.name):
                process = self.start_app(run_options=("-f", "-o", "t.wicprof"))
                process.send_signal(number)
                result = self.finish(process)
                self.assertEqual(result.returncode, 128 + number)
                self.assertIn("wic-prof analyze t.wicprof", result.stderr)
                self.assertEqual(self.meta("t.wicprof")["state"], "complete")

    def test_program_that_ignores_signals_is_killed_after_5_s(self):
        process = self.start_app("--ignore-signals", run_options=("-o", "t.wicprof"))
        result = self.interrupt(process)
        self.assertEqual(result.returncode, 128 + 9)
        self.assertIn("did not end within 5 s", result.stderr)
        self.assertEqual(self.meta("t.wicprof")["state"], "complete")

    def test_twice_kills_at_once(self):
        process = self.start_app("--ignore-signals", run_options=("-o", "t.wicprof"))
        process.send_signal(signal.SIGINT)
        self.assertIn("session", process.stderr.readline())
        self.assertIn("ending the program", process.stderr.readline())
        process.send_signal(signal.SIGINT)
        result = self.finish(process)
        self.assertEqual(result.returncode, 128 + 9)
        self.assertIn("interrupted again", result.stderr)

    def test_from_a_terminal_the_program_gets_one_signal(self):
        script = ("trap 'echo told >> told; sleep 0.3' INT; touch ready; "
                  "while [ ! -e told ]; do sleep 0.05; done; sleep 0.5; exit 5")
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.work)
            os.execve(harness.WICPROF, [harness.WICPROF, "run", "-o", "t.wicprof", "--", "sh", "-c", script], self.env)
        self.until(lambda: (self.work / "ready").exists(), "the program")
        os.write(terminal, b"\x03")
        shown = b""
        while True:
            try:
                data = os.read(terminal, 4096)
            except OSError:
                break
            if not data:
                break
            shown += data
        os.close(terminal)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 5, shown)
        self.assertEqual((self.work / "told").read_text(), "told\n")


class LeftBehind(harness.Case):
    def test_surviving_child_does_not_delay_the_run(self):
        result = subprocess.run(
            [harness.WICPROF, "run", "-o", "t.wicprof", "--", harness.TRACED_APP, "--child", "60", "--seconds", "0.1"],
            cwd=self.work, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.assertEqual(result.returncode, 0)
        self.assertEqual(self.meta("t.wicprof")["state"], "complete")
        self.assertEqual(len(self.processes()), 1, "the child")
        os.kill(self.processes()[0][0], signal.SIGKILL)
        self.until(lambda: self.processes() == [], "the child's end")


if __name__ == "__main__":
    harness.main()
