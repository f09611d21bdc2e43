#!/usr/bin/env python3
"""wic-prof attach to a program of PyTorch on a GPU: what it costs before, between and after recordings.

    attach.py BUILD [TIMES]      about two minutes; needs BUILD/bin/wic-prof, its collector, and Python's torch

A training step with kernels one by one and one with a CUDA graph, each bare and with the dormant library. The latter is
recorded TIMES times (20), and profiled by torch.profiler between two recordings. Prints steps per second of each state,
the memory that is left, and what differs, then PASS or FAIL. All results of the program must be those of the bare one.
"""

import os
import pathlib
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAM = r"""
import os, sys, time
import torch
torch.manual_seed(1)
with_graph, stop = sys.argv[1] == "graph", sys.argv[2]
layers = torch.nn.Sequential(*[torch.nn.Linear(1024, 1024) for _ in range(16)]).cuda()
x = torch.randn(256, 1024, device="cuda")
def step():
    return layers(x).square().mean()
with torch.no_grad():
    for _ in range(20): step()
    torch.cuda.synchronize()
    if with_graph:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph): captured = step()
    def one():
        if not with_graph: return step()
        graph.replay()
        return captured
    expected = one().item()
    print("ready", flush=True)
    begin, steps, wrong = time.monotonic(), 0, 0
    while not os.path.exists(stop):
        if os.path.exists(stop + ".profile"):
            os.remove(stop + ".profile")
            with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiled:
                for _ in range(10): one()
                torch.cuda.synchronize()
            on_gpu = [e for e in profiled.events() if e.device_type == torch.autograd.DeviceType.CUDA]
            print("profiled", len(on_gpu), flush=True)
        for _ in range(10): result = one()
        wrong += result.item() != expected
        steps += 10
        if (now := time.monotonic()) - begin >= 0.25:
            print("rate", time.monotonic(), steps / (now - begin), flush=True)
            begin, steps = now, 0
print("wrong", wrong)
"""


class Run:
    def __init__(self, build, kind, dormant):
        self.build, self.folder = build, pathlib.Path(tempfile.mkdtemp(prefix="attach-"))
        self.environment = {**os.environ, "XDG_RUNTIME_DIR": str(self.folder), "TEARDOWN_CUPTI": "1"}
        self.environment.pop("CUDA_INJECTION64_PATH", None)
        program = dict(self.environment)
        if dormant:
            program["CUDA_INJECTION64_PATH"] = str(build / "lib/libwicprof_inject.so")
        self.out = open(self.folder / "out", "w+")
        self.process = subprocess.Popen([sys.executable, "-c", PROGRAM, kind, str(self.folder / "stop")], env=program,
                                        stdout=self.out)
        self.until("ready", 1)

    def text(self):
        return (self.folder / "out").read_text()

    def until(self, word, count):
        end = time.monotonic() + 60
        while self.text().count(word) < count and self.process.poll() is None and time.monotonic() < end:
            time.sleep(0.05)

    def rate(self, begin, end):
        """The median of the steps per second between two times; without the windows at both ends."""
        rates = [(float(w[1]), float(w[2])) for w in map(str.split, self.text().splitlines()) if w and w[0] == "rate"]
        return statistics.median([rate for at, rate in rates if begin + 0.3 < at < end] or [0])

    def measure(self, seconds):
        begin = time.monotonic()
        time.sleep(seconds)
        return self.rate(begin, time.monotonic())

    def attach(self, seconds):
        """Steps per second meanwhile, kernels in the trace, its losses, and what attach said."""
        trace, begin = self.folder / "t.wicprof", time.monotonic()
        done = subprocess.run([str(self.build / "bin/wic-prof"), "attach", str(self.process.pid), "-q", "-f", "-o",
                               str(trace), f"--for={seconds}s"], env=self.environment, text=True, capture_output=True,
                              check=False, timeout=60)
        rate = self.rate(begin, time.monotonic())
        if done.returncode != 0:
            return rate, 0, "", f"status {done.returncode}: {done.stderr}"
        with sqlite3.connect(trace) as database:
            kernels = database.execute("SELECT count(*) FROM kernel").fetchone()[0]
            losses = database.execute("SELECT s.value FROM stat t JOIN string s ON s.id = t.detail_id "
                                      "WHERE t.severity = 1 AND s.value NOT LIKE '%when recording stopped%'").fetchall()
        return rate, kernels, "; ".join(text for (text,) in losses), done.stderr

    def memory(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        threads = len(list(pathlib.Path(f"/proc/{self.process.pid}/task").iterdir()))
        return int(status.split("RssAnon:")[1].split()[0]), threads

    def end(self):
        (self.folder / "stop").touch()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        wrong = [line for line in self.text().splitlines() if line.startswith("wrong")]
        return self.process.returncode, wrong[0] if wrong else "no result"


def check(build, kind, times):
    problems = []
    bare_run, run = Run(build, kind, False), Run(build, kind, True)
    os.kill(run.process.pid, signal.SIGSTOP)  # one at a time has the GPU
    bare = bare_run.measure(4)
    os.kill(bare_run.process.pid, signal.SIGSTOP)
    os.kill(run.process.pid, signal.SIGCONT)
    dormant = run.measure(4)
    print(f"{kind}: bare {bare:.0f} steps/s, dormant {dormant / bare:.3f} of that", flush=True)
    memory = []
    for i in range(times):
        rate, kernels, losses, said = run.attach(1.5)
        between = run.measure(1.5)
        resident, threads = run.memory()
        if i <= times // 2:  # torch.profiler keeps memory and threads of its own
            memory.append((resident, threads))
        print(f"  {i + 1}: recorded {rate / bare:.3f}, {kernels} kernels, after that {between / bare:.3f}, RssAnon "
              f"{resident} KiB, {threads} threads {losses} {said}".rstrip(), flush=True)
        if run.process.poll() is not None:
            problems.append(f"the program ended ({run.process.returncode}) after recording {i + 1}")
            break
        if kernels == 0 or losses or said:
            problems.append(f"recording {i + 1}: {kernels} kernels, {losses} {said}")
        if i == times // 2:
            (run.folder / "stop.profile").touch()
            run.until("profiled", 1)
            profiled = run.text().split("profiled ")[-1].split("\n")[0] if "profiled" in run.text() else "0"
            print(f"  torch.profiler saw {profiled} events", flush=True)
            if profiled == "0":
                problems.append("torch.profiler saw nothing between two recordings")
    if memory and memory[-1][0] - memory[min(2, len(memory) - 1)][0] > 16 << 10:
        problems.append("memory grows with recordings")
    if memory and memory[-1][1] > memory[0][1]:
        problems.append("threads grow with recordings")
    os.kill(bare_run.process.pid, signal.SIGCONT)
    for name, (status, wrong) in (("bare", bare_run.end()), ("attached", run.end())):
        if status != 0 or wrong != "wrong 0":
            problems.append(f"{name}: status {status}, {wrong}")
    return problems


def main():
    build, times = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else 20
    problems = [f"{kind}: {text}" for kind in ("eager", "graph") for text in check(build, kind, times)]
    for problem in problems:
        print(problem)
    print("FAIL" if problems else "PASS")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
