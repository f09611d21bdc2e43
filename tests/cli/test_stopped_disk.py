"""The disk of the trace stops answering: Ctrl-C ends the program as always, and further ones give up the trace; the
status stays the program's, and no session is left."""

import os
import signal
import time
import unittest

import harness

STOPPED_DISK = os.environ["WICPROF_STOPPED_DISK"]


class StoppedDisk(harness.Case):
    def setUp(self):
        super().setUp()
        self.stop = self.work / "stop"
        self.env.update(LD_PRELOAD=STOPPED_DISK, WICPROF_TEST_STOPPED=str(self.stop), WICPROF_TEST_DISK="t.wicprof")

    def begin(self, *app):
        process = self.start("run", "-q", "-o", "t.wicprof", "--", harness.TRACED_APP, *app)
        self.until(lambda: any(s["answers"] and s["waits"] > 10 for s in self.sessions()), "waits")
        return process

    def ended(self, process):
        return not any(c.startswith(harness.TRACED_APP.encode()) for _, c in self.processes())

    def give_up(self, process, number=signal.SIGINT, most=3):
        for _ in range(most):
            process.send_signal(number)
            time.sleep(0.3)
        end = time.monotonic() + 20
        while process.poll() is None and time.monotonic() < end:
            time.sleep(1)  # a machine that is too busy to take each signal merges them: whoever waits presses again
            process.send_signal(number)
        self.stop.unlink()
        result = self.finish(process)
        self.assertIn("INCOMPLETE", result.stderr)
        self.assertLess(time.monotonic(), end, "it ended only once the disk answered")
        return result.returncode

    def test_while_the_program_runs(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number.name):
                process = self.begin("--seconds", 60)
                self.stop.touch()
                time.sleep(0.1)
                self.assertEqual(self.give_up(process, number), 128 + number)
                (self.work / "t.wicprof").unlink()

    def test_after_the_programs_end(self):
        process = self.begin("--seconds", 0.5, "--status", 7)
        self.stop.touch()
        self.until(lambda: self.ended(process), "the program's end")
        time.sleep(0.3)
        self.assertIsNone(process.poll())
        self.assertEqual(self.give_up(process, most=2), 7)

    def test_before_the_program_starts(self):
        self.stop.touch()
        process = self.start("run", "-q", "-o", "t.wicprof", "--", "touch", "started")
        self.until(lambda: (self.work / "t.wicprof").exists(), "the trace")
        self.assertEqual(self.give_up(process), 128 + signal.SIGINT)
        self.assertFalse((self.work / "started").exists())


if __name__ == "__main__":
    harness.main()
