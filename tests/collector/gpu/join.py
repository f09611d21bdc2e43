#!/usr/bin/env python3
"""wic-prof attach to a CUDA program that was started without wic-prof's library, which ptrace loads.

    join.py BUILD [PROGRAMS [CYCLES [RESULT]]]      needs BUILD/bin/wic-prof, BUILD/bin/join_app_gpu and the collector

Starts PROGRAMS (20) programs one after another (join_app.cu), and attaches to each. The last one is attached to CYCLES
(50) times. All numbers that the programs compute must be right. Prints how long threads were stopped, and what the
steps per second were before and after; RESULT gets these as docs/results/README.md describes. Then PASS or FAIL.
"""

import datetime
import json
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import time

STOPPED_BAR = 50  # ms
FIRST_BAR = 2  # s


class Program:
    def __init__(self, build, folder, number):
        self.end = folder / f"end{number}"
        self.process = subprocess.Popen([build / "bin/join_app_gpu", self.end], stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            raise SystemExit("the program does not run here")

    def finish(self):
        """(whether all was right, how many results)"""
        self.end.touch()
        said = self.process.communicate(timeout=60)[0]
        found = re.search(r"wrong (\d+) of (\d+)", said)
        print("  program:", said.strip())
        return self.process.returncode == 0 and found is not None and found[1] == "0", int(found[2]) if found else 0


def attach(build, folder, pid, *options):
    """(milliseconds that threads were stopped, or None where nothing was loaded; seconds; kernels)"""
    trace = folder / "t.wicprof"
    begin = time.monotonic()
    done = subprocess.run([build / "bin/wic-prof", "attach", str(pid), "-f", "-o", trace, "--for", "200ms", *options],
                          capture_output=True, text=True)
    took = time.monotonic() - begin
    if done.returncode != 0:
        print(done.stderr)
        return None, took, -1
    stopped = re.search(r"stopped one thread for ([0-9.]+) ms", done.stderr)
    with sqlite3.connect(trace) as database:
        kernels = database.execute("SELECT count(*) FROM kernel").fetchone()[0]
    return float(stopped[1]) if stopped else None, took, kernels


def row(name, value, unit, bar=None, holds=None, **params):
    return {"name": name, "params": params, "value": value, "unit": unit, "compared_to": None, "ratio": None,
            "bar": bar, "holds": holds}


def machine():
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    name, driver = subprocess.run(query, capture_output=True, text=True, check=True).stdout.splitlines()[0].split(", ")
    return name.split()[-1].lower(), driver


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    programs, cycles = (int(word) for word in (sys.argv[2:4] + ["20", "50"][len(sys.argv[2:4]):]))
    stops, firsts, right, kernels = [], [], True, []
    with tempfile.TemporaryDirectory(prefix="wicprof-join-") as name:
        folder = pathlib.Path(name)
        for number in range(programs):
            program = Program(build, folder, number)
            for cycle in range(cycles if number == programs - 1 else 1):
                stopped, took, seen = attach(build, folder, program.process.pid, "-q" if cycle else "--trace=cuda")
                right &= seen > 0 and (stopped is not None) == (cycle == 0)
                kernels.append(seen)
                if cycle == 0 and stopped is not None:
                    stops.append(stopped)
                    firsts.append(took)
            good, _ = program.finish()
            right &= good
    held = right and len(stops) == programs and max(stops) <= STOPPED_BAR
    if stops:
        print(f"joined {len(stops)} of {programs}: stopped {sorted(stops)[len(stops) // 2]:.1f} ms in the median, "
              f"{max(stops):.1f} ms at most; {max(firsts):.2f} s at most with a recording of 0.2 s; "
              f"{cycles} recordings of one program; kernels {min(kernels)} to {max(kernels)}")
    if len(sys.argv) > 4 and stops:
        kind, driver = machine()
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
        rows = [row("joined", len(stops), "programs", programs, len(stops) == programs, programs=programs),
                row("stopped_median", sorted(stops)[len(stops) // 2], "ms"),
                row("stopped_most", max(stops), "ms", STOPPED_BAR, max(stops) <= STOPPED_BAR),
                row("attach_most", max(firsts), "s with a recording of 0.2 s", FIRST_BAR, max(firsts) <= FIRST_BAR),
                row("recordings_of_one_program", cycles, "recordings", cycles, right, kernels_least=min(kernels))]
        pathlib.Path(sys.argv[4]).write_text(json.dumps(
            {"bench": "join", "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
             "machine": kind, "driver": driver, "commit": commit, "command": " ".join(sys.argv), "rows": rows},
            indent=2) + "\n")
    print("PASS" if held else "FAIL")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
