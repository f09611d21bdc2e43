#!/usr/bin/env python3
"""Whether a long recording's file, memory, descriptors and CPU time per event stay flat. Compares the last third of
each recording with the third before it.

Without --toggled: two hours of events (bench/long_producer.cpp) within minutes, recorded with --keep-last alone, and in
segments with --keep-last. With --minutes: the same events per second in real time, with --keep-last 5m. With --toggled:
a sample on CPU devices for --seconds, in segments with --keep-last, toggled every two seconds; what the program itself
takes is compared, too.
"""

import argparse
import contextlib
import itertools
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

import result_file

# The last third over the middle third. File and memory: steps of the log and of the lists of texts. CPU time: a shared
# machine's times vary by this much.
BARS = {"file": 1.10, "memory": 1.10, "cpu_per_event": 1.30, "descriptors": 1.0, "program_memory": 1.10,
        "program_descriptors": 1.0}
UNITS = {"cpu_per_event": "us", "descriptors": "descriptors", "program_descriptors": "descriptors"}
TOGGLE_PERIOD = 2  # seconds


def resident_bytes(pid):
    """Without shared memory, whose size is fixed."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) * 1024 - int(status.split("RssShmem:")[1].split()[0]) * 1024


def open_descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def child_of(pid):
    return int(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


def sample(process, folder, session, env, wicprof):
    """What the recorder and the program take now."""
    program = child_of(process.pid)
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
    return {"time": time.monotonic(), "file": sum(sizes), "memory": resident_bytes(process.pid), "events": events,
            "descriptors": open_descriptors(process.pid), "program_memory": resident_bytes(program),
            "program_descriptors": open_descriptors(program), "cpu": (int(fields[11]) + int(fields[12])) / ticks}


def toggle_until(ended, name, env, wicprof):
    """Parks and polls in turn."""
    for mode in itertools.cycle(("park", "poll")):
        if ended.wait(TOGGLE_PERIOD):
            return
        subprocess.run([wicprof, "toggle", "--session", name, mode], env=env, capture_output=True, timeout=60)


def record(options, name, words, program, toggled=False):
    with tempfile.TemporaryDirectory(prefix="wic-prof-long-") as folder:
        root = pathlib.Path(folder)
        runtime, work = root / "runtime", root / "work"
        runtime.mkdir(mode=0o700)
        work.mkdir()
        env = dict(os.environ, XDG_RUNTIME_DIR=str(runtime))
        process = subprocess.Popen([options.wic_prof, "run", "-q", "-o", str(work / "t.wicprof"), "--name", name,
                                    *words, "--", *program], env=env)
        ended = threading.Event()
        if toggled:
            threading.Thread(target=toggle_until, args=(ended, name, env, options.wic_prof)).start()
        samples = []
        try:
            while process.poll() is None:
                time.sleep(options.seconds / 240)
                try:
                    samples.append(sample(process, work, name, env, options.wic_prof))
                except (StopIteration, OSError, IndexError, ValueError):
                    continue  # starting or ending
        finally:
            ended.set()
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


def rows_of(options, name, words, program, toggled=False):
    samples, kept, lost = record(options, name, words, program, toggled)
    end = samples[0]["time"] + options.seconds
    at = lambda share: samples[0]["time"] + share * (end - samples[0]["time"])
    middle = [s for s in samples if at(1 / 3) <= s["time"] < at(2 / 3)]
    last = [s for s in samples if at(2 / 3) <= s["time"] < at(1)]
    if len(middle) < 5 or len(last) < 5:
        sys.exit(f"long_recording: {name}: too few samples")
    per_event = lambda part: (part[-1]["cpu"] - part[0]["cpu"]) / max(part[-1]["events"] - part[0]["events"], 1)
    params = {"options": " ".join(words), "seconds": options.seconds, "events": samples[-1]["events"],
              "traces_kept": kept, "events_lost": lost}
    if not toggled:
        params["covered_seconds"] = options.covered
    rows = []
    whats = ["file", "memory", "descriptors"] + (["program_memory", "program_descriptors"] if toggled else [])
    measured = [(what, *(max(s[what] for s in part) for part in (last, middle))) for what in whats]
    measured.append(("cpu_per_event", per_event(last) * 1e6, per_event(middle) * 1e6))
    for what, value, base in measured:
        ratio = value / base
        rows.append({"name": f"{name}_{what}", "params": params, "value": value, "unit": UNITS.get(what, "bytes"),
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
    parser.add_argument("--minutes", type=float, help="record this long in real time")
    parser.add_argument("--toggled", nargs=argparse.REMAINDER, metavar="PROGRAM",
                        help="a sample with its options, without --seconds; the last option")
    result_file.add_arguments(parser)
    options = parser.parse_args()
    # The same shares of the recording, whatever its length: as 5 minutes of two hours.
    part = f"{options.seconds / 24 * 1000:.0f}ms"
    if options.toggled:
        program = [*options.toggled, "--seconds", str(options.seconds)]
        rows = rows_of(options, "toggled", ["--segment", part, "--keep-last", part], program, toggled=True)
        return result_file.write(options, "long_recording", f"bench/long_recording.py --seconds "
                                 f"{options.seconds:g} --toggled {' '.join(options.toggled)}", rows)
    if options.minutes:
        options.covered = options.seconds = options.minutes * 60
    program = [options.producer, "--covered-seconds", str(options.covered), "--seconds", str(options.seconds)]
    if options.minutes:
        rows = rows_of(options, "real_time", ["--keep-last", "5m"], program)
        return result_file.write(options, "long_recording", f"bench/long_recording.py --minutes {options.minutes:g}",
                                 rows)
    rows = rows_of(options, "keep_last", ["--keep-last", part], program)
    rows += rows_of(options, "segment_keep_last", ["--segment", part, "--keep-last", part], program)
    return result_file.write(options, "long_recording", f"bench/long_recording.py --covered {options.covered:g} "
                             f"--seconds {options.seconds:g}", rows)


if __name__ == "__main__":
    sys.exit(main())
