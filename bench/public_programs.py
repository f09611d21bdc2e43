#!/usr/bin/env python3
"""Whether programs of others give the same results under wic-prof, and what wic-prof finds in them.

    public_programs.py BUILD LIST -o FILE [--details FILE] [--jobs 8] [--limit 500] [--each 6]
                       [--part 0/1]

On a GPU; needs BUILD/bin/wic-prof and BUILD/lib/libwicprof_inject.so. LIST: a line NAME|FOLDER|COMMAND per program.
Each program runs twice bare, then under `wic-prof run` and `wic-prof run --rewrite`. Lines that both bare runs print
must be printed by the others too, and the exit status must be the same; where not, the program runs bare and watched
once more, and only what differs again counts. Programs that take longer than --each seconds bare, or cannot start, are
left out and counted. Several programs run at once, so that the times are those of a busy machine.
A row per way counts programs with the same results; a trace that cannot be analyzed fails the row. --details: per
program exit status, lines compared, seconds of each way, size of the trace and findings. Prints PASS or FAIL.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import result_file  # noqa: E402

TIMES = re.compile(r"(?i)time|\b[num]?s(ec|econds?)?\b|/s\b|flop")  # lines that may be equal by chance
WAYS = {"default": [], "rewrite": ["--rewrite"]}


def run(command, folder, limit):
    """(exit status or None where it took longer than `limit` seconds, lines, seconds)."""
    begin = time.monotonic()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        try:
            status = process.wait(limit)
            status = 128 - status if status < 0 else status  # as a shell and wic-prof say it
        except subprocess.TimeoutExpired:
            status = None
            os.killpg(process.pid, signal.SIGTERM)  # a launcher ends its ranks, which are no longer of its group
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(3)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        seconds = time.monotonic() - begin
        output.seek(0)
        lines = output.read(4 << 20).decode(errors="replace").splitlines()
    # wic-prof's own words may stand behind a line of the program that has no end.
    kept = (line.partition("wic-prof: ")[0].strip() for line in lines if not TIMES.search(line))
    return status, collections.Counter(line for line in kept if line), seconds


class Program:
    ways = WAYS

    def __init__(self, build, text, each):
        self.name, self.folder, self.command = text.split("|", 2)
        self.tool = str(Path(build).resolve() / "bin" / "wic-prof")
        self.each = each

    def bare(self):
        return run(["bash", "-c", "exec " + self.command], self.folder, self.each)

    def watched(self, way, trace, limit):
        command = ["bash", "-c", 'exec "$@" ' + self.command, "bash", self.tool, "run", "-f", "-o", trace, *WAYS[way],
                   "--"]
        return run(command, self.folder, limit)

    def row(self):
        first, second = self.bare(), self.bare()
        row = {"name": self.name, "exit": first[0], "bare_s": round(min(first[2], second[2]), 3)}
        if first[0] is None or second[0] is None:
            return {**row, "left_out": f"takes longer than {self.each:g} s"}
        if first[0] in (126, 127):
            return {**row, "left_out": "cannot start: " + " ".join(first[1])[:200]}
        if first[0] != second[0]:
            return {**row, "left_out": "ends differently from run to run"}
        stable = first[1] & second[1]
        row["lines"] = sum(stable.values())
        with tempfile.TemporaryDirectory() as folder:
            for way in self.ways:
                self.add_way(row, way, stable, os.path.join(folder, way + ".wicprof"))
        return row

    def add_way(self, row, way, stable, trace):
        limit = 3 * row["bare_s"] + 20
        status, lines, seconds = self.watched(way, trace, limit)
        missing = stable - lines
        if status != row["exit"] or missing:
            again = self.bare()
            stable = stable & again[1]
            status, lines, seconds = self.watched(way, trace, limit)
            missing = stable - lines
        of = {"seconds": round(seconds, 3), "same": status == row["exit"] and not missing}
        if not of["same"]:
            of.update(exit=status, missing=list(missing)[:5], printed=list(lines - stable)[-8:])
        traces = self.traces(trace)
        if traces:
            of["trace_bytes"] = sum(map(os.path.getsize, traces))
            of.update(self.findings(traces))
        row[way] = of

    def traces(self, trace):
        """What the last run has written."""
        return [trace] if os.path.exists(trace) else []

    def findings(self, traces):
        try:
            analyzed = subprocess.run([self.tool, "analyze", "--format", "json", *traces], capture_output=True,
                                      timeout=120, check=True)
        except subprocess.SubprocessError as error:
            return {"not_analyzed": f"{error}: {(error.stderr or b'').decode(errors='replace')[-300:]}"}
        return {"findings": [{key: finding.get(key) for key in ("rule", "severity", "text", "cost", "evidence")}
                             for finding in json.loads(analyzed.stdout)["findings"]]}


def rows_of(rows, begun_of, ways):
    """The rows of the result, from those of the programs, of `begun_of` in all."""
    ran = [row for row in rows if "left_out" not in row]
    results = []
    for way in ways:
        same = sum(row[way]["same"] for row in ran)
        more = statistics.median(row[way]["seconds"] - row["bare_s"] for row in ran)
        params = {"programs": len(ran), "left_out": len(rows) - len(ran), "not_begun": begun_of - len(rows),
                  "lines_compared": sum(row["lines"] for row in ran), "median_seconds_more": round(more, 3),
                  "not_analyzed": sum("not_analyzed" in row[way] for row in ran),
                  "differ": ", ".join(row["name"] for row in ran if not row[way]["same"])}
        results.append({"name": way, "params": params, "value": same, "unit": "programs", "compared_to": "bare",
                        "ratio": same / len(ran), "bar": 1, "holds": same == len(ran) and params["not_analyzed"] == 0})
    return results


def measure(name, description, kind):
    """Runs the programs of the list, each of the class `kind`, as the command line says; returns the exit status."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("list")
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--limit", type=float, default=500, help="seconds; later programs are left out")
    parser.add_argument("--each", type=float, default=6, help="seconds of a bare run")
    parser.add_argument("--part", default="0/1", help="1/3: the second third of the programs")
    parser.add_argument("--details")
    result_file.add_arguments(parser)
    options = parser.parse_args()
    part, of = map(int, options.part.split("/"))
    texts = [line for line in Path(options.list).read_text().splitlines() if line][part::of]
    deadline = time.monotonic() + options.limit
    rows = []

    def one(text):
        if time.monotonic() > deadline:
            return None
        return kind(options.build, text, options.each).row()

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for row in pool.map(one, texts):
            if row is None:
                continue
            rows.append(row)
            differs = [way for way in kind.ways if way in row and not row[way]["same"]]
            if differs:
                print(row["name"], "differs:", json.dumps({way: row[way] for way in differs})[:600], flush=True)
    if options.details:
        Path(options.details).write_text(json.dumps(rows, indent=1))
    results = rows_of(rows, len(texts), kind.ways)
    for result in results:
        print(json.dumps(result))
    status = result_file.write(options, name, f"{name}.py BUILD LIST --jobs {options.jobs} "
                               f"--each {options.each:g} --part {options.part}", results)
    print("FAIL" if status else "PASS")
    return status


if __name__ == "__main__":
    sys.exit(measure("public_programs", __doc__, Program))
