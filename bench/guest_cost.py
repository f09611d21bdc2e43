#!/usr/bin/env python3
"""What programs pay for being watched: bare, under wic-prof, under nsys and under torch.profiler, in turns in one run.

    guest_cost.py BUILD -o FILE [--only engine,launches,...] [--ways bare default ... | --words] [--rounds 5]
                  [--seconds 330]

On a GPU; needs BUILD/bin (wic-prof, bench_tiny_launches), BUILD/lib (libwicprof_inject.so,
libhost_waits_empty_callbacks.so), and PyTorch for engine, train, ranks and start. Programs
(bench/guest_cost/programs.py):
  engine    steps/s of one CUDA graph of some 670 kernels, with the result read every step
  train     steps/s of a PyTorch training step
  ranks     steps/s of two ranks of it (two GPUs: NCCL)
  launches  launches/s of a CUDA program of 100,000 small kernels
  waiters   the same beside 8 threads that wait for kernels
  quota1, quota0.5, no_quota  steps/s of an engine with four threads and a quota of one CPU, of one with a thread and
            half a CPU, and of that without a quota (as root)
  start     s until PyTorch's first results, and the GPU's memory then
  cublas    s until the first product of cuBLAS
Ways: bare; default (wic-prof run); hybrid (the same, with its host threads parked); rewrite (wic-prof run
--rewrite); a word of --trace, or several joined by +; subscriber (CUPTI with a subscriber); callbacks (the same with
empty callbacks at the calls that host_waits watches); callbacks:WORD+WORD and activities:WORD+WORD
(tests/collector/gpu/empty_callbacks.cpp: CUPTI alone); nsys, nsys_node (--cuda-graph-trace=node); kineto
(torch.profiler). --words adds each word alone, and what is CUPTI alone. A way may end with ,NAME=VALUE for an
environment variable: --ways bare default default,WICPROF_FLUSH_MS=1000.
A row compares the medians of a way and of bare: the ratio, with its 95 % interval (bootstrap over processes). Prints
PASS or FAIL.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
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

PROGRAMS = pathlib.Path(__file__).resolve().parent / "guest_cost" / "programs.py"
NSYS = ("nsys", "/opt/nvidia/nsight-compute/2025.3.1/host/target-linux-x64/nsys")
# Threads and CPUs of the engine under a quota; None: no quota.
QUOTAS = {"quota1": (4, 1.0), "quota0.5": (1, 0.5), "no_quota": (1, None)}
GROUP = pathlib.Path("/sys/fs/cgroup/wicprof_guest_cost")
TORCH = ("engine", "train", "ranks", "start", *QUOTAS)
# The ratio to bare that a way must reach: of a rate at least, of a time at most.
BARS = {("engine", "default"): 0.985, ("engine", "host_waits"): 0.99, ("train", "default"): 0.99,
        ("ranks", "default"): 0.99, ("engine", "rewrite"): 0.97, ("ranks", "rewrite"): 0.97,
        ("launches", "default"): 0.9, ("waiters", "default"): 0.85, ("start", "default"): 1.1,
        ("cublas", "default"): 1.1, ("quota1", "hybrid"): 2.7, ("quota0.5", "hybrid"): 1.5}
MOST_MEMORY = 20  # MB more than bare
# Each alone, and CUPTI without wic-prof: where the cost comes from.
WORDS = ("default,WICPROF_FLUSH_MS=1000", "subscriber", "callbacks", "host", "host_waits", "kernels", "graphs",
         "kernels+graphs", "nodes", "calls", "syncs", "events", "overhead", "nvtx", "nsys_node")
WAYS = {"engine": ("bare", "default", "host_waits", "nsys", "kineto", "subscriber", "activities:graphs+kernels"),
        "train": ("bare", "default", "nsys", "kineto"),
        "ranks": ("bare", "default", "nsys", "kineto"),
        "launches": ("bare", "default", "nsys", "activities:kernels"),
        "waiters": ("bare", "default", "nsys"),
        **{program: ("bare", "default", "hybrid") for program in QUOTAS},
        "start": ("bare", "default", "nsys"),
        "cublas": ("bare", "default", "nsys")}
SAMPLES = 4000  # of the bootstrap
LONGEST = 100   # s of a process


def find_nsys():
    return next((found for found in map(shutil.which, NSYS) if found), None)


class Bench:
    def __init__(self, options):
        self.build = options.build
        self.work = pathlib.Path(tempfile.mkdtemp(dir="/dev/shm"))
        self.nsys = find_nsys()

    def command(self, program, kineto):
        if program == "launches":
            return [str(self.build / "bin" / "bench_tiny_launches")]
        if program == "waiters":
            return [str(self.build / "bin" / "bench_tiny_launches"), "--waiting", "8"]
        if program in QUOTAS:
            count, cpus = QUOTAS[program]
            if cpus is None:
                return [sys.executable, str(PROGRAMS), "threads", str(count)]
            GROUP.mkdir(exist_ok=True)
            (GROUP / "cpu.max").write_text(f"{int(cpus * 100_000)} 100000")
            return [sys.executable, str(PROGRAMS), "threads", str(count), str(GROUP)]
        return [sys.executable, str(PROGRAMS), program] + (["--kineto"] if kineto else [])

    def watched(self, way, command, environment):
        """The command under a way's tool; adds to its environment."""
        if way in ("bare", "kineto"):
            return command
        if way.startswith("nsys"):
            node = ["--cuda-graph-trace=node"] if way == "nsys_node" else []
            return [self.nsys, "profile", "--force-overwrite=true", "--trace=cuda,nvtx", "--sample=none",
                    "--cpuctxsw=none", *node, "-o", str(self.work / "nsys"), *command]
        if way == "subscriber" or way.startswith(("callbacks", "activities:")):
            words = way.partition(":")[2].replace("+", ",") or "both,copies,events,memory,captures,nvtx,contexts"
            environment["CUDA_INJECTION64_PATH"] = str(self.build / "lib" / "libhost_waits_empty_callbacks.so")
            environment["EMPTY_CALLBACKS"] = words if way.startswith("callbacks") else "none"
            if way.startswith("activities"):
                environment["EMPTY_ACTIVITIES"] = words
            return command
        environment["XDG_RUNTIME_DIR"] = str(self.work)
        words = {"default": [], "rewrite": ["--rewrite"],
                 "hybrid": ["--mode=park", "--side=host", "--strategy=hybrid"]}.get(
            way, ["--trace=" + way.replace("+", ",")])
        return [str(self.build / "bin" / "wic-prof"), "run", "-q", "-f", "-o", str(self.work / "t.wicprof"), *words,
                "--", *command]

    def run(self, program, way):
        """What one process gives: `value`, and more about it."""
        tool, *settings = way.split(",")
        environment = {**os.environ, **dict(one.split("=", 1) for one in settings)}
        for file in self.work.glob("*.wicprof*"):
            file.unlink()
        command = self.watched(tool, self.command(program, tool == "kineto"), environment)
        begin = time.monotonic_ns()
        environment["GUEST_BEGIN"] = str(begin)
        process = subprocess.Popen(command, env=environment, cwd=self.work, text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        try:
            output = process.communicate(timeout=LONGEST)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            said = process.communicate()[0][-300:]
            raise RuntimeError(f"{program} {way}: no end after {LONGEST} s: {said}") from None
        wall = (time.monotonic_ns() - begin) / 1e9
        found = answer_of(output)
        if found is None or (process.returncode != 0 and not tool.startswith("nsys")):
            raise RuntimeError(f"{program} {way}: exit status {process.returncode}: {output[-300:]}")
        found["wall_s"] = round(wall, 3)
        if (trace := self.work / "t.wicprof").exists():
            found["recorded"] = rows_in(trace)
        return found


def answer_of(output):
    """The program's answer among other output."""
    for line in output.splitlines():
        if line.startswith("ns_per_launch "):
            return {"value": 1e9 / float(line.split()[1]), "unit": "launches/s"}
        if line.startswith("{"):
            found = json.loads(line)
            return {**found, "value": found.get("rate", found.get("seconds"))}
    return None


def rows_in(trace):
    with sqlite3.connect(trace) as database:
        counts = {}
        for table in ("kernel", "graph", "call", "host_wait", "sync"):
            counts[table] = database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        return counts


def compare(above, below, rng):
    def ratio(pick):
        return statistics.median(pick(above)) / statistics.median(pick(below))
    drawn = sorted(ratio(lambda all_: rng.choices(all_, k=len(all_))) for _ in range(SAMPLES))
    return ratio(lambda all_: all_), drawn[SAMPLES // 40], drawn[-SAMPLES // 40]


def row_of(name, above, below, compared_to, bar, is_rate):
    values = [one["value"] for one in above]
    ratio, low, high = compare(values, [one["value"] for one in below], random.Random(1))
    holds = None if bar is None else ratio >= bar if is_rate else ratio <= bar
    return {"name": name, "params": {"low": low, "high": high, "processes": [len(above), len(below)], "of_each": above},
            "value": statistics.median(values), "unit": above[0]["unit"], "compared_to": compared_to, "ratio": ratio,
            "bar": bar, "holds": holds}


def rows_of(program, found):
    bare, rows = found.get("bare"), []
    if not bare:
        return rows
    is_rate = "rate" in bare[0] or bare[0]["unit"] == "launches/s"
    for way, all_ in found.items():
        if all_:
            rows.append(row_of(f"{program}_{way}", all_, bare, "bare", BARS.get((program, way)), is_rate))
    if found.get("default") and found.get("hybrid"):  # what parking gains or costs where both are recorded
        rows.append(row_of(f"{program}_hybrid_over_default", found["hybrid"], found["default"], "default",
                           0.99 if program == "no_quota" else None, is_rate))
    # At least as good as other tools in the same run: not worse beyond what the processes differ.
    for other in ("nsys", "kineto"):
        if found.get("default") and found.get(other):
            row = row_of(f"{program}_default_over_{other}", found["default"], found[other], other, 1, is_rate)
            row["holds"] = (row["params"]["high"] if is_rate else 1 / row["params"]["low"]) >= 1
            rows.append(row)
    for way, all_ in found.items():
        if way != "bare" and all_ and "gpu_mb" in all_[0]:
            more = statistics.median(one["gpu_mb"] for one in all_) - statistics.median(one["gpu_mb"] for one in bare)
            claimed = way == "default"
            rows.append({"name": f"{program}_memory_{way}", "params": {}, "value": round(more, 1), "unit": "MB",
                         "compared_to": f"{MOST_MEMORY} MB more than bare", "ratio": more / MOST_MEMORY,
                         "bar": 1 if claimed else None, "holds": more <= MOST_MEMORY if claimed else None})
    return rows


def ways_of(program, options, nsys):
    ways = options.ways or WAYS[program] + (WORDS if options.words else ())
    has = {"nsys": nsys is not None, "nsys_node": nsys is not None, "kineto": program in ("engine", "train", "ranks")}
    return [way for way in dict.fromkeys(ways) if has.get(way, True)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(WAYS), help="programs")
    parser.add_argument("--ways", nargs="+", help="of each program")
    parser.add_argument("--words", action="store_true", help="each word of --trace alone, too, and CUPTI's own cost")
    parser.add_argument("--rounds", type=int, default=5, help="processes of each way")
    parser.add_argument("--seconds", type=float, default=330, help="no process begins later")
    result_file.add_arguments(parser)
    options = parser.parse_args()
    if unknown := set(options.only) - set(WAYS):
        parser.error(f"--only knows {', '.join(WAYS)}, not {', '.join(unknown)}")
    result_file.name_gpu(options)
    bench, rows, begin, status = Bench(options), [], time.monotonic(), 1
    for at, program in enumerate(options.only):
        ways = ways_of(program, options, bench.nsys)
        found = {way: [] for way in ways}

        def measure(way):
            found[way].append(bench.run(program, way))
            print(program, way, json.dumps(found[way][-1]), flush=True)
        left = options.seconds - (time.monotonic() - begin)
        weights = [len(ways_of(one, options, bench.nsys)) * (1 if one in TORCH else 0.2) for one in options.only[at:]]
        ratios.in_turn(ways, options.rounds, left * weights[0] / sum(weights), measure)
        rows += rows_of(program, found)
        status = result_file.write(options, "guest_cost", "python3 bench/guest_cost.py BUILD -o FILE", rows)
    for row in rows:
        if row["ratio"] is not None:
            range_ = " ({low:.3f} to {high:.3f})".format(**row["params"]) if "low" in row["params"] else ""
            print(f"{row['name']}: {row['value']:.4g} {row['unit']}, {row['ratio']:.3f} of {row['compared_to']}{range_}"
                  + ("" if row["bar"] is None else f", bar {row['bar']}: {'holds' if row['holds'] else 'MISSED'}"))
    shutil.rmtree(bench.work, ignore_errors=True)
    print("PASS" if status == 0 and any(row["bar"] for row in rows) else "FAIL")


if __name__ == "__main__":
    main()
