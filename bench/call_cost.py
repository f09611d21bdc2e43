#!/usr/bin/env python3
"""What the recording of host threads' waits adds to a call that finds its work done: many processes side by side.

    call_cost.py BUILD -o FILE [--processes 15] [--seconds 200] [--ways kernels,host_waits,...] [--copies]

On a GPU, some 1.5 s per process and way; needs wic-prof and host_waits_app (tests/collector/gpu) in BUILD/bin and
BUILD/lib/libhost_waits_empty_callbacks.so. The program's own way of waiting is in force (`--mode=poll`).

Each process is one way, and the ways of a round come in random order:
  bare         without wic-prof
  subscriber   CUPTI is loaded and has a subscriber, without callbacks
  callbacks    the same with empty callbacks at the calls of the driver that wait: CUPTI's part of what any tool pays
  floor        the same while CUPTI also records kernels, as for wic-prof: what `host_waits` is at least
  kernels      under wic-prof, which records kernels, not the waits of host threads
  host_waits   under wic-prof, which records both
Each gives the median of its calls. A row compares the medians of the processes of two ways, with the 95 % interval of
that difference (bootstrap over processes). `added` is the claim: what the recording of waits adds to wic-prof; `cupti`
is what empty callbacks add while kernels are recorded, and `ours` the rest. On a machine where a CPU is slow in some
processes, in every way alike, the processes of each way fall into two groups; rows `*_fast` and `*_slow` compare the
groups. A last row has what a look at the clock and 100 dependent operations took in each process, and how long the
recorded waits were (ns). Prints PASS or FAIL.
"""

import argparse
import json
import os
import pathlib
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import ratios  # noqa: E402
import result_file  # noqa: E402

WAYS = ("bare", "subscriber", "callbacks", "floor", "kernels", "host_waits")
CALLS = {"calls": ("stream", "event", "device"), "copies": ("pageable", "pinned", "to_device")}
MOST = 500       # ns
SAMPLES = 4000   # of the bootstrap
FEWEST = 3       # processes of a way, or of a group of it
# Between the slowest of the fast processes and the fastest of the slow ones. Most of a copy is the GPU's time.
GAPS = {"calls": 1.2, "copies": 1.07}
# Each difference is the sum of ways with a sign.
DIFFERENCES = {"added": {"host_waits": 1, "kernels": -1},
               "cupti": {"floor": 1, "kernels": -1},
               "ours": {"host_waits": 1, "floor": -1},
               "over_callbacks": {"host_waits": 1, "callbacks": -1},
               "floor_over_callbacks": {"floor": 1, "callbacks": -1},
               "over_bare": {"host_waits": 1, "bare": -1},
               "kernels_over_bare": {"kernels": 1, "bare": -1},
               "subscriber_over_bare": {"subscriber": 1, "bare": -1}}


