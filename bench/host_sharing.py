#!/usr/bin/env python3
"""Host threads that wait for a GPU on CPUs that others use, too: the set-ups of the HybridSync paper.

    host_sharing.py BUILD OUT [--seconds 300] [--cases md_16_alone,md_4_shared1_busy,train_4,...] [--rounds 6]

As root, on a GPU, at most SECONDS; needs PyTorch, and in BUILD/bin wic-prof, bench_host_sharing_md and
bench_host_sharing_load. --cases: only those that begin with one of these words, in this order of programs and CPUs.

Programs (unchanged, under `wic-prof run`, toggled while they run): one in the manner of molecular dynamics, with half
as many threads as CPUs, in three forms:
  md        the threads meet after each step at a std::barrier, whose threads yield the CPU before they sleep
  asleep    the same with a barrier whose threads sleep at once
  apart     the threads do not meet: the wait for the kernel is the only one of a step
a PyTorch training step (train); a PyTorch decode step (decode); one that waits for its kernels (decode_wide).
Set-ups, for N CPUs:
  alone     N CPUs, nobody else
  baseline  half of them, nobody else (for one CPU: a quota of half a CPU)
  shared1   N CPUs, and a co-runner with N threads on the same ones
  shared2   the same, each with a quota of half of the CPUs
Program and co-runner are in cgroups of their own with equal weights, like two containers or two virtual machines.
Ways of waiting, in turns of short phases (each round in another order), so that a machine that drifts does so for all:
spin (the program's own), block, hybrid.
Writes OUT/host_sharing.json (a result document) and prints a line per case and way, then PASS or FAIL. Rows: the time
of a step for each case, with GPU utilization, kernels per second, launch latency (begin of the call to begin of the
kernel), completion latency (end of the kernel to end of the wait), the CPUs that waiting threads burn, and of the first
program how long its threads compute in a step; then one row per claim: the geometric mean over the rounds of the
ratio of two phases, or from 20 rounds on their median, with its 95 % interval.
"""

import argparse
import bisect
import itertools
import json
import os
import pathlib
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import ratios  # noqa: E402
import result_file  # noqa: E402
import torch_wait_cost  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
WAYS = {"spin": ("poll", None), "block": ("park", "block"), "hybrid": ("park", "hybrid")}
SETTLE = 0.06   # seconds at the begin of a phase that do not count: the first waits after a change
MANY = 20       # rounds from which the median of the ratios stands for them: a few phases are far off
MOLECULES = {"md": "barrier", "asleep": "asleep", "apart": "none"}
# What the first program reports of itself, per step: how long its threads compute, and take to go on after they met.
OWN_TIMES = ("computing_longest", "computing", "computing_cpu", "meeting_longest", "meeting")
CHECKED = 100   # steps of a PyTorch program whose results are compared
GROUPS = pathlib.Path("/sys/fs/cgroup")
PERIOD = 100_000  # us


class Machine:
    """CPUs and cgroups of this machine."""

    def __init__(self):
        self.cpus = sorted(os.sched_getaffinity(0))
        self.why_no_quota = None
        try:
            controllers = GROUPS / "cgroup.subtree_control"
            if "cpu" not in controllers.read_text().split():
                controllers.write_text("+cpu")
            for name in ("app", "co"):
                self.group(name).mkdir(exist_ok=True)
                self.quota(name, None)
        except OSError as error:
            self.why_no_quota = str(error)

    def group(self, name):
        return GROUPS / f"wicprof_sharing_{name}"

    def quota(self, name, cpus):
        (self.group(name) / "cpu.max").write_text("max" if cpus is None else f"{int(cpus * PERIOD)} {PERIOD}")

    def enter(self, name, process):
        if self.why_no_quota is None:
            (self.group(name) / "cgroup.procs").write_text(str(process))


def bind(process, cpus):
    """All threads of a process, also those that begin meanwhile."""
    for _ in range(2):
        for task in pathlib.Path(f"/proc/{process}/task").iterdir():
            try:
                os.sched_setaffinity(int(task.name), cpus)
            except OSError:
                pass  # the thread has ended


def setups(count, full):
    """(set-up, co-runner) for that many CPUs."""
    loads = ("busy", "matrix", "memory") if full else ("busy",)
    return [("alone", None), ("baseline", None), *(("shared1", load) for load in loads), ("shared2", "busy")]


