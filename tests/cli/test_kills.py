"""kill -9 of either side at random moments: a killed wic-prof leaves the program running and a trace that can be read,
and a killed program leaves a complete trace. WICPROF_KILLS: how often; docs/reliability.md has the result of many."""

import json
import os
import random
import signal
import subprocess
import time
import unittest

import harness

KILLS = int(os.environ.get("WICPROF_KILLS", "5"))
LATEST = 0.25  # seconds after the start of wic-prof: before, while and after the program attaches


class Kills(harness.Case):
    def setUp(self):
        super().setUp()
        self.random = random.Random(1)

    def begin(self):
        for name in self.traces():
            (self.work / name).unlink()
        process = subprocess.Popen([harness.WICPROF, "run", "-q", "-o", "t.wicprof", "--", harness.TRACED_APP,
                                    "--seconds", "0.5", "--status", "6"], cwd=self.work, env=self.env,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.started.append(process)
        time.sleep(self.random.uniform(0, LATEST))
        return process

    def is_read(self):
        """Whether there is a trace, after checking that it can be read. Until its log exists, a trace is only being
        created, and the program has not been started: it may be refused, with a reason."""
        if not (self.work / "t.wicprof").exists():
            return False
        created = (self.work / "t.wicprof-wal").exists() or (self.work / "t.wicprof").stat().st_size > 200_000
        result = self.wic_prof("analyze", "--format=json", "t.wicprof")
        if not created and result.returncode == 2:
            self.assertIn("record again", result.stderr)
            return False
        self.assertEqual(result.returncode, 0, result.stderr)
        json.loads(result.stdout)
        return True

    def test_wic_prof_is_killed(self):
        read = 0
        for kill in range(10 * KILLS):
            if kill >= KILLS and read > 0:  # a busy machine may have created no trace at any of these moments
                break
            with self.subTest(kill=kill):
                process = self.begin()
                process.kill()
                process.wait()
                self.until(lambda: self.processes() == [], "the program's own end")
                read += self.is_read()
                self.assertEqual(self.sessions(), [])
                self.assertEqual(self.session_files(), [])
        self.assertGreater(read, 0)
        print(f"{kill} kills of wic-prof, {read} left a created trace, and each was read", flush=True)

    def test_program_is_killed(self):
        killed = 0
        for kill in range(KILLS):
            with self.subTest(kill=kill):
                process = self.begin()
                name = harness.TRACED_APP.encode()
                app = next((pid for pid, command in self.processes() if command.startswith(name)), None)
                if app is not None:
                    os.kill(app, signal.SIGKILL)
                    killed += 1
                self.assertEqual(process.wait(timeout=harness.TIMEOUT), 6 if app is None else 128 + 9)
                self.assertEqual(self.meta("t.wicprof")["state"], "complete")
                self.assertTrue(self.is_read())
        print(f"{killed} kills of the program in {KILLS} runs, and each left a complete trace", flush=True)


if __name__ == "__main__":
    harness.main()
