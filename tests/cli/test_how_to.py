"""The commands of docs/how-to, run as they are written, with a program of the tests in the place of ./your_app."""

import contextlib
import itertools
import json
import os
import re
import shlex
import signal
import sqlite3
import subprocess
import time
import unittest

import golden_files
import harness
import mpi_case
from container import Container
from control_group import Group

STUCK_APP = os.environ["WICPROF_STUCK_APP"]
SECONDS = 60  # the program's own deadline, should a test fail


def commands(page):
    """Of all blocks of the page, one list of words each."""
    text = (harness.SOURCE / "docs" / "how-to" / page).read_text()
    lines = [line for block in re.findall(r"```sh\n(.*?)```", text, re.S) for line in block.splitlines()]
    return [shlex.split(line, comments=True) for line in lines]


class Machine:
    """As Container, where the tests may make none."""

    def __init__(self, case):
        self.case = case

    def start(self, *words):
        return self.case.start(*words, start_new_session=True)

    def run(self, *words):
        return self.case.wic_prof(*words)


class HowTo(golden_files.Case):
    def place(self):
        """With 64 MiB of /dev/shm and one CPU, where the tests may make that. A comparison's phases last ten periods of
        the quota, so these are short."""
        try:
            return Container(self, 1, period_us=5_000)
        except unittest.SkipTest:
            return Machine(self)

    def transcript(self, *parts):
        """Each part is a command as its page has it, and the lines of its answer that any run gives."""
        text = "".join(f"$ {shlex.join(command)}\n{answer.rstrip()}\n" for command, answer in parts)
        text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", re.sub(r"0x[0-9a-f]+", "0xN", text))
        return self.without_numbers(text)

    def words(self, command, *program):
        """The command's words without `wic-prof`, with the program and its arguments."""
        self.assertEqual(command[0], "wic-prof")
        return [word for given in command[1:] for word in (program if given == "./your_app" else [given])]

    def test_a_program_that_hangs(self):
        run, ask, recorded, *_ = commands("hang.md")
        self.env["WICPROF_LONG_WAIT_MS"] = "1000"
        place = self.place()
        program = place.start(*self.words(run, STUCK_APP, "missing_signal", "simt:1", SECONDS))
        answers = []

        def asked():
            answers.append(place.run(*self.words(ask)).stdout)
            return answers[-1].startswith("missing_signal (likely)")
        self.until(asked, "the cause")
        self.until(lambda: "should the program hang" in program.stderr.readline(), "the notice")
        time.sleep(2)  # as a person needs at least; the look at what hangs takes a good second
        os.killpg(program.pid, signal.SIGINT)
        self.finish(program)
        (trace,) = self.traces()
        of_trace = [trace if word == "trace.wicprof" else word for word in self.words(recorded)]
        self.assertRegex(self.wic_prof(*of_trace).stdout, r"^missing_signal \(likely\): ")
        # Where its threads sleep in the system depends on that.
        causes = re.sub(r"the system's \w+", "the system's CALL", answers[-1].partition("\nhost threads\n")[0])
        self.keep("newcomers/hang.txt", self.transcript((ask, causes)))

    def test_an_mpi_job_that_hangs(self):
        *_, run, ask, _nccl_run, _nccl_ask = commands("hang.md")
        words = self.words(run, mpi_case.program("openmpi", "hang.c"), "late", SECONDS)
        at = words.index("mpirun")
        words[at:at + 1] = mpi_case.launcher("openmpi", 4)[:-2]  # without -n 4, which the page has
        program = self.start(*words, start_new_session=True)
        self.until(lambda: self.wic_prof(*self.words(ask)).stdout.startswith("absent_rank (likely): rank 1 of 4"),
                   "the cause")
        os.killpg(program.pid, signal.SIGINT)
        self.finish(program)

    def test_a_server_that_must_not_stop(self):
        run, read, ask = commands("server.md")
        process = self.start(*self.words(run, harness.TRACED_APP, "--seconds", str(SECONDS)))
        self.until(lambda: self.wic_prof(*self.words(ask)).returncode == 0, "a dump")
        answer = self.wic_prof(*self.words(read))
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn("written as a dump", answer.stdout)
        self.interrupt(process)

    def test_a_server_under_a_quota(self):
        """In a mount namespace with 64 MiB of /dev/shm, where the session lies, and with a fifth of a CPU."""
        if harness.CUDA_APP is None:
            self.skipTest("built without CUPTI's headers")
        self.env.update(WICPROF_CUPTI_PATH=harness.FAKE_CUPTI, WICPROF_TEST_CUPTI="", WICPROF_FLUSH_MS="10")
        pod = Container(self, 0.2)
        run, toggle, analyze = commands("limited-cpus.md")
        server = pod.start(*self.words(run, harness.CUDA_APP, *"load context wait stream 3000 20".split()))
        self.until(lambda: server.poll() is not None or self.recorded_waits() >= 15, "waits that spin")
        self.assertIsNone(server.poll(), "the server has ended")
        checks = {check["name"]: check for check in json.loads(pod.run("doctor", "--format", "json").stdout)["checks"]}
        self.assertRegex(checks["CPU quota"]["detail"], "^0.2 CPUs; it was used up in [1-9]")
        self.assertEqual(checks["shared memory"]["state"], "ok")
        self.assertIn("nvidia.com/gpu", checks["container"]["detail"])
        self.assertNotIn("docker", json.dumps(checks))
        toggled = pod.run(*self.words(toggle)).stdout
        before = self.recorded_waits()
        self.until(lambda: self.recorded_waits() >= before + 75, "waits that sleep")
        os.killpg(server.pid, signal.SIGINT)
        self.finish(server)
        answer = self.wic_prof(*self.words(analyze)).stdout
        # What else is found, and which costs most, depends on the machine.
        self.assertRegex(answer, r"(?m)^  \[warning\] host_throttled")
        said = answer.replace(harness.CUDA_APP, "./your_app").splitlines(True)
        found = [line for line in said if line.startswith("  [warning] host_throttled")]
        settle = list(itertools.takewhile(str.strip, itertools.dropwhile(lambda line: "settle" not in line, said)))
        self.keep("newcomers/server.txt",
                  self.transcript((toggle, toggled.replace(harness.CUDA_APP, "./your_app")),
                                  (analyze, "".join(settle + found))))
        self.assertIn("What park brings against poll is open", answer)
        compared = " ".join(self.wic_prof("compare", "server.wicprof").stdout.split())
        cpus = re.search(r"takes ([\d.]+) of a CPU before, ([\d.]+) after", compared)
        self.assertIsNotNone(cpus, compared)
        self.assertGreater(float(cpus[1]), float(cpus[2]), compared)

    def test_a_comparison_under_a_quota(self):
        """The quota stops one of several iterations, so their median is the same in both ways of waiting."""
        if harness.CUDA_APP is None:
            self.skipTest("built without CUPTI's headers")
        group = Group.limited("cpu", {"cpu.cfs_period_us": 100_000, "cpu.cfs_quota_us": 30_000},
                              {"cpu.max": "30000 100000"})
        self.addCleanup(lambda: self.until(group.is_removed, "the group's end"))
        self.env.update(WICPROF_CUPTI_PATH=harness.FAKE_CUPTI, WICPROF_TEST_CUPTI="", WICPROF_FLUSH_MS="10")
        enter = 'echo $$ > "$0" && exec "$@"'
        ended = subprocess.run(["sh", "-c", enter, group.folder / "cgroup.procs", harness.WICPROF,
                                *"run -o ab.wicprof --ab --side host --for 7s --end --".split(), harness.CUDA_APP,
                                *"load context wait stream 3000 10".split()],
                               cwd=self.work, env=self.env, text=True, capture_output=True, timeout=harness.TIMEOUT)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        answer = json.loads(self.wic_prof("compare", "ab.wicprof", "--format", "json").stdout)
        self.assertGreater(answer["speedup"]["value"], 1.2, answer)
        self.assertIn("the time per iteration of a phase counts", " ".join(answer["notes"]))
        self.assertLess(max(segment["end_ns"] - segment["begin_ns"] for segment in answer["segments"]), 5e9)
        phases = dict(self.query("ab.wicprof", "SELECT key, value FROM meta"))["ab_phases"].split(",")[:-1]
        for begin, end in (map(int, phase.split(":")[1:]) for phase in phases):
            self.assertGreaterEqual(end - begin, 0.99e9)

    def recorded_waits(self):
        trace = self.work / "server.wicprof"
        try:
            with contextlib.closing(sqlite3.connect(f"file:{trace}?mode=ro", uri=True)) as database:
                return database.execute("SELECT count(*) FROM host_wait").fetchone()[0]
        except sqlite3.OperationalError:  # no trace yet, or a trace without tables
            return 0

    def test_whether_parking_helps(self):
        rewrite, run = commands("polling.md")
        place = self.place()
        source = harness.SOURCE / "tests/cli/flag.ptx"
        loops = self.wic_prof(*self.words(rewrite, source)).stdout
        self.assertIn("loops: ", loops)
        program = place.start(*self.words(run, harness.TRACED_APP, "--seconds", 3, "--parked-ms", 4))
        ended = self.finish(program)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        said = ended.stderr.replace(harness.TRACED_APP, "./your_app")
        verdict = "Verdict: " + said.partition("\nVerdict: ")[2].partition("\n  Not predicted")[0]
        self.assertIn("iterations of park", verdict)
        self.keep("newcomers/polling.txt",
                  self.transcript((rewrite, loops.replace(str(source), "./your_app")), (run, verdict)))


if __name__ == "__main__":
    harness.main()