class Sorted:
    """Rows by their first column, a time."""

    def __init__(self, rows):
        self.rows = sorted(rows, key=lambda row: row[0])
        self.times = [row[0] for row in self.rows]

    def between(self, begin, end):
        return self.rows[bisect.bisect_left(self.times, begin):bisect.bisect_right(self.times, end)]


class Bench:
    def __init__(self, options):
        self.options, self.bin = options, options.build / "bin"
        self.seconds = int(options.seconds)
        self.ends = time.monotonic() + options.seconds - 8
        self.machine = Machine()
        self.work = pathlib.Path(tempfile.mkdtemp())
        self.environment = {**os.environ, "XDG_RUNTIME_DIR": tempfile.mkdtemp(dir="/dev/shm")}
        self.rows, self.skipped, self.children = [], [], []
        signal.signal(signal.SIGALRM, self.out_of_time)

    def start(self, words, **more):
        """A child in a group of its own, which does not outlive this process where the time runs out."""
        child = subprocess.Popen(words, start_new_session=True, **more)
        self.children.append(child)
        return child

    def out_of_time(self, *_):
        """Ends all children and this process; the rows so far are in the document."""
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        for number, seconds in ((signal.SIGTERM, 2), (signal.SIGKILL, 2)):
            for child in self.children:
                if child.poll() is None:
                    os.killpg(child.pid, number)
            ends = time.monotonic() + seconds
            while any(child.poll() is None for child in self.children) and time.monotonic() < ends:
                time.sleep(0.05)
        sys.exit(f"FAIL: not done within {self.options.seconds:.0f} s")

    def wic_prof(self, *words, timeout=20):
        return subprocess.run(["timeout", str(timeout), self.bin / "wic-prof", *words], env=self.environment,
                              cwd=self.work, text=True, capture_output=True, check=False)

    def session(self, run):
        while run.poll() is None and time.monotonic() < self.ends:
            listed = json.loads(self.wic_prof("sessions", "--format=json").stdout or '{"sessions": []}')["sessions"]
            found = next((one for one in listed if one["name"] == "shared" and one.get("wic_runtime")), None)
            if found:
                return found["pid"]
            time.sleep(0.05)
        raise RuntimeError("the program did not join the session")

    def toggle(self, way):
        mode, strategy = WAYS[way]
        words = ["toggle", mode, "--side=host", "--session=shared", "--format=json"]
        answer = self.wic_prof(*words, *(["--strategy", strategy] if strategy else []))
        if answer.returncode != 0:
            raise RuntimeError(answer.stderr.strip())
        return json.loads(answer.stdout)["effective_ns"]

    def enter(self, process, count, setup, load):
        """Brings the program into a set-up. Returns the co-runner, or None."""
        cpus = self.machine.cpus[:count]
        mine = cpus[:max(1, count // 2)] if setup == "baseline" else cpus
        bind(process, mine)
        if self.machine.why_no_quota is None:
            half = setup == "shared2" or (setup == "baseline" and count == 1)
            self.machine.quota("app", count / 2 if half else None)
            self.machine.quota("co", count / 2 if setup == "shared2" else None)
        if load is None:
            return None
        runner = self.start([self.bin / "bench_host_sharing_load", load, str(count), str(self.seconds)])
        self.machine.enter("co", runner.pid)
        bind(runner.pid, cpus)
        time.sleep(0.05)
        bind(runner.pid, cpus)
        return runner

    def record(self, program, words, count_setups, trace):
        """Runs a program through set-ups and ways. Returns (cpus, setup, load, round, way, begin_ns, end_ns) tuples."""
        stop = self.work / "stop"
        stop.unlink(missing_ok=True)
        run = self.start(["timeout", "-k", "2", str(self.seconds + 40), self.bin / "wic-prof", "run", "-q", "-f",
                          "-o", "t.wicprof", f"--trace={trace}", "--name=shared", "--delay=50ms", "--", *words],
                         text=True, env=self.environment, cwd=self.work, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT)
        phases = []
        try:
            process = self.session(run)
            self.machine.enter("app", process)
            time.sleep(0 if program in MOLECULES else 3)  # PyTorch's first waits come long before its first steps
            for count, setup, load in count_setups:
                if time.monotonic() + 3 * self.options.rounds * (self.options.phase + SETTLE + 0.05) > self.ends:
                    self.skipped.append(f"{program} {count} {setup} {load or ''}: no time left")
                    continue
                if self.machine.why_no_quota and (setup == "shared2" or (setup == "baseline" and count == 1)):
                    self.skipped.append(f"{program} {count} {setup}: {self.machine.why_no_quota}")
                    continue
                runner = self.enter(process, count, setup, load)
                try:
                    ways = list(WAYS)
                    for turn in range(self.options.rounds):
                        for way in ways[turn % len(ways):] + ways[:turn % len(ways)]:
                            begin = self.toggle(way) + int(SETTLE * 1e9)
                            time.sleep(SETTLE + self.options.phase)
                            phases.append((count, setup, load, turn, way, begin,
                                           time.clock_gettime_ns(time.CLOCK_MONOTONIC)))
                finally:
                    if runner:
                        runner.kill()
                        runner.wait()
            if self.machine.why_no_quota is None:
                self.machine.quota("app", None)
            self.turns = ""
            if program not in MOLECULES and self.options.cost:
                self.toggle("spin")
                bind(process, self.machine.cpus)
                session, = pathlib.Path(self.environment["XDG_RUNTIME_DIR"]).glob("wic-prof/*.session")
                self.turns = torch_wait_cost.record_in_turns(self.bin, session, self.options.cost)
        finally:
            stop.touch()
            try:
                output = run.communicate(timeout=25)[0]
            except subprocess.TimeoutExpired:
                run.send_signal(signal.SIGTERM)
                output = run.communicate(timeout=10)[0]
        if run.returncode != 0:
            raise RuntimeError(f"ended with {run.returncode}: {output[-400:]}")
        return phases, output

    def figures(self, program, phases, threads):
        """One dict per phase."""
        database = sqlite3.connect(self.work / "t.wicprof")
        begins, ends = [phase[5] for phase in phases], [phase[6] for phase in phases]
        span = (min(begins, default=0), max(ends, default=0))
        all_kernels = Sorted(database.execute("SELECT start_ns, end_ns, correlation FROM kernel "
                                              "WHERE start_ns BETWEEN ? AND ?", span))
        all_waits = Sorted(database.execute("SELECT begin_ns, end_ns, cpu_ns, thread FROM host_wait "
                                            "WHERE begin_ns BETWEEN ? AND ?", span))
        all_calls = Sorted(database.execute(
            "SELECT c.start_ns, c.correlation, c.thread FROM call c JOIN string s ON s.id = c.name_id "
            "WHERE c.start_ns BETWEEN ? AND ? AND s.value LIKE '%aunchKernel%'", (span[0] - 100_000_000, span[1])))
        has_calls = bool(all_calls.rows)
        lines = [[int(one) for one in line.split()] for line in (self.work / "times").read_text().splitlines()]
        steps = [line[0] for line in lines]
        found = []
        for count, setup, load, turn, way, begin, end in phases:
            kernels = all_kernels.between(begin, end)
            waits = [row for row in all_waits.between(begin, end) if row[1] <= end]
            calls = {row[1]: (row[0], row[2]) for row in all_calls.between(begin - 100_000_000, end)}
            first, last = bisect.bisect_left(steps, begin), bisect.bisect_right(steps, end)
            number = (last - first - 1) / (threads if program == "apart" else 1)  # of each thread
            if number < 2 or not (kernels or self.options.without_kernels):
                self.skipped.append(f"{count} {setup} {load or ''} {way}: {number:.0f} steps, {len(kernels)} kernels")
                continue
            busy, until = 0, 0
            for start, done, _ in kernels:
                busy += max(0, done - max(start, until))
                until = max(until, done)
            launch = [start - calls[number_][0] for start, _, number_ in kernels if number_ in calls]
            # The kernel that a wait waited for: the last one that ended before it; of the same thread, where known.
            by_thread = {}
            for start, done, correlation in kernels:
                by_thread.setdefault(calls[correlation][1] if correlation in calls else None, []).append(done)
            for ends in by_thread.values():
                ends.sort()
            late, burned = [], 0
            for wait_begin, wait_end, cpu, thread in waits:
                burned += cpu or 0
                ends = by_thread.get(thread if has_calls else None, [])
                at = bisect.bisect_right(ends, wait_end) - 1
                if at >= 0 and ends[at] >= wait_begin:
                    late.append(wait_end - ends[at])
            wall = end - begin
            found.append({
                "cpus": count, "setup": setup, "load": load, "turn": turn, "way": way, "threads": threads,
                "steps": number, "step_ms": (steps[last - 1] - steps[first]) / number / 1e6,
                **{f"{name}_ms": statistics.mean(line[at] for line in lines[first + 1:last]) / 1e6
                   for at, name in enumerate(OWN_TIMES, 1)
                   if len(lines[first]) > at},
                "gpu_utilization": busy / wall if kernels else None,
                "kernels_per_s": len(kernels) / wall * 1e9 if kernels else None,
                "launch_us": statistics.mean(launch) / 1e3 if launch else None,
                "completion_us": statistics.mean(late) / 1e3 if late else None,
                "cpus_waiting": burned / wall})
        return found

    def add(self, program, found):
        by_case = {}
        for one in found:
            case = f"{program}_{one['cpus']}_{one['setup']}" + (f"_{one['load']}" if one["load"] else "")
            by_case.setdefault(case, {}).setdefault(one["way"], {})[one["turn"]] = one
        together = {}
        for case, ways in by_case.items():
            for way, phases in ways.items():
                together[case, way] = self.add_way(case, way, list(phases.values()))
        for case, ways in by_case.items():
            if not {"spin", "block", "hybrid"} <= ways.keys():
                continue
            hybrid, some = together[case, "hybrid"], next(iter(ways["hybrid"].values()))
            alone = together.get((f"{program}_{some['cpus']}_alone", "spin"))
            for other in ("spin", "block"):
                turns = sorted(ways[other].keys() & ways["hybrid"].keys())
                estimate = ratios.median_ratio if len(turns) >= MANY else ratios.mean_ratio
                ratio, low, high = estimate(
                    [ways[other][turn]["step_ms"] / ways["hybrid"][turn]["step_ms"] for turn in turns])
                over_alone = alone / hybrid if alone else None
                bar = 0.98 if other == "block" else None
                holds = ratio >= 0.98 if other == "block" else None
                if program in MOLECULES and some["setup"] == "shared1":
                    bar = 4.2 if other == "spin" else 1.9
                    reached = over_alone is not None and over_alone >= 0.95  # the bound: as fast as without sharing
                    holds = ratio >= bar or (reached and ratio >= 0.98)
                self.rows.append({"name": f"{case}_hybrid_over_{other}",
                                  "params": {"over_spin_alone": over_alone, "low": low, "high": high,
                                             "rounds": len(turns)},
                                  "value": hybrid, "unit": "ms", "compared_to": f"{case}_{other}", "ratio": ratio,
                                  "bar": bar, "holds": holds})
                print(f"{case}: hybrid over {other} {ratio:.3f}" +
                      (f" ({low:.3f} to {high:.3f})" if low is not None else "") +
                      (f", over spin alone {over_alone:.3f}" if over_alone else "") +
                      ("" if holds is None else " holds" if holds else " MISSED"), flush=True)

    def add_way(self, case, way, phases):
        """A row of all phases of one way. Returns the mean step in ms."""
        params = {key: phases[0][key] for key in ("cpus", "setup", "load", "way", "threads")}
        params["steps"] = sum(one["steps"] for one in phases)
        params["rounds"] = len(phases)
        step_ms = sum(one["step_ms"] * one["steps"] for one in phases) / params["steps"]
        for key in ("gpu_utilization", "kernels_per_s", "launch_us", "completion_us", "cpus_waiting",
                    *(f"{name}_ms" for name in OWN_TIMES)):
            known = [one[key] for one in phases if one.get(key) is not None]
            if known or key in phases[0]:
                params[key] = statistics.mean(known) if known else None
        own = [f"{name} {params[name + '_ms']:.3f}" for name in OWN_TIMES if name + "_ms" in params]
        print(f"{case} {way}: {step_ms:.3f} ms per step, GPU {params['gpu_utilization'] or 0:.3f}, "
              f"{params['kernels_per_s'] or 0:.0f} kernels/s, launch {params['launch_us'] or 0:.0f} us, completion "
              f"{params['completion_us'] or 0:.0f} us, CPUs waiting {params['cpus_waiting']:.2f}",
              *(own and ["ms:", ", ".join(own)]), flush=True)
        self.rows.append({"name": f"{case}_{way}", "params": params, "value": step_ms, "unit": "ms",
                          "compared_to": None, "ratio": None, "bar": None, "holds": None})
        return step_ms

    def program(self, name, words, count_setups, threads, trace):
        try:
            phases, output = self.record(name, words, count_setups, trace)
            self.add(name, self.figures(name, phases, threads))
            database = sqlite3.connect(self.work / "t.wicprof")
            print(f"{name} waits at:", database.execute(
                "SELECT n.value, p.value, count(*) FROM host_wait w JOIN site s ON s.id = w.site_id "
                "JOIN string n ON n.id = s.name_id LEFT JOIN string p ON p.id = s.place_id "
                "GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 5").fetchall(), flush=True)
            if self.turns:
                ends = [int(line.split()[0]) for line in (self.work / "times").read_text().splitlines()]
                phases = torch_wait_cost.phases_of(self.turns)
                self.rows.append(torch_wait_cost.row_of(f"{name}_recorded", phases, ends))
                print(json.dumps(self.rows[-1]), flush=True)
            self.write()
            return output
        except Exception as error:  # the other programs go on
            self.skipped.append(f"{name}: {error}")
            print(f"{name}: {error}", flush=True)
            return ""

    def write(self):
        """The document so far. Returns 1 if a claim does not hold."""
        return result_file.write(self.options, "host_sharing",
                                 "python3 bench/host_sharing.py BUILD OUT", self.rows)

    def torch_words(self, what, seconds, folder):
        return [sys.executable, HERE / "host_sharing" / "torch_steps.py", what, str(seconds), folder / "stop",
                folder / "times", str(CHECKED)]

    def references(self, programs):
        """The digests of the PyTorch programs without wic-prof: all at once."""
        runs = {}
        for what in programs:
            folder = self.work / what
            folder.mkdir()
            runs[what] = self.start(["timeout", "40", *self.torch_words(what, 2, folder)], text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return {what: run.communicate()[0] for what, run in runs.items()}

    def wanted(self, program, cases):
        def name(count, setup, load):
            return f"{program}_{count}_{setup}" + (f"_{load}" if load else "")
        return [one for one in cases if not self.options.cases or name(*one).startswith(self.options.cases)]

    def measure(self):
        most = len(self.machine.cpus)
        for count, program in itertools.product((4, 16, 1, 8, 2), MOLECULES):
            cases = self.wanted(program, [(count, *one) for one in setups(count, full=count == 4)])
            if not cases:
                continue
            if count > most:
                self.skipped.append(f"{program} {count}: the machine has {most} CPUs")
                continue
            threads = max(1, count // 2)
            words = [self.bin / "bench_host_sharing_md", str(threads), str(self.seconds), self.work / "stop",
                     self.work / "times", MOLECULES[program]]
            self.program(program, words, cases, threads, "kernels,calls,host_waits")
        self.torch()

    def torch(self):
        most = len(self.machine.cpus)
        cases_of = {what: self.wanted(what, [
            (count, *one) for count in (1, 4) for one in setups(count, full=False)
            if count <= most and not (count == 1 and one[0] == "baseline")])
            for what in ("train", "decode", "decode_wide")}
        digests = {}
        if not self.options.without_digests:
            digests = self.references([what for what, cases in cases_of.items() if cases])
        for what, cases in cases_of.items():
            if not cases:
                continue
            output = self.program(what, self.torch_words(what, self.seconds, self.work), cases, 1,
                                  "host_waits" if self.options.without_kernels else "kernels,host_waits")
            if what not in digests:
                continue
            here, there = (text.rpartition("digest ")[2].split() for text in (output, digests[what]))
            same = bool(here) and here != ["none"] and here == there
            print(f"{what}: {CHECKED} steps give {'the same' if same else 'NOT the same'} results without wic-prof and "
                  "toggled", flush=True)
            if not same:
                print(digests[what][-300:], output[-300:], flush=True)
            self.rows.append({"name": f"{what}_same_results", "params": {"steps": CHECKED}, "value": int(same),
                              "unit": "bool", "compared_to": f"{what} without wic-prof", "ratio": int(same),
                              "bar": 1, "holds": same})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("out", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--cases", type=lambda text: tuple(text.split(",")), default=())
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--phase", type=float, default=0.3, help="seconds per phase")
    parser.add_argument("--without-kernels", action="store_true",
                        help="of PyTorch's programs record the waits alone: records of their kernels take CPU time")
    parser.add_argument("--cost", type=float, default=0, help="seconds for the cost of recording PyTorch's steps")
    parser.add_argument("--without-digests", action="store_true", help="do not compare results with a bare run's")
    result_file.add_arguments(parser)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    options.output = options.out / "host_sharing.json"
    result_file.name_gpu(options)
    bench = Bench(options)
    signal.alarm(int(options.seconds))
    bench.measure()
    for line in bench.skipped:
        print("skipped:", line)
    print("PASS" if bench.write() == 0 and bench.rows else "FAIL")


main()
