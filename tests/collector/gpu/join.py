#!/usr/bin/env python3
"""wic-prof attach to CUDA programs that were started without wic-prof's library, which ptrace loads.

Starts programs one after another (join_app.cu), and servers in PyTorch (join_server.py), and attaches to each. The last
program is attached to --cycles times. All that the programs compute must be right. Prints how long threads were
stopped, and writes the figures as docs/results/README.md describes. Then PASS or FAIL.

Needs BUILD/bin/wic-prof, BUILD/bin/join_app_gpu and the collector. Example:
    join.py build --programs 20 --cycles 50 --servers 3 -o docs/results/join.h200.json
"""

import argparse
import itertools
import pathlib
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "bench"))
import result_file  # noqa: E402 (after the path)

STOPPED_BAR = 50  # ms
FIRST_BAR = 2  # s


class Program:
    numbers = itertools.count()

    """A program that computes the same again and again, until its file is there, and then says what was wrong."""

    def __init__(self, command, folder):
        self.end = folder / f"end{next(Program.numbers)}"
        self.process = subprocess.Popen([*command, self.end], stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            raise SystemExit("the program does not run here")

    def finish(self):
        """Whether all was right."""
        self.end.touch()
        said = self.process.communicate(timeout=60)[0]
        print("  program:", said.strip())
        return self.process.returncode == 0 and re.search(r"wrong 0 of [1-9]", said) is not None


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


def row(name, value, unit, most=None, **params):
    """`most`: what the value may be."""
    ratio = None if most is None else value / most
    return {"name": name, "params": params, "value": value, "unit": unit, "compared_to": most and f"{most} {unit}",
            "ratio": ratio, "bar": most and 1, "holds": most and ratio <= 1}


class Joins:
    """Attaches to programs of one kind, and what that took."""

    def __init__(self, build, folder, kind):
        self.build, self.folder, self.kind = build, folder, kind
        self.stops, self.firsts, self.kernels, self.right = [], [], [], 0

    def join(self, command, cycles=1):
        program = Program(command, self.folder)
        right = True
        for cycle in range(cycles):
            words = "-q" if cycle else "--trace=cuda"
            stopped, took, seen = attach(self.build, self.folder, program.process.pid, words)
            right &= seen > 0 and (stopped is not None) == (cycle == 0)
            self.kernels.append(seen)
            if cycle == 0 and stopped is not None:
                self.stops.append(stopped)
                self.firsts.append(took)
        self.right += program.finish() and right

    def rows(self, asked):
        wrong = asked - self.right
        held = [{**row(f"{self.kind}_wrong", wrong, "programs", programs=asked), "compared_to": "all programs",
                 "ratio": wrong / asked, "bar": 0, "holds": wrong == 0}]
        if not self.stops:
            return held
        return held + [
            row(f"{self.kind}_stopped_median", statistics.median(self.stops), "ms"),
            row(f"{self.kind}_stopped_most", max(self.stops), "ms", STOPPED_BAR),
            row(f"{self.kind}_attach_most", max(self.firsts), "s with a recording of 0.2 s", FIRST_BAR),
            row(f"{self.kind}_kernels_least", min(self.kernels), "kernels", recordings=len(self.kernels))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--programs", type=int, default=20)
    parser.add_argument("--cycles", type=int, default=50, help="recordings of the last program")
    parser.add_argument("--servers", type=int, default=0, help="how many servers in PyTorch")
    result_file.add_arguments(parser)
    options = parser.parse_args()
    result_file.name_gpu(options)
    build, rows = options.build.resolve(), []
    with tempfile.TemporaryDirectory(prefix="wicprof-join-") as name:
        for kind, asked, command in (("programs", options.programs, [build / "bin/join_app_gpu"]),
                                     ("servers", options.servers, [sys.executable, HERE / "join_server.py"])):
            joins = Joins(build, pathlib.Path(name), kind)
            for number in range(asked):
                joins.join(command, options.cycles if kind == "programs" and number == asked - 1 else 1)
            rows += joins.rows(asked) if asked else []
    for each in rows:
        print(each["name"], each["value"], each["unit"])
    command = f"join.py --programs {options.programs} --cycles {options.cycles} --servers {options.servers}"
    failed = result_file.write(options, "join", command, rows)
    print("FAIL" if failed else "PASS")
    return failed


if __name__ == "__main__":
    sys.exit(main())
