"""The commands of docs/how-to, run as they are written, with a program of the tests in the place of ./your_app."""

import os
import re
import shlex
import signal
import unittest

import harness

STUCK_APP = os.environ["WICPROF_STUCK_APP"]
SECONDS = 60  # the program's own deadline, should a test fail


def commands(page):
    """Of all blocks of the page, one list of words each."""
    text = (harness.SOURCE / "docs" / "how-to" / page).read_text()
    lines = [line for block in re.findall(r"```sh\n(.*?)```", text, re.S) for line in block.splitlines()]
    return [shlex.split(line, comments=True) for line in lines]


class HowTo(harness.Case):
    def words(self, command, *program):
        """The command's words without `wic-prof`, with the program and its arguments."""
        self.assertEqual(command[0], "wic-prof")
        return [word for given in command[1:] for word in (program if given == "./your_app" else [given])]

    def test_a_program_that_hangs(self):
        run, ask = commands("hang.md")
        program = self.start(*self.words(run, STUCK_APP, "missing_signal", "simt:1", SECONDS), start_new_session=True)
        self.until(lambda: self.wic_prof(*self.words(ask)).stdout.startswith("missing_signal (likely)"), "the cause")
        os.killpg(program.pid, signal.SIGINT)
        self.finish(program)

    def test_a_server_under_a_quota(self):
        if harness.CUDA_APP is None:
            self.skipTest("built without CUPTI's headers")
        self.env.update({"WICPROF_CUPTI_PATH": harness.FAKE_CUPTI, "WICPROF_TEST_CUPTI": ""})
        run, toggle, analyze = commands("limited-cpus.md")
        server = self.start(*self.words(run, harness.CUDA_APP, "load", "context", "wait", "stream", 600, 5, "exit", 0))
        self.until(lambda: any(s["answers"] and s["wic_runtime"] for s in self.sessions()), "the server")
        parked = self.wic_prof(*self.words(toggle))
        self.assertEqual(parked.returncode, 0, parked.stderr)
        self.assertEqual(self.finish(server).returncode, 0)
        self.assertIn("park against poll", self.wic_prof(*self.words(analyze)).stdout)

    def test_whether_parking_helps(self):
        rewrite, run, compare = commands("polling.md")
        self.assertIn("loops: ", self.wic_prof(*self.words(rewrite, harness.SOURCE / "tests/cli/flag.ptx")).stdout)
        ended = self.wic_prof(*self.words(run, harness.TRACED_APP, "--seconds", 4.5, "--parked-ms", 4))
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("iterations of park", self.wic_prof(*self.words(compare)).stdout)


if __name__ == "__main__":
    harness.main()
