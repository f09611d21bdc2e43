#!/usr/bin/env python3
"""Delays with a known cause on a real machine: does analyze name them, and does parking gain what it predicts?

    injected_delays.py BUILD -o FILE [--seconds 100] [--only co_runner,gain_alone,...]

As root, on a GPU; needs BUILD/bin/wic-prof, bench_injected_delays_app and bench_host_sharing_load.

Injected: the program sleeps, or computes, before a launch; a kernel runs long; work begins long after its launch; a CPU
quota (cgroup v2) stops the program; a co-runner shares its CPU. 40 delays of each kind. A delay counts as named right
if analyze reports, within that step, a delay with its cause; as surely wrong if analyze reports there, as sure, one
with another cause. Where the cause acts by itself (quota, co-runner) each delay that analyze reports counts.
`throttled`: the time in the trace against cpu.stat. `gain`: what `toggle park --side host` gains, as predicted from a
recording of the program's own way, against a recording with host threads parked.
"""

import argparse
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import result_file  # noqa: E402

CAUSES = {"sleep": {"program_asleep"}, "compute": {"program_busy"}, "kernel": {"kernel"}, "launch": {"launch"},
          "quota": {"throttled"}, "co_runner": {"oversubscribed"}}
STEPS = 420       # every tenth from the twentieth on is late: 40 of them
GROUP = pathlib.Path("/sys/fs/cgroup/wicprof_injected")
NAMED_RIGHT, THROTTLED = 0.95, 0.05
NOISE = 0.01  # of the measured gain: two runs differ by that much


