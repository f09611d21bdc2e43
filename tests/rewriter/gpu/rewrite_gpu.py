"""Patched loops on a GPU:
  python3 rewrite_gpu.py BUILD OUT [--only NAME,...] [--ways WAY,...] [--repeats N] [--limit SECONDS] [--alone]

BUILD holds bin/wic-prof, bin/untouched, bin/documented, bin/programs, bin/loads, bin/peers, bin/votes, bin/bare_poll
and lib/libwicprof_inject.so; where BUILD/ext holds waiting_ext.so (torch_extension.py builds it), PyTorch's extension runs
as well; where BUILD/cases holds the program run_cases and PTX, so do the kernels of tests/analyzer/machine_code_cases,
and Triton where Python has it. Two GPUs are needed by peers_own and peers_remote. Each scenario runs in these ways,
with the collector in all of them:

  original     the program's own image
  recompiled   the driver's compilation of the same PTX without the patch
  quiet        patched, poll in force, recording off
  recorded     patched, poll in force, recorded
  park         patched and parked
  toggled      patched, poll and park in turn every 5 ms

Writes OUT/rewrite.json (docs/results/README.md says what is in it) and OUT/rewrite.log; prints PASS, or FAIL where a
run failed, a result differs or a bar is missed.
"""

import argparse
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bench"))
import result_file  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
EVERY_5_MS = ",".join(["poll:5ms", "park:5ms"] * 400)
BARS = {"quiet": 1.01, "recorded": 1.03}  # over recompiled
# Each of its waits ends once: a thread that goes on watching what its poll has read waits twice as long.
BARS_OF = {("documented", "park"): 1.1}
VOTES = {"semaphore_128": 100, "semaphore_256": 100, "vote_128": 20000, "vote_256": 20000, "passed_on": 20000,
         "queues": 1000, "any_of": 500}  # scenario: rounds
# Their waits are long enough to be recorded.
RECORDED = ("votes_semaphore_128", "votes_semaphore_256", "votes_queues", "votes_any_of")
NOT_PATCHED = ("--trace", "devices")  # the collector, without --rewrite
PATCHED = ("--trace", "none", "--rewrite")
WAYS = {  # name: what is traced, options, environment
    "original": (NOT_PATCHED, (), {}),
    "recompiled": (PATCHED, ("--mode", "poll"), {"WICPROF_REWRITE": "recompile"}),
    "quiet": (PATCHED, ("--mode", "poll", "--delay", "10m"), {}),
    "recorded": (PATCHED, ("--mode", "poll"), {}),
    "park": (PATCHED, ("--mode", "park"), {}),
    "toggled": (PATCHED, ("--schedule", EVERY_5_MS), {}),
}
TIMED = ("original", "recompiled", "quiet", "recorded")  # the other ways run once, but for `park` beside another kernel
# Importing PyTorch takes some 10 s, and the kernels a tenth of a second: the ways run beside each other, so far apart
# that their kernels are not likely to meet, unless asked to run alone, as times that are compared should.
SLOW_TO_START = ("torch_extension", "triton")
BETWEEN_STARTS = 1.5  # seconds


def gpus():
    listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True)
    return sum(line.startswith("GPU ") for line in listed.stdout.splitlines())


