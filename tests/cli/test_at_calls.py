"""Calls of the C library that move fewer bytes than asked for, and signals between calls. All of them are tried by
tests/reliability/system_calls.py."""

import os
import signal
import subprocess

import harness

AT_CALL = os.environ["WICPROF_AT_CALL"]


class Case(harness.Case):
    def at(self, call, when, action, *words):
        return self.wic_prof(*words, env={"LD_PRELOAD": AT_CALL, "WICPROF_TEST_AT": f"{call} {when} {action}"})


class Short(Case):
    def test_each_read_and_write_moves_half(self):
        self.record("t.wicprof", "--seconds", "0.1")
        bare = self.wic_prof("analyze", "t.wicprof")
        for call in ("read", "pread64", "write", "writev"):
            with self.subTest(call=call):
                result = self.at(call, "1+", "short", "analyze", "t.wicprof")
                self.assertEqual((result.returncode, result.stdout), (0, bare.stdout), result.stderr)
        for call in ("read", "pread64", "pwrite64", "write", "recv", "send"):
            with self.subTest(call=call):
                result = self.at(call, "1+", "short", "run", "-f", "-o", "r.wicprof", "--", harness.TRACED_APP,
                                 "--seconds", "0.1", "--status", "7")
                self.assertEqual(result.returncode, 7, result.stderr)
                self.assertEqual(self.meta("r.wicprof")["state"], "complete")
                self.assertGreater(self.number("r.wicprof", "SELECT count(*) FROM wait"), 10)


class Signals(Case):
    def test_a_report_that_is_interrupted_leaves_nothing(self):
        self.record("t.wicprof", "--seconds", "0.1")
        before = sorted(path.name for path in self.work.iterdir())
        report = ("report", "t.wicprof", "--format", "csv", "-o", "r.csv")
        calls = self.work.parent / "tally"
        subprocess.run([harness.WICPROF, *report], cwd=self.work, check=True,
                       env={**self.env, "LD_PRELOAD": AT_CALL, "WICPROF_TEST_TALLY": str(calls)})
        whole = (self.work / "r.csv").read_bytes()
        (self.work / "r.csv").unlink()
        made = dict(line.split() for line in calls.read_text().splitlines())
        self.assertGreaterEqual(int(made["linkat"]), 1)
        for old in (None, b"old"):
            for call in ("write", "close", "linkat", "rename"):
                for at in range(max(1, int(made.get(call, 0)) - 5), int(made.get(call, 0)) + 2):
                    with self.subTest(old=old, call=call, at=at):
                        if old:
                            (self.work / "r.csv").write_bytes(old)
                        result = self.at(call, at, int(signal.SIGTERM), *report, *(["-f"] if old else []))
                        self.assertIn(result.returncode, (0, -signal.SIGTERM), result.stderr)
                        now = sorted(path.name for path in self.work.iterdir())
                        self.assertLessEqual(set(now) - set(before), {"r.csv"})
                        if "r.csv" in now:
                            self.assertIn((self.work / "r.csv").read_bytes(), (old, whole))
                            (self.work / "r.csv").unlink()


if __name__ == "__main__":
    harness.main()