class Bench:
    def __init__(self, options):
        self.bin, self.rows, self.options = options.build / "bin", [], options
        self.ends = time.monotonic() + options.seconds - 5
        self.work = pathlib.Path(tempfile.mkdtemp())
        self.environment = {**os.environ, "XDG_RUNTIME_DIR": tempfile.mkdtemp()}
        self.cpu = sorted(os.sched_getaffinity(0))[-2]
        self.why_no_quota = None
        try:
            controllers = GROUP.parent / "cgroup.subtree_control"
            if "cpu" not in controllers.read_text().split():
                controllers.write_text("+cpu")
            GROUP.mkdir(exist_ok=True)
            (GROUP / "cpu.max").write_text("max 100000")
        except OSError as error:
            self.why_no_quota = str(error)

    def wic_prof(self, *words, timeout=30):
        return subprocess.run(["timeout", str(timeout), self.bin / "wic-prof", *words], env=self.environment,
                              cwd=self.work, text=True, capture_output=True, check=False)

    def throttled_ns(self):
        lines = (line.split() for line in (GROUP / "cpu.stat").read_text().splitlines())
        return 1000 * next((int(value) for name, value in lines if name == "throttled_usec"), 0)

    def record(self, kind, steps, kernel_us, quota=None, co_runner=False, parked=False):
        """Returns (late steps, seconds of all steps, throttled ns by cpu.stat)."""
        times, go = self.work / "times", self.work / "times.go"
        for path in (times, go):
            path.unlink(missing_ok=True)
        mode = ["--mode=park", "--side=host"] if parked else ["--mode=poll"]
        run = subprocess.Popen(["timeout", "-k", "2", "60", self.bin / "wic-prof", "run", "-q", "-f", "-o", "t.wicprof",
                                "--trace=kernels,calls,host_waits,host", "--name=injected", *mode, "--",
                                self.bin / "bench_injected_delays_app", kind, str(steps), str(kernel_us), times],
                               env=self.environment, cwd=self.work, text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)
        runner, before, after = None, 0, 0
        try:
            process = None
            while process is None and run.poll() is None and time.monotonic() < self.ends:
                listed = json.loads(self.wic_prof("sessions", "--format=json").stdout or '{"sessions": []}')["sessions"]
                process = next((one["pid"] for one in listed if one.get("wic_runtime")), None)
                time.sleep(0.02)
            if process is None:
                raise RuntimeError("the program did not join the session")
            if quota is not None:
                (GROUP / "cgroup.procs").write_text(str(process))
                before = self.throttled_ns()
                (GROUP / "cpu.max").write_text(f"{int(quota * 100_000)} 100000")
            if co_runner:
                runner = subprocess.Popen([self.bin / "bench_host_sharing_load", "busy", "1", "60"])
                os.sched_setaffinity(runner.pid, {self.cpu})
                for pid in (process, runner.pid):
                    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
                        os.sched_setaffinity(int(task.name), {self.cpu})
            go.touch()
            while run.poll() is None and time.monotonic() < self.ends:
                if quota is not None:
                    after = self.throttled_ns()
                time.sleep(0.02)
        finally:
            if runner:
                runner.kill()
                runner.wait()
            if run.poll() is None:
                run.send_signal(signal.SIGTERM)
            output = run.communicate(timeout=30)[0]
            if quota is not None:
                after = max(after, self.throttled_ns())
                (GROUP / "cpu.max").write_text("max 100000")
        if run.returncode != 0:
            raise RuntimeError(f"ended with {run.returncode}: {output[-300:]}")
        lines = [line.split() for line in times.read_text().splitlines()]
        late = [(int(begin), int(end)) for what, begin, end in lines if what == "late"]
        begin, end = next((int(begin), int(end)) for what, begin, end in lines if what == "all")
        return late, (begin, end), after - before

    def analysis(self):
        answer = self.wic_prof("analyze", "t.wicprof", "--format=json")
        if answer.returncode != 0:
            raise RuntimeError(answer.stderr[-300:])
        return json.loads(answer.stdout)

    def add(self, name, value, unit, bar=None, holds=None, ratio=None, compared_to=None, **params):
        self.rows.append({"name": name, "params": params, "value": value, "unit": unit, "compared_to": compared_to,
                          "ratio": ratio, "bar": bar, "holds": holds})
        print(json.dumps(self.rows[-1]), flush=True)

    def judge(self, kind, totals):
        by_itself = kind in ("quota", "co_runner")
        if kind == "quota" and self.why_no_quota:
            self.add("quota_skipped: " + self.why_no_quota, 0, "delays")
            return
        late, (begin, end), throttled = self.record(
            "none" if by_itself else kind, {"quota": 1000, "co_runner": 400}.get(kind, STEPS), 2000,
            quota=0.5 if kind == "quota" else None, co_runner=kind == "co_runner")
        delays = [one for one in self.analysis()["lateness"]["delays"]
                  if one["begin_ns"] < end and one["end_ns"] > begin]
        if by_itself:
            delays = delays[:60]
            groups = [[one] for one in delays]
        else:
            groups = [[one for one in delays if one["begin_ns"] < until and one["end_ns"] > at] for at, until in late]
        right = sum(any(one["cause"] in CAUSES[kind] for one in group) for group in groups)
        # Beside an injected delay the machine may be late by itself, which is a shorter delay.
        surely_wrong = sum(any(one["sure"] and one["cause"] not in CAUSES[kind] and one["late_ns"] > 2_000_000
                               for one in group) for group in groups)
        said = {}
        for group in groups:
            for one in group:
                said[one["cause"]] = said.get(one["cause"], 0) + 1
        share = right / len(groups) if groups else 0
        self.add(f"{kind}_right", right, "delays", NAMED_RIGHT, share >= NAMED_RIGHT, share,
                 "all delays injected", delays=len(groups), said=said)
        self.add(f"{kind}_surely_wrong", surely_wrong, "answers", 0, surely_wrong == 0, surely_wrong, "one answer",
                 delays=len(groups))
        totals["delays"] += len(groups)
        totals["right"] += right
        totals["surely_wrong"] += surely_wrong
        if kind == "quota":
            database = sqlite3.connect(self.work / "t.wicprof")
            stat = database.execute("SELECT t.value FROM stat t JOIN string s ON s.id = t.name_id "
                                    "WHERE s.value = 'throttled_ns'").fetchone()
            traced = stat[0] if stat else 0
            ratio = traced / throttled if throttled else 0
            self.add("throttled_of_cpu_stat", traced, "ns", THROTTLED, abs(ratio - 1) <= THROTTLED, ratio,
                     "cpu.stat", cpu_stat_ns=throttled)

    def gain(self, name, **how):
        if how.get("quota") and self.why_no_quota:
            self.add(f"gain_{name}_skipped: " + self.why_no_quota, 0, "times")
            return
        steps = 250 if how else 400
        _, (begin, end), _ = self.record("none", steps, 5000, **how)
        predicted = self.analysis()["lateness"]["park_host"]
        _, (parked_begin, parked_end), _ = self.record("none", steps, 5000, parked=True, **how)
        measured = (end - begin) / (parked_end - parked_begin)
        predicted = predicted or {"value": 0, "low": 0, "high": 0}
        self.add(f"gain_{name}", measured, "times", ratio=measured / predicted["value"] if predicted["value"] else None,
                 bar=predicted["high"] * (1 + NOISE),
                 holds=predicted["low"] * (1 - NOISE) <= measured <= predicted["high"] * (1 + NOISE),
                 compared_to="the predicted gain", predicted=predicted["value"], low=predicted["low"],
                 high=predicted["high"])

    def write(self):
        """The document so far. Returns 1 if a claim does not hold."""
        return result_file.write(self.options, "injected_delays", "python3 bench/injected_delays.py BUILD -o FILE",
                                 self.rows)

    def measure(self):
        totals = {"delays": 0, "right": 0, "surely_wrong": 0}
        work = {kind: lambda kind=kind: self.judge(kind, totals) for kind in CAUSES}
        work["gain_half_a_cpu"] = lambda: self.gain("half_a_cpu", quota=0.5)
        work["gain_fifth_of_a_cpu"] = lambda: self.gain("fifth_of_a_cpu", quota=0.2)
        work["gain_co_runner"] = lambda: self.gain("co_runner", co_runner=True)
        work["gain_alone"] = lambda: self.gain("alone")
        for name, one in work.items():
            if self.options.only and name not in self.options.only:
                continue
            if time.monotonic() > self.ends - 8:
                print("no time left", flush=True)
                break
            try:
                one()
            except Exception as error:  # the others go on
                print("failed:", error, flush=True)
                self.add(f"failed: {error}"[:200], 0, "delays", None, False)
            self.write()
        if totals["delays"]:
            share = totals["right"] / totals["delays"]
            self.add("all_right", totals["right"], "delays", NAMED_RIGHT, share >= NAMED_RIGHT, share,
                     "all delays injected", delays=totals["delays"])
            self.add("all_surely_wrong", totals["surely_wrong"], "answers", 0, totals["surely_wrong"] == 0,
                     totals["surely_wrong"], "one answer", delays=totals["delays"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--seconds", type=float, default=100)
    parser.add_argument("--only", type=lambda text: text.split(","), default=[])
    result_file.add_arguments(parser)
    options = parser.parse_args()
    result_file.name_gpu(options)
    signal.alarm(int(options.seconds) + 20)
    bench = Bench(options)
    bench.measure()
    print("PASS" if bench.write() == 0 else "FAIL")


main()
