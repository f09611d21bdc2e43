"""What counting the waits of patched loops costs, on a GPU: python3 counts_cost_gpu.py BUILD OUT [--limit SECONDS]

BUILD holds bin/wic-prof, bin/untouched, bin/programs, bin/documented and lib/libwicprof_inject.so. Each program runs in
turn in all ways, as long as there is time:

  original       the program's own image
  recompiled     the driver's compilation of the same PTX without the patch
  none           patched, nothing is counted
  sampled        patched, waits are counted

In all patched ways the loops poll, and nothing is recorded; what was counted comes from a first run of each that is.
Writes OUT/counts_cost.json (docs/results/README.md says what is in it): the best run of each way over that of
recompiled (bar: 1.01), and over that of none. Prints PASS or FAIL.
"""

import argparse
import json
import os
import pathlib
import sqlite3
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bench"))
import result_file  # noqa: E402

BAR = 1.01
WAYS = {"original": None, "recompiled": "recompile", "none": "uncounted", "sampled": ""}  # WICPROF_REWRITE
PROGRAMS = {
    "grid": ["programs", 2000, "grid"],
    "chain": ["untouched", 400, "chain"],
    "barrier": ["untouched", 4000, "barrier"],
    "scan": ["programs", 50, "scan"],
    "sort": ["programs", 20, "sort"],
    "documented": ["documented", 20],
}
COUNTS = """SELECT coalesce(sum(waits), 0), coalesce(sum(looked), 0), coalesce(sum(sampled), 0),
coalesce(sum(timed), 0), coalesce(sum(timed_rounds), 0), coalesce(sum(timed_ns), 0) FROM wait_count"""
# Of the estimated numbers of waits.
VARIANCE = """SELECT coalesce(sum(one_in * (one_in - 1.0) * 8 / 7 * (sampled_squares - sampled * sampled / 8.0)), 0)
FROM wait_count"""


class Bench:
    def __init__(self, options):
        self.build, self.out = options.build.resolve(), options.out
        self.out.mkdir(parents=True, exist_ok=True)
        self.ends = time.monotonic() + options.limit
        self.ways = options.ways.split(",")
        self.programs = options.only.split(",") if options.only else list(PROGRAMS)
        self.runs = {}  # by program and way
        self.counts, self.failures = {}, []

    def run(self, program, way, recorded=False):
        name, rounds, *scenario = PROGRAMS[program]
        trace = self.out / f"{program}.{way}.wicprof"
        command = [self.build / "bin" / "wic-prof", "run", "-q", "-f", "-o", trace, "--trace",
                   "devices" if way == "original" else "none"]
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.out.resolve() / "cache")}
        if WAYS[way] is not None:
            command += ["--rewrite", "--mode", "poll"] + ([] if recorded else ["--delay", "10m"])
            environment["WICPROF_REWRITE"] = WAYS[way]
        command += ["--", self.build / "bin" / name, *scenario, rounds]
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, env=environment,
                              timeout=60)
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode != 0 or not lines or json.loads(lines[-1]).get("failed"):
            self.failures.append(f"{program} {way}: the run failed: {(done.stdout + done.stderr)[-300:]}")
            return None
        row = json.loads(lines[-1])
        if recorded and "--rewrite" in command:
            self.counts[program, way] = counts_of(trace)
        trace.unlink(missing_ok=True)
        return row

    def measure(self):
        """Runs all once, recorded, for the counts, which compiles the code into the cache; then takes turns."""
        turn, longest = 0, 0
        while time.monotonic() + longest < self.ends:
            begin = time.monotonic()
            for program in self.programs:
                # Each way comes first once, if there are as many turns.
                for way in self.ways[turn % len(self.ways):] + self.ways[:turn % len(self.ways)]:
                    row = self.run(program, way, recorded=turn == 0)
                    if row is not None and turn > 0:
                        self.runs.setdefault((program, way), []).append(row)
            print(f"turn {turn}: {time.monotonic() - begin:.1f} s", flush=True)
            longest = max(longest, time.monotonic() - begin) if turn > 0 else 0
            turn += 1
        return turn - 1

    def rows(self, turns):
        for program in self.programs:
            times = {way: [row["ms"] for row in self.runs.get((program, way), [])] for way in self.ways}
            checksums = {row["checksum"] for way in self.ways for row in self.runs.get((program, way), [])}
            if len(checksums) != 1:
                self.failures.append(f"{program}: results differ")
            for way in self.ways:
                if not times[way]:
                    continue
                base = min(times["recompiled"]) if times.get("recompiled") else None
                none = min(times["none"]) if times.get("none") else None
                counts = way == "sampled"
                ratio = min(times[way]) / base if base and way != "original" else None
                params = {"turns": turns, "median_ms": statistics.median(times[way]), "highest_ms": max(times[way]),
                          "blocks_per_sm": self.runs[program, way][0].get("blocks_per_sm", 0)}
                if none and counts:
                    params["over_none"] = min(times[way]) / none
                    params["median_over_none"] = statistics.median(times[way]) / statistics.median(times["none"])
                params.update(self.counts.get((program, way), {}))
                yield {"name": f"{program}_{way}", "params": params, "value": min(times[way]), "unit": "ms",
                       "compared_to": "recompiled" if ratio else None, "ratio": ratio,
                       "bar": BAR if counts and ratio else None,
                       "holds": ratio <= BAR if counts and ratio else None}


def counts_of(trace):
    with sqlite3.connect(f"file:{trace}?mode=ro", uri=True) as database:
        names = ("counted", "looked", "sampled", "timed", "timed_rounds", "timed_ns")
        counts = dict(zip(names, database.execute(COUNTS).fetchone()))
        counts["standard_error"] = max(0, database.execute(VARIANCE).fetchone()[0]) ** 0.5
        counts["recorded"] = database.execute("SELECT count(*) FROM wait").fetchone()[0]
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--limit", type=float, default=140, help="seconds after which no turn begins")
    parser.add_argument("--ways", default=",".join(WAYS), help="ways, separated by commas")
    parser.add_argument("--only", default="", help="programs, separated by commas")
    result_file.add_arguments(parser)
    options = parser.parse_args()
    result_file.name_gpu(options)
    bench = Bench(options)
    rows = list(bench.rows(bench.measure()))
    options.output = str(options.out / "counts_cost.json")
    result_file.write(options, "counts_cost_gpu", "counts_cost_gpu.py " + " ".join(sys.argv[3:]), rows)
    for row in rows:
        params = row["params"]
        print(f"{row['name']:24s} {row['value']:10.3f} ms"
              + (f" {row['ratio']:.4f}" if row["ratio"] else "")
              + (f" over none {params['over_none']:.4f}, of medians {params['median_over_none']:.4f}"
                 if "over_none" in params else "")
              + (f", counted {params['counted']} +- {params['standard_error']:.0f}, recorded {params['recorded']}"
                 if "counted" in params else "")
              + ("" if row["holds"] is not False else f" (bar {row['bar']}: MISSED)"))
    failures = bench.failures + [f"{row['name']}: {row['ratio']:.4f}, bar {row['bar']}" for row in rows
                                 if row["holds"] is False]
    for failure in failures:
        print("FAILED: " + failure)
    print("FAIL" if failures else "PASS")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