class Bench:
    def __init__(self, options):
        self.options = options
        self.build = options.build.resolve()
        self.out = options.out
        self.out.mkdir(parents=True, exist_ok=True)
        self.log = open(self.out / "rewrite.log", "w")
        self.rows, self.failures = [], []
        self.ways = options.ways.split(",")
        self.ends = time.monotonic() + options.limit

    def say(self, text):
        print(text[:300], flush=True)
        self.log.write(text + "\n")
        self.log.flush()

    def scenarios(self):
        untouched, programs = self.build / "bin" / "untouched", self.build / "bin" / "programs"
        all_of = {
            "chain": [untouched, "chain", 400],
            "barrier": [untouched, "barrier", 4000],
            "host": [untouched, "host", 1],
            "scan": [programs, "scan", 50],
            "select": [programs, "select", 50],
            "sort": [programs, "sort", 20],
            "grid": [programs, "grid", 2000],
            "looks": [programs, "looks", 20],
            "documented": [self.build / "bin" / "documented", 20],
            "bare_poll": [self.build / "bin" / "bare_poll"],
            "peers_own": [self.build / "bin" / "peers", "own", 2000],
            "peers_remote": [self.build / "bin" / "peers", "remote", 2000],
        }
        for scenario, rounds in VOTES.items():
            all_of["votes_" + scenario] = [self.build / "bin" / "votes", scenario, rounds]
        cases = self.build / "cases"
        if cases.exists():
            all_of["idioms"] = [cases / "run_cases", cases, "O3", "--once"]
            all_of["idioms_debug"] = [cases / "run_cases", cases, "G", "--once"]
        loads = self.build / "bin" / "loads"
        ptx = self.out / "loads.ptx"
        subprocess.run([loads, "ptx", ptx], timeout=60)
        for door in ("data", "data_ex", "library_file", "module_file", "nvrtc", "nvrtc_cubin"):
            all_of["load_" + door] = [loads, door, ptx, 200]
        if (self.build / "ext" / "waiting_ext.so").exists():
            all_of["torch_extension"] = [sys.executable, HERE / "torch_extension.py", self.build / "ext"]
        all_of["triton"] = [sys.executable, HERE / "triton_spin.py", 100]
        if gpus() > 1:
            all_of["symmetric"] = [sys.executable, HERE / "symmetric_all_reduce.py"]
            all_of["symmetric_late"] = [sys.executable, HERE / "symmetric_all_reduce.py", "--late-us", 300]
        only = self.options.only.split(",") if self.options.only else all_of
        return {name: all_of[name] for name in only if name in all_of}

    def run(self, name, app, what, options=(), environment=None):
        """One recorded run: what the program printed, and what its trace says of the patch."""
        trace = self.out / f"{name}.wicprof"
        left = max(5, min(60, self.ends - time.monotonic()))
        command = ["timeout", "-k", "2", str(left), str(self.build / "bin" / "wic-prof"), "run", "-q", "-f", "-o",
                   str(trace), *what, *options, "--", *map(str, app)]
        begin = time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(environment or {})})
        row = {"name": name, "status": done.returncode, "seconds": round(time.monotonic() - begin, 2), "notices": []}
        for line in done.stdout.splitlines():
            if line.startswith("{"):
                row.update(json.loads(line))
        if done.stdout.endswith(": ok\n"):  # bare_poll checks its results itself
            row["checksum"] = "ok"
        if done.returncode != 0:
            row["messages"] = (done.stdout + done.stderr)[-1500:]
        try:
            with sqlite3.connect(f"file:{trace}?mode=ro", uri=True) as database:
                read_trace(database, row)
        except sqlite3.Error as error:
            row["messages"] = row.get("messages", "") + f"; trace: {error}"
        trace.unlink(missing_ok=True)
        self.say(json.dumps(row))
        return row

    def out_of_time(self):
        return time.monotonic() > self.ends - 8

    def run_ways(self, name, app, repeat, runs):
        threads = []
        for way in self.ways:
            what, options, environment = WAYS[way]
            timed = TIMED + (("park",) if name == "host" else ())
            if self.out_of_time() or (repeat > 0 and way not in timed):
                continue

            def run(way=way, what=what, options=options, environment=environment):
                runs[way].append(self.run(f"{name}.{way}.{repeat}", app, what, options, environment))

            if self.options.alone or name not in SLOW_TO_START:
                run()
                continue
            threads.append(threading.Thread(target=run))
            threads[-1].start()
            time.sleep(BETWEEN_STARTS)
        for thread in threads:
            thread.join()

    def compare(self, name, app):
        runs = {way: [] for way in WAYS}
        nobody = []  # the kernel that streams host memory, by itself
        for repeat in range(self.options.repeats):
            self.run_ways(name, app, repeat, runs)
            if name == "host" and not self.out_of_time():
                nobody.append(self.run(f"host.nobody.{repeat}", [app[0], "host", 0], NOT_PATCHED))
        everything = [row for way in self.ways for row in runs[way]]
        checksums = checksums_of(everything)
        same = len(checksums) == 1 and None not in checksums
        failed = [row["name"] for row in everything if row["status"] != 0 or row.get("failed")]
        if not same:
            self.failures.append(f"{name}: results differ: {differences(everything, checksums)}")
        if failed:
            self.failures.append(f"{name}: runs failed: {', '.join(failed)}")
        patched_ways = ("quiet", "recorded", "park", "toggled")
        patched = all(row.get("patched", 0) > 0 for way in patched_ways if way in self.ways for row in runs[way])
        if not patched:
            self.failures.append(f"{name}: nothing was patched")
        if name in RECORDED and any(row.get("recorded_waits", 0) == 0 for row in runs["recorded"]):
            self.failures.append(f"{name}: no wait was recorded")
        field = "beside_ms" if name == "host" else "ms"
        times = {way: best(rows, field) for way, rows in runs.items()}
        for way in self.ways:
            if times[way] is None:
                continue
            base = times["recompiled"] if way not in ("original", "recompiled") else times["original"]
            bar = BARS_OF.get((name, way), BARS.get(way)) if name != "host" else None
            rounds = sum(row.get("rounds", 0) for row in runs[way])
            self.add(f"{name}_{way}", times[way], "ms", "original" if way == "recompiled" else "recompiled", base, bar,
                     {"loops": max((row.get("patched", 0) for row in runs[way]), default=0), "rounds": rounds,
                      "waits": sum(row.get("recorded_waits", 0) for row in runs[way]),
                      "counted": sum(row.get("counted_waits", 0) for row in runs[way]),
                      "toggles": sum(row.get("toggles", 0) for row in runs[way])})
        params = {"ways": len(self.ways), "runs": len(everything)}
        if same and "cases" in everything[0]:
            params["cases"] = len(json.loads(next(iter(checksums))))
        self.rows.append({"name": f"{name}_same_results", "params": params,
                          "value": 1.0 if same and patched and not failed else 0.0, "unit": "", "compared_to": None,
                          "ratio": 1.0 if same and patched and not failed else 0.0, "bar": 1.0,
                          "holds": same and patched and not failed})
        if nobody and times["park"] is not None:
            self.add("host_park_over_nobody", times["park"], "ms", "nobody waits", best(nobody, field), 1.05, {})

    def add(self, name, value, unit, compared_to, base, bar, params):
        ratio = None if base in (None, 0) else value / base
        self.rows.append({"name": name, "params": params, "value": value, "unit": unit,
                          "compared_to": compared_to if base is not None else None, "ratio": ratio, "bar": bar,
                          "holds": None if bar is None or ratio is None else ratio <= bar})

    def measure(self):
        for name, app in self.scenarios().items():
            if self.out_of_time():
                self.failures.append(f"{name}: not run, no time left")
                continue
            self.compare(name, app)


