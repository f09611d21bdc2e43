"""Programs that wait through wic and end in a hard way: killed in a wait, a CUDA error, _exit inside a callback, fork
after CUDA. On the CPU device and, where there is one, on a GPU. Each trace is complete and has the waits before."""

import json
import os
import pathlib
import signal
import unittest

import harness

APP = os.environ["WICPROF_HARD_ENDS_APP"]
WAITED = 4 * 3  # blocks, rounds
DEADLINE = 20   # seconds, inside the kernel


class Ends:
    device = None

    def begin(self, scenario, deadline=DEADLINE):
        return self.start("run", "-q", "-f", "-o", "t.wicprof", "--", APP, scenario, self.device, deadline)

    def end(self, process, status, waits=WAITED):
        result = self.finish(process)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual(self.meta("t.wicprof")["state"], "complete")
        answer = json.loads(self.wic_prof("analyze", "--format=json", "t.wicprof").stdout)
        counts = {site["site"]: site["count"] for site in answer["sites"]}
        self.assertGreaterEqual(counts.get("hard_ends.word", 0), waits, answer["loss"])
        return result

    def test_killed_in_a_wait(self):
        process = self.begin("killed")
        self.assertEqual(process.stdout.readline(), "waiting\n")
        self.until(lambda: self.sessions()[0]["waits"] >= WAITED, "the records of the waits before")
        os.kill(self.sessions()[0]["pid"], signal.SIGKILL)
        self.end(process, 128 + 9)

    def test_main_returns_while_blocks_wait(self):
        self.end(self.begin("returned", deadline=1), 0)  # the CPU device's blocks are threads that must end

    def test_exit_inside_a_callback(self):
        process = self.begin("callback")
        # _exit leaves no time for the last records; what was taken before is in the trace.
        self.end(process, 7, waits=0)

    def test_fork_after_the_first_waits(self):
        self.end(self.begin("forked"), 0, waits=2 * WAITED)


class CpuDevice(Ends, harness.Case):
    device = "simt:1"


@unittest.skipUnless(pathlib.Path("/dev/nvidia0").exists(), "this machine has no GPU")
class Gpu(Ends, harness.Case):
    device = "cuda:0"

    def test_cuda_error_while_blocks_wait(self):
        result = self.end(self.begin("error"), 5)
        self.assertIn("illegal", result.stdout)

    def test_exit_while_a_kernel_always_runs(self):
        self.end(self.begin("busy"), 7)
        (kernels,), = self.query("t.wicprof", "SELECT count(*) FROM kernel JOIN string ON string.id = kernel.name_id "
                                              "WHERE string.value LIKE '%Busy%'")
        self.assertEqual(self.stats("t.wicprof").get("ended_unwritten", 0), 1)
        self.assertGreaterEqual(kernels, 20, "of 60; those of the last quarter of a second may be missing")


if __name__ == "__main__":
    harness.main()
