#!/usr/bin/env python3
"""A server that makes a thread per request: how much its memory grows while it is recorded and parked.

    short_threads.py BUILD -o FILE [--threads 1000000] [--without-gpu PROGRAM CUPTI]

On a GPU (BUILD/bin/guest_threads: a copy and a wait per thread), or with the tests' driver (the program and the CUPTI
of tests/guest/run.py --without-gpu: a wait per thread). Ways: bare; recorded; waits (host waits alone); hybrid
(recorded and parked); on a GPU cupti, too (CUPTI's records of copies and empty callbacks at the same calls, without
wic-prof). Two rows per way: grown_WAY compares how much resident memory of the program's own grew after the first
eighth of the threads with the bound, 1 MiB more than bare; time_WAY compares the time per thread with the bare
program's: of the threads alone on a GPU, else of the program from its start to its end. Prints PASS or FAIL.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import result_file  # noqa: E402

WAYS = {"bare": None, "recorded": [], "waits": ["--trace=host_waits"],
        "hybrid": ["--mode=park", "--side=host", "--strategy=hybrid"]}
CUPTI_ALONE = {"EMPTY_CALLBACKS": "both,copies", "EMPTY_ACTIVITIES": "copies"}  # as empty_callbacks.cpp says
UNBOUNDED = ("bare", "cupti")
MOST_KB = 1024
MOST_TIME = 2  # of bare


def grown(build, program, options, way):
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        environment = {**os.environ, "GUEST_THREADS": str(options.threads), "XDG_RUNTIME_DIR": folder}
        if options.without_gpu:
            environment.update(WICPROF_CUPTI_PATH=str(options.without_gpu[1].resolve()), WICPROF_TEST_CUPTI="")
        command = [program, "short_threads"]
        if way == "cupti":
            library = options.build / "lib/libhost_waits_empty_callbacks.so"
            environment.update(CUPTI_ALONE, CUDA_INJECTION64_PATH=str(library))
        elif WAYS[way] is not None:  # only the newest part of a long recording is kept
            command = [build / "bin/wic-prof", "run", "-q", "-f", "-o", f"{folder}/t.wicprof", "--keep-last=5s",
                       *WAYS[way], "--", *command]
        began = time.monotonic()
        done = subprocess.run(command, env=environment, text=True, capture_output=True, check=False)
    found = re.search(r"GREW resident_kb (-?\d+)", done.stdout)
    if done.returncode != 0 or found is None or ", not " in done.stdout:
        sys.exit(f"{way}: exit status {done.returncode}: {done.stdout[-300:]}{done.stderr[-300:]}")
    took = time.monotonic() - began
    threads = re.search(r"TIME short threads ([\d.]+)", done.stdout)
    return int(found[1]), took if threads is None else float(threads[1]) / 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--threads", type=int, default=1_000_000)
    parser.add_argument("--without-gpu", nargs=2, type=pathlib.Path, metavar=("PROGRAM", "CUPTI"))
    result_file.add_arguments(parser)
    options = parser.parse_args()
    program = options.without_gpu[0].resolve() if options.without_gpu else options.build / "bin/guest_threads"
    rows, bare = [], None
    for way in WAYS if options.without_gpu else [*WAYS, "cupti"]:
        kilobytes, seconds = grown(options.build, program, options, way)
        bare = bare or (kilobytes, seconds)
        us = seconds / options.threads * 1e6
        for name, value, unit, compared_to, ratio, bar in (
                ("grown", kilobytes, "KB", f"{MOST_KB} KB more than bare", (kilobytes - bare[0]) / MOST_KB, 1),
                ("time", us, "us", "bare, per thread", seconds / bare[1], MOST_TIME)):
            rows.append({"name": f"{name}_{way}", "params": {"threads": options.threads}, "value": value, "unit": unit,
                         "compared_to": compared_to, "ratio": ratio, "bar": None if way in UNBOUNDED else bar,
                         "holds": None if way in UNBOUNDED else ratio <= bar})
        print(f"{way}: {kilobytes} KB after {options.threads} threads, {us:.1f} us per thread", flush=True)
    if not options.without_gpu:
        result_file.name_gpu(options)
    status = result_file.write(options, "short_threads", "python3 bench/short_threads.py BUILD -o FILE"
                               + (" --without-gpu PROGRAM CUPTI" if options.without_gpu else ""), rows)
    print("PASS" if status == 0 else "FAIL")
    return status


if __name__ == "__main__":
    sys.exit(main())
