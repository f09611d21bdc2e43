"""The export for Perfetto's viewer, read by the viewer's own trace processor, which neither Debian nor a registry has
as a package. Without the program in the PATH (trace_processor or trace_processor_shell) or in WICPROF_TRACE_PROCESSOR,
the test is reported as skipped (exit status 77).
"""

import collections
import csv
import json
import os
import shutil
import subprocess
import sys
import unittest

import harness

NAMES = ("trace_processor_shell", "trace_processor")
PROCESSOR = os.environ.get("WICPROF_TRACE_PROCESSOR") or next(filter(None, map(shutil.which, NAMES)), None)


class Export(harness.Case):
    def ask(self, export, sql):
        """The rows of the answer, without its header."""
        (self.work / "query.sql").write_text(sql + ";\n")
        done = subprocess.run([PROCESSOR, "-q", self.work / "query.sql", export], text=True, capture_output=True,
                              timeout=harness.TIMEOUT)
        self.assertEqual(done.returncode, 0, done.stderr)
        return list(csv.reader(done.stdout.splitlines()))[1:]

    def assert_read_completely(self, trace):
        result = self.wic_prof("report", trace, "--format", "perfetto", "-f", "-o", "export.json")
        self.assertEqual(result.returncode, 0, result.stderr)
        export = self.work / "export.json"
        self.assertLessEqual(export.stat().st_size, 10_000_000)
        counts = collections.Counter(event["ph"] for event in json.loads(export.read_text())["traceEvents"])
        self.assertGreater(counts["X"], 0)
        # A change of mode is an instant, without a length.
        self.assertEqual(self.ask(export, "select count(*) from slice where dur > 0"), [[str(counts["X"])]])
        self.assertEqual(self.ask(export, "select count(*) from flow"), [[str(counts["s"])]])
        self.assertEqual(self.ask(export, "select name, value from stats where severity = 'error' and value > 0"), [])
        result = self.wic_prof("report", trace, "--format", "pftrace", "-f", "-o", "export.pftrace")
        self.assertEqual(result.returncode, 0, result.stderr)
        own = self.work / "export.pftrace"
        for sql in ("select count(*) from slice where dur > 0", "select count(*) from flow"):
            self.assertEqual(self.ask(own, sql), self.ask(export, sql))
        self.assertEqual(self.ask(own, "select name, value from stats where severity = 'error' and value > 0"), [])

    def test_a_whole_trace(self):
        self.record("t.wicprof", "--seconds", 1, run_options=("--schedule", "poll:500ms,park:500ms"))
        self.assert_read_completely("t.wicprof")

    def test_a_trace_of_which_stretches_are_left_out(self):
        self.record("t.wicprof", "--burst", 200_000)
        self.assert_read_completely("t.wicprof")

    def test_a_recording_of_a_gpu(self):
        self.assert_read_completely(harness.SOURCE / "samples" / "traces" / "hot_flag.poll.wicprof.gz")


if __name__ == "__main__":
    if PROCESSOR is None:
        print("no trace_processor of Perfetto: whether the viewer reads the export was not tested")
        sys.exit(77)
    harness.main()