def read_trace(database, row):
    row["notices"] = [text for (text,) in database.execute(
        "SELECT string.value FROM notice JOIN string ON string.id = notice.text_id ORDER BY notice.id")]
    row["patched"] = 0
    for text in row["notices"]:
        if text.startswith("rewrite: patched "):
            row["patched"] += int(text.split()[2])
    row["toggles"] = database.execute("SELECT count(*) FROM intervention").fetchone()[0]
    row["recorded_waits"], row["rounds"] = database.execute(
        "SELECT count(*), coalesce(sum(polls), 0) FROM wait").fetchone()
    row["counted_waits"], = database.execute("SELECT coalesce(sum(waits), 0) FROM wait_count").fetchone()


def checksums_of(rows):
    """One element if all results are the same. Of a program with many cases, those count whose results never vary."""
    if not all("cases" in row for row in rows):
        return {row.get("checksum") for row in rows}
    varying = {name for row in rows for name, checksum in row["cases"].items() if checksum is None}
    return {json.dumps({name: checksum for name, checksum in sorted(row["cases"].items()) if name not in varying})
            for row in rows}


def differences(rows, checksums):
    if not all("cases" in row for row in rows):
        return ", ".join(sorted(map(str, checksums)))
    names = sorted({name for row in rows for name in row["cases"]})
    return ", ".join(name for name in names if len({row["cases"].get(name) for row in rows} - {None}) > 1)


def best(rows, field="ms"):
    values = [row[field] for row in rows if field in row]
    return min(values) if values else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", default="", help="scenarios, separated by commas")
    parser.add_argument("--ways", default=",".join(WAYS), help="ways, separated by commas")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--alone", action="store_true", help="no two runs at a time, also where they start slowly")
    parser.add_argument("--limit", type=float, default=240, help="seconds after which nothing new begins")
    result_file.add_arguments(parser)
    options = parser.parse_args()
    result_file.name_gpu(options)
    bench = Bench(options)
    bench.measure()
    options.output = str(options.out / "rewrite.json")
    result_file.write(options, "rewrite_gpu", "rewrite_gpu.py " + " ".join(sys.argv[3:]), bench.rows)
    for row in bench.rows:
        if row["ratio"] is not None:
            bench.say(f"{row['name']:32s} {row['value']:10.3f} {row['unit']:3s} {row['ratio']:.4f}"
                      + ("" if row["bar"] is None else f" (bar {row['bar']}{'' if row['holds'] else ', MISSED'})"))
    bench.failures += [f"{row['name']}: {row['ratio']:.4f}, bar {row['bar']}" for row in bench.rows
                       if row["holds"] is False and row["compared_to"] is not None]
    for failure in bench.failures:
        bench.say("FAILED: " + failure)
    bench.say("FAIL" if bench.failures else "PASS")
    return 1 if bench.failures else 0


if __name__ == "__main__":
    sys.exit(main())
