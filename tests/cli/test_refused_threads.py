"""Threads that the system refuses to the collector: the program does what it did, and the trace says what is missing.

The program, its driver and its CUPTI are fakes; the collector and wic-prof are real. refuse_threads.cpp refuses.
"""

import os
import pathlib
import subprocess

import harness

REWRITTEN_APP = os.environ.get("WICPROF_REWRITTEN_APP")
NOT_PATCHED = 93  # the program's status where it finds no patched code
NO_CLOCK = 94  # and where nobody has read the device's clock: that takes two threads on a CPU at the same time
REFUSE = os.environ.get("WICPROF_REFUSE_THREADS")


class RefusedThreads(harness.Case):
    def setUp(self):
        super().setUp()
        if REFUSE is None:
            self.skipTest("built without CUPTI's headers")
        self.asked = self.work / "asked"

    def notices(self):
        return [text for (text,) in self.query(
            "t.wicprof", "SELECT string.value FROM notice JOIN string ON string.id = notice.text_id")]

    def refused(self, record, statuses=(0,)):
        """Records with no thread refused, then with the first, the second, and so on; returns the notices."""
        usual = record(-1)
        self.assertEqual(usual.returncode, 0, usual.stderr)
        threads = len(self.asked.read_bytes())
        self.assertGreater(threads, 0)
        self.assertEqual([text for text in self.notices() if "refused a thread" in text], [])
        texts = []
        for number in range(threads):
            self.asked.unlink()
            result = record(number)
            self.assertIn(result.returncode, statuses, result.stderr)
            self.assertEqual(result.stdout, usual.stdout)
            self.assertGreater(len(self.asked.read_bytes()), number)
            texts += [text for text in self.notices() if "the system refused a thread" in text]
        self.assertTrue(all("ulimit -u" in text for text in texts), texts)
        return texts

    def environment(self, refused, caller="libwicprof_inject"):
        return {"LD_PRELOAD": REFUSE, "WICPROF_TEST_CALLER": caller, "WICPROF_TEST_REFUSE": str(refused),
                "WICPROF_TEST_THREADS": str(self.asked)}

    def test_of_host_waits(self):
        def record(number):
            result = self.run_cuda("load", "context", "wait", "stream", "5", "1", "exit", "0",
                                   options=("--mode", "park"), env=self.environment(number))
            self.assertEqual(self.number("t.wicprof", "SELECT count(*) FROM host_wait"), 5)
            return result

        texts = " ".join(self.refused(record))
        self.assertIn("records arrive when buffers are full and at the end", texts)
        self.assertIn("host threads keep the program's own way of waiting", texts)

    def test_of_patched_loops(self):
        def record(number):
            variables = {"WICPROF_CUPTI_PATH": harness.FAKE_CUPTI, "WICPROF_TEST_CUPTI": "", "WICPROF_FLUSH_MS": "10",
                         "XDG_CACHE_HOME": str(self.work / f"cache{number}"), **self.environment(number)}
            for _ in range(5):
                self.asked.unlink(missing_ok=True)
                result = self.wic_prof("run", "-f", "-o", "t.wicprof", "--trace", "none", "--rewrite", "--",
                                       REWRITTEN_APP, "writers", env=variables)
                if result.returncode != NO_CLOCK:
                    break
            waits = self.number("t.wicprof", "SELECT count(*) FROM wait")
            self.assertEqual(waits, 0 if result.returncode in (NOT_PATCHED, NO_CLOCK) else 7)
            return result

        texts = " ".join(self.refused(record, statuses=(0, NOT_PATCHED, NO_CLOCK)))
        self.assertIn("nobody asks whether this driver takes patched code", texts)
        self.assertIn("patched loops keep the program's own way of waiting, and their waits are read at the end",
                      texts)

    def test_of_the_analysis(self):
        trace = self.work / "t.wicprof"  # its waits are so many that two threads read them
        subprocess.run([os.environ["WICPROF_MAKE_TRACE"], str(trace), "4000", "both"], check=True,
                       timeout=harness.TIMEOUT)
        self.assertGreater(self.number(trace, "SELECT count(*) FROM wait"), 100_000)
        usual = self.wic_prof("analyze", trace, "--format", "json")
        # The threads of the standard library are asked for by the library, or by wic-prof if that holds it.
        for caller in ("libstdc++", "wic-prof"):
            refused = self.wic_prof("analyze", trace, "--format", "json", env=self.environment("all", caller))
            self.assertEqual((refused.returncode, refused.stdout), (0, usual.stdout), refused.stderr)
        self.assertGreater(len(self.asked.read_bytes()), 0)

    def test_of_the_window(self):
        if not pathlib.Path(harness.WICPROF).with_name("wic-prof-gui").exists():
            self.skipTest("built without the window")
        trace = self.record("t.wicprof")
        picture = self.work / "p.png"
        for number in range(3):
            result = self.wic_prof("gui", trace, "--screenshot", picture, env=self.environment(number, "libstdc++"))
            if result.returncode != 0:
                self.assert_refused(result, 3, "the system refused a thread", "ulimit -u")
            else:
                picture.unlink()


if __name__ == "__main__":
    harness.main()