def difference(times, signs, rng):
    """ns of the difference of medians, and its 95 % interval."""
    def of(pick):
        return sum(sign * statistics.median(pick(times[way])) for way, sign in signs.items())
    drawn = sorted(of(lambda all_: rng.choices(all_, k=len(all_))) for _ in range(SAMPLES))
    return of(lambda all_: all_), drawn[SAMPLES // 40], drawn[-SAMPLES // 40]


def groups(ns, gap):
    """The fast and the slow processes, where there are both: on the two sides of the widest gap."""
    ns = sorted(ns)
    at = max(range(FEWEST, len(ns) - FEWEST + 1), key=lambda i: ns[i] / ns[i - 1], default=None)
    return (ns[:at], ns[at:]) if at is not None and ns[at] / ns[at - 1] > gap else (None, None)


def rows_of(times, gap):
    """`times[call][way]`: ns, one per process."""
    rows = []
    for call, ways in times.items():
        rows += differences_of(call, ways, "")
        by_speed = {way: groups(ns, gap) for way, ns in ways.items()}
        for at, name in enumerate(("_fast", "_slow")):
            rows += differences_of(call, {way: split[at] or [] for way, split in by_speed.items()}, name)
    return rows


def differences_of(call, ways, group):
    rows, rng = [], random.Random(1)
    for name, signs in DIFFERENCES.items():
        if any(len(ways[way]) < FEWEST for way in signs):
            continue
        ns, low, high = difference(ways, signs, rng)
        claim = name == "added"
        base = next((way for way, sign in signs.items() if sign < 0), None)
        compared = statistics.median(ways[base])
        rows.append({"name": f"{call}_{name}{group}",
                     "params": {"low": round(low, 1), "high": round(high, 1),
                                "processes": {way: len(ways[way]) for way in signs},
                                "medians": {way: statistics.median(ways[way]) for way in signs}},
                     "value": round(ns, 1), "unit": "ns", "compared_to": base,
                     "ratio": round(1 + ns / compared, 4), "bar": MOST if claim else None,
                     "holds": high <= MOST if claim else None})
    return rows


class Bench:
    def __init__(self, options):
        self.build = options.build
        self.what = "copies" if options.copies else "calls"
        self.work = pathlib.Path(tempfile.mkdtemp(dir="/dev/shm"))
        self.cpu = str(sorted(os.sched_getaffinity(0))[-1])

    def run(self, way):
        """ns per call of one process."""
        words, environment = [self.build / "bin" / "host_waits_app", self.what, self.cpu], dict(os.environ)
        if way in ("subscriber", "callbacks", "floor"):
            environment["CUDA_INJECTION64_PATH"] = str(self.build / "lib" / "libhost_waits_empty_callbacks.so")
            environment["EMPTY_CALLBACKS"] = "none" if way == "subscriber" else "driver"
            if way == "floor":
                environment["EMPTY_ACTIVITIES"] = "1"
        elif way != "bare":
            environment["XDG_RUNTIME_DIR"] = str(self.work)  # in memory, as where a session lies by default
            trace = "kernels,host_waits" if way == "host_waits" else "kernels"
            words = [self.build / "bin" / "wic-prof", "run", "-q", "-f", "-o", self.work / "t.wicprof",
                     f"--trace={trace}", "--mode=poll", "--", *words]
        done = subprocess.run(["timeout", "20", *words], env=environment, cwd=self.work, text=True, capture_output=True,
                              check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{way}: {(done.stdout + done.stderr)[-300:]}")
        if way in ("kernels", "host_waits"):  # whether the way was what it is called
            with sqlite3.connect(self.work / "t.wicprof") as trace:
                waits = sorted(row[0] for row in trace.execute("SELECT end_ns - begin_ns FROM host_wait"))
            if (len(waits) > 10_000) != (way == "host_waits"):
                raise RuntimeError(f"{way}: {len(waits)} waits were recorded")
        found = json.loads(done.stdout[done.stdout.index("{"):])
        if way == "host_waits":
            found["waits"] = {f"p{part}": waits[int(len(waits) * part / 100)] for part in (10, 50, 90, 99, 99.9)}
        return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--processes", type=int, default=15, help="of each way")
    parser.add_argument("--seconds", type=float, default=200, help="no process begins later")
    parser.add_argument("--copies", action="store_true", help="of asynchronous copies that find nothing to wait for")
    parser.add_argument("--ways", type=lambda text: text.split(","), default=list(WAYS))
    result_file.add_arguments(parser)
    options = parser.parse_args()
    result_file.name_gpu(options)
    bench = Bench(options)
    times = {call: {way: [] for way in WAYS} for call in CALLS[bench.what]}
    speeds = {way: [] for way in WAYS}

    def measure(way):
        found = bench.run(way)
        for call in times:
            times[call][way].append(found[call])
        speeds[way].append({"clock": found["clock"], "operations": found["cpu"], "waits": found.get("waits")})
    ratios.in_turn(options.ways, options.processes, options.seconds, measure)
    rows = rows_of(times, GAPS[bench.what])
    for row in rows:
        print(f"{row['name']}: {row['value']} ns ({row['params']['low']} to {row['params']['high']})", flush=True)
    for call in times:  # each process's median, for whoever wants another estimate
        rows.append({"name": f"{call}_processes", "params": times[call],
                     "value": statistics.median(times[call]["host_waits"] or [0]), "unit": "ns", "compared_to": None,
                     "ratio": None, "bar": None, "holds": None})
    clocks = [one["clock"] for of in speeds.values() for one in of]
    rows.append({"name": "clock_processes", "params": speeds, "value": statistics.median(clocks or [0]), "unit": "ns",
                 "compared_to": None, "ratio": None, "bar": None, "holds": None})
    status = result_file.write(options, "call_cost", "python3 bench/call_cost.py BUILD -o FILE", rows)
    print("PASS" if status == 0 and any(row["bar"] for row in rows) else "FAIL")


if __name__ == "__main__":
    main()
