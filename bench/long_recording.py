#!/usr/bin/env python3
"""Whether a long recording's file, memory and CPU time per event stay flat: two hours of events
(bench/long_producer.cpp) within minutes, recorded with --keep-last alone, and in segments with
--keep-last. Compares the last third of each recording with the third before it."""

import argparse
import contextlib
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import time

import result_file

# The last third over the middle third. File and memory: steps of the log and of the lists of texts. CPU time: a shared
# machine's times vary by this much.
BARS = {"file": 1.10, "memory": 1.10, "cpu_per_event": 1.30}


def sample(process, folder, session, env, wicprof):
    """What the recorder takes now."""
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    resident = int(status.split("VmRSS:")[1].split()[0]) * 1024 - int(status.split("RssShmem:")[1].split()[0]) * 1024
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    ticks = os.sysconf("SC_CLK_TCK")
    answer = subprocess.run([wicprof, "sessions", "--format", "json"], env=env, capture_output=True, text=True,
                            timeout=60)
    events = next(s["events"] for s in json.loads(answer.stdout)["sessions"] if s["name"] == session)
    sizes = []
    for file in folder.iterdir():
        try:
            sizes.append(file.stat().st_size)
        except FileNotFoundError:
            pass
    return {"time": time.monotonic(), "file": sum(sizes), "memory": resident, "events": events,
            "cpu": (int(fields[11]) + int(fields[12])) / ticks}


def record(options, name, words):
    with tempfile.TemporaryDirectory(prefix="wic-prof-long-") as folder:
        root = pathlib.Path(folder)
        runtime, work = root / "runtime", root / "work"
        runtime.mkdir(mode=0o700)
        work.mkdir()
        env = dict(os.environ, XDG_RUNTIME_DIR=str(runtime))
        process = subprocess.Popen([options.wic_prof, "run", "-q", "-o", str(work / "t.wicprof"), "--name", name,
                                    *words, "--", options.producer, "--covered-seconds", str(options.covered),
                                    "--seconds", str(options.seconds)], env=env)
        samples = []
        try:
            while process.poll() is None:
                time.sleep(options.seconds / 120)
                try:
                    samples.append(sample(process, work, name, env, options.wic_prof))
                except (StopIteration, OSError, IndexError, ValueError):
                    continue  # starting or ending
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        if process.returncode != 0:
            sys.exit(f"long_recording: {name}: wic-prof ended with status {process.returncode}")
        kept = sorted(work.glob("*.wicprof"))
        lost = 0
        for trace in kept:
            with contextlib.closing(sqlite3.connect(trace)) as database:
                lost += database.execute("SELECT ifnull(sum(value), 0) FROM stat WHERE severity = 1").fetchone()[0]
                if database.execute("SELECT value FROM meta WHERE key = 'state'").fetchone() != ("complete",):
                    sys.exit(f"long_recording: {trace.name} is not complete")
        return samples, len(kept), lost


def rows_of(options, name, words):
    samples, kept, lost = record(options, name, words)
    end = samples[0]["time"] + options.seconds
    at = lambda share: samples[0]["time"] + share * (end - samples[0]["time"])
    middle = [s for s in samples if at(1 / 3) <= s["time"] < at(2 / 3)]
    last = [s for s in samples if at(2 / 3) <= s["time"] < at(1)]
    if len(middle) < 5 or len(last) < 5:
        sys.exit(f"long_recording: {name}: too few samples")
    per_event = lambda part: (part[-1]["cpu"] - part[0]["cpu"]) / max(part[-1]["events"] - part[0]["events"], 1)
    events = samples[-1]["events"]
    params = {"options": " ".join(words), "covered_seconds": options.covered, "seconds": options.seconds,
              "events": events, "traces_kept": kept, "events_lost": lost}
    rows = []
    for what, unit, value, base in (
            ("file", "bytes", max(s["file"] for s in last), max(s["file"] for s in middle)),
            ("memory", "bytes", max(s["memory"] for s in last), max(s["memory"] for s in middle)),
            ("cpu_per_event", "us", per_event(last) * 1e6, per_event(middle) * 1e6)):
        ratio = value / base
        rows.append({"name": f"{name}_{what}", "params": params, "value": value, "unit": unit,
                     "compared_to": f"{name}_{what} in the middle third", "ratio": ratio, "bar": BARS[what],
                     "holds": ratio <= BARS[what]})
    rows.append({"name": f"{name}_lost", "params": params, "value": lost, "unit": "events", "compared_to": None,
                 "ratio": None, "bar": None, "holds": None})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wic-prof", default="build/bin/wic-prof")
    parser.add_argument("--producer", default="build/bin/bench_long_producer")
    parser.add_argument("--covered", type=float, default=7200, help="seconds that the events' times cover")
    parser.add_argument("--seconds", type=float, default=180, help="seconds that each recording takes")
    result_file.add_arguments(parser)
    options = parser.parse_args()
    # The same shares of the recording, whatever its length: as 5 minutes of two hours.
    part = f"{options.seconds / 24 * 1000:.0f}ms"
    rows = rows_of(options, "keep_last", ["--keep-last", part])
    rows += rows_of(options, "segment_keep_last", ["--segment", part, "--keep-last", part])
    return result_file.write(options, "long_recording", f"bench/long_recording.py --covered {options.covered:g} "
                             f"--seconds {options.seconds:g}", rows)


if __name__ == "__main__":
    sys.exit(main())
