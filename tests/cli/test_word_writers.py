"""Waits that wic-prof patched: who wrote the words that they waited for, and what stuck says of those that hang.

The program, its driver and its CUPTI are fakes; the collector, the rewriter and wic-prof are real.
"""

import json
import os

import harness

APP = os.environ.get("WICPROF_REWRITTEN_APP")
COPY, MEMSET, STREAM_WRITE, UNKNOWN_COPY = 1, 2, 3, 4
DEVICE, HOST = 1, 2
NOT_EQUAL = 2
SECONDS = 40  # the program's own deadline, should a test fail


class WordWriters(harness.Case):
    def setUp(self):
        super().setUp()
        if APP is None:
            self.skipTest("built without CUPTI's headers")
        self.env.update({"WICPROF_CUPTI_PATH": harness.FAKE_CUPTI, "WICPROF_TEST_CUPTI": "", "WICPROF_FLUSH_MS": "10",
                         "XDG_CACHE_HOME": str(self.work / "cache")})

    def test_writes_are_the_other_ends_of_waits(self):
        result = self.wic_prof("run", "-f", "-o", "t.wicprof", "--rewrite", "--", APP, "writers")
        self.assertEqual(result.returncode, 0, result.stderr)
        waits = {block: tuple(figures) for block, *figures in self.query(
            "t.wicprof", "SELECT block, word_tag, ready_ns, arrived_ns, resumed_ns FROM wait")}
        self.assertEqual(sorted(waits), list(range(7)))
        words = {tag: row for tag, *row in self.query(
            "t.wicprof", "SELECT word_tag, memory, relation, wanted, address FROM polled_word")}
        self.assertEqual(len(words), 7)
        for block, wait in waits.items():
            memory, relation, wanted, address = words[wait[0]]
            self.assertEqual((memory, relation, wanted), (HOST if block == 5 else DEVICE, NOT_EQUAL, 0))
            self.assertNotEqual(address, 0)

        signals = {}
        for tag, writer, value, correlation, device in self.query(
                "t.wicprof", "SELECT word_tag, writer, value, correlation, device_id FROM signal ORDER BY at_ns"):
            signals.setdefault(tag, []).append((writer, value))
            self.assertGreater(correlation, 0)
            self.assertEqual(device, -1)
        self.assertEqual(signals[waits[0][0]], [(COPY, 5), (COPY, 7)])  # the first one before the wait
        self.assertEqual(signals[waits[1][0]], [(MEMSET, 9)])
        self.assertEqual(signals[waits[2][0]], [(STREAM_WRITE, 11)])
        self.assertEqual(signals[waits[3][0]], [(UNKNOWN_COPY, None)])
        self.assertEqual(signals[waits[6][0]], [(COPY, 3)])
        self.assertNotIn(waits[4][0], signals)
        self.assertNotIn(waits[5][0], signals)
        for block, (_, ready, arrived, resumed) in waits.items():
            if block in (0, 1, 2, 3):
                self.assertIsNotNone(ready, block)
                self.assertTrue(arrived - 1_000_000 <= ready <= resumed + 1_000_000, (block, arrived, ready, resumed))
            else:
                self.assertIsNone(ready, block)

        candidates = self.query("t.wicprof", "SELECT c.word_tag, s.value, c.exact FROM writer_candidate c "
                                             "JOIN string s ON s.id = c.kernel_id")
        self.assertIn((waits[4][0], "raises", 1), candidates)
        self.assertIn((waits[4][0], "fills", 0), candidates)
        self.assertNotIn((waits[5][0], "fills", 0), candidates)  # another allocation
        self.assertEqual([c for c in candidates if c[1] == "raises" and c[0] != waits[4][0]], [])

        analysis = json.loads(self.wic_prof("analyze", "t.wicprof", "--format=json").stdout)
        site, = [site for site in analysis["sites"] if site["edges"]]
        self.assertEqual(site["site"], "waits:7")
        edges = site["edges"]
        self.assertEqual((edges["copies"], edges["memsets"], edges["stream_writes"], edges["open"]), (2, 1, 1, 3))
        self.assertEqual((site["wake"]["matched"], site["wake"]["unmatched"]), (4, 3))
        reasons = {reason["reason"]: reason["waits"] for reason in edges["reasons"]}
        for words_of_it, count in (("stores of kernels are not seen", 2), ("stores of the CPU are not seen", 1)):
            self.assertEqual(sum(waits for reason, waits in reasons.items() if words_of_it in reason), count)
        self.assertEqual(edges["candidates"][0], {"kernel": "raises", "exact": True, "waits": 1})
        text = " ".join(self.wic_prof("analyze", "--verbose", "t.wicprof").stdout.split())
        self.assertIn("waits:7: released 2 by a copy, 1 by a memset, 1 by a stream's write; the writer of 3 of 7 "
                      "waits is not known", text)
        self.assertIn("candidates, no more: kernel raises, which stores to the word's address and ran at the end of 1",
                      text)
        for form in ("html", "md"):
            report = self.wic_prof("report", "t.wicprof", "--format", form, "-o", "-").stdout
            self.assertIn("2 by a copy", report)
            self.assertIn("the writer of 3 of 7 waits is not known", report)

    def test_stuck_says_what_patched_loops_wait_for(self):
        run = self.start("run", "-f", "-o", "t.wicprof", "--name", "hung", "--rewrite", "--trace", "cuda,launches",
                         "--", APP, "hang", SECONDS)
        seen = [None]

        def all_wait():
            result = self.wic_prof("stuck", "--session=hung", "--format=json")
            seen[0] = json.loads(result.stdout) if result.returncode == 0 else None
            waits = seen[0]["waits"] if seen[0] is not None else []
            return len(waits) == 4 and any(wait["last_signal"] for wait in waits) and any(
                wait["candidates"] for wait in waits)
        try:
            self.until(all_wait, "four waits")
        except AssertionError as error:
            raise AssertionError(f"{error}; the last answer: {json.dumps(seen[0], indent=1)}") from None
        answer = seen[0]
        waits = {wait["blocks"][0]: wait for wait in answer["waits"]}
        for wait in waits.values():
            self.assertEqual((wait["site"], wait["source"], wait["wants"], wait["wanted"]),
                             ("waits:7", "patched", "other than 0", None))
            self.assertGreater(wait["age_ns"], 500_000_000)
            self.assertRegex(wait["address"], "^0x[0-9a-f]+$")
        self.assertEqual({block: (wait["value"], wait["satisfied"]) for block, wait in waits.items()},
                         {0: (0, False), 1: (0, False), 2: (0, False), 3: (1, True)})
        self.assertEqual([waits[block]["memory"] for block in range(3)],
                         ["device memory", "device memory", "pinned host memory"])
        self.assertEqual((waits[0]["last_signal"]["writer"], waits[0]["last_signal"]["value"]), ("copy", 0))
        self.assertEqual(waits[1]["candidates"], [{"kernel": "raises", "exact": True}])
        causes = [cause for cause in answer["causes"] if cause["kind"] == "missing_signal"]
        by_block = {answer["waits"][cause["wait"]]["blocks"][0]: cause for cause in causes}
        self.assertEqual(sorted(by_block), [0, 1, 2])  # the wait that is over is no cause
        self.assertIn("by a copy", by_block[0]["text"])
        self.assertIn("wants other than 0, has 0", by_block[0]["text"])
        self.assertTrue(any("candidate: kernel raises stores to the word's address; launched" in line
                            for line in by_block[1]["evidence"]), by_block[1])
        self.assertIn("the CPU may be its writer", by_block[2]["text"])
        self.assertEqual(answer["causes"][0]["kind"], "missing_signal")
        self.assertEqual({cause["confidence"] for cause in causes}, {"possible"})
        text = self.wic_prof("stuck", "--session=hung")
        self.assertEqual(text.returncode, 0, text.stderr)
        self.assertIn("other than 0", text.stdout)
        self.interrupt(run)


if __name__ == "__main__":
    harness.main()
